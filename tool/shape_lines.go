package tool

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"rein.example/rein/internal/cut"
)

// cut returns as many whole lines as fit, after a remark.
func (s *shaper) cut() string {
	lines := strings.SplitAfter(strings.TrimSuffix(s.text, "\n"), "\n")
	whole := "all " + lineCount(len(lines), s.gap) + " shown"
	if len(lines) == 1 {
		whole = "all of it shown"
	}
	if all := s.remark(whole) + "\n" + s.text; len(s.notes) > 0 && s.fits(all) {
		return all
	}
	s.lossy = true
	switch s.keep {
	case Tail:
		return s.tail(lines)
	case Mixed:
		return s.mixed(lines)
	}
	return s.head(lines)
}

func (s *shaper) head(lines []string) string {
	n := len(lines)
	compose := func(k int) string {
		return s.part(fmt.Sprintf("lines 1-%d of %d%s", k, n, s.gap), rest{shown: k, total: n, from: k + 1}) + "\n" + strings.Join(lines[:k], "") + Notice(leftOutHere(k+1, n))
	}
	k := s.most(n, func(k int) bool { return s.fits(compose(k)) })
	before := strings.Join(lines[:k], "")
	if k == n || k > 0 && !s.little(before) {
		return compose(k)
	}
	what := fmt.Sprintf("the beginning of line %d, of %s", k+1, lineCount(n, s.gap))
	switch {
	case k == 1:
		what = "line 1 and " + what
	case k > 1:
		what = fmt.Sprintf("lines 1-%d and %s", k, what)
	}
	if part := s.inside(strings.TrimSuffix(lines[k], "\n"), before, func(shown int) string {
		r := rest{from: k + 1}
		if s.text == s.full { // else what is shown has other bytes
			r.byte = shown + 1
		}
		return s.part(what, r)
	}); k == 0 || s.fits(part) {
		return part
	}
	return compose(k)
}

// little reports whether the whole lines that fit are so few that the next one
// must be a long one, of which more is to be seen than that it is there.
func (s *shaper) little(shown string) bool { return s.within(shown, s.limit/4) }

func (s *shaper) tail(lines []string) string {
	n := len(lines)
	compose := func(k int) string {
		before := rest{from: max(1, n-2*k+1), to: n - k}
		return s.part(fmt.Sprintf("the last %d of %s", k, lineCount(n, s.gap)), before, s.beginning(before)...) + "\n" + strings.Join(lines[n-k:], "")
	}
	k := s.most(n, func(k int) bool { return s.fits(compose(k)) })
	after := strings.Join(lines[n-k:], "")
	if k == n || k > 0 && !s.little(after) {
		return compose(k)
	}
	what := "the end of the last line, of " + lineCount(n, s.gap)
	switch {
	case k == 1:
		what = fmt.Sprintf("the last line and the end of line %d, of %s", n-k, lineCount(n, s.gap))
	case k > 1:
		what = fmt.Sprintf("the last %d lines and the end of line %d, of %s", k, n-k, lineCount(n, s.gap))
	}
	if part := s.inside(strings.TrimSuffix(lines[n-k-1], "\n"), after, func(int) string {
		line := rest{from: n - k}
		return s.part(what, line, s.beginning(line)...)
	}); k == 0 || s.fits(part) {
		return part
	}
	return compose(k)
}

// beginning leads to the beginning of a text of which the end is shown, where the
// way to what is just before that does not.
func (s *shaper) beginning(before rest) []rest {
	if before.from <= 1 || !s.readable() {
		return nil
	}
	return []rest{{from: 1}}
}

// Of a mixed text half of the limit is for the beginning and 30% for the end;
// what is left is for the remarks.
const (
	headShare = 50
	tailShare = 30
)

func (s *shaper) mixed(lines []string) string {
	n := len(lines)
	compose := func(h, t int) string {
		first := s.part(fmt.Sprintf("lines 1-%d and %d-%d of %d%s", h, n-t+1, n, n, s.gap), rest{from: h + 1, to: n - t})
		return first + "\n" + strings.Join(lines[:h], "") + Notice(leftOutHere(h+1, n-t)) + "\n" + strings.Join(lines[n-t:], "")
	}
	h := s.most(n, func(k int) bool { return s.within(strings.Join(lines[:k], ""), s.limit*headShare/100) })
	t := s.most(n-h-1, func(k int) bool { return s.within(strings.Join(lines[n-k:], ""), s.limit*tailShare/100) })
	if h == 0 || t <= 0 {
		return s.head(lines)
	}
	if !s.fits(compose(h, t)) {
		if h = s.most(h, func(k int) bool { return s.fits(compose(k, t)) }); h == 0 {
			return s.head(lines)
		}
	}
	return compose(h, t)
}

