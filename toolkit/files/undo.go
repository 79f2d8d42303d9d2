package files

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// past is what a change has to remember to be taken back.
type past struct {
	Path string `json:"path"`
	// Same: nothing was changed.
	Same bool `json:"same,omitempty"`
	// Before is what the file was, nil if there was none; Mode its permissions.
	Before *message.Ref `json:"before,omitempty"`
	Mode   fs.FileMode  `json:"mode,omitempty"`
	// Was and Is are the versions before and after; Is is empty if the file was
	// deleted.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
}

// remember keeps what a file is before it is changed. What cannot be kept can only
// not be taken back: the change is made all the same.
func (w *workspace) remember(ctx context.Context, name string, old *file, is string) jsontext.Value {
	call := tool.CallFrom(ctx)
	if call == nil || call.Before.Keep == nil {
		return nil
	}
	p := past{Path: name, Is: is}
	if old != nil {
		p.Was, p.Mode = old.version, old.info.Mode().Perm()
		if p.Same = p.Was == is; !p.Same {
			ref, err := call.Before.Keep(ctx, []byte(old.text), "text/plain; charset=utf-8")
			if err != nil {
				return nil
			}
			p.Before = &ref
		}
	}
	v, err := json.Marshal(&p, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return v
}

func cannotUndo(format string, args ...any) *tool.Error {
	return &tool.Error{Type: tool.TypeCannotUndo, Message: fmt.Sprintf(format, args...), NoEffect: true}
}

// undo takes back what write_file, edit_file or delete_file did, if the file is still as that
// has left it.
func (w *workspace) undo(ctx context.Context, call *tool.Call, outcome *event.ToolFinished) error {
	if outcome == nil || outcome.Status != event.StatusSuccess {
		return cannotUndo("nobody knows what the call did: look at the file")
	}
	var p past
	if len(outcome.Undo) == 0 || json.Unmarshal(outcome.Undo, &p) != nil {
		return cannotUndo("what the file was before was not kept")
	}
	if p.Same {
		return nil
	}
	name, err := w.path(p.Path)
	if err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	now, err := w.before(ctx, name)
	switch {
	case err != nil:
		return err
	case now == nil && p.Is == "":
	case now == nil && p.Before == nil, now != nil && p.Before != nil && now.version == p.Was:
		return nil // it was taken back already
	case now == nil:
		return cannotUndo("%s was removed since", name)
	case p.Is == "":
		return cannotUndo("there is another %s now", name)
	case now.version != p.Is:
		return cannotUndo("%s was changed since, by somebody else or in a way that is not in the journal", name)
	}
	still := func() error { return w.unchanged(ctx, name, now) }
	if p.Before == nil {
		err = w.target.Remove(ctx, name, still)
	} else {
		var body []byte
		if body, err = call.Before.Kept(ctx, *p.Before); err != nil {
			return cannotUndo("what %s was before cannot be read any more: %v", name, err)
		}
		err = w.target.Write(ctx, name, string(body), p.Mode, still)
	}
	if err != nil {
		return w.failed("taken back", name, err)
	}
	return nil
}
