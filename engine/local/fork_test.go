package local_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// forkOf returns a lab about a fork of a lab's run, and the job that makes it.
func (l *lab) forkOf(run string, input string) (*lab, *engine.Job) {
	f := *l
	f.job.Run, f.job.Input = run, nil
	if input != "" {
		f.job.Input = text(input)
	}
	return &f, f.ready()
}

// fork forks the run and carries the fork out.
func (l *lab) fork(ctx context.Context, e *local.Engine, at int64, run, input string) (*lab, *engine.Result) {
	l.t.Helper()
	f, job := l.forkOf(run, input)
	r, err := e.Fork(ctx, l.job.Run, at, job)
	if err != nil {
		l.t.Fatalf("fork after event %d: %v\n%s", at, err, l.journal())
	}
	return f, r
}

// onEach runs a test on a store in memory and on one on disk.
func onEach(t *testing.T, test func(t *testing.T, l func(...reply) *lab)) {
	t.Run("memory", func(t *testing.T) {
		test(t, func(replies ...reply) *lab { l := newLab(t, replies...); l.store = memory.New(); return l })
	})
	t.Run("disk", func(t *testing.T) {
		test(t, func(replies ...reply) *lab {
			l := newLab(t, replies...)
			l.store = onDisk(t, filepath.Join(t.TempDir(), "rein.db"))
			return l
		})
	})
}

// A run can be forked after any of its events, in the middle of a call too: the fork
// has what was before, and goes on to an end of its own. What must not be done twice
// is done once, by whichever of all these runs comes first; what the fork takes over
// stays as it was, and the other run is not touched.
func TestForkAnywhere(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		l := newLab(call("c1 look"), call("c2 put x", "c3 pay 7"), call("c4 look x"), say("done"))
		var paid, put atomic.Int64
		keys := sync.Map{}
		l.tool("look", event.Read, returns("seen"))
		l.tool("put", event.Repeatable, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			if _, again := keys.LoadOrStore(c.Key, true); !again {
				put.Add(1)
			}
			return tool.Text("put"), nil
		})
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { paid.Add(1); return tool.Text("paid 7"), nil })
		e := l.engine()
		if r := l.start(t.Context(), e); !r.OK {
			t.Fatalf("%+v\n%s", r, l.journal())
		}
		all, before := l.events(), l.journal()
		nothingLeft := 0
		for at := int64(1); at < int64(len(all)); at++ {
			f, job := l.forkOf(fmt.Sprintf("f%d", at), "")
			if at == 1 {
				job.Input = text("go") // which the run had not been told by then
			}
			r, err := e.Fork(t.Context(), "r1", at, job)
			if errors.Is(err, local.ErrNothingLeft) {
				nothingLeft++
				continue
			}
			if err != nil || !r.OK || r.Answer != "done" {
				t.Fatalf("after event %d: %+v, %v\n%s", at, r, err, f.journal())
			}
			own := f.events()
			for i := range at {
				if own[i].Hash != all[i].Hash || own[i].Run != f.job.Run {
					t.Fatalf("after event %d: event %d is %+v", at, i+1, own[i])
				}
			}
			if d, ok := own[at].Data.(*event.RunResumed); !ok || d.Fork != "r1" || d.Models != nil {
				t.Fatalf("after event %d: it goes on with %s", at, brief(&own[at]))
			}
			f.checkOnce()
			f.checkExact()
		}
		if nothingLeft != 1 { // where the answer has been given, and not been recorded as the end
			t.Errorf("%d times nothing was left to do", nothingLeft)
		}
		if paid.Load() != 1 || put.Load() != 1 {
			t.Errorf("paid %d times, put %d times", paid.Load(), put.Load())
		}
		if l.journal() != before {
			t.Errorf("the run is another now:\n%s\nwas\n%s", l.journal(), before)
		}
	})
}