// leftOutHere stands where lines are missing: a first line is easily forgotten by
// the end of a long text.
func leftOutHere(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d is left out", from)
	}
	return fmt.Sprintf("lines %d-%d are left out", from, to)
}

// part returns the first line of a text of which a part is shown.
func (s *shaper) part(what string, r rest, others ...rest) string {
	all := " in all"
	if s.gap != "" {
		all = s.gap
	}
	return s.remarkAnd(s.more(r, others...), fmt.Sprintf("%s shown, of %d bytes%s", what, len(s.full), all))
}

// lineCount returns a number of lines; of says which, such as " kept".
func lineCount(n int, of string) string {
	if n == 1 {
		return "1" + of + " line"
	}
	return fmt.Sprintf("%d%s lines", n, of)
}

// numbered cuts a result whose lines are numbered, and says in r.Seen what is left.
func (s *shaper) numbered(r *Result) string {
	_, body, _ := strings.Cut(s.text, "\n")
	lines := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
	first := s.lines.First
	heading := func(k int) string {
		h := s.lines.Heading(first, first+int64(k)-1)
		s.done = []string{strings.TrimSuffix(strings.TrimPrefix(h, noticePrefix), "]")}
		return h
	}
	compose := func(k int) string {
		return heading(k) + "\n" + strings.TrimSuffix(strings.Join(lines[:k], ""), "\n")
	}
	k := s.most(len(lines), func(k int) bool { return s.fits(compose(k)) })
	r.dropSeen(int64(k))
	if k > 0 {
		return compose(k)
	}
	line := strings.TrimSuffix(lines[0], "\n")
	if s.lines.Piece == nil {
		return s.inside(line, "", func(int) string { return heading(0) })
	}
	return s.piece(line)
}

// piece returns as much of one line as fits, at least one character, below the
// heading that says how much that is.
func (s *shaper) piece(line string) string {
	compose := func(k int) string {
		k = cut.Down(line, k)
		h := s.lines.Piece(int64(k))
		s.done = []string{strings.TrimSuffix(strings.TrimPrefix(h, noticePrefix), "]")}
		return h + "\n" + line[:k]
	}
	_, one := utf8.DecodeRuneInString(line)
	return compose(max(one, s.most(len(line), func(k int) bool { return s.fits(compose(k)) })))
}

// dropSeen leaves k lines of what r says was read.
func (r *Result) dropSeen(k int64) {
	if r.Lines == nil {
		return
	}
	for i := range r.Seen {
		if e := &r.Seen[i]; !e.Wrote && e.From == r.Lines.First {
			e.To = e.From + k - 1 // of a line that is too long the beginning is shown, and From says which
		}
	}
}

// inside returns as much of one line as fits below a heading, given how many
// bytes that is, with a mark where it was cut. The other lines stand before it
// or, if the end matters, behind it.
func (s *shaper) inside(line, others string, heading func(shown int) string) string {
	compose := func(k int) string {
		if s.keep == Tail {
			from := cut.Up(line, len(line)-k)
			text := heading(len(line)-from) + "\n" + Notice(fmt.Sprintf("cut: the last %d of %d bytes of this line follow", len(line)-from, len(line))) + line[from:]
			if others != "" {
				text += "\n" + others
			}
			return text
		}
		to := cut.Down(line, k)
		return heading(to) + "\n" + others + line[:to] + Notice(fmt.Sprintf("cut: %d of %d bytes of this line shown", to, len(line)))
	}
	return compose(s.most(len(line), func(k int) bool { return s.fits(compose(k)) }))
}

// most returns the largest k in [0, n] for which fits holds, given that it holds
// for every smaller one; it asks about small ones first.
func (s *shaper) most(n int, fits func(k int) bool) int {
	if n <= 0 {
		return 0
	}
	hi := 16
	for hi < n && fits(hi) {
		hi *= 2
	}
	hi = min(hi, n)
	return sort.Search(hi, func(k int) bool { return !fits(k + 1) })
}
