package trace

import (
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// What the calls beside the steps have taken is told by purpose: whoever turns the
// checks off knows what that saves, and how often they have helped.
func TestPurposes(t *testing.T) {
	used := message.Usage{Input: message.Known(100), Output: message.Known(10)}
	spec := event.Spec{Model: "a/b", Prices: []event.ModelPrice{{Model: "a/b", Price: message.Price{Input: 1_000_000, Cached: 1_000_000, CacheWrite: 1_000_000, Output: 2_000_000}}}}
	used.Cached = message.Known(0)
	var f Fold
	for i, d := range []event.Data{
		&event.RunStarted{Spec: spec},
		&event.ModelCalled{ID: "1", Step: 1, Model: "a/b", Purpose: event.PurposeStep},
		&event.ModelFailed{ID: "1", Class: event.ClassNetwork}, // which costs nothing
		&event.ModelCalled{ID: "2", Step: 1, Attempt: 2, Model: "a/b", Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "2", Usage: used},
		&event.ModelCalled{ID: "3", Step: 1, Model: "a/b", Purpose: event.PurposeCompletionCheck},
		&event.ModelAnswered{ID: "3", Usage: used},
		&event.NoticeAdded{Kind: event.NoticeCompletion, Text: "Not done."},
		&event.ModelCalled{ID: "4", Step: 1, Model: "a/b", Purpose: event.PurposeReadBack},
		&event.ModelAnswered{ID: "4"}, // what it used is unknown
		&event.NoticeAdded{Kind: event.NoticeDrift, Text: "Go back."},
		&event.ModelCalled{ID: "5", Step: 2, Model: "a/b", Purpose: event.PurposeFinal}, // under way
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Data: d})
	}
	got, err := json.Marshal(f.Purposes())
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"purpose":"step","calls":2,"tokens":110,"cost_usd":0.000120,"returned":0},` +
		`{"purpose":"read-back","calls":1,"tokens":null,"cost_usd":null,"returned":1},` +
		`{"purpose":"completion-check","calls":1,"tokens":110,"cost_usd":0.000120,"returned":1},` +
		`{"purpose":"final","calls":1,"tokens":null,"cost_usd":null,"returned":0}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
