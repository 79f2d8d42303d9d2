package main

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// usd returns an amount in millionths of a dollar, nil if it is unknown.
func usd(c message.Count) *trace.USD {
	n, ok := c.Get()
	if !ok {
		return nil
	}
	u := trace.USD(n)
	return &u
}

// dollars writes an amount for people: with cents where it has some, else as
// exactly as it is known.
func dollars(u trace.USD) string {
	const cent = 10_000
	if u >= 100*cent {
		return fmt.Sprintf("$%d.%02d", (u+cent/2)/(100*cent), (u+cent/2)/cent%100)
	}
	return fmt.Sprintf("$%d.%06d", u/1_000_000, u%1_000_000)
}

// footer writes below a run's table what it has cost, and what of that the calls
// beside its steps have.
func (v *shown) footer(out *strings.Builder) {
	var lines []string
	if v.CostUSD != nil {
		lines = append(lines, "cost "+dollars(*v.CostUSD))
	} else if v.Totals != nil && v.Totals.ModelCalls > 0 {
		lines = append(lines, "cost unknown")
	}
	lines = append(lines, v.sums()...)
	var summaries, checks trace.PurposeTotal
	for i := range v.Purposes {
		switch p := &v.Purposes[i]; {
		case event.Purpose(p.Purpose).Check():
			checks = both(&checks, p)
		case event.Purpose(p.Purpose).Aside():
			summaries = both(&summaries, p)
		}
	}
	lines = append(lines, beside("summaries", &summaries)...)
	lines = append(lines, beside("checks", &checks)...)
	lines = append(lines, v.curves()...)
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s\n", strings.Join(lines, "\n"))
	}
}

// both adds two totals.
func both(a, b *trace.PurposeTotal) trace.PurposeTotal {
	if a.Calls == 0 {
		return *b
	}
	sum := trace.PurposeTotal{Calls: a.Calls + b.Calls, Returned: a.Returned + b.Returned}
	if a.Tokens != nil && b.Tokens != nil {
		n := *a.Tokens + *b.Tokens
		sum.Tokens = &n
	}
	if a.Cost != nil && b.Cost != nil {
		u := *a.Cost + *b.Cost
		sum.Cost = &u
	}
	return sum
}

// beside returns the line about calls beside the steps, if there were any.
func beside(what string, t *trace.PurposeTotal) []string {
	if t.Calls == 0 {
		return nil
	}
	line := what + ": " + plural(t.Calls, "call")
	if t.Tokens != nil {
		line += ", " + plural(*t.Tokens, "token")
	}
	if t.Cost != nil {
		line += ", " + dollars(*t.Cost)
	}
	if t.Returned > 0 {
		line += "; sent the run back " + plural(t.Returned, "time")
	}
	return []string{line}
}
