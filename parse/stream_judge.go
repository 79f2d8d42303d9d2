package parse

import (
	"strings"

	"rein.example/rein/dialect"
)

// decision is what something in the text may be, as far as it is there. Once
// decided it stays so, whatever follows.
type decision uint8

const (
	undecided decision = iota
	none
	// holds: it may be a call, or carries nothing if there is one.
	holds
	thought
	halfThought
	dataBegins
	fenceBegins
	jsonBegins
)

// verdict is a decision and what goes with it.
type verdict struct {
	what decision
	// end is where to go on.
	end int
	// pair is the marks of reasoning.
	pair *thinkPair
	// ticks is the number of backticks that open a block. call: it begins as calls
	// do.
	ticks int
	call  bool
}

// begins says whether the reply, or what follows its reasoning, begins with
// labelled lines or as a message to all does, of which nothing can be shown
// before it is whole; or with a sentence that begins reasoning.
func (st *Stream) begins(s string, i int) verdict {
	more := false
	if st.from == 0 {
		for k := range thinkSentences {
			p := &thinkSentences[k]
			switch prefixed(s[i:], p.Open) {
			case holds:
				return verdict{what: thought, end: i + len(p.Open), pair: p}
			case undecided:
				more = true
			}
		}
	}
	if d := st.rules.only; d != nil && d.Grammar == dialect.Lines && !more {
		return verdict{what: holds}
	}
	const all = "all\n"
	if st.from == 0 && i == 0 {
		if strings.HasPrefix(s, all) {
			return verdict{what: holds}
		}
		more = more || strings.HasPrefix(all, s)
	}
	l, half := labelOf(s, i)
	return verdict{what: labelDecision(l != noLabel, more || half)}
}

func labelDecision(is, more bool) decision {
	switch {
	case more:
		return undecided
	case is:
		return holds
	}
	return none
}

// inQuote reports whether s[i] stands in a line that quotes, as far as that shows
// close before it.
func inQuote(s string, i int) bool {
	from := max(0, i-maxInline)
	start := strings.LastIndexByte(s[from:i], '\n') + 1 + from
	if start == from && from > 0 {
		return false
	}
	j := skip(s, start)
	return j < i && s[j] == '>'
}

// labelOf is labelAt for a text that is not whole. more: that needs more of it.
func labelOf(s string, i int) (l label, more bool) {
	if i = emphasis(s, i); i == len(s) {
		return noLabel, true
	}
	for _, w := range labels {
		if !strings.HasPrefix(s[i:], w.word) {
			if strings.HasPrefix(w.word, s[i:]) {
				return noLabel, true
			}
			continue
		}
		j := emphasis(s, i+len(w.word))
		for j < len(s) && '0' <= s[j] && s[j] <= '9' {
			j++
		}
		if j = emphasis(s, j); j == len(s) {
			return noLabel, true
		}
		l, _ := labelAt(s, i)
		return l, false
	}
	return noLabel, false
}

// judge says what may begin at s[i], where s is what of the text is there.
func (st *Stream) judge(s string, i int) verdict {
	if st.area.kind == jsonArea {
		if s[i] == '<' || s[i] == '[' {
			return verdict{what: controlMarks.at(s, i)}
		}
		return verdict{what: none}
	}
	switch s[i] {
	case '`':
		return st.ticks(s, i)
	case thinkToken[0]:
		return st.in.thinkMark(s, i)
	case '<', '[':
		if v := st.in.thinkMark(s, i); v.what != none {
			return v
		}
		if d := st.markup(s, i); d != none {
			return verdict{what: d}
		}
	}
	if st.quotes && inQuote(s, i) {
		return verdict{what: none}
	}
	switch s[i] {
	case '{', '[':
		return st.json(s, i)
	case '>':
		return verdict{what: st.recipient(s, i)}
	case '&':
		return verdict{what: st.entity(s, i)}
	case linesWord[0]:
		return verdict{what: st.label(s, i)}
	}
	return verdict{what: none}
}

// markup says whether what begins at s[i] is markup of calls.
func (st *Stream) markup(s string, i int) decision {
	if d := marks.at(s, i); d != none || s[i] != '<' {
		return d
	}
	return st.element(s, i)
}

// element says whether the element at s[i] is one of calls, or named after a
// tool.
func (st *Stream) element(s string, i int) decision {
	j := i + 1
	if j < len(s) && s[j] == '/' {
		j++
	}
	if k := bars(s, j); k > j {
		return prefixed(s[k:], dsmlSpace)
	}
	for {
		end := word(s, j)
		switch base := s[j:end]; {
		case end == len(s) && end-i < maxTag, end+1 == len(s) && s[end] == ':':
			return undecided
		case base == "" || end-i >= maxTag:
			return none
		case strings.HasPrefix(base, dsmlSpace), elementName(base), st.in.declared(base),
			st.in.AnyName && st.rules.only == toolTagsRow:
			return holds
		case s[end] != ':' || !wordByte(s[end+1]):
			return none
		}
		j = end + 1
	}
}

