package main

import (
	"fmt"
	"strings"

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

// footer writes what the run has cost below its table.
func (v *shown) footer(out *strings.Builder) {
	if v.CostUSD != nil {
		fmt.Fprintf(out, "\ncost %s\n", dollars(*v.CostUSD))
	}
}
