package local_test

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
)

// asking is a lab whose only call, pay, needs an approval.
func asking(t testing.TB, approve func(context.Context, engine.Question) (engine.Answer, bool)) *lab {
	l := newLab(t, call("c1 pay x"), say("over"))
	l.tool("pay", event.Once, returns("paid"))
	l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
	l.job.Approve = approve
	return l
}

// A person who is asked while the run goes on decides it; the question is
// durable before it is put.
func TestApprove(t *testing.T) {
	for _, c := range []struct {
		answer engine.Answer
		want   string
	}{
		{engine.Answer{Decision: event.Approved, By: "eva"}, "pay(c1) success"},
		{engine.Answer{Decision: event.Rejected, Why: "too much"}, "pay(c1) denied"},
	} {
		var l *lab
		l = asking(t, func(_ context.Context, q engine.Question) (engine.Answer, bool) {
			if q.Run != "r1" || q.Call != "c1" || q.Tool != "pay" || string(q.Args) != `{"x":"x"}` || q.Settle {
				t.Errorf("asked %+v", q)
			}
			if actors() == "" {
				t.Error("a run that goes on has no goroutine: the tests of parked runs show nothing")
			}
			if !strings.Contains(l.journal(), "approval.asked c1") {
				t.Error("the question is not durable yet")
			}
			return c.answer, true
		})
		if r := l.start(t.Context(), l.engine()); !r.OK || !strings.Contains(l.journal(), c.want) {
			t.Errorf("%+v\n%s", r, l.journal())
		}
		l.checkOnce()
	}
}

// Without a usable answer the question stays open, and the run parks.
func TestNoAnswer(t *testing.T) {
	for name, approve := range map[string]func(context.Context, engine.Question) (engine.Answer, bool){
		"nobody":    nil,
		"no answer": func(context.Context, engine.Question) (engine.Answer, bool) { return engine.Answer{}, false },
		"wrong answer": func(context.Context, engine.Question) (engine.Answer, bool) {
			return engine.Answer{Decision: event.Done}, true
		},
		"panic": func(context.Context, engine.Question) (engine.Answer, bool) { panic("oops") },
	} {
		l := asking(t, approve)
		if r := l.start(t.Context(), l.engine()); r.Status != "paused" || r.Cause != event.CauseWaitingApproval || len(r.Pending) != 1 {
			t.Errorf("%s: %+v\n%s", name, r, l.journal())
		}
		if logged := l.log.String(); (name == "panic" || name == "wrong answer") != (logged != "") {
			t.Errorf("%s: log %q", name, logged)
		}
	}
}

// An answer from elsewhere settles the question; whoever is being asked here
// learns it by the end of the context.
func TestAnsweredElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan engine.Question, 1)
		settled := false
		l := asking(t, func(ctx context.Context, q engine.Question) (engine.Answer, bool) {
			let <- q
			<-ctx.Done()
			settled = true
			return engine.Answer{}, false
		})
		go func() {
			q := <-let
			time.Sleep(time.Hour)
			l.post(&event.ApprovalGiven{Call: q.Call, Decision: event.Approved, Hash: q.Hash, By: "eva"})
		}()
		if r := l.start(t.Context(), l.engine()); !r.OK || !settled {
			t.Errorf("settled %v, %+v\n%s", settled, r, l.journal())
		}
	})
}

// Somebody who is asked and does not notice the end is left behind.
func TestApproverIgnoresTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := asking(t, func(context.Context, engine.Question) (engine.Answer, bool) {
			<-release
			return engine.Answer{Decision: event.Approved}, true
		})
		e := l.engine()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(engine.ErrStop) })
		begun := time.Now()
		r := l.start(ctx, e)
		if took := time.Since(begun) - time.Second; took > 100*time.Millisecond || r.Cause != event.CauseInterrupted || e.Left() != 1 {
			t.Errorf("after %v %+v, %d left", took, r, e.Left())
		}
		close(release)
		synctest.Wait()
		if e.Left() != 0 || strings.Contains(l.journal(), "approval.given") {
			t.Errorf("%d left\n%s", e.Left(), l.journal())
		}
	})
}

// A panic in somebody else's code is that call's error; the model learns that
// it happened and not where.
func TestPanics(t *testing.T) {
	boom := func(context.Context, *tool.Call) (*tool.Result, error) { panic("boom") }
	exit := func(context.Context, *tool.Call) (*tool.Result, error) { runtime.Goexit(); return nil, nil }
	for _, c := range []struct {
		name   string
		effect event.Effect
		run    func(context.Context, *tool.Call) (*tool.Result, error)
		want   string
	}{
		{"read", event.Read, boom, "work(c1) error panic"},
		{"write", event.Repeatable, boom, "work(c1) unknown panic"},
		{"once", event.Once, boom, "work(c1) unknown panic"},
		{"exit", event.Read, exit, "work(c1) error panic"},
	} {
		l := newLab(t, call("c1 work"), say("over"))
		l.tool("work", c.effect, c.run)
		r := l.start(t.Context(), l.engine())
		if !r.OK || !strings.Contains(l.journal(), c.want) {
			t.Errorf("%s: %+v\n%s", c.name, r, l.journal())
		}
		for what, s := range map[string]string{"journal": l.journal(), "request": string(l.model.sent()[1])} {
			if strings.Contains(s, "goroutine") || strings.Contains(s, "boom") || strings.Contains(s, "_test.go") {
				t.Errorf("%s: the %s tells too much: %s", c.name, what, s)
			}
		}
		if !strings.Contains(l.log.String(), "stack=") || !strings.Contains(l.log.String(), "tool work panicked") {
			t.Errorf("%s: the log says %s", c.name, l.log)
		}
	}
}

