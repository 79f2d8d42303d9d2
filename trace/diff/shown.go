package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// shown is what a result showed, so far as two runs can be asked who saw what.
type shown struct {
	lines []line
	// from is the number, in what was read, of the first line; 0 where they have none.
	from int64
	// seen is what the call says that it read or wrote.
	seen []event.Seen
	// unread: not all of it is in lines, since it is stored elsewhere or is too much.
	unread bool
}

// line stands for one line of text: equal lines have equal hashes.
type line struct {
	// hash is that of the line, 0 for one that says nothing by itself: blanks,
	// brackets, or an excerpt.
	hash uint64
	// bare is that of the line without the number and path that searches put before
	// it; hash where there are none.
	bare uint64
}

// mostLines bounds how many lines are kept of a run, at 16 bytes each.
const mostLines = 1 << 20

// remarkOpen begins what Rein itself says in a result.
const remarkOpen = "[rein: "

// showing keeps what a result showed.
func (r *Run) showing(d *event.ToolFinished) shown {
	s := shown{seen: append([]event.Seen(nil), d.Seen...)}
	var texts []string
	for i := range d.Parts {
		p := &d.Parts[i]
		switch {
		case p.Kind == message.Text && p.Ref == nil:
			texts = append(texts, p.Text)
		case p.Ref != nil:
			s.unread = true
		default:
			h := hashOf(p.URL)
			s.lines = append(s.lines, line{h, h})
		}
	}
	text := strings.Join(texts, "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if s.from = numbered(d, first); s.from > 0 {
		text = rest
	}
	s.lines, s.unread = r.linesIn(s.lines, text, s.from > 0, s.unread)
	return s
}

// numbered returns the number of the first line below the heading of a result, 0 where
// the lines have none.
func numbered(d *event.ToolFinished, heading string) int64 {
	if !strings.HasPrefix(heading, remarkOpen) {
		return 0
	}
	if len(d.Seen) == 1 && d.Seen[0].From > 0 && d.Seen[0].To >= d.Seen[0].From {
		return d.Seen[0].From
	}
	var from, to, total int64
	if n, _ := fmt.Sscanf(heading, remarkOpen+"lines %d-%d of %d of the result", &from, &to, &total); d.Tool == tool.ReadArtifact && n == 3 && from > 0 {
		return from
	}
	return 0
}

// linesIn adds the lines of a text, without what Rein says between them; in a text
// whose lines are numbered, what looks like that is a line as well.
func (r *Run) linesIn(list []line, text string, numbered, unread bool) ([]line, bool) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if text == "" || !numbered && strings.HasPrefix(l, remarkOpen) {
			continue
		}
		if r.kept++; r.kept > mostLines {
			r.partial = true
			return list, true
		}
		list = append(list, lineOf(l))
	}
	return list, unread
}

func lineOf(s string) line {
	s = strings.TrimSpace(s)
	if strings.Contains(s, remarkOpen) || strings.IndexFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) < 0 {
		return line{}
	}
	h := hashOf(s)
	if rest := bare(s); rest != "" {
		return line{h, hashOf(rest)}
	}
	return line{h, h}
}

// hashOf is FNV-1a with 64 bits, never 0.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return max(h, 1)
}

// longestPath is how far into a line the number is looked for that a search puts there.
const longestPath = 300

// bare returns what follows the number of a line, "12: text" or "path:12: text", which
// searches put before it; empty where there is none.
func bare(s string) string {
	digits := 0
	for i := range min(len(s), longestPath) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if digits > 0 || i == 0 || s[i-1] == ':' || s[i-1] == '-' {
				digits++
			}
		case digits > 0 && (c == ':' || c == '-' || c == '\t'):
			return strings.TrimSpace(s[i+1:])
		default:
			digits = 0
		}
	}
	return ""
}

// sights are what a run was shown at any time, to be looked up.
type sights struct {
	lines map[uint64]bool
	seen  map[version][]event.Seen
	asked map[ask]asked
}

// ask is what identifies a call that asks for the same.
type ask struct {
	tool string
	args event.Hash
}

func (c *Call) ask() ask { return ask{c.Tool, c.args} }

// asked says what came of the calls that ask for the same: one of them succeeded, and
// one of these was shown whole.
type asked struct{ ok, whole bool }

// version is one version of a file.
type version struct{ resource, hash string }

// sights returns what a run was shown.
func (r *Run) sights() *sights {
	if r.all != nil {
		return r.all
	}
	s := &sights{map[uint64]bool{}, map[version][]event.Seen{}, map[ask]asked{}}
	add := func(list []line) {
		for _, l := range list {
			s.lines[l.hash], s.lines[l.bare] = true, true
		}
	}
	add(r.told)
	for i := range r.Steps {
		for _, c := range r.Steps[i].Calls {
			add(c.shown.lines)
			was := s.asked[c.ask()]
			s.asked[c.ask()] = asked{was.ok || c.ok(), was.whole || c.ok() && !c.cut()}
			for _, x := range c.shown.seen {
				v := version{x.Resource, x.Version}
				s.seen[v] = append(s.seen[v], x)
			}
		}
	}
	r.all = s
	return s
}

// sight says how much of a result another run was shown, one way or another.
type sight int

