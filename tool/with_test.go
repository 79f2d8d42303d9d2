package tool_test

import (
	"context"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// undoable can take back what it did.
type undoable struct {
	tool.Tool
	undone int
}

func (u *undoable) Undo(context.Context, *tool.Call, *event.ToolFinished) error {
	u.undone++
	return nil
}

// A tool with another definition does the same, and can undo if it could before.
func TestWith(t *testing.T) {
	plain := fake("a", &tool.Options{ResultTokens: 500})
	named := func(d *tool.Definition) { d.Name, d.Show = "b", event.ShowSpec{Limit: 3} }
	other := tool.With(plain, named)
	if d := other.Definition(); d.Name != "b" || d.Show.Limit != 3 || d.ResultTokens != 500 || d != other.Definition() {
		t.Errorf("%+v", d)
	}
	if plain.Definition().Name != "a" {
		t.Error("the tool itself was changed")
	}
	if r, err := other.Run(t.Context(), &tool.Call{Args: []byte(`{"city":"Oslo"}`)}); err != nil || r == nil {
		t.Errorf("%v, %v", r, err)
	}
	if tool.Origin(tool.With(other, named)) != plain || tool.Origin(plain) != plain {
		t.Error("what it was made of is not found again")
	}
	if _, ok := other.(tool.Undoer); ok {
		t.Error("it can undo, which it could not before")
	}
	u := &undoable{Tool: plain}
	can, ok := tool.With(u, named).(tool.Undoer)
	if !ok || can.Definition().Name != "b" || can.Undo(t.Context(), nil, nil) != nil || u.undone != 1 {
		t.Error("it cannot undo any more")
	}
}
