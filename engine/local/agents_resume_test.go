package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// copyRuns copies the events of all runs that keep wants, as a process that died
// leaves them.
func copyRuns(t testing.TB, from, to journal.Store, keep func(event.Event) bool) {
	t.Helper()
	for sum, err := range from.Runs(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		var entries []journal.Entry
		for ev, err := range from.Read(context.Background(), sum.Run, 1) {
			if err != nil {
				t.Fatal(err)
			}
			if !keep(ev) {
				break
			}
			entries = append(entries, journal.Entry{Time: ev.Time, Command: ev.Command, Data: ev.Data})
		}
		if len(entries) > 0 {
			journaltest.Record(t, to, sum.Run, entries...)
		}
	}
}

// A process that dies after any event of a run or of the runs below it leaves
// journals that another one brings to the same end: no agent is started twice, and
// nothing that must not be done twice is.
func TestAgentResumeAnywhere(t *testing.T) { synctest.Test(t, agentResumeAnywhere) }

func agentResumeAnywhere(t *testing.T) {
	var mu sync.Mutex
	paid := 0
	set := func() *lab {
		below := newLab(t, call("k1 look"), call("k2 pay 5"), say("paid it"))
		below.tool("look", event.Read, returns("5 is due")).tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			paid++
			return tool.Text("ok"), nil
		})
		below.tool("was_paid", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			return &tool.Result{Value: jsontext.Value(fmt.Sprintf(`{"done":%v}`, paid > 0))}, nil
		})
		below.tools[1].(*fakeTool).def.Confirm = "was_paid"
		return newLab(t, call("c1 help x"), call("c2 help x"), say("done")).agent("help", event.Once, below)
	}
	first := set()
	var order []event.Event
	first.job.Watch = &engine.Watch{Event: func(ev event.Event) { order = append(order, ev) }}
	first.start(t.Context(), first.engine())
	if paid != 1 || !strings.Contains(first.journal(), "help(c2) intercepted") {
		t.Fatalf("paid %d times\n%s", paid, first.journal())
	}
	for n := 2; n <= len(order); n++ {
		ends := map[string]int64{}
		before := 0
		for _, ev := range order[:n] {
			ends[ev.Run] = ev.Seq
			if d, ok := ev.Data.(*event.ToolFinished); ok && d.Tool == "pay" {
				before = 1
			}
		}
		paid = before
		l := set()
		copyRuns(t, first.store, l.store, func(ev event.Event) bool { return ev.Seq <= ends[ev.Run] })
		r := l.resume(t.Context(), l.engine())
		at := fmt.Sprintf("after %s %s", order[n-1].Run, brief(&order[n-1]))
		if r.Answer != "done" || paid != 1 {
			t.Errorf("%s: %+v, paid %d times\n%s\n%s", at, r, paid, l.journal(), l.of("r1.1"))
		}
		if s := l.of("r1.1"); strings.Count(s, "run.started") != 1 || strings.Count(s, "run.finished") != 1 || strings.Count(s, "input.received") != 1 {
			t.Errorf("%s:\n%s", at, s)
		}
		if _, err := l.store.Head(t.Context(), "r1.2"); err == nil {
			t.Errorf("%s: started twice", at)
		}
		l.checkOnce()
	}
}

// A torn end of the journal of a run below keeps nobody from carrying on the run that
// has called it: it does not count, and is cut off when that run is taken up.
func TestAgentTorn(t *testing.T) {
	set := func() *lab {
		below := newLab(t, call("k1 look"), call("k2 look x"), say("two are late"))
		below.tool("look", event.Read, returns("seen"))
		return newLab(t, call("c1 help x"), say("done")).agent("help", event.Repeatable, below)
	}
	first := set()
	first.start(t.Context(), first.engine())
	for _, whole := range []int64{0, 1, 2, 9} {
		store := &damaged{Store: memory.New(), run: "r1.1", torn: true}
		copyRuns(t, first.store, store.Store, func(ev event.Event) bool { return ev.Run == "r1" && ev.Seq <= 8 || ev.Run != "r1" && ev.Seq <= whole })
		if whole == 0 {
			journaltest.Record(t, store.Store, "r1.1")
		}
		l := set()
		l.store = store
		if r := l.resume(t.Context(), l.engine()); r.Answer != "done" || !store.isCut || !strings.Contains(l.of("r1.1"), "run.finished answered true two are late") {
			t.Errorf("with %d events: %+v, cut %v\n%s\n%s", whole, r, store.isCut, l.journal(), l.of("r1.1"))
		}
	}
}

// An agent's run that somebody else carries out is not started here, and the run
// waits.
func TestAgentHeldElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := newLab(t, reply{do: func(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		l := newLab(t, call("c1 help 1"), say("done")).agent("help", event.Once, hang)
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(engine.ErrStop) })
		l.start(ctx, l.engine())
		lease, err := l.store.Join(t.Context(), journal.Owner{Name: "somebody"})
		if err == nil {
			_, err = l.store.Claim(t.Context(), lease, "r1.1")
		}
		if err != nil {
			t.Fatal(err)
		}
		r := l.resume(t.Context(), l.engine())
		events := l.events()
		if d, ok := events[len(events)-1].Data.(*event.RunPaused); !ok || r.Status != "paused" || !strings.Contains(d.Why, "somebody") {
			t.Errorf("%+v\n%s", r, l.journal())
		}
	})
}
