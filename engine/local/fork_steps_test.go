package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// live lists what a run did itself after the first events, which it shares with another:
// its requests and what it started, by step.
func (l *lab) live(shared int64) []string {
	l.t.Helper()
	var out []string
	step := int64(0)
	for _, ev := range l.events() {
		switch d := ev.Data.(type) {
		case *event.ModelCalled:
			if step = d.Step; ev.Seq > shared {
				out = append(out, fmt.Sprintf("%d asks", step))
			}
		case *event.ToolStarted:
			if ev.Seq > shared {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", step, d.Tool, d.Run)))
			}
		}
	}
	return out
}

// Steps have stable addresses (langgraph 8458: to go on from a step inside a nested run
// began that run anew): whatever agents have done before it and at it, the step after the
// one that a fork names is the first that runs live. What agents below have done up to
// there is neither done nor asked again, and theirs that come after it are numbered on.
func TestForkStepWithAgents(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		below := newLab(call("k1 look"), call("k2 look x"), say("seen"))
		looks := map[string]int{} // by run
		below.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			looks[c.Run]++
			return tool.Text("a spade"), nil
		})
		l := newLab(call("c1 help a"), call("c2 help b"), say("done")).agent("help", event.Read, below)
		e := l.engine()
		if r := l.start(t.Context(), e); !r.OK || r.Steps != 3 {
			t.Fatalf("%+v\n%s", r, l.journal())
		}
		if looks["r1.1"] != 2 || looks["r1.2"] != 2 {
			t.Fatalf("looked %v", looks)
		}
		before := l.journal() + l.of("r1.1") + l.of("r1.2")
		for step, want := range map[int64][]string{
			0: {"1 asks", "1 help f0.1", "2 asks", "2 help f0.2", "3 asks"},
			1: {"2 asks", "2 help f1.2", "3 asks"},
			2: {"3 asks"},
		} {
			at, err := engine.ForkPoint(t.Context(), l.store, "r1", step)
			if err != nil {
				t.Fatal(err)
			}
			asked := len(below.model.sent())
			f, r := l.fork(t.Context(), e, at, fmt.Sprintf("f%d", step), "")
			if got := f.live(at); !slices.Equal(got, want) || r.Steps != 3 {
				t.Errorf("after step %d: %q, want %q, %+v", step, got, want, r)
			}
			if n := len(below.model.sent()) - asked; n != 3*(2-int(step)) {
				t.Errorf("after step %d the agents ask %d times", step, n)
			}
		}
		if looks["r1.1"] != 2 || looks["r1.2"] != 2 || l.journal()+l.of("r1.1")+l.of("r1.2") != before {
			t.Errorf("the runs that were forked are others now; looked %v", looks)
		}
	})
}

// The run of an agent is forked by its own id, and from a step of its own: that is the
// first that runs live, in a run that stands alone. The run that had called it keeps what
// it was told.
func TestForkRunOfAgent(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		below := newLab(call("k1 look"), call("k2 look x"), say("seen"))
		looks := 0
		below.tool("look", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) { looks++; return tool.Text("a spade"), nil })
		l := newLab(call("c1 help a"), say("done")).agent("help", event.Read, below)
		e := l.engine()
		l.start(t.Context(), e)
		below.store, below.job.Run = l.store, "r1.1"
		before := l.journal() + below.journal()
		for step, want := range map[int64][]string{
			0: {"1 asks", "1 look", "2 asks", "2 look", "3 asks"},
			1: {"2 asks", "2 look", "3 asks"},
			2: {"3 asks"},
		} {
			at, err := engine.ForkPoint(t.Context(), l.store, "r1.1", step)
			if err != nil {
				t.Fatal(err)
			}
			f, r := below.fork(t.Context(), e, at, fmt.Sprintf("g%d", step), "")
			if got := f.live(at); !slices.Equal(got, want) || !r.OK || r.Answer != "seen" || r.Run != f.job.Run {
				t.Errorf("after step %d: %q, want %q, %+v\n%s", step, got, want, r, f.journal())
			}
		}
		if looks != 2+2+1 || l.journal()+below.journal() != before {
			t.Errorf("looked %d times\n%s", looks, l.journal())
		}
	})
}

// In the middle of an agent's work too: the fork takes the result of the run that was at
// it, as a run that is resumed does, and asks nobody again.
func TestForkWhileAnAgentWorks(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		below := newLab(call("k1 look"), say("seen"))
		below.tool("look", event.Read, returns("a spade"))
		l := newLab(call("c1 help a"), say("done")).agent("help", event.Read, below)
		e := l.engine()
		l.start(t.Context(), e)
		var started int64
		for _, ev := range l.events() {
			if ev.Data.Type() == event.TypeToolStarted {
				started = ev.Seq
			}
		}
		asked := len(below.model.sent())
		f, r := l.fork(t.Context(), e, started, "f1", "")
		if got := f.live(started); !r.OK || r.Steps != 2 || !slices.Equal(got, []string{"1 help r1.1", "2 asks"}) || len(below.model.sent()) != asked {
			t.Errorf("%q, %+v\n%s", got, r, f.journal())
		}
	})
}
