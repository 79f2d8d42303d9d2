package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// An agent that does not do its task is an error that says what to do; what it has
// come to is kept.
func TestAgentEndsBadly(t *testing.T) {
	refusal := reply{do: func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
		r := say("I cannot.").reply()
		r.Finish = event.FinishContentFilter
		return r, nil
	}}
	for _, c := range []struct {
		name      string
		replies   []reply
		steps     int64
		effect    event.Effect // of its tool
		kind      string
		retryable bool
		noEffect  bool
		says      []string
	}{
		{"limit", []reply{call("k1 work 1"), call("k2 work 2"), say("Half of it: A-1.")}, 2, event.Read, "agent_step_limit", false, true,
			[]string{"run r1.1 of the agent help-agent: step_limit, not ok, 3 steps, 2 tool calls", "the limit of 2 steps is reached", "smaller task", "\nHalf of it: A-1."}},
		{"limit after a write", []reply{call("k1 work 1"), say("Half of it.")}, 1, event.Once, "agent_step_limit", false, false, []string{"\nHalf of it."}},
		{"its model fails", []reply{{err: &model.Error{Class: event.ClassAuth, Message: "no key"}}}, 0, event.Read, "agent_model_error", true, true, []string{"no key"}},
		{"its model fails after a write", []reply{call("k1 work 1"), {err: &model.Error{Class: event.ClassAuth, Message: "no key"}}}, 0, event.Once, "agent_model_error", false, false, nil},
		{"refused", []reply{refusal}, 0, event.Read, "agent_refused", false, true, []string{"do not ask it for the same again", "\nI cannot."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			below := newLab(t, c.replies...)
			below.spec.Limits.Steps = c.steps
			below.tool("work", c.effect, returns("ok"))
			l := newLab(t, call("c1 help x"), say("done")).agent("help", event.Read, below)
			if r := l.start(t.Context(), l.engine()); r.Answer != "done" {
				t.Errorf("%+v", r)
			}
			d := l.finished("c1")
			if d.Status != event.StatusError || d.ErrorType != c.kind || d.Retryable != c.retryable || d.NoEffect != c.noEffect || d.Spent == nil {
				t.Errorf("%+v\n%s", d, l.of("r1.1"))
			}
			for _, w := range c.says {
				if got := plain(d.Parts); !strings.Contains(got, w) {
					t.Errorf("%q is not in\n%s", w, got)
				}
			}
		})
	}
}

// Whoever stops a run stops the agents below it, and they go on with it; whoever
// cancels it cancels them. Nobody is left behind.
func TestAgentStopAndCancel(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause error
		want  string
	}{{"stop", engine.ErrStop, "run.paused interrupted"}, {"cancel", errors.New("enough"), "run.finished cancelled"}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				leaf := newLab(t, call("m1 wait"), say("waited"))
				leaf.tool("wait", event.Read, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
					runs++
					if runs > 1 {
						return tool.Text("at last"), nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				})
				middle := newLab(t, call("k1 leaf x"), say("middle")).agent("leaf", event.Once, leaf)
				l := newLab(t, call("c1 middle x"), say("done")).agent("middle", event.Once, middle)
				e := l.engine()
				ctx, cancel := context.WithCancelCause(t.Context())
				var seen []string
				l.job.Watch = &engine.Watch{Event: func(ev event.Event) {
					seen = append(seen, ev.Run+" "+brief(&ev))
					if d, ok := ev.Data.(*event.ToolStarted); ok && d.Tool == "wait" {
						cancel(c.cause)
					}
				}}
				began := time.Now()
				r := l.start(ctx, e)
				for _, run := range []string{"r1", "r1.1", "r1.1.1"} {
					if got := l.of(run); !strings.Contains(got, c.want) {
						t.Errorf("run %s:\n%s", run, got)
					}
				}
				if last := seen[len(seen)-1]; !strings.HasPrefix(last, "r1 "+c.want) {
					t.Errorf("the last that was seen is %s", last)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v to end", took)
				}
				synctest.Wait()
				if left := actors(); left != "" {
					t.Errorf("left behind:\n%s", left)
				}
				if c.name == "cancel" {
					if d := l.finished("c1"); d.ErrorType != "agent_cancelled" || d.Spent == nil || r.Reason != event.ReasonCancelled {
						t.Errorf("%+v %+v", r, d)
					}
					return
				}
				l.job.Watch = nil
				if r = l.resume(t.Context(), l.engine()); r.Answer != "done" || runs != 1 {
					// The call that was stopped is over: the model is told.
					t.Errorf("%+v after %d executions\n%s", r, runs, l.of("r1.1.1"))
				}
			})
		})
	}
}

// A pause lets what runs below come to the end of its step.
func TestAgentPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newLab(t, call("k1 slow"), say("below"))
		below.tool("slow", event.Read, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			time.Sleep(3 * time.Second)
			return tool.Text("ok"), ctx.Err()
		})
		l := newLab(t, call("c1 help x"), say("done")).agent("help", event.Read, below)
		time.AfterFunc(time.Second, func() { l.post(&event.InputReceived{Kind: event.InputPause}) })
		r := l.start(t.Context(), l.engine())
		if r.Status != "paused" || r.Cause != event.CauseInterrupted || !strings.Contains(l.of("r1.1"), "slow(k1) success") || strings.Contains(l.of("r1.1"), "below") {
			t.Errorf("%+v\n%s", r, l.of("r1.1"))
		}
		if r = l.resume(t.Context(), l.engine()); r.Answer != "done" {
			t.Errorf("%+v\n%s", r, l.journal())
		}
	})
}

// Nobody waits for an agent that does not come to its end: after its time there is
// its best answer or, if none comes within a moment, what it has said.
func TestAgentHangs(t *testing.T) {
	for _, c := range []struct {
		name    string
		final   reply
		took    time.Duration
		answers string
	}{
		{"answers at last", say("As far as I came: A-1."), time.Minute, "\nAs far as I came: A-1."},
		{"never", reply{do: func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}, time.Minute + 10*time.Second, "\nI begin with A-1."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := call("k1 look")
				begin.text = "I begin with A-1."
				hang := reply{do: func(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
					if strings.Contains(string(slices.Concat(req.Body...)), "The run ends here") {
						if c.final.do != nil {
							return c.final.do(ctx, req, nil)
						}
						return c.final.reply(), nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				below := newLab(t, begin, hang)
				below.spec.Limits.Wall = time.Minute.Milliseconds()
				below.tool("look", event.Read, returns("A-1"))
				l := newLab(t, call("c1 help x"), say("done")).agent("help", event.Read, below)
				began := time.Now()
				if r := l.start(t.Context(), l.engine()); r.Answer != "done" {
					t.Errorf("%+v", r)
				}
				d := l.finished("c1")
				if d.ErrorType != "agent_time_limit" || !strings.HasSuffix(plain(d.Parts), c.answers) || time.Since(began) != c.took {
					t.Errorf("after %v: %s\n%s", time.Since(began), plain(d.Parts), l.of("r1.1"))
				}
			})
		})
	}
}

// What is left running by an agent's tool is nobody's business once the agent has
// answered.
func TestAgentAnswerIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		below := newLab(t, call("k1 serve"), say("It is served."))
		below.tool("serve", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			go func() { <-forever }() // a watcher that is kept alive
			return tool.Text("serving"), nil
		})
		l := newLab(t, call("c1 help x"), say("done")).agent("help", event.Read, below)
		began := time.Now()
		if r := l.start(t.Context(), l.engine()); r.Answer != "done" || time.Since(began) > time.Second {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
		close(forever)
	})
}
