package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// spy is a store that notes what happens in which order, and lets a test act
// just before an append.
type spy struct {
	journal.Store
	before func(b journal.Batch) error

	mu    sync.Mutex
	notes []string
}

func (s *spy) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, what)
}

func (s *spy) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	if s.before != nil {
		if err := s.before(b); err != nil {
			return journal.Head{}, err
		}
	}
	h, err := s.Store.Append(ctx, l, b)
	kind := "append"
	if b.Async {
		kind = "hand"
	}
	for _, e := range b.Entries {
		kind += " " + strings.TrimPrefix(string(e.Data.Type()), "context.")
	}
	if err != nil {
		kind = "conflict"
	}
	s.note(kind)
	return h, err
}

func (s *spy) Sync(ctx context.Context, run string) error {
	s.note("sync")
	return s.Store.Sync(ctx, run)
}

func (s *spy) read() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

// What is durable before what: one batch for a step with a read, two for a step
// with a write, whose intent is durable before it runs; and a reply is acted on
// after the intent to ask for it is.
func TestBarriers(t *testing.T) {
	l := newLab(t, call("c1 look"), call("c2 change"), call("c3 change 1", "c4 change 2"), say("done"))
	s := &spy{Store: l.store}
	l.store = s
	noting := func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		s.note("run " + c.ID)
		return tool.Text("ok"), nil
	}
	l.tool("look", event.Read, noting).tool("change", event.Once, noting)
	l.start(t.Context(), l.engine())
	want(t, strings.Join(s.read(), "\n"), `
		hand run.started input.received assembled model.called
		sync
		run c1
		hand model.answered reply.parsed call.judged tool.started tool.finished assembled model.called
		sync
		append model.answered reply.parsed call.judged tool.started
		run c2
		hand tool.finished assembled model.called
		sync
		append model.answered reply.parsed call.judged call.judged tool.started
		run c3
		append tool.finished tool.started
		run c4
		hand tool.finished assembled model.called
		sync
		append model.answered reply.parsed run.finished
	`)
}

// Somebody posts just before an append, at every append of a run in turn. What
// has happened stays, nothing is done twice, and the post is seen.
func TestConflicts(t *testing.T) {
	for at := 1; ; at++ {
		l := newLab(t, call("c1 look"), call("c2 change"), call("c3 look", "c4 look x"), say("done"), say("done too"))
		appends, changed := 0, 0
		inner := l.store
		var post func()
		l.store = &spy{Store: l.store, before: func(journal.Batch) error {
			if appends++; appends == at && at > 1 {
				post()
			}
			return nil
		}}
		post = func() {
			if _, err := inner.Post(t.Context(), "r1", journal.Entry{Time: time.Now().UnixMilli(),
				Data: &event.InputReceived{Kind: event.InputText, Parts: text("one more thing")}}); err != nil {
				t.Error(err)
			}
		}
		l.tool("look", event.Read, returns("seen"))
		l.tool("change", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { changed++; return tool.Text("changed"), nil })
		r := l.start(t.Context(), l.engine())
		if at > appends {
			break
		}
		if !r.OK || changed != 1 {
			t.Fatalf("post before append %d: changed %d times, %+v\n%s", at, changed, r, l.journal())
		}
		if at > 1 && strings.Count(l.journal(), "one more thing") != 1 {
			t.Errorf("post before append %d is lost\n%s", at, l.journal())
		}
		if at > 1 && !strings.Contains(string(l.model.sent()[len(l.model.sent())-1]), "one more thing") {
			t.Errorf("post before append %d was not shown to the model\n%s", at, l.journal())
		}
		l.checkOnce()
		l.checkBodies()
	}
}

// A post in the middle of each thing that can be in flight.
func TestPostsInFlight(t *testing.T) {
	for _, where := range []string{"model", "read", "write"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, call("c1 look"), call("c2 change"), say("done"), say("done too"))
				slow := func(name string) func(context.Context, *tool.Call) (*tool.Result, error) {
					return func(context.Context, *tool.Call) (*tool.Result, error) {
						time.Sleep(time.Second)
						if where == name {
							l.post(&event.InputReceived{Kind: event.InputText, Parts: text("more")})
							time.Sleep(time.Second)
						}
						return tool.Text("ok"), nil
					}
				}
				l.tool("look", event.Read, slow("read")).tool("change", event.Once, slow("write"))
				l.model.replies[1].do = func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
					if where == "model" {
						l.post(&event.InputReceived{Kind: event.InputText, Parts: text("more")})
						time.Sleep(time.Second)
					}
					return call("c2 change").reply(), nil
				}
				r := l.start(t.Context(), l.engine())
				if !r.OK || r.ToolCalls != 2 || strings.Count(l.journal(), "text more") != 1 {
					t.Errorf("%+v\n%s", r, l.journal())
				}
				l.checkOnce()
				l.checkBodies()
			})
		})
	}
}

