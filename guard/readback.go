package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// readBack knows which resources a run has changed and not read since.
//
// Reading back is seeing, after the last change, every line that the run has
// written or knows: those that it never saw, and so cannot have changed, it need
// not read. A resource that is gone has nothing to read.
type readBack struct {
	index map[string]int // looked up only
	list  []changed
}

// changed is one resource.
type changed struct {
	name, version string
	total         int64      // lines, where they are counted
	open          bool       // changed, and no part of it was read since
	need          [][2]int64 // lines to be read: sorted, apart, both ends included
}

// add folds what a call has read or written.
func (b *readBack) add(d *event.ToolFinished, tool *event.ToolSpec) {
	for i := range d.Seen {
		s := &d.Seen[i]
		at, known := b.index[s.Resource]
		if !known {
			if b.index == nil {
				b.index = map[string]int{}
			}
			at = len(b.list)
			b.index[s.Resource] = at
			b.list = append(b.list, changed{name: s.Resource})
		}
		c := &b.list[at]
		first := i == 0 || d.Seen[i-1].Resource != s.Resource // later ones are more lines of the same
		switch {
		case s.Gone:
			*c = changed{name: c.name}
		case !tool.Effect.Writes():
			c.read(s)
		case s.Wrote || known && c.version != s.Version:
			*c = changed{name: c.name, version: s.Version, total: s.Total, open: true}
			c.require(s)
		case !first && c.open && c.version == s.Version:
			c.require(s)
		}
	}
}

// undone folds that a person has had a change taken back: what is there now is
// nothing that the run has left to be read.
func (b *readBack) undone(d *event.ToolFinished) {
	for i := range d.Seen {
		if at, known := b.index[d.Seen[i].Resource]; known {
			b.list[at] = changed{name: b.list[at].name}
		}
	}
}

// require adds lines that have to be read; of what was written whole, all.
func (c *changed) require(s *event.Seen) {
	switch {
	case s.Wrote && s.Total > 0:
		c.need = [][2]int64{{1, s.Total}}
	case s.From > 0 && s.To >= s.From:
		c.need = append(without(c.need, s.From, s.To), [2]int64{s.From, s.To})
		slices.SortFunc(c.need, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	}
}

// read folds that lines were read. A version that nobody of the run has made is
// to be read whole: what was written may be anywhere in it.
func (c *changed) read(s *event.Seen) {
	if c.pending() && c.version != s.Version {
		c.need = nil
		if s.Total > 0 {
			c.need = [][2]int64{{1, s.Total}}
		}
	}
	c.version, c.total, c.open = s.Version, s.Total, false
	switch {
	case s.Total == 0:
		c.need = nil // its lines are not counted: it was looked at, which is all that can be asked
	case s.From > 0:
		c.need = without(c.need, s.From, max(s.From, s.To)) // a line too long to be shown whole is shown as far as it can be
	}
}

// pending reports whether something is left to be read.
func (c *changed) pending() bool { return c.open || len(c.need) > 0 }

// without takes lines from..to out of sorted ranges.
func without(ranges [][2]int64, from, to int64) [][2]int64 {
	var out [][2]int64
	for _, r := range ranges {
		if to < r[0] || from > r[1] {
			out = append(out, r)
			continue
		}
		if r[0] < from {
			out = append(out, [2]int64{r[0], from - 1})
		}
		if to < r[1] {
			out = append(out, [2]int64{to + 1, r[1]})
		}
	}
	return out
}

// submits reports whether the tool hands in the result.
func submits(t *event.ToolSpec) bool { return t.Harness && t.Name == tool.SubmitResult }

// maxNamed bounds the resources that are named.
const maxNamed = 10

func (b *readBack) judge(rule *event.RuleSpec, t *event.ToolSpec, earlier []*event.ToolSpec) *Breach {
	if !submits(t) {
		return nil
	}
	for _, o := range earlier {
		if o.Effect.Writes() && len(o.Resources) > 0 {
			return &Breach{rule, o.Name + " is called before it in the same reply, and its result was not looked at",
				"read what " + o.Name + " has changed and compare it with the task; then submit the result"}
		}
	}
	open := b.unread()
	if len(open) == 0 {
		return nil
	}
	list := strings.Join(open[:min(len(open), maxNamed)], ", ")
	if more := len(open) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return &Breach{rule, "not read since the last change: " + list,
		"read " + list + " again, in parts if one call does not show all, and compare what is there with the task; then submit the result"}
}

// maxRanges bounds the lines of one resource that are named.
const maxRanges = 3

// missing says which lines are to be read, unless it is the whole.
func (c *changed) missing() string {
	if len(c.need) == 0 || c.total == 0 || c.need[0] == [2]int64{1, c.total} {
		return ""
	}
	var parts []string
	for _, r := range c.need[:min(len(c.need), maxRanges)] {
		if r[0] == r[1] {
			parts = append(parts, strconv.FormatInt(r[0], 10))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r[0], r[1]))
		}
	}
	text := " (lines " + strings.Join(parts, ", ")
	if len(c.need) > maxRanges {
		text += " and others"
	}
	return text + fmt.Sprintf(" of %d)", c.total)
}

// unread returns what is not read back, quoted where needed, with the lines that
// are missing, in order of first sight.
func (b *readBack) unread() []string {
	var out []string
	for i := range b.list {
		if c := &b.list[i]; c.pending() {
			name := c.name
			if strings.ContainsAny(name, ", \n\"") {
				name = strconv.Quote(name)
			}
			out = append(out, name+c.missing())
		}
	}
	return out
}
