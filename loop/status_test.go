package loop_test

import (
	"slices"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// An error of a tool counts as resolved when the same tool has succeeded since;
// executions that were left behind are counted.
func TestResolvedErrors(t *testing.T) {
	s := newScript(t)
	s.add("", &event.RunStarted{Format: 1, Root: "r1", Spec: event.Spec{Model: "test/model", Retry: event.RetrySpec{ToolTries: 1},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
		Tools:       []event.ToolSpec{toolSpec([]string{"", "list", "read"}), toolSpec([]string{"", "put", "repeatable"})}}})
	s.add("", &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "go"}}})
	s.settle()
	turn := func(name, args string, d *event.ToolFinished) {
		t.Helper()
		id := s.model().ID
		s.add(id, &event.ModelAnswered{ID: id, Finish: event.FinishToolCalls, Message: message.Message{Role: message.Assistant,
			Parts: []message.Part{{Kind: message.ToolCall, ID: "c" + id, Name: name, Args: args}}}})
		s.settle()
		for _, c := range s.m.Next() {
			if r, ok := c.(*loop.RunTool); ok {
				d.ID, d.Call, d.Tool = r.ID, r.Call, r.Tool
				s.add(r.ID, d)
			}
		}
		s.settle()
	}
	failed := func(kind string) *event.ToolFinished {
		return &event.ToolFinished{Status: event.StatusError, ErrorType: kind}
	}
	turn("list", `{"x":1}`, failed("not_found"))
	turn("list", `{"y":1}`, nil)
	turn("put", `{"x":1}`, failed("read_only"))
	if got := s.m.Status().Resolved; got != nil {
		t.Errorf("resolved before anything succeeded: %v", got)
	}
	turn("list", `{"x":2}`, &event.ToolFinished{Status: event.StatusSuccess})
	turn("list", `{"x":3}`, &event.ToolFinished{Status: event.StatusTimeout, ErrorType: tool.TypeAbandoned})
	st := s.m.Status()
	var got []string
	for _, r := range st.Resolved {
		got = append(got, r.Tool+" "+r.Type+" "+r.Call+" by "+r.By)
	}
	if want := []string{"list not_found c3.0 by c23.0", "list invalid_arguments c10.0 by c23.0"}; !slices.Equal(got, want) {
		t.Errorf("resolved: %q, want %q", got, want)
	}
	if st.Abandoned != 1 {
		t.Errorf("%d are said to be left behind", st.Abandoned)
	}
	s.refold()
}