// A posted stop ends what is in flight, like the caller's own.
func TestPostedStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 work"), say("done"))
		l.tool("work", event.Read, obey)
		time.AfterFunc(time.Second, func() { l.post(&event.InputReceived{Kind: event.InputStop, Why: "from elsewhere"}) })
		begun := time.Now()
		r := l.start(t.Context(), l.engine())
		if took := time.Since(begun); took > 2*time.Second || r.Status != "paused" || r.Cause != event.CauseInterrupted {
			t.Errorf("after %v %+v\n%s", took, r, l.journal())
		}
	})
}

// When another process has taken the run over, this one stops at once and
// writes nothing more.
func TestFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 change", "c2 change x"), say("done"))
		fenced := false
		s := &spy{Store: l.store, before: func(journal.Batch) error {
			if fenced {
				return fmt.Errorf("appending: %w", journal.ErrFenced)
			}
			return nil
		}}
		l.store = s
		l.tool("change", event.Once, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			if c.ID == "c2" {
				t.Error("the second call was begun")
			}
			fenced = true
			return tool.Text("ok"), nil
		})
		r, err := l.engine().Start(t.Context(), l.ready())
		if !errors.Is(err, journal.ErrFenced) || !strings.Contains(err.Error(), "another process has taken run r1 over") {
			t.Errorf("error %v", err)
		}
		if r == nil || r.Status != "interrupted" || r.ToolCalls != 1 {
			t.Errorf("%+v", r)
		}
		if got := l.journal(); !strings.HasSuffix(got, "tool.started 7.0 change(c1) attempt 1\n") {
			t.Error(got)
		}
	})
}

// What cannot be appended for another reason ends the run with that error, and
// the result is what the journal says.
func TestStoreFails(t *testing.T) {
	l := newLab(t, call("c1 look"), say("done"))
	n := 0
	full := errors.New("no space left")
	l.store = &spy{Store: l.store, before: func(journal.Batch) error {
		if n++; n == 3 {
			return full
		}
		return nil
	}}
	l.tool("look", event.Read, returns("seen"))
	e := l.engine()
	r, err := e.Start(t.Context(), l.ready())
	if !errors.Is(err, full) || r == nil || r.Status != "interrupted" {
		t.Fatalf("%+v, %v", r, err)
	}
	// Once there is space, it goes on.
	if r := l.resume(t.Context(), e); !r.OK || r.Answer != "done" {
		t.Errorf("%+v", r)
	}
}

// One run is carried out once at a time; another process is told who does.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 work"), say("done"))
		release := make(chan struct{})
		l.tool("work", event.Read, hang(release))
		e, other := l.engine(), l.engine()
		done := make(chan *engine.Result, 1)
		go func() { done <- l.start(t.Context(), e) }()
		synctest.Wait()
		for name, e := range map[string]engine.Engine{"the same engine": e, "another engine": other} {
			var held *journal.HeldError
			if r, err := e.Resume(t.Context(), l.ready()); !errors.As(err, &held) || r != nil {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
		close(release)
		if r := <-done; !r.OK {
			t.Errorf("%+v", r)
		}
	})
}

// What has happened does not stay in memory for long while a slow tool runs.
func TestSlowRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 look"), say("done"))
		s := &spy{Store: l.store}
		l.store = s
		l.tool("look", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			time.Sleep(100 * time.Millisecond)
			if !strings.Contains(l.journal(), "tool.started") {
				t.Error("nobody can see what the run is doing")
			}
			return tool.Text("seen"), nil
		})
		l.start(t.Context(), l.engine())
		want(t, strings.Join(s.read(), "\n"), `
			hand run.started input.received assembled model.called
			sync
			hand model.answered reply.parsed call.judged tool.started
			hand tool.finished assembled model.called
			sync
			append model.answered reply.parsed run.finished
		`)
	})
}

// Many runs of one engine do not get into each other's way.
func TestManyRuns(t *testing.T) {
	l := newLab(t, call("c1 look", "c2 look x"), call("c3 change"), say("done"))
	l.tool("look", event.Read, returns("seen")).tool("change", event.Once, returns("changed"))
	e, job := l.engine(), l.ready()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			mine := *job
			mine.Run = fmt.Sprint("run", i)
			if r, err := e.Start(t.Context(), &mine); err != nil || !r.OK || r.Run != mine.Run || r.ToolCalls != 3 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
}
