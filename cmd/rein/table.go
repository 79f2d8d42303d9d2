package main

import (
	"slices"
	"strings"
)

// table is text in columns for people. What is in it is clipped, so that a row
// is a line of the terminal.
type table struct {
	head []string
	rows []tableRow
	// flexible is the column that takes what width the others leave, and gives
	// first; it never gets narrower than its least columns.
	flexible, least int
	// narrow: the width is that of a terminal, which the table is to keep at any price:
	// long cells are cut, and columns at its end left out.
	narrow bool
}

// tableRow is a row and the lines below it that say more.
type tableRow struct {
	cells []string
	below []string
}

// leaveOut leaves out the columns of these heads in which each row has that text.
func (t *table) leaveOut(text string, heads ...string) {
	for i, h := range t.head {
		if slices.Contains(heads, h) && !slices.ContainsFunc(t.rows, func(r tableRow) bool { return r.cells[i] != text }) {
			for _, r := range t.rows {
				r.cells[i] = absent
			}
		}
	}
}

// usualWidth is how wide a line is where nobody knows the terminal.
const usualWidth = 80

// absent stands for what is not known or does not belong to a row.
const absent = "-"

// gap is between columns.
const gap = 2

// text returns the table, at most width columns wide where that is possible. A
// column that says nothing in any row is left out.
func (t *table) text(width int) string {
	keep := make([]int, 0, len(t.head)) // the widths of the columns; 0 leaves one out
	total := -gap
	for i := range t.head {
		w := 0
		for _, r := range t.rows {
			if r.cells[i] != absent {
				w = max(w, textWidth(r.cells[i]))
			}
		}
		if w > 0 || i == 0 { // the first has the marks, and keeps the table's edge
			w = max(w, textWidth(t.head[i]), 1)
			total += w + gap
		}
		keep = append(keep, w)
	}
	if over := total - width; over > 0 && len(t.rows) > 0 {
		keep[t.flexible] = max(min(t.least, keep[t.flexible]), keep[t.flexible]-over)
	}
	if t.narrow {
		t.squeeze(keep, width)
	}
	var out strings.Builder
	line := func(cells []string) {
		var l strings.Builder
		for i, c := range cells {
			if keep[i] > 0 {
				c = clipIndented(c, keep[i])
				l.WriteString(c + strings.Repeat(" ", max(0, keep[i]-textWidth(c))+gap))
			}
		}
		out.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(t.head)
	for _, r := range t.rows {
		line(r.cells)
		for _, b := range r.below {
			out.WriteString(belowIndent + clip(b, max(width-len(belowIndent), t.leastBelow())) + "\n")
		}
	}
	return out.String()
}

// leastCell is the fewest columns that a cell is cut to.
const leastCell = 10

// squeeze makes the columns, of which keep has the widths, as narrow as a terminal.
func (t *table) squeeze(keep []int, width int) {
	over := func() int {
		total := -gap
		for _, w := range keep {
			if w > 0 {
				total += w + gap
			}
		}
		return total - width
	}
	for i := range keep {
		if o := over(); i != t.flexible && o > 0 {
			keep[i] = max(min(keep[i], leastCell), keep[i]-o)
		}
	}
	f := &keep[t.flexible]
	*f = max(min(*f, leastCell), *f-max(over(), 0))
	for i := len(keep) - 1; i > t.flexible && over() > 0; i-- {
		keep[i] = 0
	}
	*f = max(min(*f, 1), *f-max(over(), 0))
}

// fitted returns lines with those that are wider than a terminal of width columns broken
// between words; 0: nobody knows how wide it is. A word is never broken, so that what is
// to be copied is whole.
func fitted(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		indent := bare[:len(bare)-len(strings.TrimLeft(bare, " "))] + "  "
		for textWidth(bare) > width {
			i := breakAt(bare, width)
			if i < 0 {
				break
			}
			out.WriteString(strings.TrimRight(bare[:i], " ") + "\n")
			bare = indent + strings.TrimLeft(bare[i:], " ")
		}
		out.WriteString(bare + line[len(strings.TrimRight(line, "\n")):])
	}
	return out.String()
}

// breakAt returns where the last word begins that does not end within width columns, the
// first word of the line not counted; -1 if there is none.
func breakAt(line string, width int) int {
	begun, at, columns := false, -1, 0
	for i, r := range line {
		if r == ' ' && begun && i+1 < len(line) && line[i+1] != ' ' && (at < 0 || columns <= width) {
			if at >= 0 && columns > width {
				break
			}
			at = i + 1
		}
		begun = begun || r != ' '
		columns += runeWidth(r)
		if columns > width && at >= 0 {
			break
		}
	}
	return at
}

// leastBelow is the fewest columns of a line below a row.
func (t *table) leastBelow() int {
	if t.narrow {
		return min(t.least, leastCell)
	}
	return t.least
}

// belowIndent begins the lines below a row.
const belowIndent = "         "

// clipIndented is clip for a text that keeps the spaces it begins with.
func clipIndented(s string, columns int) string {
	text := strings.TrimLeft(s, " ")
	n := min(len(s)-len(text), columns)
	return s[:n] + clip(text, columns-n)
}

// textWidth returns how many columns a text takes.
func textWidth(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}