// An agent below a fork does nothing again that an agent below the run has done which
// was forked, not even when that began after the fork.
func TestForkBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paid := 0
		below := newLab(t, call("k1 pay 7"), say("paid"))
		below.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { paid++; return tool.Text("ok"), nil })
		l := newLab(t, call("c1 look"), call("c2 help x"), say("done")).agent("help", event.Read, below)
		begun, forked, over := make(chan bool), make(chan bool), make(chan bool)
		l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			if c.Run == "r1" {
				close(begun)
				<-forked
			} else {
				close(forked)
				<-over
			}
			return tool.Text("seen"), nil
		})
		l.tools[1].(*fakeTool).def.Timeout = time.Hour
		go func() {
			l.start(t.Context(), l.engine())
			close(over)
		}()
		<-begun
		time.Sleep(time.Second) // until it stands in the journal
		f, r := l.fork(t.Context(), l.engine(), 8, "f1", "")
		if paid != 1 || r.Answer != "done" || !strings.Contains(f.of("f1.1"), "pay(k1) intercepted") {
			t.Errorf("paid %d times, %+v\n%s\n%s", paid, r, f.of("r1.1"), f.of("f1.1"))
		}
	})
}

// What the fork would do again, though another run of the family has done it since, is
// told to it.
func TestForkSeesTheLedger(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		l := newLab(call("c1 look"), call("c2 pay 7"), say("done"))
		var paid atomic.Int64
		l.tool("look", event.Read, returns("seen"))
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			paid.Add(1)
			return tool.Text("receipt 77"), nil
		})
		e := l.engine()
		l.start(t.Context(), e)
		at, err := engine.ForkPoint(t.Context(), l.store, "r1", 1)
		if err != nil {
			t.Fatal(err)
		}
		f, r := l.fork(t.Context(), e, at, "f1", "")
		if got := f.journal(); !r.OK || paid.Load() != 1 || !strings.Contains(got, "pay(c2) intercepted") || !strings.Contains(got, "receipt 77") || !strings.Contains(got, "run r1") {
			t.Errorf("paid %d times, %+v\n%s", paid.Load(), r, got)
		}
		// A fork of the fork, from before that: the run that has paid is its cousin.
		f2, r := f.fork(t.Context(), e, at-1, "f2", "")
		if got := f2.journal(); !r.OK || paid.Load() != 1 || !strings.Contains(got, "pay(c2) intercepted") {
			t.Errorf("paid %d times, %+v\n%s", paid.Load(), r, got)
		}
	})
}

// The run that was forked sees what its fork has done, and neither knew of the other
// when it began.
func TestForkedSeesTheFork(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		l := newLab(call("c1 pay 7"), say("done"))
		var paid atomic.Int64
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			paid.Add(1)
			return tool.Text("receipt 77"), nil
		})
		l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		e := l.engine()
		r := l.start(t.Context(), e)
		if r.Cause != event.CauseWaitingApproval {
			t.Fatalf("%+v", r)
		}
		end := int64(len(l.events()))
		// The question is the fork's, too, and stays open in both.
		f, r := l.fork(t.Context(), e, end, "f1", "")
		if r.Cause != event.CauseWaitingApproval || len(r.Pending) != 1 || r.Pending[0].Call != "c1" || r.Pending[0].Run != "f1" {
			t.Fatalf("%+v\n%s", r, f.journal())
		}
		yes := func(q engine.Question) event.Data {
			return &event.ApprovalGiven{Call: q.Call, Hash: q.Hash, Decision: event.Approved, By: "ann"}
		}
		f.post(yes(r.Pending[0]))
		if r := f.resume(t.Context(), e); !r.OK || paid.Load() != 1 {
			t.Fatalf("%+v, paid %d times\n%s", r, paid.Load(), f.journal())
		}
		if r := l.resume(t.Context(), e); r.Cause != event.CauseWaitingApproval {
			t.Fatalf("the answer to the fork has answered the other run: %+v", r)
		}
		l.post(yes(r.Pending[0]))
		if r := l.resume(t.Context(), e); !r.OK || paid.Load() != 1 || !strings.Contains(l.journal(), "pay(c1) intercepted") || !strings.Contains(l.journal(), "run f1") {
			t.Errorf("%+v, paid %d times\n%s", r, paid.Load(), l.journal())
		}
	})
}

