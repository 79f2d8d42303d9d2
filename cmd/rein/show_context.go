package main

import (
	"fmt"
	"strings"

	"rein.example/rein/trace"
)

// composition says what a request held, in lines of at most width columns.
func composition(c *trace.Context, width int) []string {
	s := fmt.Sprintf("context: %d tokens", c.Tokens)
	if c.Budget != nil {
		s += fmt.Sprintf(" of %d (%d%%)", *c.Budget, c.Tokens*100 / *c.Budget)
	}
	if c.Method != "" {
		s += ", " + c.Method
	}
	lines := []string{s}
	const begin = "  "
	line := begin
	for i, b := range c.Blocks {
		part := fmt.Sprintf("%s %d", b.Name, b.Tokens)
		if i < len(c.Blocks)-1 {
			part += ", "
		}
		if line != begin && textWidth(line+strings.TrimSpace(part)) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), begin
		}
		line += part
	}
	if line != begin {
		lines = append(lines, line)
	}
	return lines
}

// compactionRow is the row of a rewrite of the context.
func compactionRow(c *trace.Compaction, at func(int64) string) tableRow {
	what := "context rewritten"
	if c.Strategy != "" {
		what += " (" + c.Strategy + ")"
	}
	var below []string
	if c.Why != "" {
		below = append(below, c.Why)
	}
	if done := rewritten(c); done != "" {
		below = append(below, done)
	}
	for _, f := range c.Failed {
		below = append(below, "a summary was not used: "+f)
	}
	if c.ReadAgain > 0 {
		below = append(below, fmt.Sprintf("after it %s read again what had been read before", plural(c.ReadAgain, "call")))
	}
	return tableRow{[]string{"~", fmt.Sprint(c.Step), at(c.Time), what, fmt.Sprintf("%d -> %d tokens", c.Before, c.After),
		absent, absent, absent, absent}, below}
}

// rewritten says what was done, in one line.
func rewritten(c *trace.Compaction) string {
	var parts []string
	if c.Upto > 0 {
		how := "noted"
		if c.Summary != "" {
			how = "summarised"
		}
		parts = append(parts, fmt.Sprintf("messages before %d %s", c.Upto, how))
	}
	counts := map[string]int{}
	var order []string
	for _, e := range c.Edits {
		what := strings.TrimSpace(e.Action + " " + strings.ReplaceAll(e.Why, "_", " "))
		if counts[what] == 0 {
			order = append(order, what)
		}
		counts[what]++
	}
	for _, what := range order {
		parts = append(parts, fmt.Sprintf("%s: %s", what, plural(int64(counts[what]), "message")))
	}
	return strings.Join(parts, "; ")
}

// kept prints the texts that stand in the place of what has left.
func (v *shown) kept(out *strings.Builder) {
	for i := range v.Compactions {
		c := &v.Compactions[i]
		fmt.Fprintf(out, "\nrewritten at step %d:\n", c.Step)
		for _, x := range []struct{ name, text string }{{"summary", c.Summary}, {"snapshot", c.Snapshot}} {
			if x.text != "" {
				fmt.Fprintf(out, "  %s:\n%s\n", x.name, indent(indent(printable(x.text))))
			}
		}
		for _, e := range c.Edits {
			fmt.Fprintf(out, "  message %d, %s: %s\n", e.Message, clip(strings.TrimSpace(e.Action+" "+e.Why), mostResult), clip(e.Text, mostArgs))
		}
	}
}
