package parse

import (
	"strings"

	"rein.example/rein/dialect"
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
		} else if end := r.bareBraces(i); end > i {
			return end
		}
		return r.looseJSON(i)
	case '<':
		return r.element(i)
	case linesWord[0]:
		return r.lines(i)
	}
	return 0
}

// quoted reports whether s[i] stands in a line that quotes, as mails and
// Markdown do it.
func (r *reading) quoted(i int) bool {
	if !r.quotes {
		return false
	}
	start := strings.LastIndexByte(r.s[max(0, i-maxInline):i], '\n') + 1 + max(0, i-maxInline)
	j := skip(r.s, start)
	return j < i && r.s[j] == '>'
}

// bareAllowed reports whether bodies of a grammar count without a marker.
func (r *reading) bareAllowed(g dialect.Grammar) bool {
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
	var e elements
	end := e.read(r.s, i)
	r.spend(end - i)
	if len(e.calls) == 0 {
		if e.ended == whole {
			return end
		}
		return 0
	}
	f := found{from: i, format: JSON, kind: loose, group: e.group}
	if r.only != nil {
		f.format = r.only.ID
	}
	f.calls, f.content = e.calls, e.content
	f.end = r.spareClosers(&f.group, end)
	r.add(f)
	return f.end
}

// overData steps over a JSON value that is surely none of calls.
func (r *reading) overData(i int) int {
	j := skip(r.s, i+1)
	if j == len(r.s) {
		return 0
	}
	if c := r.s[j]; c != '"' && c != '{' && c != '[' && c != '}' && c != ']' && !('0' <= c && c <= '9') && c != '-' {
		return 0
	}
	end, st := value(r.s, i)
	r.spend(end - i)
	if st != whole {
		return 0
	}
	return end
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

// callKey reports whether s begins with the name of a member of a call, in
// quotes of any kind or in none.
func callKey(s string) bool {
	for _, q := range [...]string{`"`, `'`, "“", "‘", "`"} {
		if strings.HasPrefix(s, q) {
			s = s[len(q):]
			break
		}
	}
	for _, keys := range [...][]string{nameKeys[:], argsKeys[:], otherKeys[:]} {
		for _, k := range keys {
			if strings.HasPrefix(s, k) && len(s) > len(k) && !scalar(s[len(k)]) && s[len(k)] != '_' {
				return true
			}
		}
	}
	return false
}

// otherKeys are members of calls and their envelopes beside name and arguments.
var otherKeys = [...]string{"id", "call_id", "tool_call_id", "type", "index", "tool_calls", "role", "content"}
