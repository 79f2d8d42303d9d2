package tool

import (
	"fmt"
	"sort"
	"strings"
)

// cut returns as many whole lines as fit, after a remark.
func (s *shaper) cut() string {
	lines := strings.SplitAfter(strings.TrimSuffix(s.text, "\n"), "\n")
	whole := "all " + lineCount(len(lines)) + " shown"
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
		return s.part(fmt.Sprintf("lines 1-%d of %d", k, n), rest{shown: k, total: n, from: k + 1}) + "\n" + strings.Join(lines[:k], "") + Notice(leftOutHere(k+1, n))
	}
	if k := s.most(n, func(k int) bool { return s.fits(compose(k)) }); k > 0 {
		return compose(k)
	}
	return s.inside(strings.TrimSuffix(lines[0], "\n"), s.part("the beginning of line 1, of "+lineCount(n), rest{from: 1}))
}

func (s *shaper) tail(lines []string) string {
	n := len(lines)
	compose := func(k int) string {
		return s.part(fmt.Sprintf("the last %d of %s", k, lineCount(n)), rest{from: max(1, n-2*k+1), to: n - k}) + "\n" + strings.Join(lines[n-k:], "")
	}
	if k := s.most(n, func(k int) bool { return s.fits(compose(k)) }); k > 0 {
		return compose(k)
	}
	return s.inside(strings.TrimSuffix(lines[n-1], "\n"), s.part("the end of the last line, of "+lineCount(n), rest{from: n}))
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
		first := s.part(fmt.Sprintf("lines 1-%d and %d-%d of %d", h, n-t+1, n, n), rest{from: h + 1, to: n - t})
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
func (s *shaper) part(what string, r rest) string {
	return s.remarkAnd(s.more(r), fmt.Sprintf("%s shown, of %d bytes in all", what, len(s.full)))
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
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
	return s.inside(strings.TrimSuffix(lines[0], "\n"), heading(0))
}

// dropSeen leaves k lines of what r says was read.
func (r *Result) dropSeen(k int64) {
	if r.Lines == nil {
		return
	}
	for i := range r.Seen {
		if e := &r.Seen[i]; !e.Wrote && e.From == r.Lines.First {
			e.To = e.From + k - 1
			if k == 0 {
				e.From, e.To = 0, 0
			}
		}
	}
}

// inside returns as much of one line as fits below a heading, with a mark where
// it was cut.
func (s *shaper) inside(line, heading string) string {
	compose := func(k int) string {
		if s.keep == Tail {
			from := len(line) - k
			for from < len(line) && line[from]&0xC0 == 0x80 {
				from++
			}
			return heading + "\n" + Notice(fmt.Sprintf("cut: the last %d of %d bytes of this line follow", len(line)-from, len(line))) + line[from:]
		}
		to := runeEnd(line, k)
		return heading + "\n" + line[:to] + Notice(fmt.Sprintf("cut: %d of %d bytes of this line shown", to, len(line)))
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
