package local_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
)

// crashed returns a store that holds the first n events of the run, as a
// process that died after the n-th leaves them.
func (l *lab) crashed(events []event.Event, n int) journal.Store {
	l.t.Helper()
	var entries []journal.Entry
	for _, ev := range events[:n] {
		entries = append(entries, journal.Entry{Time: ev.Time, Command: ev.Command, Data: ev.Data})
	}
	s := memory.New()
	journaltest.Record(l.t, s, l.job.Run, entries...)
	return s
}

// A process that dies after any event leaves a journal that another one brings
// to the same end. No write that may have happened happens again, unless it may
// be repeated.
func TestResumeAnywhere(t *testing.T) {
	var mu sync.Mutex
	runs := map[string]int{}
	script := []reply{call("c1 look", "c2 look x"), call("c3 put a"), call("c4 pay"), say("done")}
	set := func(l *lab) *lab {
		counting := func(name string) func(context.Context, *tool.Call) (*tool.Result, error) {
			return func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				runs[name]++
				return tool.Text("ok"), nil
			}
		}
		return l.tool("look", event.Read, counting("look")).tool("put", event.Repeatable, counting("put")).tool("pay", event.Once, counting("pay"))
	}
	first := set(newLab(t, script...))
	first.start(t.Context(), first.engine())
	events := first.events()
	for n := 2; n <= len(events); n++ { // the task is in the same batch as run.started
		clear(runs)
		l := set(newLab(t, script...))
		l.store = l.crashed(events, n)
		before := strings.Count(l.journal(), "tool.started")
		r := l.resume(t.Context(), l.engine())
		if r.Status != "finished" || !r.OK || r.Answer != "done" {
			t.Fatalf("after event %d (%s): %+v\n%s", n, brief(&events[n-1]), r, l.journal())
		}
		if paid := strings.Count(head(events[:n]), " pay(c4) attempt") + runs["pay"]; paid != 1 {
			t.Errorf("after event %d: paid %d times\n%s", n, paid, l.journal())
		}
		if got := strings.Count(l.journal(), "tool.started"); got-before != runs["look"]+runs["put"]+runs["pay"] {
			t.Errorf("after event %d: %d intents, %v executions", n, got-before, runs)
		}
		l.checkOnce()
		if n < len(events) { // what was sent before the crash is not in this model's memory
			l.checkExact()
		}
	}
}

// head is the journal of the first events of a run.
func head(events []event.Event) string {
	var b strings.Builder
	for i := range events {
		fmt.Fprintf(&b, "%d %s\n", events[i].Seq, brief(&events[i]))
	}
	return b.String()
}

// A call that may have happened before the crash is not made again, and the
// model is told how things are.
func TestResumeAfterUnknown(t *testing.T) {
	l := newLab(t, call("c1 pay"), say("checked"))
	l.tool("pay", event.Once, returns("paid"))
	l.start(t.Context(), l.engine())
	events := l.events()
	l2 := newLab(t, call("c1 pay"), say("checked"))
	l2.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
		t.Error("paid twice")
		return nil, nil
	})
	for n, ev := range events {
		if ev.Data.Type() == event.TypeToolStarted {
			l2.store = l2.crashed(events, n+1)
		}
	}
	l2.resume(t.Context(), l2.engine())
	if !strings.Contains(l2.journal(), "pay(c1) unknown") || !strings.Contains(string(l2.model.sent()[0]), "unknown") {
		t.Error(l2.journal())
	}
}

// What a resumed run needs is checked before it is claimed.
func TestResumeNeedsItsTools(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"))
	l.tool("look", event.Read, returns("x"))
	l.start(t.Context(), l.engine())
	l.store = l.crashed(l.events(), 5)
	claims := &claimed{Store: l.store}
	l.store = claims
	l.tools = nil
	r, err := l.engine().Resume(t.Context(), l.ready())
	if err == nil || !strings.Contains(err.Error(), `needs the tool "look"`) || r != nil || claims.n != 0 {
		t.Errorf("%+v, %v, %d claims", r, err, claims.n)
	}
	var missing *journal.NotFoundError
	job := l.ready()
	job.Run = "r2"
	if _, err := l.engine().Resume(t.Context(), job); !errors.As(err, &missing) {
		t.Errorf("an unknown run: %v", err)
	}
}

type claimed struct {
	journal.Store
	n int
}

func (c *claimed) Claim(ctx context.Context, l *journal.Lease, run string) (journal.Head, error) {
	c.n++
	return c.Store.Claim(ctx, l, run)
}

// A finished run stays as it is.
func TestResumeFinished(t *testing.T) {
	l := newLab(t, say("done"))
	e := l.engine()
	l.start(t.Context(), e)
	before := l.journal()
	if r := l.resume(t.Context(), e); r.Status != "finished" || r.Answer != "done" {
		t.Errorf("%+v", r)
	}
	if _, err := e.Resume(t.Context(), l.ready()); err == nil || !strings.Contains(err.Error(), "has finished") {
		t.Errorf("input for a finished run: %v", err)
	}
	want(t, l.journal(), before)
}