// entity says whether a tag whose markup is written in entities, at s[i], is one
// of calls.
func (st *Stream) entity(s string, i int) decision {
	if skip(s, st.from) < i && !lineStart(s, i) {
		return none
	}
	if d := prefixed(s[i:], escapedTag); d != holds {
		return d
	}
	return st.element(entities(s[i:min(len(s), i+maxHeader)]), 0)
}

// bars steps over the bars and the spaces that may stand in a tag of DeepSeek's.
func bars(s string, i int) int {
	j := i
	for j < len(s) && j-i < maxHeader {
		switch {
		case s[j] == '|', s[j] == ' ' && j > i:
			j++
		case strings.HasPrefix(s[j:], "｜"), strings.HasPrefix("｜", s[j:]):
			j = min(j+len("｜"), len(s))
		default:
			return j
		}
	}
	return j
}

// prefixed says whether a text that may go on begins with a word.
func prefixed(s, word string) decision {
	switch {
	case strings.HasPrefix(s, word):
		return holds
	case strings.HasPrefix(word, s):
		return undecided
	}
	return none
}

// elementName reports whether an element of that name is part of calls.
func elementName(base string) bool {
	short, _ := strings.CutSuffix(base, "name") // its space may be lost
	return callTag(base) || paramTag(base) || wrapTag(base) || callTag(short) || paramTag(short) || len(table.tags[base]) > 0
}

// json says what the JSON, or the list of Python, at s[i] may be.
func (st *Stream) json(s string, i int) verdict {
	if s[i] == '{' && st.namedAt(s, i) {
		return verdict{what: holds}
	}
	if s[i] == '[' {
		if d := st.list(s, i); d != none {
			return verdict{what: d}
		}
	}
	if !st.rules.bareAllowed(dialect.JSON) {
		return verdict{what: none}
	}
	switch callBegins(s, i) {
	case undecided:
		return verdict{what: undecided}
	case holds:
		if st.area.kind != noArea {
			return verdict{what: holds}
		}
		return st.call(s, i)
	}
	if st.area.kind != noArea {
		return verdict{what: none}
	}
	j := skip(s, i+1)
	switch {
	case j == len(s):
		return verdict{what: undecided}
	case beginsData(s[j]):
		return verdict{what: dataBegins}
	}
	return verdict{what: none}
}

// namedAt reports whether the object at s[i] has the name of a tool before it.
func (st *Stream) namedAt(s string, i int) bool {
	if at := nameStart(s, st.from, i); strings.HasPrefix(s[at:i], callWord) {
		return true
	}
	k := i
	for k > st.from && blank(s[k-1]) {
		k--
	}
	at := nameStart(s, st.from, k)
	return at < k && st.in.declared(s[at:k]) && (skip(s, st.from) >= at || lineStart(s, at))
}

// list says whether a list of Python calls begins at s[i].
func (st *Stream) list(s string, i int) decision {
	if i > 0 && letter(s[i-1]) {
		return none
	}
	j := skip(s, i+1)
	name, open := pyName(s, j)
	switch {
	case j == len(s) || open == len(s):
		return undecided
	case name == "" || s[open] != '(':
		return none
	}
	k := pyGap(s, open+1)
	word, at := keyword(s, k)
	if k == len(s) || word != "" && at == len(s) || strings.HasPrefix("**{", s[k:]) {
		return undecided
	}
	named, value := pyArgued(s, open+1)
	if named || value && st.in.declared(st.rules.toolName(name)) {
		return holds
	}
	return none
}

// callBegins is callish for a text that may go on.
func callBegins(s string, i int) decision {
	for depth := 0; depth < 3 && s[i] != '"'; depth++ {
		if s[i] != '[' && s[i] != '{' {
			return none
		}
		object := s[i] == '{'
		if i = skip(s, i+1); i == len(s) {
			return undecided
		}
		if object && s[i] != '{' {
			return keyBegins(s[i:])
		}
	}
	return none
}

// keyBegins is callKey for a text that may go on.
func keyBegins(s string) decision {
	for _, q := range quoteMarks {
		if strings.HasPrefix(s, q) {
			s = s[len(q):]
			break
		} else if strings.HasPrefix(q, s) {
			return undecided
		}
	}
	if callKey(s) {
		return holds
	}
	for _, keys := range [...][]string{nameKeys[:], argsKeys[:], otherKeys[:]} {
		for _, k := range keys {
			if strings.HasPrefix(k, s) {
				return undecided
			}
		}
	}
	return none
}

