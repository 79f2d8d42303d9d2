package local_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/tool"
)

// onDisk opens the store of a file, as one process after or beside the other.
func onDisk(t testing.TB, path string) journal.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A run on disk, stopped from another process, resumed by a third.
func TestOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	l := newLab(t, call("c1 look"), call("c2 change"), call("c3 look x"), say("done"))
	l.store = onDisk(t, path)
	other := onDisk(t, path)
	changed, stopped := 0, false
	l.tool("change", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { changed++; return tool.Text("ok"), nil })
	l.tool("look", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		if c.ID == "c3" && !stopped {
			stopped = true
			if _, err := other.Post(ctx, "r1", journal.Entry{Time: time.Now().UnixMilli(), Data: &event.InputReceived{Kind: event.InputStop}}); err != nil {
				t.Error(err)
			}
			return obey(ctx, c)
		}
		return tool.Text(strings.Repeat("a line that is seen\n", 2_000)), nil
	})
	e := l.engine()
	if r := l.start(t.Context(), e); r.Status != "paused" || r.Cause != event.CauseInterrupted {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	l.store = onDisk(t, path)
	if r := l.resume(t.Context(), l.engine()); !r.OK || r.Answer != "done" {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	if changed != 1 {
		t.Errorf("changed %d times", changed)
	}
	l.checkOnce()
	l.checkBodies()
}

// As TestConflicts, with a file and a post through another connection: some
// conflicts only show when a batch that was handed over reaches the disk.
func TestConflictsOnDisk(t *testing.T) {
	for at := 2; ; at++ {
		path := filepath.Join(t.TempDir(), "rein.db")
		store, other := onDisk(t, path), onDisk(t, path)
		l := newLab(t, call("c1 look"), call("c2 change"), say("done"), say("done too"))
		appends, changed := 0, 0
		l.store = &spy{Store: store, before: func(journal.Batch) error {
			if appends++; appends == at {
				if _, err := other.Post(t.Context(), "r1", journal.Entry{Time: time.Now().UnixMilli(),
					Data: &event.InputReceived{Kind: event.InputText, Parts: text("one more thing")}}); err != nil {
					t.Error(err)
				}
			}
			return nil
		}}
		l.tool("look", event.Read, returns("seen"))
		l.tool("change", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) { changed++; return tool.Text("ok"), nil })
		r := l.start(t.Context(), l.engine())
		if at > appends {
			break
		}
		if !r.OK || changed != 1 || strings.Count(l.journal(), "one more thing") != 1 {
			t.Fatalf("post before append %d: changed %d times, %+v\n%s", at, changed, r, l.journal())
		}
		l.checkOnce()
		l.checkBodies()
	}
}

// Two engines on one file: one run each at a time, and a run that one has
// parked can be carried on by the other.
func TestTwoEngines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	l := asking(t, nil)
	l.store = onDisk(t, path)
	l.start(t.Context(), l.engine())
	l.store = onDisk(t, path)
	l.job.Approve = func(context.Context, engine.Question) (engine.Answer, bool) {
		return engine.Answer{Decision: event.Approved}, true
	}
	if r := l.resume(t.Context(), l.engine()); !r.OK || !strings.Contains(l.journal(), "pay(c1) success") {
		t.Errorf("%+v\n%s", r, l.journal())
	}
}
