package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// What must not be done twice is done once in the whole tree.
func TestAgentLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paid atomic.Int64
		pay := func(context.Context, *tool.Call) (*tool.Result, error) {
			time.Sleep(5 * time.Second)
			return tool.Text(fmt.Sprint("receipt ", paid.Add(1))), nil
		}
		below := newLab(t, call("k1 pay 5"), say("paid")).tool("pay", event.Once, pay)
		l := newLab(t, call("c1 help 1", "c2 help 2"), call("c3 pay 5"), call("c4 pay 6"), say("done")).agent("help", event.Read, below).tool("pay", event.Once, pay)
		if r := l.start(t.Context(), l.engine()); r.Answer != "done" || paid.Load() != 2 {
			t.Errorf("%+v, paid %d times", r, paid.Load())
		}
		got := l.of("r1.1") + l.of("r1.2") + l.journal()
		for _, want := range []string{"pay(k1) success  receipt 1", "pay(k1) intercepted  This call was not run: call k1 of run r1.", "pay(c3) intercepted  This call was not run: call k1 of run r1.", "receipt 1", "pay(c4) success  receipt 2"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
		// Another process knows it too.
		again := newLab(t, call("c1 help 1", "c2 help 2"), call("c3 pay 5"), call("c4 pay 6"), call("c5 help 3"), call("c6 pay 5"), say("done"))
		again.agent("help", event.Read, below).tool("pay", event.Once, pay)
		copyRuns(t, l.store, again.store, func(ev event.Event) bool {
			return ev.Run != "r1" || ev.Data.Type() != event.TypeRunFinished && !isAnswer(ev)
		})
		if r := again.resume(t.Context(), again.engine()); r.Answer != "done" || paid.Load() != 2 {
			t.Errorf("%+v, paid %d times\n%s", r, paid.Load(), again.journal())
		}
	})
}

// isAnswer reports whether an event is a reply without calls, or comes from one.
func isAnswer(ev event.Event) bool {
	d, ok := ev.Data.(*event.ModelAnswered)
	return ok && d.Message.Calls() == 0
}

// Whether an act of another run took effect may be unknown; then nobody does it.
func TestAgentLedgerUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paid atomic.Int64
		pay := func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			paid.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		below := newLab(t, call("k1 pay 5"), say("perhaps")).tool("pay", event.Once, pay)
		l := newLab(t, call("c1 help 1"), call("c2 pay 5"), say("done")).agent("help", event.Read, below).tool("pay", event.Once, pay)
		r := l.start(t.Context(), l.engine())
		if d := l.finished("c2"); r.Answer != "done" || paid.Load() != 1 || d.Status != event.StatusUnknown || !strings.Contains(plain(d.Parts), "call k1 of run r1.1") {
			t.Errorf("%+v, paid %d times\n%s", r, paid.Load(), l.journal())
		}
	})
}

// An act that another run has begun without effect may be done here.
func TestAgentLedgerReleased(t *testing.T) {
	fails := func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, &tool.Error{Type: "closed", Message: "not now", NoEffect: true}
	}
	below := newLab(t, call("k1 pay 5"), say("no")).tool("pay", event.Once, fails)
	l := newLab(t, call("c1 help 1"), call("c2 pay 5"), say("done")).agent("help", event.Read, below).tool("pay", event.Once, returns("paid"))
	l.start(t.Context(), l.engine())
	if d := l.finished("c2"); d.Status != event.StatusSuccess {
		t.Errorf("%+v", d)
	}
}

// An agent that is asked for its own task by the agents below it does not wait for
// itself.
func TestAgentAsksForItself(t *testing.T) {
	l := newLab(t, call("c1 help x"), say("done"))
	l.agent("help", event.Once, l)
	if r := l.start(t.Context(), l.engine()); r.Answer != "done" || !strings.Contains(l.of("r1.1"), "help(c1) error in_progress") {
		t.Errorf("%+v\n%s", r, l.of("r1.1"))
	}
}

// A write that may be repeated has a key of its own in each run: what one run writes
// after another is not taken for the same.
func TestAgentKeys(t *testing.T) {
	var keys []string
	put := func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		keys = append(keys, c.Key)
		return tool.Text("ok"), nil
	}
	below := newLab(t, call("k1 put a"), say("put")).tool("put", event.Repeatable, put)
	l := newLab(t, call("c1 put a"), call("c2 help 1"), say("done")).agent("help", event.Read, below).tool("put", event.Repeatable, put)
	l.start(t.Context(), l.engine())
	if len(keys) != 2 || keys[0] == keys[1] {
		t.Errorf("keys %q", keys)
	}
}
