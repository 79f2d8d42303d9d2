package main

import (
	"slices"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// The table says how often a call was carried out, and which call the harness
// made by itself.
func TestShowExecutions(t *testing.T) {
	v, rows := &shown{}, trace.Fold{}
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ReplyParsed{Format: "native", Calls: []event.ParsedCall{{ID: "c1", Name: "pay", Args: `{"x":5}`}}},
		&event.CallJudged{Call: "c1", Tool: "pay"},
		&event.ToolStarted{Call: "c1", Tool: "pay", Attempt: 1},
		&event.ToolFinished{Call: "c1", Tool: "pay", Status: event.StatusUnknown, ErrorType: "timeout"},
		&event.ToolStarted{Call: "c1~confirm", Tool: "check", For: "c1", Attempt: 1},
		&event.ToolFinished{Call: "c1~confirm", Tool: "check", For: "c1", Status: event.StatusSuccess},
		&event.ToolStarted{Call: "c1", Tool: "pay", Attempt: 2},
		&event.ToolFinished{Call: "c1", Tool: "pay", Status: event.StatusSuccess},
	} {
		e := &event.Event{Run: "r", Seq: int64(i) + 1, Data: d}
		v.looks.add(e)
		rows.Add(e)
	}
	var got []string
	for _, r := range rows.Rows() {
		what, result, below := v.described(&r)
		got = append(got, what+": "+result)
		got = append(got, below...)
	}
	want := []string{`  pay {"x":5}: success`, "tried 2 times", "  check (to find out what became of c1): success"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
