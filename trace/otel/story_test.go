package otel_test

import (
	"context"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
)

// day is when the stories begin, in Unix milliseconds.
const day = 1_790_000_000_000

// story is a run, or several, as events; at is the time of the next one.
type story struct {
	t      *testing.T
	store  journal.Store
	lease  *journal.Lease
	at     int64
	seq    map[string]int64
	events []event.Event
}

func newStory(t *testing.T) *story {
	s := &story{t: t, store: memory.New(), at: day, seq: map[string]int64{}}
	var err error
	if s.lease, err = s.store.Join(context.Background(), journal.Owner{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// says appends an event to a run, so many milliseconds after the one before.
func (s *story) says(run string, after int64, d event.Data) *story {
	s.t.Helper()
	if s.at += after; s.seq[run] == 0 {
		if err := s.store.Create(s.t.Context(), s.lease, run); err != nil {
			s.t.Fatal(err)
		}
	}
	s.seq[run]++
	if _, err := s.store.Append(s.t.Context(), s.lease, journal.Batch{Run: run, After: s.seq[run] - 1, Entries: []journal.Entry{{Time: s.at, Data: d}}}); err != nil {
		s.t.Fatal(err)
	}
	s.events = append(s.events, event.Event{Run: run, Seq: s.seq[run], Time: s.at, Data: d})
	return s
}

// asks is a model call of a step; its id is that of the command.
func (s *story) asks(run, id string, step int64, purpose event.Purpose, attempt int64) *story {
	s.says(run, 1, &event.ContextAssembled{Purpose: purpose, Step: step, Tokens: 900, Budget: 8000, Messages: 2 * step, Method: "estimated",
		Blocks: []event.BlockSize{{Name: "rules", Tokens: 200}, {Name: "turns", Tokens: 700}}})
	return s.says(run, 1, &event.ModelCalled{ID: id, Purpose: purpose, Step: step, Attempt: attempt, Model: "gemini/flash", Encoder: "script/1", Options: []byte(`{"stream":true}`)})
}

func usage(in, cached, out int64) message.Usage {
	return message.Usage{Input: message.Known(in), Cached: message.Known(cached), Output: message.Known(out)}
}

func textParts(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }

// secretWords are what was said in the story: content, which is not to be exported
// unless that is asked for.
var secretWords = []string{"WHICH ORDERS", "SKU-77", "three late orders", "quota exceeded", "out of paper", "half an answ", "ask for A-7", "rules of the desk"}

func orderDesk() event.Spec {
	return event.Spec{
		Agent: "order-desk", Model: "gemini/flash", System: []event.Block{{Name: "rules", Text: "rules of the desk"}},
		Sampling: event.Sampling{Temperature: "0.2", Seed: "7"}, Submit: []byte(`{"type":"object"}`),
		Prices: []event.ModelPrice{{Model: "gemini/flash", Price: message.Price{Input: 1_000_000, Cached: 100_000, Output: 10_000_000}}},
		Tools: []event.ToolSpec{
			{Name: "find_orders", Description: "Finds orders.\nWhen: …", Effect: event.Read},
			{Name: "print_label", Description: "Prints a label.", Effect: event.Once, Pin: "sha256:1"},
			{Name: "research", Description: "Asks another agent.", Effect: event.Read, Agent: "researcher"},
		},
	}
}

// desk is a run in which much happens: a failed call, three calls of which one is denied
// and one fails, an agent below, a summary, an empty reply, a death of its process in the
// midst of a call and a model call that was given up.
func desk(t *testing.T) *story {
	s := newStory(t)
	spec := orderDesk()
	s.says("r1", 0, &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	s.says("r1", 0, &event.InputReceived{Kind: event.InputText, Parts: textParts("WHICH ORDERS are late?")})

	s.asks("r1", "3.0", 1, event.PurposeStep, 1)
	s.says("r1", 300, &event.ModelFailed{ID: "3.0", Class: event.ClassRate, Status: 429, Message: "quota exceeded for you", Latency: 300})
	s.asks("r1", "5.0", 1, event.PurposeStep, 2)
	s.says("r1", 1200, &event.ModelAnswered{ID: "5.0", Finish: event.FinishToolCalls, RawFinish: "STOP", Model: "flash-001", ResponseID: "resp-1",
		Usage: usage(1000, 400, 50), Latency: 1000, Waited: 200, First: message.Known(150),
		Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "c1", Name: "find_orders", Args: `{"sku":"SKU-77"}`}}}})
	s.says("r1", 1, &event.ReplyParsed{ID: "5.0", Format: "native", Calls: []event.ParsedCall{{ID: "c1", Name: "find_orders", Args: `{"sku":"SKU-77"}`},
		{ID: "c2", Name: "print_label", Args: `{}`}, {ID: "c3", Name: "wipe", Args: `{}`}}})
	s.says("r1", 0, &event.CallJudged{Call: "c1", Tool: "find_orders", Verdict: event.Allow, ArgsHash: event.Hash{1}})
	s.says("r1", 0, &event.CallJudged{Call: "c2", Tool: "print_label", Verdict: event.Ask, ArgsHash: event.Hash{2}})
	s.says("r1", 0, &event.CallJudged{Call: "c3", Tool: "wipe", Verdict: event.Deny, ArgsHash: event.Hash{3}})
	s.says("r1", 1, &event.ToolFinished{Call: "c3", Tool: "wipe", Status: event.StatusDenied, Size: 10, Shown: 10, ErrorType: "denied", ErrorMessage: "not allowed"})
	s.says("r1", 0, &event.ApprovalAsked{ID: "9.0", Call: "c2", Tool: "print_label"})
	s.says("r1", 0, &event.ToolStarted{ID: "8.0", Call: "c1", Tool: "find_orders", Effect: event.Read, ArgsHash: event.Hash{1}, Attempt: 1})
	s.says("r1", 40, &event.ToolFinished{ID: "8.0", Call: "c1", Tool: "find_orders", Status: event.StatusSuccess, Size: 5000, Shown: 900, Parts: textParts("three late orders"), Full: &message.Ref{SHA256: "00", Bytes: 5000}, Latency: 40})
	s.says("r1", 2000, &event.ApprovalGiven{Call: "c2", Decision: event.Approved, By: "ada"})
	s.says("r1", 1, &event.ToolStarted{ID: "9.1", Call: "c2", Tool: "print_label", Effect: event.Once, ArgsHash: event.Hash{2}, Attempt: 1})
	s.says("r1", 60, &event.ToolFinished{ID: "9.1", Call: "c2", Tool: "print_label", Status: event.StatusError, ErrorType: "error", ErrorMessage: "out of paper", Size: 12, Shown: 12, Parts: textParts("out of paper"), Latency: 60})

	s.says("r1", 1, &event.ModelCalled{ID: "20.0", Purpose: event.PurposeSummary, Step: 2, Attempt: 1, Model: "gemini/flash", Encoder: "script/1"})
	s.says("r1", 500, &event.ModelAnswered{ID: "20.0", Finish: event.FinishStop, Usage: message.Usage{Output: message.Known(20)}, Latency: 500})
	s.says("r1", 0, &event.ContextCompacted{Strategy: "layered", Before: 900, After: 300})
	s.asks("r1", "21.0", 2, event.PurposeStep, 1)
	s.says("r1", 700, &event.ModelAnswered{ID: "21.0", Finish: event.FinishToolCalls, Model: "flash-001", Usage: usage(500, 0, 10), Latency: 700})
	s.says("r1", 1, &event.CallJudged{Call: "c4", Tool: "research", Verdict: event.Allow, ArgsHash: event.Hash{4}})
	s.says("r1", 1, &event.ToolStarted{ID: "24.0", Call: "c4", Tool: "research", Effect: event.Read, ArgsHash: event.Hash{4}, Attempt: 1, Run: "r1.1"})
	below := event.Spec{Agent: "researcher", Model: "anthropic/opus"}
	s.says("r1.1", 1, &event.RunStarted{Format: 1, Root: "r1", Parent: "r1", Call: "c4", Spec: below})
	s.says("r1.1", 1, &event.ModelCalled{ID: "2.0", Purpose: event.PurposeStep, Step: 1, Attempt: 1, Model: "anthropic/opus", Encoder: "script/1"})
	s.says("r1.1", 900, &event.ModelAnswered{ID: "2.0", Finish: event.FinishStop, Usage: usage(80, 0, 8), Latency: 900, Message: message.NewText(message.Assistant, "ask for A-7")})
	s.says("r1.1", 1, &event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "ask for A-7"})
	s.says("r1", 1, &event.ToolFinished{ID: "24.0", Call: "c4", Tool: "research", Status: event.StatusSuccess, Size: 30, Shown: 30, Parts: textParts("ask for A-7"), Latency: 905,
		Spent: &event.Spent{Steps: 1, Usage: usage(80, 0, 8)}})

	s.asks("r1", "27.0", 3, event.PurposeStep, 1)
	s.says("r1", 100, &event.ModelAnswered{ID: "27.0", Finish: event.FinishToolCalls, Usage: usage(600, 500, 5), Latency: 100})
	s.says("r1", 1, &event.CallJudged{Call: "c5", Tool: "find_orders", Verdict: event.Allow, ArgsHash: event.Hash{5}})
	s.says("r1", 1, &event.ToolStarted{ID: "30.0", Call: "c5", Tool: "find_orders", Effect: event.Read, ArgsHash: event.Hash{5}, Attempt: 1})
	// Here the process dies.
	s.says("r1", 60_000, &event.RunResumed{Generation: 2, By: "rein resume"})
	s.says("r1", 1, &event.ToolStarted{ID: "30.1", Call: "c5", Tool: "find_orders", Effect: event.Read, ArgsHash: event.Hash{5}, Attempt: 2})
	s.says("r1", 30, &event.ToolFinished{ID: "30.1", Call: "c5", Tool: "find_orders", Status: event.StatusTimeout, ErrorType: "timeout", Size: 8, Shown: 8, Latency: 30})
	s.asks("r1", "34.0", 4, event.PurposeStep, 1)
	s.says("r1", 10, &event.ModelFailed{ID: "34.0", Class: event.ClassIncomplete, Message: "cut", Partial: "half an answ", Latency: 10})
	s.asks("r1", "36.0", 4, event.PurposeStep, 2)
	s.says("r1", 100, &event.ModelAnswered{ID: "36.0", Finish: event.FinishStop, Usage: usage(700, 0, 0), Latency: 100}) // nothing was said
	s.asks("r1", "39.0", 5, event.PurposeFinal, 1)
	return s.says("r1", 5, &event.RunFinished{Reason: event.ReasonCancelled, Detail: "the caller gave up"})
}
