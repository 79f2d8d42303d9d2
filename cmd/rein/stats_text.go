package main

import (
	"cmp"
	"fmt"
	"strings"

	"rein.example/rein/trace"
	"rein.example/rein/trace/stats"
)

// statsRows is how many lines of each table people are shown; --json has all.
const statsRows = 12

// statsText returns the tables for people.
func (a *app) statsText(o *statsObject) string {
	var out strings.Builder
	t := &o.Total
	statsHead(&out, t)
	head := fitted(out.String(), a.wide)
	out.Reset()
	out.WriteString(head)
	width := cmp.Or(a.wide, usualWidth)
	for _, b := range []*table{groupsTable(o), reasonsTable(t), modelsTable(t), toolsTable(t), errorsTable(t)} {
		if len(b.rows) == 0 {
			continue
		}
		more := len(b.rows) - statsRows
		if b.head[0] == strings.ToUpper(string(o.By)) {
			more = 0 // this is what was asked for
		}
		if more > 0 {
			b.rows = b.rows[:statsRows]
		}
		b.leaveOut("0", "BELOW", "FAILED", "RETRIES")
		b.narrow = a.wide > 0
		out.WriteString("\n" + b.text(width))
		if more > 0 {
			fmt.Fprintf(&out, "… and %d more: --json has them\n", more)
		}
	}
	return out.String()
}

// statsHead writes what is to be known first.
func statsHead(out *strings.Builder, t *stats.Group) {
	r := &t.Runs
	fmt.Fprintf(out, "%s", plural(r.All, "run"))
	if n := t.Below.All; n > 0 {
		fmt.Fprintf(out, ", and %d below them for calls of agents", n)
	}
	if t.Forks > 0 {
		fmt.Fprintf(out, "; %s", plural(t.Forks, "fork"))
	}
	out.WriteString("\n")
	if r.Success != nil {
		fmt.Fprintf(out, "success   %s: %d of %d", r.Success, r.OK, r.All)
		if r.SuccessOfFinished != nil && r.Finished() != r.All {
			fmt.Fprintf(out, "; %s of the %d that have finished", r.SuccessOfFinished, r.Finished())
		}
		if r.SuccessOfJudged != nil && r.Judged() != r.Finished() {
			fmt.Fprintf(out, "; %s of the %d that no error, timeout or cancelling ended", r.SuccessOfJudged, r.Judged())
		}
		out.WriteString("\n")
	}
	if r.All > 0 {
		fmt.Fprintf(out, "runs      %s\n", outcomes(r))
	}
	if s := &t.Steps; s.Median != nil {
		fmt.Fprintf(out, "steps     %d; a run's median %d, 95%% at most %d, all at most %d\n", s.Total, *s.Median, *s.P95, *s.Max)
	}
	k := &t.Tokens
	if uncharged(&t.Cost) {
		out.WriteString("tokens    unknown\n")
	} else {
		fmt.Fprintf(out, "tokens    %s in (%s cached), %s out (%s reasoning)\n", sumText(&k.Input), sumText(&k.Cached), sumText(&k.Output), sumText(&k.Reasoning))
	}
	fmt.Fprintf(out, "cost      %s\n", costText(&t.Cost))
	if len(t.Calls) > 0 {
		var parts []string
		for _, s := range t.Calls {
			parts = append(parts, fmt.Sprintf("%d %s", s.Calls, printable(s.Status)))
		}
		fmt.Fprintf(out, "calls     %s\n", strings.Join(parts, ", "))
	}
}

