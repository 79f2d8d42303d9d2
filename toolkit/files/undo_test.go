package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// bodies keeps what was there before, as an engine does.
func bodies(kept map[string][]byte) tool.Body {
	return tool.Body{
		Keep: func(_ context.Context, body []byte, _ string) (message.Ref, error) {
			ref := message.Ref{SHA256: string(newFile(string(body)).version), Bytes: int64(len(body))}
			kept[ref.SHA256] = body
			return ref, nil
		},
		Kept: func(_ context.Context, ref message.Ref) ([]byte, error) {
			if b, ok := kept[ref.SHA256]; ok {
				return b, nil
			}
			return nil, errors.New("gone")
		},
	}
}

// A change is taken back only from what it has left, and then to the byte.
func TestUndo(t *testing.T) {
	for _, c := range []struct {
		name, before, tool string
		a                  args
		meanwhile          func(e *env)
		want, why          string
	}{
		{"overwritten", "one\r\n", "write_file", args{"path": "f", "content": "two\n"}, nil, "one\r\n", ""},
		{"edited", "one two", "edit_file", args{"path": "f", "old": "two", "new": "three"}, nil, "one two", ""},
		{"created", "-", "write_file", args{"path": "f", "content": "two\n"}, nil, "(no such file or directory)", ""},
		{"written as it was", "one\n", "write_file", args{"path": "f", "content": "one\n"}, nil, "one\n", ""},
		{"as it was, and changed since", "one\n", "write_file", args{"path": "f", "content": "one\n"}, func(e *env) { e.put("f", "x") }, "x", ""},
		{"taken back already", "one\n", "write_file", args{"path": "f", "content": "two\n"}, func(e *env) { e.put("f", "one\n") }, "one\n", ""},
		{"deleted", "one\n", "delete_file", args{"path": "f"}, nil, "one\n", ""},
		{"deleted, and there is another", "one\n", "delete_file", args{"path": "f"}, func(e *env) { e.put("f", "two") }, "two", "there is another f now"},
		{"deleted, and put back", "one\n", "delete_file", args{"path": "f"}, func(e *env) { e.put("f", "one\n") }, "one\n", ""},
		{"changed since", "one\n", "write_file", args{"path": "f", "content": "two\n"}, func(e *env) { e.put("f", "three\n") }, "three\n", "f was changed since"},
		{"removed since", "one\n", "write_file", args{"path": "f", "content": "two\n"}, func(e *env) { os.Remove(filepath.Join(e.dir, "f")) }, "(no such file or directory)", "f was removed since"},
		{"created and removed since", "-", "write_file", args{"path": "f", "content": "two\n"}, func(e *env) { os.Remove(filepath.Join(e.dir, "f")) }, "(no such file or directory)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, nil)
			if c.before != "-" {
				e.put("f", c.before)
				e.call("read_file", args{"path": "f"})
			}
			raw, err := json.Marshal(c.a, json.Deterministic(true))
			if err != nil {
				t.Fatal(err)
			}
			kept := map[string][]byte{}
			call := &tool.Call{Run: "r", ID: "c", Key: "k", Args: jsontext.Value(raw), Attempt: 1, Seen: e.seen, Before: bodies(kept)}
			r, err := e.tools[c.tool].Run(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			if c.meanwhile != nil {
				c.meanwhile(e)
			}
			err = e.tools[c.tool].(tool.Undoer).Undo(t.Context(), call, &event.ToolFinished{Status: event.StatusSuccess, Undo: r.Undo})
			var told *tool.Error
			switch {
			case c.why == "" && err != nil:
				t.Errorf("error %v", err)
			case c.why != "" && (!errors.As(err, &told) || told.Type != tool.TypeCannotUndo || told.Message[:len(c.why)] != c.why):
				t.Errorf("error %v, want %q", err, c.why)
			}
			if got := e.get("f"); got != c.want {
				t.Errorf("the file is %q, want %q", got, c.want)
			}
		})
	}
}

// What nobody knows, or what was not kept, is not guessed at.
func TestUndoUnknown(t *testing.T) {
	e := newEnv(t, map[string]string{"f": "now\n"})
	u := e.tools["write_file"].(tool.Undoer)
	ref := &message.Ref{SHA256: "lost"}
	lost, _ := json.Marshal(past{Path: "f", Before: ref, Is: newFile("now\n").version})
	for _, o := range []*event.ToolFinished{nil, {Status: event.StatusUnknown}, {Status: event.StatusSuccess}, {Status: event.StatusSuccess, Undo: jsontext.Value("[1]")},
		{Status: event.StatusSuccess, Undo: lost}} {
		err := u.Undo(t.Context(), &tool.Call{Before: bodies(nil)}, o)
		if told, ok := err.(*tool.Error); !ok || told.Type != tool.TypeCannotUndo {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	outside, _ := json.Marshal(past{Path: "../f", Is: "x"})
	if err := u.Undo(t.Context(), &tool.Call{Before: bodies(nil)}, &event.ToolFinished{Status: event.StatusSuccess, Undo: outside}); err == nil {
		t.Error("a path that leads out is taken")
	}
	if got := e.get("f"); got != "now\n" {
		t.Errorf("the file is %q", got)
	}
}
