package loop_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// What a run did is read out of its journal: what was executed and may have changed
// something, the last first, with the arguments that ran and what is known of it.
func TestActs(t *testing.T) {
	hash := func(args string) event.Hash { return sha256.Sum256([]byte(args)) }
	var acts loop.Acts
	for i, d := range []event.Data{
		&event.ModelCalled{ID: "1.0", Step: 1},
		&event.ReplyParsed{Calls: []event.ParsedCall{{ID: "c1", Args: `{"b":1, "a":"x"}`}, {ID: "c2", Args: `{"p":"5"}`}, {ID: "c3", Args: ""}}},
		&event.CallJudged{Call: "c2", Args: `{"p":5}`},
		&event.ToolStarted{ID: "4.0", Call: "c1", Tool: "write", Effect: event.Repeatable, ArgsHash: hash(`{"a":"x","b":1}`), Attempt: 1},
		&event.ToolStarted{ID: "4.1", Call: "c3", Tool: "look", Effect: event.Read, ArgsHash: hash(`{}`), Attempt: 1},
		&event.ToolFinished{ID: "4.0", Call: "c1", Status: event.StatusTimeout},
		&event.ToolStarted{ID: "6.0", Call: "c2", Tool: "pay", Effect: event.Once, ArgsHash: hash(`{"p":5}`), Attempt: 1},
		&event.ToolFinished{ID: "6.0", Call: "c2", Status: event.StatusUnknown},
		&event.ToolStarted{ID: "8.0", Call: "c2~confirm", Tool: "paid", Effect: event.Read, For: "c2"},
		&event.ToolFinished{Call: "c2", Status: event.StatusSuccess},
		&event.ToolStarted{ID: "9.0", Call: "c1", Tool: "write", Effect: event.Repeatable, ArgsHash: hash(`{"a":"x","b":1}`), Attempt: 2},
		&event.ToolFinished{ID: "9.0", Call: "c1", Status: event.StatusSuccess},
		&event.ModelCalled{ID: "12.0", Step: 2},
		&event.ReplyParsed{Calls: []event.ParsedCall{{ID: "c4", Args: `{}`}, {ID: "c5", Args: `{}`}}},
		&event.ToolStarted{ID: "14.0", Call: "c4", Tool: "write", Effect: event.Repeatable, ArgsHash: hash(`{"other":1}`), Attempt: 1},
		&event.ToolStarted{ID: "14.1", Call: "c5", Tool: "write", Effect: event.Repeatable, ArgsHash: hash(`{}`), Attempt: 1},
		&event.ToolFinished{ID: "14.1", Call: "c5", Status: event.StatusSuccess},
		&event.ToolStarted{ID: "c5~undo", Call: "c5~undo", Tool: "write", Effect: event.Repeatable, Undoes: "c5"},
		&event.ToolFinished{ID: "c5~undo", Call: "c5~undo", Status: event.StatusSuccess, Undoes: "c5"},
	} {
		acts.Add(&event.Event{Seq: int64(i) + 1, Data: d})
	}
	var got []string
	for _, a := range acts.After(0) {
		status := event.Status("in flight")
		if a.Outcome != nil {
			status = a.Outcome.Status
		}
		got = append(got, fmt.Sprintf("%d %s %s %s %s %d %v", a.Step, a.Call, a.Tool, a.Args, status, a.Attempt, a.Undone))
	}
	want := []string{
		"2 c5 write {} success 1 true",
		"2 c4 write null in flight 1 false", // the journal does not hold what ran
		`1 c1 write {"a":"x","b":1} success 2 false`,
		`1 c2 pay {"p":5} success 1 false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if n := len(acts.After(1)); n != 2 {
		t.Errorf("%d acts after step 1", n)
	}
}

// What was taken back may be done again, and the model is told where it may be:
// not between calls and their results.
func TestUndoneInTheMachine(t *testing.T) {
	s := newScript(t)
	spec := event.Spec{Model: "test/model", Seed: 7, Tools: []event.ToolSpec{toolSpec([]string{"tool", "send", "once"}), toolSpec([]string{"tool", "ask_user", "read", "harness"})},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "effect:once"}}}
	s.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: spec})
	s.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "go"}}})
	say := func(calls ...message.Part) {
		s.settle()
		id := s.model().ID
		s.add(id, &event.ModelAnswered{ID: id, Message: message.Message{Role: message.Assistant, Parts: calls}, Finish: event.FinishToolCalls})
		s.settle()
	}
	call := func(id, name, args string) message.Part {
		return message.Part{Kind: message.ToolCall, ID: id, Name: name, Args: args}
	}
	runs := func() (out []string) {
		for _, c := range s.m.Next() {
			if r, ok := c.(*loop.RunTool); ok {
				out = append(out, r.Call)
				s.add(r.ID, &event.ToolFinished{ID: r.ID, Call: r.Call, Tool: r.Tool, Status: event.StatusSuccess})
			}
		}
		return out
	}
	say(call("c1", "send", `{"x":1}`))
	if got := runs(); !slices.Equal(got, []string{"c1"}) {
		t.Fatalf("runs %v", got)
	}
	say(call("c2", "send", `{"x":1}`), call("c3", "ask_user", `{}`))
	if got := runs(); got != nil {
		t.Fatalf("it is done twice: %v", got)
	}
	s.add("", &event.ToolFinished{ID: "c1~undo", Call: "c1~undo", Tool: "send", Status: event.StatusSuccess, Undoes: "c1"})
	s.add("", loop.UndoneNotice("The user has taken back: send."))
	s.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "now"}}})
	s.settle() // which fails if a request would hold calls without results
	last := s.model()
	if m := last.Messages[len(last.Messages)-1]; m.Role != message.System || !strings.Contains(m.PlainText(), "taken back: send") {
		t.Errorf("the last message is %+v", m)
	}
	say(call("c4", "send", `{"x":1}`))
	if got := runs(); !slices.Equal(got, []string{"c4"}) {
		t.Errorf("what was taken back cannot be done again: %v", got)
	}
	s.settle()
	s.refold()
}