// Two forks that come to the same act at the same moment, in one process or in two:
// one of them does it, and no more than one.
func TestForksAtOnce(t *testing.T) {
	for name, two := range map[string]bool{"one process": false, "two processes": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rein.db")
			l := newLab(t, call("c1 pay 7"), say("done"))
			l.store = onDisk(t, path)
			var paid atomic.Int64
			l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
				paid.Add(1)
				time.Sleep(300 * time.Millisecond)
				return tool.Text("receipt 77"), nil
			})
			l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
			e := l.engine()
			l.start(t.Context(), e)
			end := int64(len(l.events()))
			l.spec.Permissions = nil
			l.job.Approve = func(context.Context, engine.Question) (engine.Answer, bool) {
				return engine.Answer{Decision: event.Approved}, true
			}
			labs := []*lab{l, l}
			engines := []*local.Engine{e, e}
			if two {
				other := *l
				other.store = onDisk(t, path)
				labs[1], engines[1] = &other, other.engine()
			}
			var wg sync.WaitGroup
			for i := range labs {
				wg.Go(func() {
					f, job := labs[i].forkOf(fmt.Sprintf("f%d", i), "")
					if r, err := engines[i].Fork(t.Context(), "r1", end, job); err != nil || !r.OK {
						t.Errorf("%+v, %v\n%s", r, err, f.journal())
					}
				})
			}
			wg.Wait()
			if n := paid.Load(); n > 1 {
				t.Errorf("paid %d times", n)
			}
		})
	}
}

// What became of a call that was in flight when the run was forked is found out by its
// class, as after a crash: here the run that was forked still does it.
func TestForkInTheMiddleOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 pay 7"), say("done"))
		release := make(chan struct{})
		var paid atomic.Int64
		l.tool("pay", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			paid.Add(1)
			<-release
			return tool.Text("receipt 77"), nil
		})
		e := l.engine()
		ended := make(chan *engine.Result)
		go func() { ended <- l.start(t.Context(), e) }()
		synctest.Wait()
		end := int64(len(l.events()))
		if d, ok := l.events()[end-1].Data.(*event.ToolStarted); !ok || d.Call != "c1" {
			t.Fatalf("the run ends with %s", brief(&l.events()[end-1]))
		}
		f, r := l.fork(t.Context(), e, end, "f1", "")
		if !r.OK || !strings.Contains(f.journal(), "pay(c1) unknown outcome_unknown") {
			t.Errorf("%+v\n%s", r, f.journal())
		}
		close(release)
		if r := <-ended; !r.OK || paid.Load() != 1 || !strings.Contains(l.journal(), "receipt 77") {
			t.Errorf("%+v, paid %d times\n%s", r, paid.Load(), l.journal())
		}
	})
}

// A fork may ask another model, which a later resume asks too. What was used stays
// used, the limits hold for all of it, and each call is charged at its model's price.
func TestForkToAnotherModel(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"))
	l.tool("look", event.Read, returns("seen"))
	l.spec.Limits = event.Limits{Steps: 3}
	l.spec.Prices = []event.ModelPrice{{Model: "fake/m", Price: message.Price{Input: 1_000_000, Cached: 1_000_000, CacheWrite: 1_000_000, Output: 1_000_000}}}
	e := l.engine()
	first := l.start(t.Context(), e)
	at, err := engine.ForkPoint(t.Context(), l.store, "r1", 1)
	if err != nil {
		t.Fatal(err)
	}
	f, job := l.forkOf("f1", "And how sure are you?")
	other := &fakeModel{replies: []reply{say("never said"), say("Quite."), say("Very.")}}
	var asked []string
	job.Model = func(name string) (model.Client, error) {
		if name != "fake/other" {
			return nil, errors.New("only the other model is there")
		}
		asked = append(asked, name)
		return other, nil
	}
	job.Models = &event.ModelChange{Model: "fake/other", Window: event.WindowSpec{Size: 100_000, Reserve: 1000, Margin: 900_000, Tokenizer: "its own"}}
	r, err := e.Fork(t.Context(), "r1", at, job)
	if err != nil || !r.OK || r.Answer != "Quite." || r.Steps != 2 {
		t.Fatalf("%+v, %v\n%s", r, err, f.journal())
	}
	if r.Usage.Input.Or(0) != first.Usage.Input.Or(0) || r.Cost != (message.Count(0)) {
		t.Errorf("used %+v, cost %v: two calls, of which the price of one is unknown", r.Usage, r.Cost)
	}
	var change *event.ModelChange
	for _, ev := range f.events() {
		switch d := ev.Data.(type) {
		case *event.RunResumed:
			change = d.Models
		case *event.ModelCalled:
			if want := map[bool]string{false: "fake/m", true: "fake/other"}[change != nil]; d.Model != want {
				t.Errorf("event %d asks %s, not %s", ev.Seq, d.Model, want)
			}
		}
	}
	if change == nil || change.Window.Size != 100_000 || change.Window.Tokenizer != "" || change.Window.Margin > 650_000 {
		t.Errorf("the change is %+v: what was counted before was not counted by its own tokenizer", change)
	}
	// From there on it is a run with that model.
	end, err := engine.ForkPoint(t.Context(), l.store, "f1", 2)
	if err != nil {
		t.Fatal(err)
	}
	g, job2 := f.forkOf("f2", "Really?")
	job2.Model = job.Model
	if r, err := e.Fork(t.Context(), "f1", end, job2); err != nil || r.Answer != "Very." || r.Steps != 3 {
		t.Errorf("%+v, %v\n%s", r, err, g.journal())
	}
	g.job.Model = func(string) (model.Client, error) { return nil, errors.New("not here") }
	if _, err := e.Fork(t.Context(), "f1", end, g.ready()); err == nil || !strings.Contains(err.Error(), "fake/other") {
		t.Errorf("without its model: %v", err)
	}
}

