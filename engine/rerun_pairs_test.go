package engine

import (
	"slices"
	"testing"

	"rein.example/rein/message"
)

// What is amiss with calls and results is told, in the order in which it stands.
func TestRepaired(t *testing.T) {
	calls := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "a", Name: "look"}, {Kind: message.ToolCall, ID: "b", Name: "pay"}}}
	a, b := message.Result("a", "look", "seen", false), message.Result("b", "pay", "paid", false)
	for _, c := range []struct {
		msgs []message.Message
		want []string
	}{
		{nil, nil},
		{[]message.Message{calls, a, b}, nil},
		{[]message.Message{calls, b, a}, []string{"results do not stand in the order of their calls: they are put into it"}},
		{[]message.Message{calls, a}, []string{"the call b of pay has no result: one stands in for it that says so"}},
		{[]message.Message{calls, a, b, b}, []string{"a result of pay belongs to no call b: it is left out"}},
		{[]message.Message{a, calls, b}, []string{"the call a of look has no result: one stands in for it that says so", "a result of look belongs to no call a: it is left out"}},
	} {
		if got := repaired(c.msgs); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.msgs, got, c.want)
		}
	}
}