// outcomes says how runs stand, all of them.
func outcomes(r *stats.Outcomes) string {
	var parts []string
	for _, c := range []struct {
		n    int64
		what string
	}{{r.OK, "ok"}, {r.NotOK, "not ok"}, {r.BestEffort, "best effort"}, {r.Errors, "errors of model or harness"}, {r.TimedOut, "timed out"},
		{r.Cancelled, "cancelled"}, {r.Interrupted, "interrupted"}, {r.Damaged, "damaged"}, {r.Open, "open"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}

// sumText returns a sum, with how many calls are not in it.
func sumText(s *stats.Sum) string {
	switch {
	case s.Unknown == 0:
		return fmt.Sprint(s.Known)
	case s.Known == 0:
		return "?"
	}
	return fmt.Sprintf("%d + ? of %s", s.Known, plural(s.Unknown, "call"))
}

// costText says what calls cost, part by part.
func costText(c *stats.Cost) string {
	var parts []string
	for _, p := range []struct {
		n    trace.USD
		what string
	}{{c.Uncached, "input"}, {c.InFull, "input at the full price"}, {c.Cached, "cached input"}, {c.CacheWrite, "cache writes"}, {c.Output, "output"}, {c.Reasoning, "reasoning"}} {
		if p.n > 0 {
			parts = append(parts, dollars(p.n)+" "+p.what)
		}
	}
	text := shortCost(c)
	if c.Unknown > 0 && c.Known > 0 {
		text = fmt.Sprintf("%s, and what %s cost is unknown", dollars(c.Known), plural(c.Unknown, "call"))
	} else if c.USD == nil {
		text = "unknown"
	}
	if len(parts) > 1 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// uncharged reports whether calls were made of which none was charged, so that nobody
// knows what they took.
func uncharged(c *stats.Cost) bool { return c.USD == nil && c.Unknown == 0 }

// shortCost returns a cost for a table: with + ? if some of it is unknown.
func shortCost(c *stats.Cost) string {
	switch {
	case c.USD != nil:
		return dollars(c.Known)
	case c.Known == 0:
		return "?"
	}
	return dollars(c.Known) + " + ?"
}

// shortSum returns a sum of calls that cost c for a table.
func shortSum(s *stats.Sum, c *stats.Cost) string {
	switch {
	case uncharged(c):
		return "?"
	case s.Unknown == 0:
		return fmt.Sprint(s.Known)
	case s.Known == 0:
		return "?"
	}
	return fmt.Sprintf("%d + ?", s.Known)
}

// groupsTable has a line for each group.
func groupsTable(o *statsObject) *table {
	t := &table{head: []string{strings.ToUpper(string(o.By)), "RUNS", "OK", "SUCCESS", "BELOW", "STEPS", "IN", "OUT", "COST"}, least: 20}
	for i := range o.Groups {
		g := &o.Groups[i]
		success := absent
		if g.Runs.Success != nil {
			success = g.Runs.Success.String()
		}
		t.rows = append(t.rows, tableRow{cells: []string{groupName(o.By, g.Name), some(g.Runs.All), some(g.Runs.OK), success, some(g.Below.All),
			some(g.Steps.Total), shortSum(&g.Tokens.Input, &g.Cost), shortSum(&g.Tokens.Output, &g.Cost), shortCost(&g.Cost)}})
	}
	return t
}

// groupName returns a group's name for a table. Versions of one agent differ at the end.
func groupName(by stats.By, text string) string {
	if i := strings.LastIndexByte(text, '@'); by == stats.ByVersion && i >= 0 {
		return clip(text[:i], versionedWidth) + printable(text[i:])
	}
	return name(text)
}

// versionedWidth is how many columns of an agent's name stand before its version, so
// that both have room beside the figures.
const versionedWidth = 20

func reasonsTable(g *stats.Group) *table {
	t := &table{head: []string{"STOPPED", "RUNS", "OK"}, least: 20}
	for _, r := range g.Reasons {
		t.rows = append(t.rows, tableRow{cells: []string{name(r.Reason), some(r.Runs), some(r.OK)}})
	}
	return t
}

func modelsTable(g *stats.Group) *table {
	t := &table{head: []string{"MODEL", "CALLS", "FAILED", "RETRIES", "IN", "OUT", "COST", "MEDIAN", "P95"}, least: 20}
	for i := range g.Models {
		m := &g.Models[i]
		t.rows = append(t.rows, tableRow{cells: []string{name(m.Model), some(m.Calls), some(m.Failed), some(m.Retries),
			shortSum(&m.Tokens.Input, &m.Cost), shortSum(&m.Tokens.Output, &m.Cost), shortCost(&m.Cost), took(m.Latency.Median), took(m.Latency.P95)}})
	}
	return t
}

func toolsTable(g *stats.Group) *table {
	t := &table{head: []string{"TOOL (slowest first)", "CALLS", "FAILED", "RETRIES", "MEDIAN", "P95", "MAX"}, least: 20}
	for i := range g.Tools {
		o := &g.Tools[i]
		t.rows = append(t.rows, tableRow{cells: []string{name(o.Tool), some(o.Calls), some(o.Failed()), some(o.Retries),
			took(o.Latency.Median), took(o.Latency.P95), took(o.Latency.Max)}})
	}
	return t
}

// errorsTable has the errors of models and tools, the most common of each first.
func errorsTable(g *stats.Group) *table {
	t := &table{head: []string{"ERRORS OF", "TYPE", "CALLS"}, least: 20}
	add := func(who string, list []stats.Errors) {
		for _, e := range list {
			t.rows = append(t.rows, tableRow{cells: []string{name(who), name(e.Type), some(e.Calls)}})
		}
	}
	for i := range g.Models {
		add(g.Models[i].Model, g.Models[i].Errors)
	}
	for i := range g.Tools {
		add(g.Tools[i].Tool, g.Tools[i].Errors)
	}
	return t
}

// some returns a number for a table: 0 is 0, and no sign of what is unknown.
func some(n int64) string { return fmt.Sprint(n) }
