package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// unmarked takes what stands at s[i] if it may be a call that no marker begins.
func (r *reading) unmarked(i int) int {
	if r.quoted(i) {
		return 0
	}
	switch c := r.s[i]; c {
	case '{', '[':
		if end := r.namedBefore(i); end > i {
			return end
		}
		if c == '[' {
			if end := r.pythonList(i); end > i {
				return end
			}
		} else if r.bareStart(i) {
			if end := r.bareBraces(i); end > i {
				return end
			}
		}
		return r.looseJSON(i)
	case '<':
		return r.element(i)
	case '&':
		return r.entity(i)
	case '>':
		return r.recipientLine(i)
	case linesWord[0]:
		return r.lines(i)
	}
	return 0
}

// bareStart reports whether the word before s[i] begins a line, or follows what
// was taken last.
func (r *reading) bareStart(i int) bool {
	at := nameStart(r.s, r.from, i)
	return at < i && r.lineStart(at)
}

// quoted reports whether s[i] stands in a line that quotes, as mails and
// Markdown do it.
func (r *reading) quoted(i int) bool {
	if !r.quotes {
		return false
	}
	if i < r.line.at {
		r.line.at, r.line.start = 0, 0
	}
	if k := strings.LastIndexByte(r.s[r.line.at:i], '\n'); k >= 0 {
		r.line.start = r.line.at + k + 1
	}
	r.line.at = i
	j := skip(r.s, r.line.start)
	return j < i && r.s[j] == '>'
}

// bareAllowed reports whether bodies of a grammar count without a marker.
func (r *reading) bareAllowed(g dialect.Grammar) bool {
	if r.only != nil && r.only.Grammar == dialect.Pairs {
		return r.only.Bare && g == dialect.JSON // what stands after the name
	}
	return r.only == nil || r.only.Bare && r.only.Grammar == g
}

// looseJSON takes JSON that reads as calls, and steps over JSON that does not,
// so that what stands inside of data is no call.
func (r *reading) looseJSON(i int) int {
	if !r.spend(16) || !r.bareAllowed(dialect.JSON) {
		return 0
	}
	if !callish(r.s, i) {
		return r.overData(i)
	}
	e := elements{resume: true}
	end := e.read(r.s, i)
	r.spend(end - i + e.again())
	if len(e.calls) == 0 {
		if e.ended == whole {
			return end
		}
		return 0
	}
	f := found{from: i, format: JSON, kind: loose, group: e.group}
	switch {
	case r.only != nil:
		f.format = r.only.ID
	case e.envelope:
		f.format = "openai_envelope"
	case e.list:
		f.format = "json_array"
	}
	f.calls, f.content = e.calls, e.content
	f.end = r.spareClosers(&f.group, end)
	if e.ended == whole && !e.list && !e.data {
		f.end = r.moreMembers(f.calls, e.last, f.end)
	}
	if e.ended == broken && end == len(r.s) && !endsClosed(r.s) {
		// Prose follows, perhaps about it; but nothing in it is another call.
		f.end = e.fault
		r.add(f)
		return end
	}
	r.add(f)
	return f.end
}

// moreMembers gives the last of unmarked calls, which begins at s[from], the
// problem that members of it follow at s[end], behind its bracket, if they do, and
// returns the index after them.
func (r *reading) moreMembers(calls []event.ParsedCall, from, end int) int {
	i := skip(r.s, surplus(r.s, end))
	if i == len(r.s) || r.s[i] != ',' {
		return end
	}
	i = skip(r.s, i+1)
	if i == len(r.s) || r.s[i] != '"' {
		return end
	}
	stop, st := stringEnd(r.s, i)
	r.spend(stop - i)
	if k := skip(r.s, stop); st != whole || k == len(r.s) || r.s[k] != ':' {
		return end
	}
	stop = lineOf(r.s, stop)
	if c := &calls[len(calls)-1]; c.Problem == "" {
		c.Args, c.Problem, c.Repairs = trim(r.s[from:stop]), ProblemInvalid, nil
	}
	return stop
}

// endsClosed reports whether a text ends as JSON does, or a fence around it.
func endsClosed(s string) bool {
	s = trim(s)
	return s != "" && strings.IndexByte("}]`", s[len(s)-1]) >= 0
}

// overData steps over a JSON value that is surely none of calls.
func (r *reading) overData(i int) int {
	j := skip(r.s, i+1)
	if j == len(r.s) {
		return 0
	}
	if !beginsData(r.s[j]) {
		return 0
	}
	if r.data == nil {
		r.data = &dataWalk{s: r.s}
	}
	end, st, looked := r.data.end(i)
	r.spend(looked)
	if st != whole {
		return 0
	}
	return end
}

// beginsData reports whether c may follow the bracket that begins a value.
func beginsData(c byte) bool {
	return c == '"' || c == '{' || c == '[' || c == '}' || c == ']' || '0' <= c && c <= '9' || c == '-'
}

// callish reports whether the JSON at s[i] begins as calls do: an object whose
// first member is one that a call has, or a list of such objects.
func callish(s string, i int) bool {
	for depth := 0; depth < 3 && i < len(s) && (s[i] == '[' || s[i] == '{'); depth++ {
		object := s[i] == '{'
		i = skip(s, i+1)
		if object && i < len(s) && s[i] != '{' {
			return callKey(s[i:])
		}
	}
	return false
}

// quoteMarks are what models put around the names of members.
var quoteMarks = [...]string{`"`, `'`, "“", "‘", "`"}

// callKey reports whether s begins with the name of a member of a call, in
// quotes of any kind or in none.
func callKey(s string) bool {
	if s == "" || !keyFirst[s[0]] {
		return false
	}
	for _, q := range quoteMarks {
		if strings.HasPrefix(s, q) {
			s = s[len(q):]
			break
		}
	}
	for _, keys := range [...][]string{nameKeys[:], argsKeys[:], otherKeys[:]} {
		for _, k := range keys {
			if len(s) > len(k) && s[0] == k[0] && s[:len(k)] == k && !scalar(s[len(k)]) && s[len(k)] != '_' {
				return true
			}
		}
	}
	return false
}

// keyFirst are the bytes with which the names of such members begin, quoted or not.
var keyFirst = func() (first [256]bool) {
	for _, words := range [...][]string{quoteMarks[:], nameKeys[:], argsKeys[:], otherKeys[:]} {
		for _, w := range words {
			first[w[0]] = true
		}
	}
	return
}()

// otherKeys are members of calls and their envelopes beside name and arguments.
var otherKeys = [...]string{"id", "call_id", "tool_call_id", "type", "index", "tool_calls", "role", "content"}
