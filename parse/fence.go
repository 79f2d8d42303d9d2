package parse

import (
	"strings"

	"rein.example/rein/event"
)

// maxAfter is how much prose may follow the last fenced call, in bytes. A model
// that calls stops there or says in a sentence what it is about to do; one that
// goes on at length, or shows another block, is explaining.
const maxAfter = 240

// block is one fenced block of a text.
type block struct {
	// start and end are its outer bounds, fence lines included.
	start, end int
	// calls is what it asks for; a block without is only a landmark.
	calls []event.ParsedCall
	torn  bool
}

// fenced reads calls from the fenced JSON blocks of a text. They count together
// or not at all: if the text goes on after the last of them, they are examples.
func fenced(r *Result, text string, tools []string) {
	from := reasoningEnd(text)
	f := fences{s: text, i: from}
	var found []block
	last := -1 // where the last block without calls ends
	for {
		b, g, ok := f.next()
		if !ok {
			break
		}
		n := known(g.calls, tools)
		if n == 0 || b.calls == nil {
			r.leave(&g, n)
			last = b.end
			continue
		}
		found = append(found, b)
	}
	if len(found) == 0 {
		return
	}
	end := found[len(found)-1].end
	if last > end || len(strings.TrimSpace(text[end:])) > maxAfter {
		r.note("a call of " + quote(found[0].calls[0].Name) + " in a fenced block was left alone: the text around it is an answer")
		return
	}
	r.Format = JSONFence
	var content strings.Builder
	for _, b := range found {
		piece(&content, text[from:b.start])
		from = b.end
		if len(r.Calls) <= MaxCalls {
			r.Calls = append(r.Calls, b.calls...)
		}
		if b.torn {
			r.problem(tornProblem(len(r.Calls)))
		}
	}
	piece(&content, text[from:])
	r.Text = content.String()
}

// piece adds the prose beside a block, in a paragraph of its own.
func piece(b *strings.Builder, s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString(s)
}

// fences walks the fenced blocks of a text, outside of reasoning.
type fences struct {
	s string
	i int

	ticks, open, shut memo
	closers           [4]memo // by the number of backticks, from 3; 6 or more
}

// memo is where something is found next, so that looking for it again from
// further on costs nothing until it is passed.
type memo struct {
	at    int
	valid bool
}

// find returns where sub occurs at or after i, or len(s).
func (m *memo) find(s, sub string, i int) int {
	if !m.valid || m.at < i {
		m.valid = true
		if m.at = len(s); i < len(s) {
			if k := strings.Index(s[i:], sub); k >= 0 {
				m.at = i + k
			}
		}
	}
	return m.at
}

const (
	fence      = "```"
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// next returns the next block and what stands in it.
func (f *fences) next() (b block, g group, ok bool) {
	for f.i < len(f.s) {
		at := f.ticks.find(f.s, fence, f.i)
		if t := f.open.find(f.s, thinkOpen, f.i); t < at {
			// A draft inside reasoning is not a call.
			f.i = min(f.shut.find(f.s, thinkClose, t)+len(thinkClose), len(f.s))
			continue
		}
		if at == len(f.s) {
			break
		}
		n := run(f.s, at)
		body, json, opens := f.opener(at, n)
		if !opens {
			f.i = at + n
			continue
		}
		if json {
			b, g = f.jsonBlock(at, body, n)
		} else {
			_, b.end = f.closer(body, n)
			b.start = at
		}
		f.i = b.end
		return b, g, true
	}
	f.i = len(f.s)
	return block{}, group{}, false
}

// run returns the number of backticks at s[i].
func run(s string, i int) int {
	n := 0
	for i+n < len(s) && s[i+n] == '`' {
		n++
	}
	return n
}

// opener reads what follows n backticks at s[at]. json is whether the body is
// to be read as JSON: the info word is "json" or nothing, and a bracket follows.
func (f *fences) opener(at, n int) (body int, json, ok bool) {
	i := at + n
	for i < len(f.s) && (f.s[i] == ' ' || f.s[i] == '\t') {
		i++
	}
	word := i
	for i < len(f.s) && (scalar(f.s[i]) || f.s[i] == '_') {
		i++
	}
	info := f.s[word:i]
	isJSON := strings.EqualFold(info, "json")
	if !isJSON && !lineStart(f.s, at) {
		return 0, false, false
	}
	if isJSON || info == "" {
		if j := skip(f.s, i); j < len(f.s) && (f.s[j] == '{' || f.s[j] == '[') {
			return j, true, true
		}
	}
	for i < len(f.s) && f.s[i] != '\n' {
		if f.s[i] == '`' {
			return 0, false, false // inline code
		}
		i++
	}
	return i, false, true
}

// lineStart reports whether only blanks stand before s[at] on its line.
func lineStart(s string, at int) bool {
	for at > 0 && (s[at-1] == ' ' || s[at-1] == '\t') {
		at--
	}
	return at == 0 || s[at-1] == '\n'
}

// closer returns the next line at or after i that holds n or more backticks and
// nothing else: where it begins and where it ends. Both are len(s) if there is
// none.
func (f *fences) closer(i, n int) (start, end int) {
	n = min(n, 6)
	m := &f.closers[n-3]
	if !m.valid || m.at < i {
		m.valid, m.at = true, len(f.s)
		for i < len(f.s) {
			k := strings.Index(f.s[i:], fence)
			if k < 0 {
				break
			}
			at := i + k
			i = at + run(f.s, at)
			if i-at >= n && lineStart(f.s, at) && lineEnd(f.s, i) < len(f.s)+1 {
				m.at = at
				break
			}
		}
	}
	if m.at == len(f.s) {
		return m.at, m.at
	}
	return m.at, lineEnd(f.s, m.at+run(f.s, m.at))
}

// lineEnd returns the index after the line's end if only blanks stand between
// s[i] and it, else len(s)+1.
func lineEnd(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	switch {
	case i == len(s):
		return i
	case s[i] == '\n':
		return i + 1
	}
	return len(s) + 1
}

// jsonBlock reads the block whose fence stands at s[at] and whose body begins
// with a bracket at s[body].
func (f *fences) jsonBlock(at, body, n int) (b block, g group) {
	shut, end := f.closer(body, n)
	g, used := elements(f.s[body:shut], true)
	b = block{start: at, end: end, torn: g.torn}
	i := skip(f.s, body+used)
	switch {
	case i < shut && strings.HasPrefix(f.s[i:], fence):
		// The fence closes on the line of the JSON, or the next one opens.
		b.end = i
		if k := i + run(f.s, i); k == len(f.s) || !scalar(f.s[k]) {
			b.end = k
		}
		if !g.settles("") {
			return b, g
		}
	case !g.settles(f.s[body+used : shut]):
		return b, g
	case shut == len(f.s) && !g.torn && g.calls[len(g.calls)-1].Problem == "":
		last := &g.calls[len(g.calls)-1]
		last.Repairs = append(last.Repairs, event.Repair{Kind: RepairFence})
	}
	b.calls = g.calls
	return b, g
}

// reasoningEnd returns where the content of a text begins that may start with
// reasoning. A server that knows the tags takes them out; others leave
// <think>…</think> in the text, or only </think> where the prompt already opened
// it. Of reasoning that is never closed nothing is content.
func reasoningEnd(s string) int {
	var open, shut memo
	i := 0
	for {
		a, b := open.find(s, thinkOpen, i), shut.find(s, thinkClose, i)
		switch {
		case b < a:
		case a < len(s) && skip(s, i) == a:
		default:
			return i
		}
		if b == len(s) {
			return b
		}
		i = b + len(thinkClose)
	}
}
