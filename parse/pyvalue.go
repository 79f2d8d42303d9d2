package parse

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// pyMend reads one Python literal, or JSON value, as models write it, beginning
// at s[i], and returns it as strict JSON: RFC 8259, valid UTF-8, no duplicate
// names. Nothing is evaluated: names, calls and operators are broken. repairs
// name what even Python would not have taken; nil for nothing.
//
// It reads strings in single, double and triple quotes with the prefixes r, u
// and (without braces) f, with Python's escapes, of which \N is broken; strings
// beside each other, which are one; integers, also with underscores, hexadecimal,
// octal and binary up to 64 bits; floats; one sign before a number; True, False,
// None, true, false and null; lists, tuples and sets, which are all arrays;
// dicts, whose keys must be strings; commas at the end, and comments.
//
// Beyond Python it takes what leaves no doubt: line ends in strings of one line,
// backslashes that begin no escape, one zero before a digit, as in dates. Quotes
// in a string that are not escaped are lossy repairs, see closing in pystring.go,
// as are halves of surrogate pairs and invalid UTF-8.
//
// A value that s ends in is cut, with end = len(s); broken and tooDeep (beyond
// MaxDepth) come with the index of the fault. What follows the value is not
// looked at, but for a string's closing quote. The time is linear in end-i.
func pyMend(s string, i int) (text string, end int, st state, repairs []event.Repair) {
	p := pyReader{s: s, i: i, loose: true}
	text, st = p.value()
	if st != whole {
		return "", p.i, st, nil
	}
	return text, p.i, whole, p.done.list()
}

// pyValue is [pyMend] for callers that report no repairs: it takes the lossless
// ones, and for it a string ends with its first quote. What needs a lossy one is
// broken.
func pyValue(s string, i int) (text string, end int, st state) {
	p := pyReader{s: s, i: i}
	text, st = p.value()
	return text, p.i, st
}

// A pyReader reads one value from left to right, and writes it as JSON.
type pyReader struct {
	s   string
	i   int // what is read next
	out []byte
	// loose: quotes that are not escaped may be part of a string, and other
	// lossy repairs are made.
	loose bool
	done  fixes

	levels []pyLevel
	// after: a value was read last, and a comma, colon or closer must follow.
	after bool
	// text: that value is a string.
	text bool

	// What was written that JSON would have put differently: strings in single
	// quotes or with a prefix, escapes that JSON has not, strings beside each
	// other.
	single, escaped, joined bool
}

// pyLevel is a container that is being read.
type pyLevel struct {
	kind pyKind
	at   int  // of its opener in out
	n    int  // values and keys in it
	more bool // a comma was read
	// colon: the key of an entry was read, and its colon.
	colon bool
	// mutable: it holds, itself or in a tuple, a list, dict or set, so that it
	// can't be a set.
	mutable bool
}

type pyKind uint8

const (
	pyList  pyKind = iota
	pyTuple        // or one value in parentheses
	pyBrace        // a dict or a set: nobody can tell yet
	pyDict
	pySet
)

// value reads the value at p.i. Only with whole is there a text.
func (p *pyReader) value() (string, state) {
	st := p.element()
	for st == whole && len(p.levels) > 0 {
		p.i = pyGap(p.s, p.i)
		if p.i >= len(p.s) {
			st = cut
			break
		}
		if st = p.step(p.s[p.i]); st == cut {
			p.i = len(p.s)
		}
	}
	if st != whole {
		return "", st
	}
	if !p.loose && p.done&lossyFixes != 0 || !jsontext.Value(p.out).IsValid() {
		return "", broken // the latter for a name that stands twice
	}
	return string(p.out), whole
}

// lossyFixes are those that [pyValue] does without.
const lossyFixes fixes = 1<<fixInnerQuotes | 1<<fixSurrogates | 1<<fixUTF8

// step reads what comes next in a container.
func (p *pyReader) step(c byte) state {
	l := &p.levels[len(p.levels)-1]
	switch c {
	case ']', ')', '}':
		return p.close(l, c)
	case ',':
		return p.comma(l)
	case ':':
		return p.colon(l)
	}
	if p.after {
		return broken
	}
	if l.n > 0 && !l.colon {
		p.out = append(p.out, ',')
	}
	if !l.colon {
		l.n++
	}
	return p.element()
}

