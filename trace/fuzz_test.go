package trace_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// FuzzFold folds lines of a journal, whatever they say: the parts of what is summed up
// stay its parts, and all of it can be written.
func FuzzFold(f *testing.F) {
	seed := func(history ...event.Data) {
		var lines []byte
		for i, d := range history {
			lines = append(event.AppendEvent(lines, &event.Event{Run: "r", Seq: int64(i) + 1, Time: int64(i) * 10, Data: d}), '\n')
		}
		f.Add(lines)
	}
	seed(&event.RunStarted{Spec: priced("a")}, &event.ModelCalled{ID: "1", Step: 1, Model: "a", Purpose: event.PurposeStep},
		&event.ModelAnswered{ID: "1", Usage: used(100, 60, 20, 10, 4), Waited: 5}, &event.ModelAnswered{ID: "1", Usage: used(1, 2, 3, 4, 5)},
		&event.CallJudged{Call: "c", Tool: "t"}, &event.ApprovalAsked{Call: "c"}, &event.ApprovalGiven{Call: "c"}, &event.ToolStarted{ID: "t", Call: "c", Attempt: 1},
		&event.ToolFinished{ID: "t", Call: "c", Status: event.StatusSuccess, Latency: 3, Spent: &event.Spent{Cost: message.Known(7)}})
	seed(&event.RunStarted{Spec: priced("a")}, &event.ModelCalled{ID: "1", Step: 1, Model: "a"}, &event.RunResumed{Fork: "q"}, &event.ModelFailed{ID: "1", Partial: "x", Waited: 1 << 60},
		&event.ModelFailed{ID: "1"}, &event.RunPaused{Cause: event.CauseTurnDone}, &event.RunResumed{}, &event.TimerFired{}, &event.RunFinished{})
	seed(&event.ModelAnswered{ID: "1", Usage: used(message.MaxCount, message.MaxCount, message.MaxCount, message.MaxCount, 0)})
	f.Fuzz(func(t *testing.T, lines []byte) {
		var fold trace.Fold
		for line := range bytes.Lines(lines) {
			if e, err := event.DecodeEvent(bytes.TrimSpace(line)); err == nil {
				fold.Add(&e)
			}
		}
		sums := fold.Totals()
		if x := sums.Time; x != nil && (x.Models < 0 || x.Servers < 0 || x.Models+x.Servers+x.Tools+x.People+x.Stopped+x.Between != x.Wall) {
			t.Errorf("times %+v", x)
		}
		if (sums.Cost == nil) != (sums.CostParts == nil) || sums.Unanswered < 0 || sums.Unreported < 0 {
			t.Errorf("sums %+v", sums)
		}
		for _, n := range []*int64{sums.Tokens.Input, sums.Tokens.Uncached, sums.Tokens.Cached, sums.Tokens.CacheWrite, sums.Tokens.Output, sums.Tokens.Reasoning} {
			if n != nil && *n < 0 {
				t.Errorf("tokens %+v", sums.Tokens)
			}
		}
		if _, err := json.Marshal([]any{fold.Rows(), fold.Purposes(), fold.Compactions(), sums, trace.Curve(fold.Rows())}); err != nil {
			t.Error(err)
		}
	})
}
