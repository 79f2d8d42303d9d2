package tool

import (
	"context"

	"rein.example/rein/event"
)

// WithUndo returns a tool that can be undone: t, with undo to take a call back, as
// [Undoer] says. What undo needs to know of a call, t gives as [Result].Undo.
func WithUndo(t Tool, undo func(ctx context.Context, call *Call, outcome *event.ToolFinished) error) Undoer {
	return undoable{t, undo}
}

type undoable struct {
	Tool
	undo func(context.Context, *Call, *event.ToolFinished) error
}

// Undo implements [Undoer].
func (u undoable) Undo(ctx context.Context, call *Call, outcome *event.ToolFinished) error {
	return u.undo(ctx, call, outcome)
}

// TypeCannotUndo is the type of the error of a call that cannot be taken back: too
// much has changed since, or nobody knows what it did.
const TypeCannotUndo = "cannot_undo"
