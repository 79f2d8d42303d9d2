package main

import (
	"cmp"
	"fmt"
	"strings"

	"rein.example/rein/trace/diff"
)

// differences says for people how two runs differ: words first, then the steps side
// by side, then the texts.
func (a *app) differences(d *parted) string {
	width := cmp.Or(a.wide, usualWidth)
	var out strings.Builder
	header(&out, d)
	if d.Same {
		what := "their calls, outcomes and answers are the same, and what the models saw"
		if d.Contexts == nil {
			what = "their calls, outcomes and answers are the same"
		}
		if d.RunA == d.RunB {
			what = "it is the same run"
		}
		fmt.Fprintf(&out, "\nno difference: %s\n", what)
		a.findings(&out, d, width)
		redacted(&out, d, width)
		return out.String()
	}
	out.WriteString("\n")
	first, part := d.FirstDivergence, d.Parting
	switch {
	case first == nil:
		out.WriteString(wrapped("They do not part: their calls, outcomes and answers are the same.", width, ""))
	case part == nil:
		out.WriteString(wrapped("They differ first: "+first.Text+".", width, ""))
		out.WriteString(wrapped("They do not part: the models did the same to the end.", width, ""))
	default:
		if first.Text != part.Text {
			out.WriteString(wrapped("They differ first: "+first.Text+".", width, ""))
		}
		out.WriteString(wrapped("They part: "+part.Text+".", width, ""))
	}
	if d.ContextError != "" {
		out.WriteString(wrapped("The contexts could not be parted: "+d.ContextError, width, ""))
	}
	a.findings(&out, d, width)
	sideBySide(&out, d, width)
	texts(&out, d, width)
	redacted(&out, d, width)
	a.further(&out, d)
	return out.String()
}

// header says what the two runs are.
func header(out *strings.Builder, d *parted) {
	for _, r := range []struct {
		name, run string
		o         *diff.Outline
	}{{"A", d.RunA, &d.A}, {"B", d.RunB, &d.B}} {
		fmt.Fprintf(out, "%s  run %s of %s, model %s: %s, %s\n", r.name, name(r.run), name(cmp.Or(r.o.Agent, "an agent without a name")), name(r.o.Model),
			printable(strings.TrimSpace(r.o.Status+" "+r.o.Reason)), plural(r.o.Steps, "step"))
	}
	if d.SharedEvents > 0 {
		what := "They are forks of one run, and share"
		switch {
		case d.B.ForkOf == d.RunA:
			what = "B is a fork of A: they share"
		case d.A.ForkOf == d.RunB:
			what = "A is a fork of B: they share"
		}
		fmt.Fprintf(out, "%s events 1 to %d", what, d.SharedEvents)
		if d.SharedSteps > 0 {
			fmt.Fprintf(out, ", %s", plural(d.SharedSteps, "step"))
		}
		out.WriteString("\n")
	}
}

// findings lists what differs, in words.
func (a *app) findings(out *strings.Builder, d *parted, width int) {
	if len(d.Findings) == 0 {
		return
	}
	out.WriteString("\nWhat differs\n")
	for _, f := range d.Findings {
		text := f.Text
		if f.Look != "" {
			text += " (" + a.next("%s", f.Look) + ")"
		}
		out.WriteString(wrapped("  "+text, width, "    "))
		for _, l := range f.Follows {
			out.WriteString(wrapped("    - "+l, width, "      "))
		}
	}
}

// Signs of the alignment.
var signs = map[diff.PairKind]string{diff.Same: "=", diff.Outcome: "~", diff.Said: "~", diff.InA: "<", diff.InB: ">"} // looked up only

// aroundSteps is how many steps are shown on both sides of where runs differ, and
// mostSteps how many at most.
const aroundSteps, mostSteps = 3, 24

