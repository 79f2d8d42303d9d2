package trace_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// Every model call has what its request held, every attempt of it as well; a rewrite
// belongs to the step that it was made for.
func TestContext(t *testing.T) {
	blocks := func(turns int64) []event.BlockSize {
		return []event.BlockSize{{Name: "contract", Tokens: 200}, {Name: "turns", Tokens: turns}}
	}
	var f trace.Fold
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Tokens: 5_200, Budget: 6_000, Method: "estimated", Messages: 9, Blocks: blocks(5_000)},
		&event.ModelCalled{ID: "2.0", Step: 1, Attempt: 1, Purpose: event.PurposeStep},
		&event.ModelFailed{ID: "2.0", Class: event.ClassRate},
		&event.ModelCalled{ID: "4.0", Step: 1, Attempt: 2, Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "4.0"},
		&event.ContextAssembled{Purpose: event.PurposeSummary, Step: 2, Tokens: 5_900, Budget: 6_000, Method: "calibrated", Messages: 11, Blocks: blocks(5_600)},
		&event.ModelCalled{ID: "7.0", Step: 2, Attempt: 1, Purpose: event.PurposeSummary},
		&event.ModelAnswered{ID: "7.0"},
		&event.ContextCompacted{Strategy: "layered", Why: "0.98 of the budget", Upto: 6, Summary: "Late: A-1.", Snapshot: "- never refund", Tokens: message.Known(40),
			Edits: []event.ContextEdit{{Message: 7, Action: "stub", Why: "old_result", Text: "[rein: old]", Tokens: message.Known(9)}}, Before: 5_900, After: 2_100},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2, Tokens: 2_100, Budget: 6_000, Messages: 4},
		&event.ModelCalled{ID: "11.0", Step: 2, Attempt: 1, Purpose: event.PurposeStep},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Time: int64(i) + 100, Data: d})
	}
	want := []int64{5_200, 5_200, 5_900, 2_100}
	for i, r := range f.Rows() {
		if r.Context == nil || r.Context.Tokens != want[i] || *r.Context.Budget != 6_000 || r.Context.Blocks == nil {
			t.Errorf("row %d: %+v", i, r.Context)
		}
	}
	got, err := json.Marshal([]any{f.Rows()[0].Context, f.Compactions()})
	if err != nil {
		t.Fatal(err)
	}
	const wanted = `[{"tokens":5200,"budget":6000,"method":"estimated","messages":9,"blocks":[{"name":"contract","tokens":200},{"name":"turns","tokens":5000}]},` +
		`[{"step":2,"ts":109,"event":10,"strategy":"layered","why":"0.98 of the budget","before_tokens":5900,"after_tokens":2100,"upto":6,"summary":"Late: A-1.","snapshot":"- never refund",` +
		`"edits":[{"message":7,"action":"stub","why":"old_result","text":"[rein: old]","tokens":9}],"failed":[],"read_again":0}]]`
	if string(got) != wanted {
		t.Errorf("got\n%s\nwant\n%s", got, wanted)
	}
}

// A rewrite has how much of what it took away was read again. What is new, changes
// something, is waited for, failed, or reads what has left the context is not.
func TestReadAgain(t *testing.T) {
	var f trace.Fold
	seq := int64(0)
	add := func(d event.Data) { seq++; f.Add(&event.Event{Run: "r", Seq: seq, Data: d}) }
	call := func(name string, args byte, status event.Status) {
		id := fmt.Sprint("c", seq)
		add(&event.CallJudged{Call: id, Tool: name, ArgsHash: event.Hash{args}})
		add(&event.ToolFinished{ID: id, Call: id, Tool: name, Status: status})
	}
	add(&event.RunStarted{Spec: event.Spec{Tools: []event.ToolSpec{{Name: "read", Effect: event.Read}, {Name: "write", Effect: event.Repeatable},
		{Name: "poll", Effect: event.Read, Polling: true}, {Name: "page", Effect: event.Read, Harness: true}}}})
	all := func() {
		for _, name := range []string{"read", "write", "poll", "page", "gone"} {
			call(name, 1, event.StatusSuccess)
		}
	}
	all()
	call("read", 1, event.StatusSuccess) // before any rewrite
	add(&event.ContextCompacted{})
	call("read", 2, event.StatusSuccess) // new
	call("read", 1, event.StatusError)
	all()
	call("read", 1, event.StatusSuccess) // it is in the context again
	add(&event.ContextCompacted{})
	add(&event.ContextCompacted{})
	call("read", 2, event.StatusSuccess)
	all()
	var got []int64
	for _, c := range f.Compactions() {
		got = append(got, c.ReadAgain)
	}
	if fmt.Sprint(got) != "[1 0 2]" {
		t.Errorf("%v were read again", got)
	}
}
