package tool

import (
	"context"

	"rein.example/rein/event"
)

// With returns a tool that does what t does, with a definition that change makes
// of a copy of t's. Lists in the copy are t's own: they are to be replaced, not
// changed. It is for those who put agents together from tools of others; nothing
// is checked here that [NewRegistry] checks.
func With(t Tool, change func(*Definition)) Tool {
	def := *t.Definition()
	change(&def)
	w := &redefined{t, &def}
	if u, ok := t.(Undoer); ok {
		return &redefinedUndoer{w, u}
	}
	return w
}

// Origin returns the tool that [With] has made t of, however often; t itself if it is
// none of With's.
func Origin(t Tool) Tool {
	for {
		switch w := t.(type) {
		case *redefined:
			t = w.Tool
		case *redefinedUndoer:
			t = w.Tool
		default:
			return t
		}
	}
}

// redefined is a tool with another definition.
type redefined struct {
	Tool
	def *Definition
}

func (r *redefined) Definition() *Definition { return r.def }

// redefinedUndoer is one whose calls can be taken back.
type redefinedUndoer struct {
	*redefined
	undoer Undoer
}

func (r *redefinedUndoer) Undo(ctx context.Context, call *Call, outcome *event.ToolFinished) error {
	return r.undoer.Undo(ctx, call, outcome)
}
