package local_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// hang is a tool body that takes no notice of its context.
func hang(release <-chan struct{}) func(context.Context, *tool.Call) (*tool.Result, error) {
	return func(context.Context, *tool.Call) (*tool.Result, error) {
		<-release
		return tool.Text("at last"), nil
	}
}

// obey is a tool body that waits for the end of its context.
func obey(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// However a tool behaves, a run that is cancelled has ended 100 ms later, and
// the journal says of the call what is true for its effect class.
func TestCancelledTools(t *testing.T) {
	for _, effect := range []event.Effect{event.Read, event.Repeatable, event.Once} {
		for name, ignores := range map[string]bool{"obeys": false, "ignores": true} {
			t.Run(string(effect)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					l := newLab(t, call("c1 work"), say("done"))
					if ignores {
						l.tool("work", effect, hang(release))
					} else {
						l.tool("work", effect, obey)
					}
					e := l.engine()
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
					begun := time.Now()
					r := l.start(ctx, e)
					if took := time.Since(begun) - time.Second; took > 100*time.Millisecond {
						t.Errorf("it took %v to end", took)
					}
					if r.Status != "finished" || r.Reason != event.ReasonCancelled || r.OK || r.Detail != "enough" {
						t.Errorf("result %+v", r)
					}
					status := "unknown"
					if effect == event.Read {
						status = "error"
					}
					if status += " cancelled"; ignores {
						status = strings.Replace(status, "cancelled", "abandoned", 1)
					}
					if !strings.Contains(l.journal(), "work(c1) "+status) {
						t.Errorf("want %s in\n%s", status, l.journal())
					}
					left := int64(0)
					if ignores {
						left = 1
					}
					if e.Left() != left {
						t.Errorf("%d goroutines are left, not %d", e.Left(), left)
					}
					close(release)
					synctest.Wait()
					if e.Left() != 0 {
						t.Error("a goroutine that has ended is still counted")
					}
					if ignores != strings.Contains(l.log.String(), "ignores the end of its context") {
						t.Errorf("the log says %s", l.log)
					}
				})
			})
		}
	}
}

// A stop leaves the run resumable: the model call that it interrupted is made
// again.
func TestStopAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, say("done"))
		interrupted := false
		l.model.replies[0].do = func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			if interrupted {
				return say("done").reply(), nil
			}
			interrupted = true
			<-ctx.Done()
			return nil, &model.Error{Class: event.ClassNetwork, Err: ctx.Err(), Partial: "do"}
		}
		e := l.engine()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(engine.ErrStop) })
		if r := l.start(ctx, e); r.Status != "paused" || r.Cause != event.CauseInterrupted {
			t.Errorf("result %+v", r)
		}
		if r := l.resume(t.Context(), e); !r.OK || r.Answer != "done" {
			t.Errorf("result %+v", r)
		}
		want(t, l.journal(), `
			1 run.started
			2 input.received text go
			3 context.assembled
			4 model.called 3.0 attempt 1, kept 0, added 1
			5 input.received stop
			6 model.failed [3.0] cancelled …
			7 run.paused interrupted
			8 run.resumed
			9 model.called …
			10 model.answered …
			11 reply.parsed
			12 run.finished answered true done
		`)
	})
}

// A provider that takes no notice of its context is left behind like a tool.
func TestCancelledModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := newLab(t, reply{do: func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			<-release
			return say("too late").reply(), nil
		}})
		e := l.engine()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		r := l.start(ctx, e)
		if took := time.Since(begun) - time.Second; took > 100*time.Millisecond || r.Reason != event.ReasonCancelled || e.Left() != 1 {
			t.Errorf("after %v: %+v, %d left", took, r, e.Left())
		}
		close(release)
		synctest.Wait()
		if got := l.journal(); e.Left() != 0 || strings.Contains(got, "too late") || !strings.Contains(got, "model.failed [3.0] cancelled") {
			t.Error(got)
		}
	})
}

// The deadline of a tool ends one execution and not the run. What may be executed
// again is, twice, unless it is still going on.
func TestDeadlines(t *testing.T) {
	for _, c := range []struct {
		effect  event.Effect
		ignores bool
		err     error // what the tool makes of it
		want    string
		runs    int
	}{
		{event.Read, false, nil, "timeout timeout", 3},
		{event.Read, true, nil, "timeout abandoned", 1},
		{event.Repeatable, false, nil, "timeout timeout", 3},
		{event.Repeatable, true, nil, "timeout abandoned", 1},
		{event.Once, false, nil, "unknown timeout", 1},
		{event.Once, true, nil, "unknown abandoned", 1},
		{event.Once, false, &tool.Error{Type: "refused", Message: "it was refused", NoEffect: true}, "error refused", 1},
		{event.Once, false, &tool.Error{Type: "odd", Message: "it may have"}, "unknown odd", 1},
		{event.Read, false, &tool.Error{Type: "not_found", Message: "nothing there"}, "error not_found", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, call("c1 work"), say("done"))
			release := make(chan struct{})
			var ran atomic.Int64 // what is left behind counts too, and nobody waits for it
			l.tool("work", c.effect, func(ctx context.Context, k *tool.Call) (*tool.Result, error) {
				ran.Add(1)
				if d, ok := ctx.Deadline(); !ok || time.Until(d) != 10*time.Second {
					t.Errorf("the deadline is in %v", time.Until(d))
				}
				if c.ignores {
					return hang(release)(ctx, k)
				}
				_, err := obey(ctx, k)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
					t.Errorf("the context ended with %v, %v", err, context.Cause(ctx))
				}
				if c.err != nil {
					err = c.err
				}
				return nil, err
			})
			begun := time.Now()
			r := l.start(t.Context(), l.engine())
			runs := int(ran.Load())
			waits := time.Duration(runs-1) * 400 * time.Millisecond // at most 200 ms and 400 ms
			if took := time.Since(begun) - time.Duration(c.runs)*10*time.Second; took > 100*time.Millisecond+waits || !r.OK || runs != c.runs {
				t.Errorf("after %v and %d executions: %+v", took, runs, r)
			}
			if !strings.Contains(l.journal(), "work(c1) "+c.want) {
				t.Errorf("want %s in\n%s", c.want, l.journal())
			}
			close(release)
		})
	}
}

