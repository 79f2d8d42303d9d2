package trace_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// A step whose first try fails, and a call: three rows, with what nobody
// reported as null and never 0.
func TestRows(t *testing.T) {
	var f trace.Fold
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ModelCalled{ID: "1.0", Step: 1, Attempt: 1, Model: "p/m", Purpose: event.PurposeStep},
		&event.ModelFailed{ID: "1.0", Class: event.ClassRate, Message: "slow down", Latency: 5},
		&event.ModelCalled{ID: "3.0", Step: 1, Attempt: 2, Model: "p/m", Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "3.0", Model: "m-1", Finish: event.FinishPause, Usage: message.Usage{Input: message.Known(0)}, Latency: 7},
		&event.CallJudged{Call: "c1", Tool: "read_file", ArgsHash: event.Hash{1}},
		&event.ToolStarted{ID: "6.0", Call: "c1", Tool: "read_file", Attempt: 1},
		&event.ToolFinished{ID: "6.0", Call: "c1", Tool: "read_file", Status: event.StatusTimeout, Size: 9, Shown: 4, Shaped: []string{"lines 1-2 of 9 shown"}, ErrorType: "timeout", ErrorMessage: "60 s are over", Latency: 60_000},
		&event.NoticeAdded{Kind: "last_step", Call: "c1", Text: "This is the last step."},
		&event.NoticeAdded{Kind: event.NoticeTruncation, Call: "c1", Text: "It cuts."},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Time: int64(100 * (i + 1)), Data: d})
	}
	trace.Mark(f.Rows(), []trace.Anomaly{
		{Kind: "truncation", Level: trace.Warning, Step: 1, Event: 6, Call: "c1", Text: "It cuts.", Means: "it cuts", Look: "show r --step 1"},
		{Kind: "cost_growth", Event: 99, Text: "of no row"},
	})
	rows, err := json.Marshal(f.Rows())
	if err != nil {
		t.Fatal(err)
	}
	const (
		none  = `"call_id":null,"tool_name":null,"tool_args_hash":null,"tool_result_size":null,"tool_result_shown":null,"tool_status":null`
		used  = `"cache_write_tokens":null,"reasoning_tokens":null,"cached_ppm":null,"cost_usd":null,"cost_parts":null`
		model = used + `,"first_ms":null,"waited_ms":0,"tool_ms":null`
		want  = `[{"run_id":"r","step":1,"ts":200,"event":2,"model":"p/m","prompt_tokens":null,"cached_tokens":null,"completion_tokens":null,"latency_ms":5,"finish_reason":"error",` + none +
			`,"error_type":"rate_limit","error_message":"slow down","cumulative_cost":null,"purpose":"step","attempt":1,"for_call":null,"undoes_call":null,` + model + `},` +
			`{"run_id":"r","step":1,"ts":400,"event":4,"model":"m-1","prompt_tokens":0,"cached_tokens":null,"completion_tokens":null,"latency_ms":7,"finish_reason":"stop",` + none +
			`,"error_type":null,"error_message":null,"cumulative_cost":null,"purpose":"step","attempt":2,"for_call":null,"undoes_call":null,` + model + `},` +
			`{"run_id":"r","step":1,"ts":700,"event":6,"model":null,"prompt_tokens":null,"cached_tokens":null,"completion_tokens":null,"latency_ms":60000,"finish_reason":null,` +
			`"call_id":"c1","tool_name":"read_file","tool_args_hash":"0100000000000000000000000000000000000000000000000000000000000000","tool_result_size":9,"tool_result_shown":4,"tool_status":"timeout",` +
			`"error_type":"timeout","error_message":"60 s are over","tool_shaped":["lines 1-2 of 9 shown"],"anomalies":[{"kind":"truncation","level":"warning","step":1,"event":6,"call_id":"c1","text":"It cuts.","means":"it cuts","look":"show r --step 1"}],"cumulative_cost":null,"purpose":null,"attempt":1,"for_call":null,"undoes_call":null,` + used + `,"first_ms":null,"waited_ms":null,"tool_ms":60000}]`
	)
	if string(rows) != want {
		t.Errorf("got\n%s\nwant\n%s", rows, want)
	}
}

// A call that is tried again has one row, with what came of it in the end; what
// the harness asks by itself has a row of its own.
func TestRowsOfExecutions(t *testing.T) {
	var f trace.Fold
	for i, d := range []event.Data{
		&event.RunStarted{},
		&event.ModelCalled{ID: "1.0", Step: 3, Attempt: 1, Model: "p/m", Purpose: event.PurposeStep},
		&event.CallJudged{Call: "c1", Tool: "pay"},
		&event.ToolStarted{ID: "3.0", Call: "c1", Tool: "pay", Attempt: 1},
		&event.ToolFinished{ID: "3.0", Call: "c1", Tool: "pay", Status: event.StatusError, ErrorType: "busy", Latency: 5},
		&event.ToolStarted{ID: "6.0", Call: "c1", Tool: "pay", Attempt: 2},
		&event.ToolFinished{ID: "6.0", Call: "c1", Tool: "pay", Status: event.StatusUnknown, ErrorType: "timeout", Latency: 7},
		&event.ToolStarted{ID: "7.0", Call: "c1~confirm", Tool: "check", For: "c1", Attempt: 1},
		&event.ToolFinished{ID: "7.0", Call: "c1~confirm", Tool: "check", For: "c1", Status: event.StatusSuccess, Latency: 9},
		&event.ToolFinished{Call: "c1", Tool: "pay", Status: event.StatusSuccess},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Time: int64(100 * (i + 1)), Data: d})
	}
	var got []string
	for _, r := range f.Rows()[1:] {
		line := fmt.Sprintf("step %d, %s %s, %s, attempt %d, %d ms", r.Step, *r.Call, *r.ToolName, *r.ToolStatus, *r.Attempt, *r.LatencyMS)
		if r.ErrorType != nil {
			line += ", " + *r.ErrorType
		}
		if r.For != nil {
			line += ", for " + *r.For
		}
		got = append(got, line)
	}
	want := []string{"step 3, c1 pay, success, attempt 2, 7 ms", "step 3, c1~confirm check, success, attempt 1, 9 ms, for c1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a person had taken back is a row of its own.
func TestUndoRow(t *testing.T) {
	var f trace.Fold
	for i, d := range []event.Data{
		&event.ModelCalled{ID: "1.0", Step: 2},
		&event.CallJudged{Call: "c1", Tool: "write_file"},
		&event.ToolFinished{ID: "2.0", Call: "c1", Tool: "write_file", Status: event.StatusSuccess},
		&event.ToolStarted{ID: "c1~undo9", Call: "c1~undo9", Tool: "write_file", Undoes: "c1", Attempt: 1},
		&event.ToolFinished{ID: "c1~undo9", Call: "c1~undo9", Tool: "write_file", Undoes: "c1", Status: event.StatusError, ErrorType: "cannot_undo"},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Data: d})
	}
	rows := f.Rows()
	if r := rows[len(rows)-1]; len(rows) != 3 || *r.Undoes != "c1" || *r.ToolStatus != "error" || r.For != nil || rows[1].Undoes != nil || *rows[1].ToolStatus != "success" {
		t.Errorf("%d rows, the last %+v", len(rows), r)
	}
}
