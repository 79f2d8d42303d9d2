package main

import (
	"strings"
	"testing"

	"rein.example/rein/trace"
)

// Below a run's table stands what the calls beside its steps have taken; what is not
// known is left out.
func TestFooter(t *testing.T) {
	tokens, cost := int64(1_234), trace.USD(4_500)
	for _, c := range []struct {
		name string
		v    shown
		want string
	}{
		{"nothing is known", shown{Purposes: []trace.PurposeTotal{{Purpose: "step", Calls: 3}}}, ""},
		{"one check", shown{CostUSD: &cost, Purposes: []trace.PurposeTotal{{Purpose: "completion-check", Calls: 1, Tokens: &tokens, Cost: &cost}}},
			"\ncost $0.004500\nchecks: 1 call, 1234 tokens, $0.004500\n"},
		{"checks of both kinds, and summaries", shown{Purposes: []trace.PurposeTotal{{Purpose: "summary", Calls: 2, Tokens: &tokens},
			{Purpose: "read-back", Calls: 2, Tokens: &tokens, Cost: &cost, Returned: 1}, {Purpose: "completion-check", Calls: 1, Tokens: &tokens, Returned: 1}}},
			"\nsummaries: 2 calls, 1234 tokens\nchecks: 3 calls, 2468 tokens; sent the run back 2 times\n"},
	} {
		var out strings.Builder
		if c.v.footer(&out); out.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, out.String(), c.want)
		}
	}
}
