package local_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// The questions of agents are put to whoever answers those of the run, one at a
// time, with the id of the run that asks.
func TestAgentAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newLab(t, call("k1 pay 5"), say("paid"))
		below.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		paid := 0
		below.tool("pay", event.Once, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			paid++
			return tool.Text("paid"), nil
		})
		below.tools[0].(*fakeTool).def.KeyFields = nil
		l := newLab(t, call("c1 help 1", "c2 help 2", "c3 help 3"), say("done")).agent("help", event.Read, below)
		var asked []string
		var now atomic.Int64
		l.job.Approve = func(ctx context.Context, q engine.Question) (engine.Answer, bool) {
			if now.Add(1) > 1 {
				t.Error("two questions at once")
			}
			time.Sleep(time.Second)
			now.Add(-1)
			asked = append(asked, q.Run+" "+q.Tool)
			return engine.Answer{Decision: event.Approved}, true
		}
		if r := l.start(t.Context(), l.engine()); r.Answer != "done" || len(asked) != 3 || !strings.HasPrefix(asked[0], "r1.") {
			t.Errorf("%+v, asked %q", r, asked)
		}
		// It is one act, whoever asks for it.
		if paid != 1 {
			t.Errorf("paid %d times", paid)
		}
	})
}

// An agent that waits for a person lets the run wait, with its question; when that
// is answered, the run goes on.
func TestAgentWaits(t *testing.T) {
	below := newLab(t, call("k1 pay 5"), say("paid"))
	below.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
	below.tool("pay", event.Once, returns("ok"))
	l := newLab(t, call("c1 help 1"), say("done")).agent("help", event.Once, below)
	check := func(r *engine.Result) {
		t.Helper()
		if r.Status != "paused" || r.Cause != event.CauseWaitingApproval || len(r.Pending) != 1 || r.Pending[0].Run != "r1.1" || r.Pending[0].Tool != "pay" {
			t.Fatalf("%+v\n%s", r, l.journal())
		}
	}
	check(l.start(t.Context(), l.engine()))
	check(l.resume(t.Context(), l.engine())) // nobody has answered
	events := l.events()
	if d, ok := events[len(events)-1].Data.(*event.RunPaused); !ok || !strings.Contains(d.Why, "run r1.1 of the agent help-agent, for call c1: it has paused (waiting_approval)") {
		t.Errorf("%+v", events[len(events)-1].Data)
	}
	other := *l
	other.job.Run = "r1.1"
	other.post(&event.ApprovalGiven{Call: "k1", Decision: event.Approved,
		Hash: guard.ApprovalHash(below.ready().Spec.Tools[0], jsontext.Value(`{"x":"5"}`))})
	if r := l.resume(t.Context(), l.engine()); r.Answer != "done" || !strings.Contains(l.of("r1.1"), "pay(k1) success") {
		t.Errorf("%+v\n%s", r, l.of("r1.1"))
	}
}

// An answer that comes while other agents are still at work is taken up at once when
// they have ended.
func TestAgentAnsweredMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := newLab(t, call("k1 pay 5"), say("paid"))
		asking.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		asking.tool("pay", event.Once, returns("ok"))
		slow := newLab(t, reply{do: func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			time.Sleep(time.Minute)
			return say("slow").reply(), nil
		}})
		l := newLab(t, call("c1 asking 1", "c2 slow 2"), say("done")).agent("asking", event.Read, asking).agent("slow", event.Read, slow)
		time.AfterFunc(10*time.Second, func() {
			other := *l
			other.job.Run = "r1.1"
			other.post(&event.ApprovalGiven{Call: "k1", Decision: event.Approved, Hash: guard.ApprovalHash(asking.ready().Spec.Tools[0], jsontext.Value(`{"x":"5"}`))})
		})
		if r := l.start(t.Context(), l.engine()); r.Answer != "done" {
			t.Errorf("%+v\n%s", r, l.journal())
		}
	})
}

// A run that waits with an agent that has paused is cancelled with it.
func TestAgentCancelledWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := newLab(t, call("k1 pay 5"), say("paid"))
		asking.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		asking.tool("pay", event.Once, returns("ok"))
		slow := newLab(t, reply{do: func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		l := newLab(t, call("c1 asking 1", "c2 slow 2"), say("done")).agent("asking", event.Read, asking).agent("slow", event.Read, slow)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(errors.New("enough")) })
		r := l.start(ctx, l.engine())
		if r.Reason != event.ReasonCancelled || !strings.Contains(l.of("r1.1"), "run.finished cancelled") || !strings.Contains(l.of("r1.2"), "run.finished cancelled") {
			t.Errorf("%+v\n%s\n%s", r, l.of("r1.1"), l.of("r1.2"))
		}
	})
}
