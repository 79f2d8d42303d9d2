package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/trace"
)

// found puts the anomalies of a run into v, those that weigh most first, and into the
// rows that they belong to.
func (v *shown) found(list []trace.Anomaly) {
	trace.Mark(v.Rows, list)
	v.Anomalies = append([]trace.Anomaly{}, list...)
	if v.Page != nil {
		v.Anomalies = slices.DeleteFunc(v.Anomalies, func(an trace.Anomaly) bool { return !v.Page.holds(an.Step) })
	}
	slices.SortStableFunc(v.Anomalies, func(a, b trace.Anomaly) int { return weight(a.Level) - weight(b.Level) })
}

// weight is the place of a level in the list.
func weight(l trace.Level) int {
	if l == trace.Warning {
		return 0
	}
	return 1
}

// mostOdd is how many anomalies people are shown below a table.
const mostOdd = 12

// list prints below the table what is odd, what that usually means, and where to look.
func (v *shown) list(out *strings.Builder, a *app) {
	if len(v.Anomalies) == 0 {
		return
	}
	width := cmp.Or(a.wide, usualWidth)
	out.WriteString("\nworth a look:\n")
	for i := range v.Anomalies[:min(len(v.Anomalies), mostOdd)] {
		an := &v.Anomalies[i]
		mark := " "
		if an.Level == trace.Warning {
			mark = "!"
		}
		said := fmt.Sprintf("step %d, %s: %s", an.Step, strings.ReplaceAll(an.Kind, "_", " "), an.Text)
		out.WriteString(wrapped(mark+" "+clip(said, maxDetail), width, "  "))
		if an.Means != "" {
			out.WriteString(wrapped("    usually: "+clip(an.Means, maxDetail), width, "    "))
		}
		if an.Look != "" {
			fmt.Fprintf(out, "    look at: %s\n", a.next("%s", printable(an.Look)))
		}
	}
	if more := len(v.Anomalies) - mostOdd; more > 0 {
		fmt.Fprintf(out, "  and %d more: %s\n", more, a.next("show %s --json", v.Run))
	}
}
