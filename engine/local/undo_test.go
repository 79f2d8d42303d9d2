package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// undoable makes the lab's last tool one that can be undone.
func (l *lab) undoable(undo func(context.Context, *tool.Call, *event.ToolFinished) error) *lab {
	n := len(l.tools) - 1
	l.tools[n] = tool.WithUndo(l.tools[n], undo)
	return l
}

func (l *lab) undo(e interface {
	Undo(context.Context, *engine.UndoJob) ([]engine.Undone, error)
}, to int64) []engine.Undone {
	l.t.Helper()
	got, err := e.Undo(l.t.Context(), &engine.UndoJob{Run: l.job.Run, To: to, Tools: l.ready().Tools,
		Approve: func(context.Context, engine.Question) (engine.Answer, bool) {
			return engine.Answer{Decision: event.Approved, By: "me"}, true
		}})
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

// A tool gets back what it kept, once for each call, the last first; what its undo
// does wrong is its own affair; and everything stands in the journal.
func TestUndo(t *testing.T) {
	var order []string
	l := newLab(t, call("c1 set 1"), call("c2 set 2"), call("c3 set boom"), call("c4 read"), say("done"))
	l.tool("read", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		if c.Before.Keep != nil {
			t.Error("a tool that cannot be undone gets a place to keep things")
		}
		return tool.Text("x"), nil
	})
	l.tool("set", event.Once, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		ref, err := c.Before.Keep(ctx, []byte("before "+string(c.Args)), "text/plain")
		if err != nil {
			return nil, err
		}
		r := tool.Text("set")
		r.Undo = []byte(`{"sha256":"` + ref.SHA256 + `"}`)
		return r, nil
	}).undoable(func(ctx context.Context, c *tool.Call, o *event.ToolFinished) error {
		if strings.Contains(string(c.Args), "boom") {
			panic("boom")
		}
		hash := strings.TrimSuffix(strings.TrimPrefix(string(o.Undo), `{"sha256":"`), `"}`)
		body, err := c.Before.Kept(ctx, message.Ref{SHA256: hash, Bytes: int64(len("before " + string(c.Args)))})
		if err != nil {
			return err
		}
		if string(body) != "before "+string(c.Args) || c.Key == "" {
			return errors.New("not what was kept: " + string(body))
		}
		order = append(order, c.ID)
		return nil
	})
	e := l.engine()
	l.start(t.Context(), e)
	got := l.undo(e, 0)
	if len(got) != 3 || got[0].Status != engine.UndoFailed || got[1].Status != engine.UndoDone || got[2].Status != engine.UndoDone || strings.Join(order, " ") != "c2 c1" {
		t.Errorf("%+v, in the order %v", got, order)
	}
	if got := l.undo(e, 0); len(got) != 1 || got[0].Call != "c3" {
		t.Errorf("again: %+v", got)
	}
	journal := l.journal()
	for _, want := range []string{"approval.asked", "approval.given", "tool.started", "tool.finished"} {
		if after := journal[strings.Index(journal, "run.finished"):]; !strings.Contains(after, want) {
			t.Errorf("the journal holds no %s of the undo:\n%s", want, journal)
		}
	}
	if r := l.resume(t.Context(), e); r.Status != "finished" || r.Answer != "done" {
		t.Errorf("the run is %+v", r)
	}
}

// A run that is being carried out is left alone, and one that does not exist is no
// run.
func TestUndoRefused(t *testing.T) {
	l := newLab(t, call("c1 wait"), say("done"))
	e := l.engine()
	l.tool("wait", event.Read, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		_, err := e.Undo(ctx, &engine.UndoJob{Run: "r1", Tools: l.ready().Tools})
		if err == nil {
			t.Error("calls of a run under way are taken back")
		}
		return tool.Text("x"), nil
	})
	l.start(t.Context(), e)
	if _, err := e.Undo(t.Context(), &engine.UndoJob{Run: "r1"}); err == nil {
		t.Error("calls are taken back without tools")
	}
	if _, err := e.Undo(t.Context(), &engine.UndoJob{Run: "no such run", Tools: l.ready().Tools}); err == nil {
		t.Error("calls of no run are taken back")
	}
}

// What a call says of its progress reaches whoever watches, before its result, and
// without secrets.
func TestProgress(t *testing.T) {
	l := newLab(t, call("c1 slow"), say("done"))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Hide("KEY", "0123456789abcdef"); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1)
	l.tool("slow", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		c.Progress("half of it, with 0123456789abcdef")
		select {
		case text := <-seen:
			return tool.Text(text), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	l.job.Watch = &engine.Watch{Progress: func(run, call, tool, text string) { seen <- run + " " + call + " " + tool + " " + text }}
	l.start(t.Context(), l.engine())
	for _, ev := range l.events() {
		if d, ok := ev.Data.(*event.ToolFinished); ok {
			if got := d.Parts[0].Text; !strings.HasPrefix(got, "r1 c1 slow half of it, with ") || strings.Contains(got, "0123") {
				t.Errorf("seen: %q", got)
			}
		}
	}
}

// An error can bring along what there is to show, which is shaped like any result,
// and a tool that keeps its time itself is a timeout all the same.
func TestErrorWithResult(t *testing.T) {
	l := newLab(t, call("c1 run"), say("done"))
	l.tool("run", event.Repeatable, func(context.Context, *tool.Call) (*tool.Result, error) {
		r := tool.Text(strings.Repeat("line\n", 5000) + "the end")
		r.Keep = tool.Tail
		return nil, &tool.Error{Type: tool.TypeTimeout, Message: "over", Result: r}
	})
	l.start(t.Context(), l.engine())
	for _, ev := range l.events() {
		d, ok := ev.Data.(*event.ToolFinished)
		if !ok {
			continue
		}
		text := d.Parts[0].Text
		if d.Status != event.StatusTimeout || !strings.HasPrefix(text, `{"ok":false,"error_type":"timeout"`) || !strings.HasSuffix(text, "line\nthe end") {
			t.Errorf("%s: %q … %q", d.Status, text[:40], text[len(text)-40:])
		}
		if d.Full == nil || d.Shown >= d.Size || len(d.Shaped) == 0 {
			t.Errorf("not shaped: %+v", d)
		}
	}
}