// A result that comes although the time is up is a result.
func TestResultAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 work"), say("done"))
		l.tool("work", event.Once, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			<-ctx.Done()
			return tool.Text("just done"), nil
		})
		l.start(t.Context(), l.engine())
		if !strings.Contains(l.journal(), "work(c1) success  just done") {
			t.Error(l.journal())
		}
	})
}

// A context that a tool derives ends with the call's, and holds nothing after it.
func TestDerivedContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		l := newLab(t, call("c1 work"), say("done"))
		l.tool("work", event.Read, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			if ctx.Value(key{}) != "v" {
				t.Error("the caller's values are lost")
			}
			early, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-early.Done()
			if ctx.Err() != nil {
				t.Error("the end of a derived context ended the call's")
			}
			child, stop := context.WithCancel(ctx)
			defer stop()
			<-child.Done()
			after, done := context.WithCancel(ctx)
			defer done()
			return tool.Text("x"), errors.Join(child.Err(), after.Err())
		})
		l.start(context.WithValue(t.Context(), key{}, "v"), l.engine())
		if !strings.Contains(l.journal(), "work(c1) timeout") {
			t.Error(l.journal())
		}
	})
}

// Between two attempts the run waits, and nothing else happens.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, say("done"))
		l.model.faults = map[int]error{1: &model.Error{Class: event.ClassRate, Status: 429}, 2: &model.Error{Class: event.ClassServer, Status: 503}}
		begun := time.Now()
		if r := l.start(t.Context(), l.engine()); !r.OK || r.Answer != "done" {
			t.Errorf("%+v", r)
		}
		if took := time.Since(begun); took < time.Second || took > 4*time.Second {
			t.Errorf("it waited %v", took)
		}
		l.checkOnce()
	})
}

// The time for the whole run is watched while other things are in flight.
func TestWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, reply{do: func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			select {
			case <-ctx.Done():
				return nil, &model.Error{Class: event.ClassCancelled, Err: ctx.Err()}
			case <-time.After(time.Minute):
				return call("c1 work").reply(), nil
			}
		}}, say("as far as I got"))
		l.tool("work", event.Read, returns("x"))
		l.spec.Limits.Wall = 90_000
		first := l.model.replies[0]
		l.model.replies = []reply{first, first}
		begun := time.Now()
		r := l.start(t.Context(), l.engine())
		if took := time.Since(begun); r.Reason != event.ReasonTimeLimit || took > 4*time.Minute {
			t.Errorf("after %v %+v\n%s", took, r, l.journal())
		}
		if !strings.Contains(l.journal(), "timer.fired") {
			t.Error(l.journal())
		}
	})
}

// Close stops the runs, so that they can be resumed, and waits for them.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 work"), say("done"))
		l.tool("work", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			if c.Attempt == 1 {
				return obey(ctx, c)
			}
			return tool.Text("x"), nil
		})
		e := l.engine()
		done := make(chan *engine.Result, 1)
		go func() { done <- l.start(t.Context(), e) }()
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r.Status != "paused" || r.Cause != event.CauseInterrupted {
			t.Errorf("%+v", r)
		}
		if _, err := e.Start(t.Context(), l.ready()); err == nil {
			t.Error("a closed engine starts runs")
		}
		if r := l.resume(t.Context(), l.engine()); !r.OK {
			t.Errorf("%+v\n%s", r, l.journal())
		}
	})
}

// The caller's deadline is no limit of the run: it is cancelled, with what the caller
// says is the cause.
func TestCallersDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		want  string
	}{
		"without a cause": {nil, "context deadline exceeded"},
		"with one":        {errors.New("the office closes"), "the office closes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, call("c1 work"), say("done"))
				l.tool("work", event.Read, obey)
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, c.cause)
				defer cancel()
				r := l.start(ctx, l.engine())
				if r.Status != "finished" || r.Reason != event.ReasonCancelled || r.OK || r.Detail != c.want {
					t.Errorf("result %+v", r)
				}
			})
		})
	}
}
