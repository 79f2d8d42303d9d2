package diff

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/cut"
)

// Op says in which of two texts a line stands.
type Op byte

// The three kinds of lines.
const (
	Both  Op = ' '
	OnlyA Op = '-'
	OnlyB Op = '+'
)

// Line is one line of two texts: the lines that are not OnlyB are the first, those
// that are not OnlyA the second.
type Line struct {
	Op   Op
	Text string
}

// Lines returns two texts, as lines, as one. exact is false where they are long and
// have little in common, so that not all of it was looked for. It takes time as the
// texts are long, and some more for each line that differs, with a bound.
func Lines(a, b []string) (lines []Line, exact bool) {
	ids := interner[string]{}
	spans, exact := common(ids.all(a), ids.all(b))
	lines = make([]Line, 0, max(len(a), len(b)))
	i, j := 0, 0
	upTo := func(a1, b1 int) {
		for ; i < a1; i++ {
			lines = append(lines, Line{OnlyA, a[i]})
		}
		for ; j < b1; j++ {
			lines = append(lines, Line{OnlyB, b[j]})
		}
	}
	for _, s := range spans {
		upTo(s.a, s.b)
		for range s.n {
			lines = append(lines, Line{Both, a[i]})
			i, j = i+1, j+1
		}
	}
	upTo(len(a), len(b))
	return lines, exact
}

// interner numbers values, equal ones alike.
type interner[T comparable] map[T]int32

// all returns the numbers of the values.
func (t interner[T]) all(list []T) []int32 {
	out := make([]int32, len(list))
	for i, v := range list {
		n, ok := t[v]
		if !ok {
			n = int32(len(t))
			t[v] = n
		}
		out[i] = n
	}
	return out
}

// Split returns two texts as lines to be compared. Where both are JSON and one has a
// line that nobody could read a difference in, both are indented first.
func Split(a, b string) (linesA, linesB []string) {
	if longLine(a) || longLine(b) {
		if x, ok := indented(a); ok {
			if y, ok := indented(b); ok {
				a, b = x, y
			}
		}
	}
	return linesOf(a), linesOf(b)
}

// linesOf returns the lines of a text; an empty one has none.
func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// readable is how long a line may be, in bytes, to be looked at as it is.
const readable = 120

func longLine(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) > readable {
			return true
		}
	}
	return false
}

// indented returns a JSON object or list with a line for each value.
func indented(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return "", false
	}
	v := jsontext.Value(s)
	if v.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)) != nil {
		return "", false
	}
	return string(v), true
}

// Excerpt says which lines of a difference are shown, and how much of each.
type Excerpt struct {
	// Around is how many lines are shown before and after each that differs.
	Around int
	// Lines is the most lines shown, Width the most bytes of one; 0: as many as there
	// are.
	Lines, Width int
}

// Of returns the lines, each behind its sign, and says where something is left out:
// "…" stands for lines that both texts have. Nothing is returned of texts that do not
// differ.
func (e Excerpt) Of(lines []Line) []string {
	keep := e.near(lines)
	var out []string
	for i := range lines {
		switch {
		case keep[i] && e.Lines > 0 && len(out) >= e.Lines:
			return append(out, fmt.Sprintf("… and %s not shown", plural(e.rest(lines[i:]), "more line that differs", "more lines that differ")))
		case keep[i]:
			out = append(out, string(rune(lines[i].Op))+e.line(lines, i))
		case len(out) > 0 && keep[i-1]:
			out = append(out, "…")
		case i == 0:
			out = append(out, "…")
		}
	}
	if len(out) == 1 && out[0] == "…" {
		return nil
	}
	return out
}

// near marks the lines that are shown: what differs, and what is close to it.
func (e Excerpt) near(lines []Line) []bool {
	keep := make([]bool, len(lines))
	last := -1 // of those that differ
	for i := range lines {
		if lines[i].Op != Both {
			last = i
		}
		keep[i] = last >= 0 && i <= last+e.Around
	}
	last = len(lines) + e.Around
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Op != Both {
			last = i
		}
		keep[i] = keep[i] || i >= last-e.Around && last < len(lines)
	}
	return keep
}

// rest counts the lines that differ.
func (e Excerpt) rest(lines []Line) int {
	n := 0
	for i := range lines {
		if lines[i].Op != Both {
			n++
		}
	}
	return n
}

// line returns line i, of a long one what is near its first difference from the line
// that it stands against, or its beginning.
func (e Excerpt) line(lines []Line, i int) string {
	s := lines[i].Text
	if e.Width <= 0 || len(s) <= e.Width {
		return s
	}
	at := 0
	if other := against(lines, i); other >= 0 {
		at = samePrefix(s, lines[other].Text)
	}
	return clipAround(s, at, e.Width)
}

// against returns the line of the other text that line i stands against: the n-th of
// what was put in the place of the n-th that was taken out; -1 for none.
func against(lines []Line, i int) int {
	op := lines[i].Op
	if op == Both {
		return -1
	}
	first := i
	for first > 0 && lines[first-1].Op == op {
		first--
	}
	other, nth := first, i-first
	if op == OnlyA {
		for other < len(lines) && lines[other].Op == OnlyA {
			other++
		}
	} else {
		for other > 0 && lines[other-1].Op == OnlyA {
			other--
		}
	}
	other += nth
	want := OnlyA
	if op == OnlyA {
		want = OnlyB
	}
	if other < 0 || other >= len(lines) || lines[other].Op != want {
		return -1
	}
	return other
}

// samePrefix returns the length of what two texts begin with, in whole characters.
func samePrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return cut.Down(a, n)
}

// clipAround returns at most some width bytes of a text around at, in whole characters,
// and says what is left out on both sides.
func clipAround(s string, at, width int) string {
	from := max(0, at-width/3)
	to := min(len(s), from+width)
	from = max(0, min(from, to-width))
	from, to = cut.Down(s, from), cut.Down(s, to)
	out := s[from:to]
	if from > 0 {
		out = fmt.Sprintf("… (%s before) ", plural(from, "byte", "bytes")) + out
	}
	if to < len(s) {
		out += fmt.Sprintf(" … (%s more)", plural(len(s)-to, "byte", "bytes"))
	}
	return out
}
