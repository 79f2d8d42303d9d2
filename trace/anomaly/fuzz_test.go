package anomaly_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
)

// FuzzFold folds whatever events JSON lines hold, in whatever order, as an import from
// anywhere could bring them: nothing of it may panic, what is found refers to events that
// there are, and looking twice finds the same.
func FuzzFold(f *testing.F) {
	f.Add([]byte(seed()))
	f.Add([]byte(`{"type":"tool.finished","data":{"call":"x","tool":"t","status":"success","size":-1,"shown":9}}` + "\n" +
		`{"type":"call.judged","data":{"call":"x","tool":"t","verdict":"allow","args":"{\"a\":[[[]]]}"}}`))
	f.Add([]byte(`{"type":"tool.started","data":{"call":"c"}}` + "\n" + `{"type":"notice.added","data":{"kind":"truncation","call":"c"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var fold anomaly.Fold
		n := int64(0)
		for line := range bytes.Lines(data) {
			d := decoded(line)
			if d == nil {
				continue
			}
			n++
			fold.Add(&event.Event{Run: "r", Seq: n, Time: 1000 * n, Data: d})
		}
		found := fold.Found()
		for _, a := range found {
			if a.Event < 0 || a.Event > n || a.Text == "" || a.Means == "" || a.Look == "" || a.Level != trace.Warning && a.Level != trace.Notice {
				t.Fatalf("of %d events: %+v", n, a)
			}
		}
		if again := fold.Found(); fmt.Sprint(again) != fmt.Sprint(found) {
			t.Fatalf("first %v, then %v", found, again)
		}
	})
}

// decoded reads an event's type and data, nil if it is none.
func decoded(line []byte) event.Data {
	var raw struct {
		Type event.Type     `json:"type"`
		Data jsontext.Value `json:"data"`
	}
	if json.Unmarshal(line, &raw) != nil || raw.Data == nil {
		return nil
	}
	d, err := event.DecodeData(raw.Type, raw.Data)
	if err != nil {
		return nil
	}
	return d
}

// seed is a run of most kinds of events.
func seed() string {
	var b bytes.Buffer
	for _, d := range []event.Data{
		&event.RunStarted{Spec: event.Spec{Tools: []event.ToolSpec{{Name: "update_order", Effect: event.Once}}}},
		&event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Change 4711, for $1,250.50."}}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Blocks: []event.BlockSize{{Name: "tools", Tokens: 10}}},
		&event.ModelCalled{ID: "1", Step: 1, Kept: 3, Added: 2, Bytes: 900},
		&event.ModelAnswered{ID: "1", Message: message.NewText(message.Assistant, "I have updated AB-4711 and src/a.go:\n- CD-99\n"), Finish: event.FinishLength,
			Usage: message.Usage{Input: message.Known(5), Cached: message.Known(9)}, Latency: 90_000},
		&event.ReplyParsed{ID: "1", Format: "native"},
		&event.CallJudged{Call: "c", Tool: "update_order", Args: `{"order_id":"x1","n":[1234.5]}`, ArgsHash: event.Hash{1}},
		&event.ToolStarted{ID: "2", Call: "c", Tool: "update_order", ArgsHash: event.Hash{1}, Attempt: 1},
		&event.ToolFinished{ID: "2", Call: "c", Tool: "update_order", Status: event.StatusSuccess, Size: 9000, Shown: 10, Full: &message.Ref{},
			Seen: []event.Seen{{Resource: "a", Wrote: true, Total: 3}}},
		&event.ContextCompacted{Upto: 3, Edits: []event.ContextEdit{{Message: 1, Action: "stub"}}},
		&event.NoticeAdded{Kind: event.NoticeTruncation, Call: "c", Text: "It cuts."},
		&event.RunPaused{Cause: event.CauseWaitingInput},
		&event.RunResumed{Generation: 2},
		&event.RunFinished{Reason: event.ReasonSubmitted, Answer: "I have added it."},
	} {
		fmt.Fprintf(&b, `{"type":%q,"data":%s}`+"\n", d.Type(), d.AppendJSON(nil))
	}
	return b.String()
}
