package main

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
)

// What the harness has noticed about a call stands below its row, which is marked.
func TestAnomalyIsShown(t *testing.T) {
	v := &shown{}
	var rows trace.Fold
	var odd anomaly.Fold
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ModelCalled{ID: "1.0", Step: 1, Attempt: 1, Model: "p/m", Purpose: event.PurposeStep},
		&event.CallJudged{Call: "c1", Tool: "read_source", Verdict: event.Allow},
		&event.ToolStarted{ID: "3.0", Call: "c1", Tool: "read_source", Attempt: 1},
		&event.ToolFinished{ID: "3.0", Call: "c1", Tool: "read_source", Status: event.StatusSuccess, Size: 8000, Shown: 8000},
		&event.NoticeAdded{Kind: event.NoticeTruncation, Call: "c1", Text: "5 calls have each returned exactly 8,000 bytes: it seems to cut. Look again."},
	} {
		e := &event.Event{Run: "r", Seq: int64(i) + 1, Data: d}
		rows.Add(e)
		odd.Add(e)
		v.looks.add(e)
	}
	v.Rows = rows.Rows()
	trace.Mark(v.Rows, odd.Found())
	what, result, below := v.described(&v.Rows[1])
	if got, want := fmt.Sprint(strings.TrimSpace(what), "|", result, "|", below), "read_source|success|[truncation: 5 calls have each returned exactly 8,000 bytes: it seems to cut]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