// sideBySide shows the steps around the first differences in two columns.
func sideBySide(out *strings.Builder, d *parted, width int) {
	rows := columnsOf(d.Steps)
	first := len(rows)
	for i := range rows {
		if rows[i].sign != "=" {
			first = i
			break
		}
	}
	if first == len(rows) {
		return
	}
	out.WriteString("\nSteps (= the same, ~ the same calls with another outcome or input, | others)\n")
	from := max(0, first-aroundSteps)
	to := min(len(rows), from+mostSteps)
	column := (width - 4) / 2
	line := func(sign, x, y string) {
		x = clip(x, column-1)
		out.WriteString(strings.TrimRight(sign+" "+x+strings.Repeat(" ", max(1, column-textWidth(x)))+" "+clip(y, column-1), " ") + "\n")
	}
	line(" ", "A", "B")
	if from > 0 {
		line("=", fmt.Sprintf("… %s before", plural(int64(from), "step")), "")
	}
	for _, r := range rows[from:to] {
		line(r.sign, r.a, r.b)
	}
	if !d.Exact {
		out.WriteString(wrapped("  The runs are long and have little in common: some steps that are alike may not stand side by side.", width, "  "))
	}
	if to < len(rows) {
		line(" ", fmt.Sprintf("… and %d more lines (--json has all)", len(rows)-to), "")
	}
}

// columnRow is one line of the two columns.
type columnRow struct{ sign, a, b string }

// columnsOf returns the alignment as lines; steps that only one run has stand beside
// those that only the other has in the same place.
func columnsOf(steps []diff.StepPair) []columnRow {
	cell := func(n *int64, text string) string {
		if n == nil {
			return ""
		}
		return fmt.Sprintf("%d %s", *n, text)
	}
	var rows []columnRow
	for i := 0; i < len(steps); {
		if k := steps[i].Kind; k != diff.InA && k != diff.InB {
			rows = append(rows, columnRow{signs[k], cell(steps[i].StepA, steps[i].TextA), cell(steps[i].StepB, steps[i].TextB)})
			i++
			continue
		}
		var x, y []string
		for ; i < len(steps) && (steps[i].Kind == diff.InA || steps[i].Kind == diff.InB); i++ {
			if steps[i].Kind == diff.InA {
				x = append(x, cell(steps[i].StepA, steps[i].TextA))
			} else {
				y = append(y, cell(steps[i].StepB, steps[i].TextB))
			}
		}
		for k := range max(len(x), len(y)) {
			r := columnRow{sign: "|"}
			if k < len(x) {
				r.a = x[k]
			}
			if k < len(y) {
				r.b = y[k]
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// texts shows the texts that differ.
func texts(out *strings.Builder, d *parted, width int) {
	for _, f := range d.Findings {
		if len(f.Diff) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n", clip(f.Text, width))
		for _, l := range f.Diff {
			out.WriteString("  " + printable(l) + "\n")
		}
	}
}

// redacted says which values are in no journal.
func redacted(out *strings.Builder, d *parted, width int) {
	if len(d.Redacted) > 0 {
		out.WriteString("\n" + wrapped("not compared: what the secrets "+strings.Join(d.Redacted, ", ")+" stand for, which no journal holds", width, ""))
	}
}

// further says what to look at next.
func (a *app) further(out *strings.Builder, d *parted) {
	if d.Contexts == nil {
		return
	}
	fmt.Fprintf(out, "\nwhat the models saw: %s\n                     %s\n",
		a.next("request %s --step %d", d.RunA, d.Contexts.StepA), a.next("request %s --step %d", d.RunB, d.Contexts.StepB))
}

// wrapped returns a text in lines of at most width columns where it has spaces to
// break it at; all but the first are indented.
func wrapped(text string, width int, indent string) string {
	var out strings.Builder
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	for _, word := range strings.Fields(printable(text)) {
		if strings.TrimSpace(line) != "" && textWidth(line)+1+textWidth(word) > width {
			out.WriteString(line + "\n")
			line = indent + word
			continue
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return out.String() + line + "\n"
}
