// Package anomaly answers: what in this run is probably not as it should be?
package anomaly

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// KindTruncation: a tool seems to cut its results without saying so.
const KindTruncation = "truncation"

// Fold finds anomalies in events. The zero value is ready; it is not safe for
// concurrent use.
type Fold struct {
	run   string
	step  int64
	calls map[string]place // looked up only
	found []trace.Anomaly
}

// place is where a call stands.
type place struct{ step, event int64 }

// Found returns what was found so far, in the order in which it was found. The slice
// is valid until the next Add.
func (f *Fold) Found() []trace.Anomaly { return f.found }

// Add folds the next event.
func (f *Fold) Add(e *event.Event) {
	if f.calls == nil {
		f.run, f.calls = e.Run, map[string]place{}
	}
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		f.step = d.Step
	case *event.CallJudged:
		f.calls[d.Call] = place{f.step, e.Seq}
	case *event.NoticeAdded:
		if at, ok := f.calls[d.Call]; ok && d.Kind == event.NoticeTruncation {
			f.found = append(f.found, trace.Anomaly{Kind: KindTruncation, Level: trace.Warning, Step: at.step, Event: at.event, Call: d.Call, Text: d.Text,
				Means: "the tool cuts its results without saying so: the model takes a part for the whole",
				Look:  fmt.Sprintf("show %s --step %d", f.run, at.step)})
		}
	}
}
