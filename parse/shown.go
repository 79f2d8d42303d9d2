package parse

import (
	"strings"

	"rein.example/rein/event"
)

// A call may be shown and not made: in a comment, in code, in a quotation. What
// stands in such a place is left in the text, with a note.

// stage is a stretch of the text in which calls are shown.
type stage struct {
	span
	what string
}

// maxSpan is how long code in backticks is taken to be that goes over line ends,
// in bytes.
const maxSpan = 1024

// opensPlace notes the place that s[i], which is '<', begins, if its end is there.
func (r *reading) opensPlace(i int) {
	if i+1 == len(r.s) || i < r.stage.to {
		return
	}
	switch r.s[i+1] {
	case '!':
		const open, shut = "<!--", "-->"
		if !strings.HasPrefix(r.s[i:], open) {
			return
		}
		if k := r.spot(shut, i+len(open)); k < len(r.s) {
			r.stage = stage{span{i, k + len(shut)}, "a comment"}
		}
	case 'c':
		r.opensCode(i, "<code", "</code>")
	case 'p':
		r.opensCode(i, "<pre", "</pre>")
	}
}

// opensCode notes the element that s[i] may begin. One in which another begins is
// only spoken of.
func (r *reading) opensCode(i int, open, shut string) {
	body := i + len(open)
	if !strings.HasPrefix(r.s[i:], open) || body == len(r.s) || r.s[body] != '>' && r.s[body] != ' ' ||
		r.only == toolTagsRow || r.in.declared(open[1:]) {
		return
	}
	if k := r.spot(shut, body); k < len(r.s) && r.spot(open, body) > k {
		r.stage = stage{span{i, k + len(shut)}, "code"}
	}
}

// opensSpan notes the code that n backticks at s[i] begin and as many end on
// another line of the paragraph, if it begins and ends as markup or JSON do.
func (r *reading) opensSpan(i, n int) {
	from := skip(r.s, i+n)
	if i < r.stage.to || from == len(r.s) || strings.IndexByte("<[{", r.s[from]) < 0 {
		return
	}
	limit := min(len(r.s), i+maxSpan)
	for j := from; j < limit && r.spend(1); j++ {
		switch {
		case r.s[j] == '\n' && lineEnd(r.s, j+1) <= len(r.s):
			return
		case r.s[j] != '`':
			continue
		}
		k := run(r.s, j)
		if k == n && strings.IndexByte(">]}", lastSolid(r.s[from:j])) >= 0 {
			r.stage = stage{span{i, j + k}, "code"}
			return
		}
		j += k - 1
	}
}

// lastSolid returns the last byte of s that is no blank; 0 for none.
func lastSolid(s string) byte {
	if s = trim(s); s == "" {
		return 0
	}
	return s[len(s)-1]
}

// quotedAfter reports whether a quotation mark opens right before s[i], in what
// follows s[from].
func (r *reading) quotedAfter(from, i int) bool {
	s := r.s[min(from, i):i]
	for _, q := range [...]string{`"`, `'`, "“", "‘", "„", "«"} {
		if t, ok := strings.CutSuffix(s, q); ok {
			return t == "" || !letter(t[len(t)-1])
		}
	}
	return false
}

// inIndented reports whether s[i] stands in an indented block of code, which an
// empty line parts from the text before it, which follows s[from].
func (r *reading) inIndented(from, i int) bool {
	start := strings.LastIndexByte(r.s[from:i], '\n') + 1 + from
	for lines := 0; lines < maxHeader && start > from && indented(r.s[start:]); lines++ {
		above := strings.LastIndexByte(r.s[from:start-1], '\n') + 1 + from
		if !r.spend(start - above) {
			return false
		}
		if trim(r.s[above:start]) == "" {
			return skip(r.s, from) < above
		}
		start = above
	}
	return false
}

// linesEnd returns where the lines end that go on what stands at s[i] as same says.
func (r *reading) linesEnd(i int, same func(line string) bool) int {
	end := lineOf(r.s, i)
	for end < len(r.s) {
		next := lineOf(r.s, end+1)
		if !same(r.s[end+1 : next]) {
			break
		}
		end = next
	}
	r.spend(end - i)
	return end
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// progress is how far a reading has come.
type progress struct {
	found, cuts, thought, markup, hollow, from int
}

func (r *reading) progress() progress {
	return progress{len(r.found), len(r.cuts), len(r.thought), len(r.markup), r.hollow, r.from}
}

// shown takes what was found at s[i:end] back if it stands in a place where calls
// are shown, and returns where to go on.
func (r *reading) shown(was progress, i, end int) int {
	on := r.stage.from < i && i < r.stage.to
	if len(r.found) <= was.found {
		if on && len(r.markup) > was.markup {
			r.markup = r.markup[:was.markup]
		}
		return end
	}
	f := r.found[was.found]
	what, until := "", end
	switch {
	case on:
	case f.kind == fenced:
	case f.kind == marked && f.format != linesFormat && r.quoted(i):
		r.stage = stage{span{i, r.linesEnd(i, func(line string) bool { return strings.HasPrefix(trim(line), ">") })}, "a quotation"}
		on = true
	case f.kind == loose && (r.s[i] == '{' || r.s[i] == '[') && r.quotedAfter(was.from, f.from):
		what = "quotation marks"
	case f.format != linesFormat && r.inIndented(was.from, i):
		r.stage = stage{span{i, r.linesEnd(i, func(line string) bool { return indented(line) || trim(line) == "" })}, "code"}
		on = true
	}
	if on {
		what, until = r.stage.what, r.stage.to
	}
	if what == "" {
		return end
	}
	r.leftAlone(f.calls, what)
	r.found, r.cuts, r.thought, r.markup = r.found[:was.found], r.cuts[:was.cuts], r.thought[:was.thought], r.markup[:was.markup]
	r.hollow = was.hollow
	r.from = max(i+1, min(end, until))
	return r.from
}

// leftAlone notes that calls are only shown.
func (r *reading) leftAlone(calls []event.ParsedCall, where string) {
	what := "what looks like a call"
	if len(calls) > 0 {
		what = "a call of " + quote(calls[0].Name)
	}
	r.note(what + " in " + where + " was left alone: it is shown there")
}
