package main

import (
	"fmt"
	"strings"

	"rein.example/rein/trace"
)

// sums are the lines about where the time, the tokens and the money of a run went.
func (v *shown) sums() []string {
	t := v.Totals
	if t == nil {
		return nil
	}
	var lines []string
	if parts := costLine(t); parts != "" {
		lines = append(lines, "  "+parts)
	}
	if len(t.Models) > 1 {
		for i := range t.Models {
			m := &t.Models[i]
			lines = append(lines, fmt.Sprintf("  %s: %s, %s", name(m.Model), plural(m.Calls, "call"), orUnknown(m.Cost)))
		}
	}
	if b := t.Below; b != nil {
		lines = append(lines, fmt.Sprintf("  runs below, %d: %s, which is in the cost; their own tables have it too", b.Runs, orUnknown(b.Cost)))
	}
	if f := t.BeforeFork; f != nil {
		lines = append(lines, fmt.Sprintf("  before the fork: %s, which run %s has paid", orUnknown(f.CostWithBelow), name(v.ForkOf)))
	}
	if t.ModelCalls > 0 {
		lines = append(lines, "tokens "+tokenLine(t))
	}
	if t.Time != nil && t.Time.Wall > 0 {
		lines = append(lines, "time "+timeLine(t.Time))
	}
	return lines
}

func orUnknown(u *trace.USD) string {
	if u == nil {
		return "cost unknown"
	}
	return dollars(*u)
}

// costLine says what was paid for, "" if that is not known or nothing was.
func costLine(t *trace.Totals) string {
	if t.Cost == nil {
		return ""
	}
	var parts []string
	for _, p := range t.CostParts.Paid(*t.Cost) {
		parts = append(parts, p.What+" "+dollars(p.USD))
	}
	return strings.Join(parts, ", ")
}

// tokenLine says what went in and came out; what nobody reported is unknown.
func tokenLine(t *trace.Totals) string {
	k := &t.Tokens
	in := tokensOr(k.Input) + " in"
	var parts []string
	for _, x := range []struct {
		what string
		n    *int64
	}{{"anew", k.Uncached}, {"cached", k.Cached}, {"written to the cache", k.CacheWrite}} {
		if x.n != nil && *x.n > 0 {
			parts = append(parts, grouped(*x.n)+" "+x.what)
		}
	}
	if k.Input != nil && k.Cached == nil {
		parts = append(parts, "cached unknown")
	}
	if len(parts) > 0 {
		in += " (" + strings.Join(parts, ", ") + ")"
	}
	line := in + ", " + tokensOr(k.Output) + " out"
	if k.Reasoning != nil && *k.Reasoning > 0 {
		line += " (" + grouped(*k.Reasoning) + " of them reasoning)"
	}
	if t.Unreported > 0 {
		line += fmt.Sprintf("; %s of %d did not say what it used", plural(t.Unreported, "call"), t.ModelCalls)
	}
	if t.Unanswered > 0 {
		line += fmt.Sprintf("; without those of %s that was not answered", plural(t.Unanswered, "call"))
	}
	return line
}

// tokensOr returns a number of tokens in words.
func tokensOr(n *int64) string {
	if n == nil {
		return "an unknown number"
	}
	return grouped(*n)
}

// timeLine says where the time went.
func timeLine(t *trace.Times) string {
	var parts []string
	for _, x := range []struct {
		what string
		ms   int64
	}{{"models", t.Models}, {"tools", t.Tools}, {"waiting for people", t.People}, {"waiting for servers", t.Servers}, {"stopped", t.Stopped}, {"between", t.Between}} {
		if x.ms > 0 {
			parts = append(parts, x.what+" "+milliseconds(x.ms))
		}
	}
	return milliseconds(t.Wall) + ": " + strings.Join(parts, ", ")
}

const (
	// leastCurve is the fewest steps of which curves are drawn, and mostCurve the most
	// columns of one.
	leastCurve = 5
	mostCurve  = 60
)

// curves draws how the request, the share of it that was cached and the cost of a step
// go on over the steps that are shown.
func (v *shown) curves() []string {
	points := trace.Curve(v.Rows)
	if len(points) < leastCurve {
		return nil
	}
	var input, cached, cost []*int64
	var before *trace.USD
	for i := range points {
		p := &points[i]
		input, cached = append(input, p.Input), append(cached, p.CachedPPM)
		var step *int64
		if p.Cost != nil && before != nil {
			n := int64(*p.Cost - *before)
			step = &n
		} else if p.Cost != nil && i == 0 && p.Step == 1 {
			n := int64(*p.Cost)
			step = &n
		}
		before = p.Cost
		cost = append(cost, step)
	}
	var lines []string
	for _, c := range []struct {
		what   string
		values []*int64
		most   int64 // the height of the curve, 0 for that of its highest value
		text   func(int64) string
	}{
		{"tokens of input", input, 0, func(n int64) string { return grouped(n) }},
		{"cached of it", cached, 1_000_000, func(n int64) string { return fmt.Sprintf("%d%%", n/10_000) }},
		{"cost of a step", cost, 0, func(n int64) string { return dollars(trace.USD(n)) }},
	} {
		if drawn, low, high, ok := curve(c.values, c.most); ok {
			lines = append(lines, fmt.Sprintf("%-15s  %s  %s to %s", c.what, drawn, c.text(low), c.text(high)))
		}
	}
	return lines
}

// curve draws values in at most mostCurve columns, each as high as its values are on
// average, and returns the lowest and the highest of all. ok is false if fewer than two
// are known; one that is not known is left empty.
func curve(values []*int64, most int64) (drawn string, low, high int64, ok bool) {
	n := 0
	for _, v := range values {
		if v == nil {
			continue
		}
		if n == 0 {
			low, high = *v, *v
		}
		low, high = min(low, *v), max(high, *v)
		n++
	}
	if n < 2 || high <= 0 {
		return "", 0, 0, false
	}
	if most == 0 {
		most = high
	}
	var out strings.Builder
	columns := min(len(values), mostCurve)
	for c := range columns {
		out.WriteRune(bar(average(values[c*len(values)/columns:(c+1)*len(values)/columns]), most))
	}
	return out.String(), low, high, true
}

// average returns the average of those values that are known, -1 if none is.
func average(values []*int64) int64 {
	var sum float64
	n := 0
	for _, v := range values {
		if v != nil {
			sum += float64(*v)
			n++
		}
	}
	if n == 0 {
		return -1
	}
	return int64(sum / float64(n))
}

// bar is a column as high as v is of most.
func bar(v, most int64) rune {
	bars := []rune("▁▂▃▄▅▆▇█")
	if v < 0 {
		return ' '
	}
	return bars[min(int(float64(v)/float64(most)*float64(len(bars))), len(bars)-1)]
}