func (p *pyReader) comma(l *pyLevel) state {
	if !p.after || l.kind == pyDict && !l.colon {
		return broken
	}
	if l.kind == pyBrace {
		l.kind = pySet
	}
	l.more, l.colon, p.after = true, false, false
	p.i++
	return whole
}

func (p *pyReader) colon(l *pyLevel) state {
	if !p.after || !p.text || l.colon || l.kind != pyBrace && l.kind != pyDict {
		return broken
	}
	l.kind, l.colon, p.after = pyDict, true, false
	p.out = append(p.out, ':')
	p.i++
	return whole
}

func (p *pyReader) close(l *pyLevel, c byte) state {
	switch {
	case c != l.closer():
		return broken
	case !p.after && (l.colon || l.n == 0 && l.more):
		return broken
	case p.after && l.kind == pyDict && !l.colon:
		return broken
	}
	text := false
	switch {
	case l.kind == pyDict || l.kind == pyBrace && l.n == 0:
		p.out = append(p.out, '}')
	case l.kind == pyTuple && l.n == 1 && !l.more:
		p.out = slices.Delete(p.out, l.at, l.at+1)
		text = p.text
	case c == '}' && l.mutable:
		return broken // such as {{"a": 1}}
	default:
		p.out[l.at] = '['
		p.out = append(p.out, ']')
	}
	p.i++
	top := len(p.levels) - 1
	if top > 0 && (c != ')' || l.mutable) {
		p.levels[top-1].mutable = true
	}
	p.levels = p.levels[:top]
	p.after, p.text = true, text
	return whole
}

func (l *pyLevel) closer() byte {
	switch l.kind {
	case pyList:
		return ']'
	case pyTuple:
		return ')'
	}
	return '}'
}

// element reads a value, or the beginning of one that holds others.
func (p *pyReader) element() state {
	if p.i >= len(p.s) {
		return cut
	}
	p.after, p.text = true, false
	switch c := p.s[p.i]; {
	case c == '[':
		return p.open(pyList, c)
	case c == '(':
		return p.open(pyTuple, '[')
	case c == '{':
		return p.open(pyBrace, c)
	case c == '\'' || c == '"':
		return p.strings()
	case '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+':
		return p.number()
	case letter(c):
		return p.word()
	}
	return broken
}

func (p *pyReader) open(k pyKind, as byte) state {
	if len(p.levels) == MaxDepth {
		return tooDeep
	}
	p.levels = append(p.levels, pyLevel{kind: k, at: len(p.out)})
	p.out = append(p.out, as)
	p.after = false
	p.i++
	return whole
}

// pyWords are the names that stand for values.
var pyWords = [...]struct{ word, json string }{
	{"True", "true"}, {"False", "false"}, {"None", "null"},
	{"true", "true"}, {"false", "false"}, {"null", "null"},
}

// word reads a name that stands for a value, or a string with a prefix.
func (p *pyReader) word() state {
	j := p.i
	for j < len(p.s) && letter(p.s[j]) {
		j++
	}
	word := p.s[p.i:j]
	if j < len(p.s) && (p.s[j] == '\'' || p.s[j] == '"') {
		return p.strings()
	}
	for _, w := range pyWords {
		switch {
		case word == w.word && (j == len(p.s) || p.s[j] < 0x80):
			p.out = append(p.out, w.json...)
			p.i = j
			return whole
		case j == len(p.s) && strings.HasPrefix(w.word, word):
			p.i = j
			return cut
		}
	}
	return broken
}

// pyGap returns the index of the first byte from i that is no white space, not
// in a comment, and not a backslash at the end of a line.
func pyGap(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case blank(c) || c == '\f':
			i++
		case c == '#':
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return len(s)
			}
			i += n
		case c == '\\' && i+1 < len(s) && (s[i+1] == '\n' || s[i+1] == '\r'):
			i++
		default:
			return i
		}
	}
	return i
}
