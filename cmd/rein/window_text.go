package main

import (
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/engine/rehearsal"
)

// windowText is a comparison for people: a table of the sums for each budget and
// scope, then what is to be said of single conversations.
func windowText(c *compared, of *comparing, width int) string {
	if width == 0 {
		width = usualWidth
	}
	var b strings.Builder
	var t *table
	end := func() {
		if t != nil {
			b.WriteString(t.text(width))
		}
	}
	var scope string
	var budget int64
	for _, r := range c.Totals {
		if t == nil || r.Scope != scope || r.Budget != budget {
			end()
			if t != nil {
				b.WriteByte('\n')
			}
			scope, budget = r.Scope, r.Budget
			fmt.Fprintf(&b, "%s\n", scopeText(r))
			t = &table{head: []string{"strategy", "tokens", "cost", "of all", "rewrites", "peak", "facts", "reach", "growth", "over", "unpaired", "inputs", "ended"}, least: 10}
		}
		t.rows = append(t.rows, tableRow{cells: windowCells(r, of.facts > 0)})
	}
	end()
	b.WriteString(windowNotes(c, of))
	return b.String()
}

// scopeText says what the sums below are of.
func scopeText(r *rehearsal.Report) string {
	n := fmt.Sprintf("%s, %s, %s", plural(int64(r.Conversations), "conversation"), plural(int64(r.Calls), "call"), plural(int64(r.Messages+r.Left), "message"))
	switch r.Scope {
	case rehearsal.ScopeOver:
		return fmt.Sprintf("budget %s: the larger ones, %s", budgetText(r.Budget), n)
	case rehearsal.ScopeLong:
		return fmt.Sprintf("budget %s: those of them with %d calls and more, %s", budgetText(r.Budget), rehearsal.LongCalls, n)
	}
	return fmt.Sprintf("budget %s: %s", budgetText(r.Budget), n)
}

func budgetText(n int64) string {
	if n == 0 {
		return "none"
	}
	return grouped(n)
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// thousands writes a large number in thousands.
func thousands(n int64) string {
	if n < 100_000 {
		return grouped(n)
	}
	return grouped((n+500)/1000) + "k"
}

// windowCells is a row of the table. What is as it must be is not shown.
func windowCells(r *rehearsal.Report, facts bool) []string {
	cells := []string{r.Strategy, thousands(r.Tokens), thousands(r.Cost), absent, percent(r.RewritePart), grouped(r.Peak),
		absent, absent, absent, absent, absent, absent, absent}
	if r.CostPart != nil {
		cells[3] = percent(*r.CostPart)
	}
	if facts {
		cells[6], cells[7] = percent(r.AlivePart), percent(r.ReachablePart)
	}
	if r.Growth != nil {
		cells[8] = fmt.Sprintf("%.2f", *r.Growth)
	}
	for i, n := range []int{r.Overflows, r.PairViolations, r.UsersGone, r.EndedEarly} {
		if n > 0 {
			cells[9+i] = strconv.Itoa(n)
		}
	}
	return cells
}

func percent(p rehearsal.Percent) string { return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%" }

// windowNotes says what the figures are, and what is not in the table.
func windowNotes(c *compared, of *comparing) string {
	var b strings.Builder
	method, bad, users, short := "", false, 0, 0
	for _, r := range c.Runs {
		if method = r.Method; r.Tokenizer != "" {
			method += " (" + r.Tokenizer + ")"
		}
		users, short = users+r.Users, short+r.UsersShort
		bad = bad || r.Overflows+r.PairViolations+r.UsersGone > 0
	}
	fmt.Fprintf(&b, "\nTokens are %s; cost is with a cache, in which what was sent before costs a tenth.\n", method)
	if of.facts > 0 {
		fmt.Fprintf(&b, "%s in each conversation, seed %d: alive in the last request, or reachable with a tool.\n", plural(int64(of.facts), "fact"), of.seed)
	}
	if !bad {
		b.WriteString("No request was over its budget, none had a call without its result, and what users said was in all of them")
		if short > 0 {
			fmt.Fprintf(&b, ", shortened in %d of %d cases", short, users)
		}
		b.WriteString(".\n")
	}
	said := map[string]bool{}
	for _, r := range c.Runs {
		for _, text := range r.Repairs {
			if line := fmt.Sprintf("repaired  %s: %s\n", r.Conversation, text); !said[line] {
				said[line] = true
				b.WriteString(line)
			}
		}
	}
	for _, r := range c.Runs {
		if r.Ended != "" {
			fmt.Fprintf(&b, "ended     %s, %s, budget %s: after %s, with %s left: %s\n", r.Conversation, r.Strategy, budgetText(r.Budget),
				plural(int64(r.Calls), "call"), plural(int64(r.Left), "message"), r.Ended)
		}
	}
	return b.String()
}