const (
	sightNone    sight = iota // nothing of it
	sightPart                 // some of it
	sightAll                  // all of it: texts like each of its lines
	sightLines                // all of it: the same lines of the same file
	sightUnknown              // nobody can say
)

// saw says what this run was shown of what a call of another one showed, and which of
// its lines it was not shown, as ranges of indices.
func (r *Run) saw(c *Call) (s sight, missing [][2]int) {
	switch {
	case r.partial || c.shown.unread || len(c.shown.lines) == 0:
		return sightUnknown, nil
	case c.of != nil && c.shown.from == 0: // parts of a document, or what a search found in one
		if was := r.sights().asked[c.of.ask()]; was.whole {
			return sightAll, nil
		} else if was.ok {
			return sightUnknown, nil
		}
	}
	all := r.sights()
	ranges := all.rangesOf(&c.shown)
	known, alike, open := 0, 0, false
	for i, l := range c.shown.lines {
		switch in := ranges.has(c.shown.from + int64(i)); {
		case in:
			known, open = known+1, false
		case l.hash != 0 && (all.lines[l.hash] || all.lines[l.bare]):
			known, alike, open = known+1, alike+1, false
		case l.hash == 0: // it goes with those around it
		case open:
			missing[len(missing)-1][1] = i
		default:
			missing, open = append(missing, [2]int{i, i}), true
		}
	}
	switch {
	case len(missing) == 0 && known == 0:
		return sightUnknown, nil // nothing but blanks: it cannot be told apart
	case len(missing) == 0 && alike == 0:
		return sightLines, nil
	case len(missing) == 0:
		return sightAll, nil
	case known == 0:
		return sightNone, missing
	}
	return sightPart, missing
}

// ranges are numbers of lines, both ends included, in order and apart.
type ranges [][2]int64

func (list ranges) has(n int64) bool {
	_, in := slices.BinarySearchFunc(list, n, func(r [2]int64, n int64) int {
		switch {
		case r[1] < n:
			return -1
		case r[0] > n:
			return 1
		}
		return 0
	})
	return in
}

// merged puts ranges in order, and those that touch together.
func (list ranges) merged() ranges {
	slices.SortFunc(list, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	var out ranges
	for _, r := range list {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

// rangesOf returns which lines of the file that a result shows are known, as the
// results themselves say.
func (s *sights) rangesOf(x *shown) ranges {
	if x.from == 0 || len(x.seen) != 1 {
		return nil
	}
	var out ranges
	for _, e := range s.seen[version{x.seen[0].Resource, x.seen[0].Version}] {
		switch {
		case e.Gone:
		case e.Wrote:
			out = append(out, [2]int64{1, e.Total})
		case e.From > 0:
			out = append(out, [2]int64{e.From, e.To})
		}
	}
	return out.merged()
}

// unseen says in words that a run was not shown what a call of the other one showed,
// and no more than that is known; empty if it was shown all of it.
func (c *Comparison) unseen(call *Call, have, lack *Run, name, other string) string {
	how, missing := lack.saw(call)
	got := fmt.Sprintf(", which %s got at step %s", name, number(call.Step))
	switch {
	case how == sightLines:
		return ""
	case how == sightAll:
		return fmt.Sprintf("run %s made no such call as %s, which %s made at step %s; what it gave stands elsewhere in what %s was shown",
			other, have.label(call), name, number(call.Step), other)
	case how == sightUnknown:
		return fmt.Sprintf("run %s made no such call as %s, which %s made at step %s", other, have.label(call), name, number(call.Step))
	}
	return fmt.Sprintf("run %s never saw %s%s", other, have.lines(call, how, missing), got)
}

// mostRanges is how many ranges of lines a sentence names.
const mostRanges = 3

// lines names lines of what a call showed.
func (r *Run) lines(c *Call, how sight, missing [][2]int) string {
	x := &c.shown
	if how == sightNone {
		missing = [][2]int{{0, len(x.lines) - 1}}
	}
	count := 0
	for _, m := range missing {
		count += m[1] - m[0] + 1
	}
	switch {
	case x.from == 0 && how == sightNone:
		return r.result(c)
	case x.from == 0:
		return fmt.Sprintf("%s of the %s of %s", number(count), plural(len(x.lines), "line", "lines"), r.result(c))
	case len(missing) > mostRanges:
		return fmt.Sprintf("%s of %s %s", plural(count, "line", "lines"), lineNumbers(int(x.from), len(x.lines)), r.source(c))
	case how == sightNone && x.from == 1 && len(x.seen) == 1 && x.seen[0].To == x.seen[0].Total:
		return r.source(c)
	}
	var list []string
	for i, m := range missing {
		s := lineNumbers(int(x.from)+m[0], m[1]-m[0]+1)
		if i > 0 {
			s = strings.TrimPrefix(strings.TrimPrefix(s, "lines "), "line ")
		}
		list = append(list, s)
	}
	return joined(list) + " of " + r.source(c)
}

// source names what the numbers of a result's lines count in.
func (r *Run) source(c *Call) string {
	what := c.ID
	switch {
	case len(c.shown.seen) == 1:
		what = clip(c.shown.seen[0].Resource, quoteWidth)
	case c.of != nil:
		what = strings.TrimSpace("the result of " + c.of.Tool + " " + argsText(c.of.Args))
	}
	return what + " (" + c.Tool + ")"
}