// A fork that could do nothing is not made, and the error says what to do.
func TestForkRefused(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"), say("more"))
	l.tool("look", event.Read, returns("seen"))
	e := l.engine()
	l.start(t.Context(), e)
	end := int64(len(l.events()))
	for _, c := range []struct {
		name string
		at   int64
		run  string
		want string
	}{
		{"before its beginning", 0, "f", "events 1 to"},
		{"after its end", end + 1, "f", "events 1 to"},
		{"at its end", end, "f", "come to its end there (answered)"},
		{"with an answer", end - 1, "f", "say something, or fork it earlier"},
		{"into itself", 3, "r1", "exists"},
	} {
		_, job := l.forkOf(c.run, "")
		if _, err := e.Fork(t.Context(), "r1", c.at, job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := l.store.Head(t.Context(), "f"); err == nil {
		t.Error("there is a fork")
	}
	if _, r := l.fork(t.Context(), e, end-1, "f", "And then?"); !r.OK || r.Answer != "more" || r.Steps != 3 {
		t.Errorf("%+v", r)
	}
}

// A run that somebody has only made of the beginning of another, or whose process died
// before it went on, is a fork for whoever carries it on, and says so once: what was
// allowed in the other run is asked again. A fork of it inside what they share is one of
// the first.
func TestForkCarriedOnByAnother(t *testing.T) {
	onEach(t, func(t *testing.T, newLab func(...reply) *lab) {
		l := newLab(call("c1 pay 7"), say("done"))
		l.tool("pay", event.Once, returns("receipt 77"))
		l.spec.Permissions = []event.Permission{{Verdict: event.Ask, Match: "*"}}
		l.job.Approve = func(context.Context, engine.Question) (engine.Answer, bool) {
			return engine.Answer{Decision: event.Approved}, true
		}
		e := l.engine()
		l.start(t.Context(), e)
		at := int64(0)
		for _, ev := range l.events() {
			if _, ok := ev.Data.(*event.ApprovalGiven); ok {
				at = ev.Seq
			}
		}
		l.job.Approve = nil
		copyOnly(t, l.store, "r1", at, "f1")
		copyOnly(t, l.store, "f1", at, "f2")
		for _, run := range []string{"f1", "f2"} {
			f, _ := l.forkOf(run, "")
			for range 2 {
				if r := f.resume(t.Context(), e); r.Cause != event.CauseWaitingApproval || strings.Count(f.journal(), "approval.asked c1") != 2 {
					t.Errorf("%+v\n%s", r, f.journal())
				}
			}
			var of []string
			for _, ev := range f.events() {
				if d, ok := ev.Data.(*event.RunResumed); ok {
					of = append(of, d.Fork)
				}
			}
			if !slices.Equal(of, []string{"r1", ""}) {
				t.Errorf("%s says that it is a fork of %q", run, of)
			}
		}
	})
}

// copyOnly makes a fork as a process leaves it that dies at once.
func copyOnly(t *testing.T, store journal.Store, from string, at int64, run string) {
	t.Helper()
	lease, err := store.Join(t.Context(), journal.Owner{Name: "dead"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Fork(t.Context(), lease, from, at, run); err != nil {
		t.Fatal(err)
	}
	if err := store.Leave(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}
