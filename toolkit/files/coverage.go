package files

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
)

// known is what a run knows of a file.
type known struct {
	// any: it has seen some version; current: it has seen this one.
	any, current bool
	// lines says of each line of this version whether it was seen; nil is none.
	lines []bool
	// parts are lines too long to be shown whole, of which the beginning was.
	parts map[int64]bool
}

// knownLines reads what the run has seen of a file as it is now.
func knownLines(seen []event.Seen, name string, f *file) known {
	var k known
	for i := range seen {
		s := &seen[i]
		if s.Resource != name || s.Gone {
			continue
		}
		k.any = true
		if s.Version != f.version {
			continue
		}
		k.current = true
		if s.From > 0 && s.To == s.From-1 {
			if k.parts == nil {
				k.parts = map[int64]bool{}
			}
			k.parts[s.From] = true
		}
		from, to := max(s.From, 1), min(s.To, f.lines)
		if s.Wrote {
			from, to = 1, f.lines
		}
		if k.lines == nil {
			k.lines = make([]bool, f.lines)
		}
		for l := from; l <= to; l++ {
			k.lines[l-1] = true
		}
	}
	return k
}

// sawAll reports whether a run has seen all of these lines of that version, without
// a list of them: a file may have very many.
func sawAll(seen []event.Seen, name, version string, from, to int64) bool {
	var ranges [][2]int64
	for i := range seen {
		s := &seen[i]
		switch {
		case s.Resource != name || s.Version != version || s.Gone:
		case s.Wrote:
			return true
		case s.From > 0:
			ranges = append(ranges, [2]int64{s.From, s.To})
		}
	}
	slices.SortFunc(ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, r := range ranges {
		if r[0] > from {
			return false
		}
		if from = max(from, r[1]+1); from > to {
			return true
		}
	}
	return false
}

// covers reports whether all of these lines were seen.
func (k *known) covers(from, to int64) bool {
	return k.current && (from > to || k.lines != nil && !slices.Contains(k.lines[from-1:to], false))
}

// unread returns the first of these lines that were not seen, both included; 0
// and 0 if all were.
func (k *known) unread(from, to int64) (first, last int64) {
	seen := func(l int64) bool { return k.lines != nil && k.lines[l-1] }
	for first = from; first <= to && seen(first); first++ {
	}
	if first > to {
		return 0, 0
	}
	for last = first; last < to && !seen(last+1); last++ {
	}
	return first, last
}

// seenRanges writes line-wise knowledge as events do.
func seenRanges(name string, f *file, lines []bool) []event.Seen {
	if !slices.Contains(lines, false) {
		return []event.Seen{{Resource: name, Version: f.version, Total: f.lines, Wrote: true}}
	}
	var out []event.Seen
	for at := 0; at < len(lines); at++ {
		if !lines[at] {
			continue
		}
		from := at
		for at < len(lines) && lines[at] {
			at++
		}
		out = append(out, event.Seen{Resource: name, Version: f.version, From: int64(from + 1), To: int64(at), Total: f.lines})
	}
	if out == nil {
		out = []event.Seen{{Resource: name, Version: f.version, Total: f.lines}}
	}
	return out
}

// change is one place where a text is replaced.
type change struct {
	at       int
	old, new string
}

// carry returns which lines of the text after the changes are known, given those
// of the text before. A line is known if everything it is made of is.
func carry(text string, lines []bool, changes []change) []bool {
	c := carrier{before: lines, whole: true}
	at := 0
	for _, ch := range changes {
		c.keep(text[at:ch.at])
		c.line += strings.Count(ch.old, "\n")
		c.insert(ch.new)
		at = ch.at + len(ch.old)
	}
	c.keep(text[at:])
	if c.begun {
		c.after = append(c.after, c.whole)
	}
	return c.after
}

type carrier struct {
	before, after []bool
	line          int  // of the text before, from 0
	whole         bool // the line being made is known so far
	begun         bool // there is something on it
}

func (c *carrier) end() {
	c.after = append(c.after, c.whole)
	c.whole, c.begun = true, false
}

// keep goes on with text that stays.
func (c *carrier) keep(text string) {
	for text != "" {
		c.whole = c.whole && c.line < len(c.before) && c.before[c.line]
		c.begun = true
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return
		}
		text = text[i+1:]
		c.line++
		c.end()
	}
}

// insert goes on with text that the model wrote.
func (c *carrier) insert(text string) {
	for range strings.Count(text, "\n") {
		c.end()
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		c.begun = true
	}
}

// unseen returns the refusal to change lines that the run has not seen as they
// are, or nil. Trying the same again does not help, until something was read.
func (k *known) unseen(name string, f *file, from, to int64, what string) error {
	switch {
	case k.covers(from, to):
		return nil
	case k.any && !k.current:
		return refuse("stale", name+" has changed since it was read; what you know of it is no longer true", "read it again with read_file, then "+what)
	case !k.any:
		return refuse("not_read", name+" exists and was not read in this run", "read it with read_file first, then "+what)
	}
	from, to = k.unread(from, to)
	hint := fmt.Sprintf("read them with read_file and from_line=%d, then %s", from, what)
	if k.parts[from] {
		hint = fmt.Sprintf("line %d is too long to be shown whole, so it never counts as read: leave it as it is, and change what is needed with edit_file", from)
	}
	return refuse("not_read", fmt.Sprintf("lines %d-%d of %d of %s were not read in this run", from, to, f.lines, name), hint)
}

// unseenByEdit is unseen for lines of which old text is replaced. A line that is
// too long to be shown whole will do when its beginning was: whoever gives a text
// that occurs in it has that from a search, and the rest of the line stays.
func (k *known) unseenByEdit(name string, f *file, from, to int64) error {
	for k.current && from <= to && (k.parts[from] || k.lines != nil && k.lines[from-1]) {
		from++
	}
	return k.unseen(name, f, from, to, "edit it again")
}
