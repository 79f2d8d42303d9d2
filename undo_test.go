package rein_test

import (
	"context"
	"testing"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// An agent's tool that says how a call is taken back has it taken back, if somebody
// approves that.
func TestAgentUndo(t *testing.T) {
	value := "old"
	type args struct {
		Value string `json:"value"`
	}
	set := tool.New("set_value", tool.Doc{What: "Sets the value."}, func(_ context.Context, in args) (*tool.Result, error) {
		r := tool.Text("set")
		r.Undo = []byte(`"` + value + `"`)
		value = in.Value
		return r, nil
	}, &tool.Options{Effect: event.Once})
	undo := tool.WithUndo(set, func(_ context.Context, _ *tool.Call, o *event.ToolFinished) error {
		value = string(o.Undo[1 : len(o.Undo)-1])
		return nil
	})
	approve := true
	a, err := rein.New(client("turns:\n  - call: {name: set_value, arguments: {value: new}}\n  - done\n"), &rein.Options{
		Tools: []tool.Tool{undo}, Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Approve: func(context.Context, engine.Question) (engine.Answer, bool) {
			return engine.Answer{Decision: event.Approved}, approve
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Run(t.Context(), "set it")
	if err != nil || value != "new" {
		t.Fatalf("%+v, %v, value %q", r, err, value)
	}
	approve = false
	if got, err := a.Undo(t.Context(), r.Run, 0); err != nil || len(got) != 1 || got[0].Status != engine.UndoOpen || value != "new" {
		t.Errorf("unasked: %+v, %v, value %q", got, err, value)
	}
	approve = true
	if got, err := a.Undo(t.Context(), r.Run, 0); err != nil || len(got) != 1 || got[0].Status != engine.UndoDone || value != "old" {
		t.Errorf("%+v, %v, value %q", got, err, value)
	}
}