// settled is how far what was read of JSON must lie back for more of the text to
// make no difference to it, in bytes.
const settled = 64

// call says what the JSON at s[i] is that begins as calls do.
func (st *Stream) call(s string, i int) verdict {
	e := elements{resume: true}
	end := e.read(s, i)
	if !st.spend(len(s)-i+e.again(), s) {
		return verdict{what: holds}
	}
	next := end
	for next < len(s) && (blank(s[next]) || s[next] == ',' || s[next] == ';') {
		next++
	}
	known := st.in.known(e.calls)
	switch {
	case e.ended == whole && known > 0:
		return verdict{what: holds}
	case e.ended == whole && next == len(s):
		return verdict{what: undecided} // more objects may follow
	case e.ended == whole:
		if len(e.calls) > 0 {
			st.from = end
		}
		return verdict{what: none, end: end}
	case e.ended == broken && end+settled > len(s):
		return verdict{what: undecided}
	case e.ended == broken && len(e.calls) == 0:
		return verdict{what: none}
	case e.ended == cut && known == 0:
		return verdict{what: undecided}
	}
	return verdict{what: holds}
}

// recipient says whether s[i] begins the line that says for whom a message is.
func (st *Stream) recipient(s string, i int) decision {
	if skip(s, st.from) < i && !lineStart(s, i) {
		return none
	}
	st.quotes = true
	if d := prefixed(s[i:], recipientMark); d != holds {
		return d
	}
	at := i + len(recipientMark)
	end := nameEnd(s, at)
	switch {
	case end == len(s):
		return undecided
	case end == at || s[end] != '\n':
		return none
	}
	return holds
}

// label says whether s[i] is in the label of a call.
func (st *Stream) label(s string, i int) decision {
	k := i
	for k > st.from && emphatic(s[k-1]) {
		k--
	}
	if k > st.from && s[k-1] != '\n' {
		return none
	}
	if d := prefixed(s[i:], linesWord); d != holds {
		return d
	}
	l, more := labelOf(s, k)
	return labelDecision(l == labelAction, more)
}

// ticks says what the backticks at s[i] begin.
func (st *Stream) ticks(s string, i int) verdict {
	n := run(s, i)
	if i+n == len(s) {
		return verdict{what: undecided}
	}
	if n >= 3 {
		switch v := st.fence(s, i, n); {
		case v.what == none:
		case v.what == undecided, st.area.kind == noArea:
			return v
		case v.call:
			return verdict{what: holds}
		default:
			return verdict{what: none, end: i + n}
		}
	}
	for j := i + n; ; j++ { // as tick does
		if j == len(s) {
			return verdict{what: undecided}
		}
		if s[j] == '\n' || j-i > maxInline {
			return verdict{what: none, end: i + n}
		}
		if s[j] == '`' {
			k := run(s, j)
			if j+k == len(s) {
				return verdict{what: undecided}
			}
			if k == n {
				return verdict{what: none, end: j + k}
			}
			j += k - 1
		}
	}
}

// fence says what the fence of n backticks at s[i] begins.
func (st *Stream) fence(s string, i, n int) verdict {
	f := fences{s: s}
	at, json, opens := f.opener(i, n)
	if line := strings.IndexByte(s[i:], '\n'); line < 0 && !json {
		return verdict{what: undecided} // more may stand on the line
	}
	if !opens {
		return verdict{what: none}
	}
	j := skip(s, at)
	if j == len(s) {
		return verdict{what: undecided}
	}
	if json && st.rules.bareAllowed(dialect.JSON) {
		d := callBegins(s, j)
		if s[j] == '[' {
			if k := skip(s, j+1); k == len(s) {
				d = undecided
			} else if s[k] == '"' {
				d = holds // perhaps objects in strings
			}
		}
		if d == undecided {
			return verdict{what: undecided}
		}
		return verdict{what: jsonBegins, end: j, ticks: n, call: d == holds}
	}
	d := st.bodyBegins(s, j)
	if d == undecided {
		return verdict{what: undecided}
	}
	line := strings.IndexByte(s[i:], '\n') + i + 1
	return verdict{what: fenceBegins, end: line, ticks: n, call: d == holds}
}

// bodyBegins says whether a block whose body begins at s[j] is one of markup.
func (st *Stream) bodyBegins(s string, j int) decision {
	if s[j] == '<' || s[j] == '[' {
		return st.markup(s, j)
	}
	d := prefixed(s[j:], escapedTag)
	for _, h := range table.heads {
		if e := prefixed(s[j:], h); e != none && d != holds {
			d = e
		}
	}
	return d
}
