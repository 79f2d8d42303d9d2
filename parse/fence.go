package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// fence takes the fenced block that n backticks at s[i] open.
func (r *reading) fence(i, n int) int {
	body, json, opens := r.fences.opener(i, n)
	if !opens {
		return 0
	}
	if json && r.spend(0) && r.bareAllowed(dialect.JSON) {
		f, end := r.jsonBlock(i, body, n)
		r.spend(end - i)
		r.add(f)
		return end
	}
	shut, end := r.fences.closer(body, n)
	if shut == len(r.s) {
		return body // whatever stands there, nothing says that it is code
	}
	r.fencedMarkup(i, body, shut, end)
	return end
}

// fencedMarkup takes the calls in a dialect's markers inside a fenced block. One
// that begins with something else is code, whatever stands in it.
func (r *reading) fencedMarkup(from, body, shut, end int) {
	n, cuts, thought, markup, hollow := len(r.found), len(r.cuts), len(r.thought), len(r.markup), r.hollow
	first := r.beginsMarkup(skip(r.s, body), shut)
	for i := first; i < shut; {
		k := i
		if c := r.s[i]; c == '<' || c == '[' {
			if k = r.marker(i); k <= i {
				k = r.element(i)
			}
		}
		if k <= i && i == first {
			break
		}
		i = max(i+1, k)
	}
	mine := r.found[n:]
	b := found{from: from, kind: fenced, empty: true}
	b.end = end
	for _, f := range mine {
		if len(f.calls) > 0 && f.end <= shut {
			b.empty, b.format = false, f.format
			b.calls = append(b.calls, f.calls...)
		}
	}
	if b.empty {
		r.cuts, r.thought, r.markup, r.hollow = r.cuts[:cuts], r.thought[:thought], r.markup[:markup], hollow
		if strings.HasPrefix(r.s[skip(r.s, body):], escapedTag) {
			b = r.escaped(b, body, shut)
		}
	}
	r.found = r.found[:n]
	r.keep(b)
	r.from = end
}

// beginsMarkup returns where the scan stops at the marker or the element that
// may begin at s[i]; shut for none.
func (r *reading) beginsMarkup(i, shut int) int {
	if i < shut && (r.s[i] == '<' || r.s[i] == '[') {
		return i
	}
	for _, h := range table.heads {
		if strings.HasPrefix(r.s[i:], h) {
			return i + len(h)
		}
	}
	return shut
}

// add records a block that is not a dialect's.
func (r *reading) add(f found) {
	r.rename(f.calls)
	r.keep(f)
	r.from = f.end
}

// keep adds to what was found. Hostile texts have very many blocks, so that they
// are kept where they are made.
func (r *reading) keep(f found) {
	if len(r.room) == 0 {
		r.room = make([]found, min(2*len(r.found)+1, 64))
	}
	r.room[0] = f
	r.found = append(r.found, &r.room[0])
	r.room = r.room[1:]
}

// jsonBlock reads the block whose fence stands at s[at] and whose body begins
// with a bracket at s[body].
func (r *reading) jsonBlock(at, body, n int) (f found, end int) {
	shut, end := r.fences.closer(body, n)
	if noCalls(r.s[body:shut]) {
		return found{block: block{end: end}, from: at, format: JSONFence, kind: fenced, empty: true}, end
	}
	e := elements{resume: true}
	used := body + e.read(r.s[body:shut], 0)
	r.spend(e.again())
	f = found{from: at, format: JSONFence, kind: fenced, empty: true, group: e.group}
	i := skip(r.s, used)
	for i < shut && (r.s[i] == '}' || r.s[i] == ']' || r.s[i] == ';' || r.s[i] == ',') {
		i = skip(r.s, i+1)
	}
	spare := i > skip(r.s, used)
	if i < shut && strings.HasPrefix(r.s[i:], fence) {
		// The fence closes on the line of the JSON, or the next one opens.
		end = i
		if k := i + run(r.s, i); k == len(r.s) || !scalar(r.s[k]) {
			end = k
		}
	} else if i < shut {
		// Something else stands in the block.
		f.end, f.calls, f.empty, f.group.foreign = end, e.calls, len(e.calls) == 0, true
		return f, end
	}
	f.end = end
	if f.calls = e.calls; len(e.calls) == 0 || e.foreign {
		return f, end
	}
	f.from = r.actionBefore(at)
	f.empty, f.content = false, e.content
	if r.only != nil {
		f.format = r.only.ID
	}
	last := &f.calls[len(f.calls)-1]
	if spare {
		last.Repairs = append(last.Repairs, event.Repair{Kind: RepairClosers})
	}
	if end == len(r.s) && shut == len(r.s) && i == shut && !e.torn && last.Problem == "" {
		last.Repairs = append(last.Repairs, event.Repair{Kind: RepairFence})
	}
	return f, end
}

// noCalls reports whether the JSON in a fenced block surely holds no calls, and
// goes on to its end: it names nothing. Most blocks are such. Other backticks in
// the block are looked for first, since it may end with them, and then what stands
// after them is looked at again.
func noCalls(text string) bool {
	for _, part := range [...]string{fence, `\`, "name", "tool", "function"} {
		if strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// actionBefore returns where the line "Action:" begins that stands right before
// s[at], as older models of Cohere write it; at if none does.
func (r *reading) actionBefore(at int) int {
	const action = "Action:"
	k := at
	for k > r.from && blank(r.s[k-1]) {
		k--
	}
	if strings.HasSuffix(r.s[r.from:k], action) && r.lineStart(k-len(action)) {
		return k - len(action)
	}
	return at
}

// fences finds the ends of the fenced blocks of a text.
type fences struct {
	s       string
	closers [4]memo // by the number of backticks, from 3; 6 or more
}

// memo is where something is found next, so that looking for it again from
// further on costs nothing until it is passed, and from further back only what
// lies between.
type memo struct {
	from, at int
	valid    bool
}

// find returns where sub occurs at or after i, or len(s).
func (m *memo) find(s, sub string, i int) int {
	end := len(s)
	switch {
	case !m.valid || m.at < i:
		m.at = len(s)
	case i >= m.from:
		return m.at
	default:
		end = min(m.from+len(sub)-1, len(s))
	}
	m.valid, m.from = true, i
	if i < end {
		if k := strings.Index(s[i:end], sub); k >= 0 {
			m.at = i + k
		}
	}
	return m.at
}

// memos holds a memo for each text that was looked for. It is a table of its own
// since it is asked several times for each marker, mostly for one of a few.
type memos struct {
	list []namedMemo
	// first is where the texts of a slot begin in the list, counted from 1.
	first [memoSlots]int32
}

type namedMemo struct {
	memo
	sub  string
	next int32 // of the same slot
}

const memoSlots = 64

// of returns the memo of a text. It is good until the next is asked for.
func (m *memos) of(sub string) *memo {
	n := len(sub)
	slot := (int(sub[n/2]) + 5*int(sub[n-1]) + n) % memoSlots // the beginnings are much the same
	for k := m.first[slot]; k > 0; {
		e := &m.list[k-1]
		if e.sub == sub {
			return &e.memo
		}
		k = e.next
	}
	if m.list == nil {
		m.list = make([]namedMemo, 0, 8)
	}
	m.list = append(m.list, namedMemo{sub: sub, next: m.first[slot]})
	m.first[slot] = int32(len(m.list))
	return &m.list[len(m.list)-1].memo
}

const fence = "```"

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
