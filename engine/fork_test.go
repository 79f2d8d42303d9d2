package engine_test

import (
	"strings"
	"testing"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
)

// recorded is a run of two steps and an answer, in which something was said between
// them, that was checked, and that has come to its end; a line for each event.
func recorded(t *testing.T) journal.Store {
	t.Helper()
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	says := func(s string) message.Message { return message.NewText(message.Assistant, s) }
	in := func(s string) event.Data {
		return &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: s}}}
	}
	schema := []byte(`{"type":"object"}`)
	var entries []journal.Entry
	for i, d := range []event.Data{
		&event.RunStarted{Format: event.Version, Root: "r1", Spec: event.Spec{Model: "a/b", Check: true,
			Tools:       []event.ToolSpec{{Name: "look", Effect: event.Read, Schema: schema}},
			Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}}},
		in("Look."), // 2
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Messages: 1},
		&event.ModelCalled{ID: "3.0", Purpose: event.PurposeStep, Step: 1, Attempt: 1, Model: "a/b"},
		&event.ModelAnswered{ID: "3.0", Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "c1", Name: "look", Args: "{}"}}}, Finish: event.FinishToolCalls},
		&event.ReplyParsed{ID: "3.0", Format: "native", Calls: []event.ParsedCall{{ID: "c1", Name: "look", Args: "{}"}}}, // 6
		&event.CallJudged{Call: "c1", Tool: "look", Verdict: event.Allow, Args: "{}"},
		&event.ToolStarted{ID: "7.0", Call: "c1", Tool: "look", Effect: event.Read, Attempt: 1},
		&event.ToolFinished{ID: "7.0", Call: "c1", Tool: "look", Status: event.StatusSuccess}, // 9
		&event.NoticeAdded{Kind: "repetition", Text: "Go on."},                                // 10
		&event.RunPaused{Cause: event.CauseInterrupted},
		&event.RunResumed{Generation: 2},
		in("And quickly."),
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2, Messages: 5},
		&event.ModelCalled{ID: "14.0", Purpose: event.PurposeStep, Step: 2, Attempt: 1, Model: "a/b"},
		&event.ModelAnswered{ID: "14.0", Message: says("Nothing is there."), Finish: event.FinishStop},
		&event.ReplyParsed{ID: "14.0", Format: "text"}, // 17
		&event.ContextAssembled{Purpose: event.PurposeCompletionCheck, Step: 2, Messages: 6},
		&event.ModelCalled{ID: "18.0", Purpose: event.PurposeCompletionCheck, Step: 2, Attempt: 1, Model: "a/b"},
		&event.ModelAnswered{ID: "18.0", Message: says(`{"parts":[],"missing":[]}`), Finish: event.FinishStop},
		&event.ReplyParsed{ID: "18.0", Format: "text"}, // 21
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "Nothing is there."},
	} {
		entries = append(entries, journal.Entry{Time: int64(i), Data: d})
	}
	journaltest.Record(t, st, "r1", entries...)
	return st
}

// A step ends with what became of it: the results of its calls and what is told of
// them, and the check that looks back at it; not with what was said afterwards.
func TestForkPoint(t *testing.T) {
	st := recorded(t)
	for steps, want := range map[int64]int64{0: 2, 1: 10, 2: 21, -1: 21} {
		if got, err := engine.ForkPoint(t.Context(), st, "r1", steps); err != nil || got != want {
			t.Errorf("after step %d: event %d, %v, want %d", steps, got, err, want)
		}
	}
	if _, err := engine.ForkPoint(t.Context(), st, "r1", 3); err == nil || !strings.Contains(err.Error(), "no step 3; the last is 2") {
		t.Errorf("after step 3: %v", err)
	}
	l, err := st.Join(t.Context(), journal.ThisProcess("test"))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Fork(t.Context(), l, "r1", 8, "busy"); err != nil { // in the middle of the call
		t.Fatal(err)
	}
	if got, err := engine.ForkPoint(t.Context(), st, "busy", -1); err != nil || got != 8 {
		t.Errorf("all of a run that goes on: event %d, %v", got, err)
	}
	if _, err := engine.ForkPoint(t.Context(), st, "busy", 1); err == nil || !strings.Contains(err.Error(), "has not come to its end: fork it after step 0") {
		t.Errorf("after a step that goes on: %v", err)
	}
}