// A chat pauses after each answer and goes on with the next input.
func TestChat(t *testing.T) {
	l := newLab(t, say("hello"), say("bye"))
	l.spec.Chat = true
	e := l.engine()
	if r := l.start(t.Context(), e); r.Status != "paused" || r.Cause != event.CauseTurnDone || r.Answer != "hello" {
		t.Errorf("%+v", r)
	}
	job := l.ready()
	job.Input = text("and now?")
	r, err := e.Resume(t.Context(), job)
	if err != nil || r.Answer != "bye" || r.Cause != event.CauseTurnDone {
		t.Errorf("%+v, %v\n%s", r, err, l.journal())
	}
	l.checkBodies()
	l.checkOnce()
}

// damaged is a store in which something stands behind the events of one run that is
// none, until it is cut off.
type damaged struct {
	*memory.Store
	run   string
	torn  bool
	isCut bool
	after int64 // the event after which it was cut off
}

func (s *damaged) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		last := from - 1
		for ev, err := range s.Store.Read(ctx, run, from) {
			if last = ev.Seq; !yield(ev, err) {
				return
			}
		}
		if run == s.run && !s.isCut {
			yield(event.Event{}, &journal.DamageError{Run: run, Sound: last, Torn: s.torn, Err: errors.New("half a line")})
		}
	}
}

func (s *damaged) Head(ctx context.Context, run string) (journal.Head, error) {
	h, err := s.Store.Head(ctx, run)
	if err == nil && run == s.run && !s.isCut {
		h.Seq++
	}
	return h, err
}

func (s *damaged) Cut(_ context.Context, run string, after int64) (journal.Head, error) {
	s.isCut, s.after = run == s.run, after
	return journal.Head{Seq: after}, nil
}

// A torn end is cut off and reported; other damage is not touched.
func TestDamagedJournal(t *testing.T) {
	l := newLab(t, say("done"))
	l.start(t.Context(), l.engine())
	events := l.events()

	s := &damaged{Store: l.crashed(events, 5).(*memory.Store), run: "r1", torn: true}
	l.store = s
	if r := l.resume(t.Context(), l.engine()); !r.OK || !s.isCut || s.after != 5 || !strings.Contains(l.log.String(), "was cut off") {
		t.Errorf("%+v, cut after %d, log %s", r, s.after, l.log)
	}

	s = &damaged{Store: l.crashed(events, 5).(*memory.Store), run: "r1"}
	l.store = s
	job := l.ready()
	job.Input = nil
	var damage *journal.DamageError
	if r, err := l.engine().Resume(t.Context(), job); !errors.As(err, &damage) || s.isCut {
		t.Errorf("%+v, %v, cut after %d", r, err, s.after)
	}
}

// A parked run holds no goroutine, and wakes up when it is resumed.
func TestParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 pay"), say("paid"))
		l.tool("pay", event.Once, returns("ok"))
		l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		e := l.engine()
		r := l.start(t.Context(), e)
		if r.Status != "paused" || r.Cause != event.CauseWaitingApproval || len(r.Pending) != 1 || r.Pending[0].Call != "c1" {
			t.Fatalf("%+v\n%s", r, l.journal())
		}
		synctest.Wait()
		if left := actors(); left != "" {
			t.Errorf("the parked run has goroutines:\n%s", left)
		}
		q := r.Pending[0]
		l.post(&event.ApprovalGiven{Call: q.Call, Decision: event.Approved, Hash: q.Hash})
		if r := l.resume(t.Context(), e); !r.OK || r.Answer != "paid" || r.ToolCalls != 1 {
			t.Errorf("%+v\n%s", r, l.journal())
		}
		l.checkOnce()
	})
}

// A parked run that is resumed without an answer parks again, and does not ask
// twice in its journal.
func TestParkedAgain(t *testing.T) {
	l := newLab(t, call("c1 pay"), say("paid"))
	l.tool("pay", event.Once, returns("ok"))
	l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
	e := l.engine()
	l.start(t.Context(), e)
	if r := l.resume(t.Context(), e); r.Cause != event.CauseWaitingApproval {
		t.Errorf("%+v", r)
	}
	if n := strings.Count(l.journal(), "approval.asked"); n != 1 {
		t.Errorf("asked %d times\n%s", n, l.journal())
	}
	// Now there is somebody to ask.
	l.job.Approve = func(context.Context, engine.Question) (engine.Answer, bool) {
		return engine.Answer{Decision: event.Approved, By: "me"}, true
	}
	if r := l.resume(t.Context(), e); !r.OK || r.Answer != "paid" {
		t.Errorf("%+v\n%s", r, l.journal())
	}
	if n := strings.Count(l.journal(), "approval.asked"); n != 1 {
		t.Errorf("asked %d times\n%s", n, l.journal())
	}
}