// badEncoder panics.
type badEncoder struct{ fakeEncoder }

func (badEncoder) Message([]byte, *message.Message, *message.Message) []byte { panic("boom") }

// badClient has a bad encoder.
type badClient struct{ *fakeModel }

func (badClient) Encoder() model.Encoder { return badEncoder{} }

// A provider that panics ends the run with a reason.
func TestProviderPanics(t *testing.T) {
	l := newLab(t, reply{do: func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { panic("boom") }})
	if r := l.start(t.Context(), l.engine()); r.Reason != event.ReasonInternalError || !strings.Contains(l.journal(), "model.failed [3.0] internal panic") {
		t.Errorf("%+v\n%s", r, l.journal())
	}
	l = newLab(t, say("x"))
	l.job.Model = func(string) (model.Client, error) { return badClient{l.model}, nil }
	if r := l.start(t.Context(), l.engine()); r.Reason != event.ReasonInternalError || !strings.Contains(l.journal(), "model.failed [3.0] internal panic") {
		t.Errorf("%+v\n%s", r, l.journal())
	}
	l = newLab(t, reply{do: func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { return nil, nil }})
	if r := l.start(t.Context(), l.engine()); r.Reason != event.ReasonInternalError {
		t.Errorf("%+v\n%s", r, l.journal())
	}
}

// What a watcher does is its own affair.
func TestWatcherPanics(t *testing.T) {
	l := newLab(t, call("c1 look"), say("over"))
	l.tool("look", event.Read, returns("x"))
	n := 0
	l.job.Watch = &engine.Watch{Event: func(event.Event) { n++; panic("boom") }}
	r := l.start(t.Context(), l.engine())
	if !r.OK || n != len(l.events()) {
		t.Errorf("%+v, %d events seen", r, n)
	}
	if got := strings.Count(l.log.String(), "a watcher panicked"); got != 1 {
		t.Errorf("reported %d times", got)
	}
}

// brittle is a counter that cannot stand one word.
type brittle struct{ tokens.Estimate }

func (b brittle) Count(text string) int {
	if strings.Contains(text, "boom") {
		panic("boom")
	}
	return b.Estimate.Count(text)
}

// What a counter cannot count is unknown, and nothing worse.
func TestCounterPanics(t *testing.T) {
	l := newLab(t, call("c1 look"), say("boom"))
	l.tool("look", event.Read, returns("boom"))
	e, err := local.New(local.Options{Store: l.store, Counter: brittle{}, Logger: slog.New(slog.NewTextHandler(l.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l.job.Input = text("boom")
	if r := l.start(t.Context(), e); !r.OK || r.Answer != "boom" {
		t.Errorf("%+v\n%s", r, l.journal())
	}
	if !strings.Contains(l.log.String(), "the token counter panicked") {
		t.Errorf("the log says %s", l.log)
	}
}

// The questions of one reply are put one at a time, in the order of the calls,
// when all of them are durable.
func TestQuestionsInOrder(t *testing.T) {
	for range 20 {
		var asked []string
		var more []int
		var open atomic.Int32
		l := newLab(t, call("c2 pay b", "c1 pay a", "c3 pay c"), say("over"))
		l.tool("pay", event.Once, returns("paid"))
		l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		l.job.Approve = func(_ context.Context, q engine.Question) (engine.Answer, bool) {
			if open.Add(1) > 1 {
				t.Error("two are asked at once")
			}
			defer open.Add(-1)
			asked, more = append(asked, q.Call), append(more, q.More)
			if n := strings.Count(l.journal(), "approval.asked"); n != 3 {
				t.Errorf("%d questions are durable", n)
			}
			runtime.Gosched()
			return engine.Answer{Decision: event.Approved}, q.Call != "c1" // left open, it holds up none
		}
		r := l.start(t.Context(), l.engine())
		if !slices.Equal(asked, []string{"c2", "c1", "c3"}) || !slices.Equal(more, []int{2, 1, 0}) || r.Cause != event.CauseWaitingApproval || len(r.Pending) != 1 {
			t.Fatalf("asked %v, more %v, %+v\n%s", asked, more, r, l.journal())
		}
	}
}
