package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap reads white space and comments. It stops before what is neither.
func (m *mender) gap() state {
	for m.i < len(m.s) {
		c := m.s[m.i]
		if blank(c) {
			m.i++
			continue
		}
		if c == '/' || c == '#' {
			end, st := m.comment()
			if st != whole || end == m.i {
				return st
			}
			m.put(m.i, end, "", fixComments)
			m.i = end
			continue
		}
		n := oddSpace(m.s, m.i)
		if n == 0 {
			return whole
		}
		m.put(m.i, m.i+n, "", fixSpace)
		m.i += n
	}
	return whole
}

// dull reports whether c is surely neither white space nor part of a comment.
func dull(c byte) bool {
	return ' ' < c && c < utf8.RuneSelf && c != '/' && c != '#' && c != '\\'
}

// oddSpace returns how many bytes at s[i] are white space that JSON does not
// have.
func oddSpace(s string, i int) int {
	switch c := s[i]; {
	case c == '\\':
		if i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r' || s[i+1] == 't') {
			return 2
		}
	case c == '\v' || c == '\f':
		return 1
	case c >= utf8.RuneSelf:
		if r, n := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			return n
		}
	}
	return 0
}

// comment returns where the comment at m.i ends: at m.i if it is none.
func (m *mender) comment() (end int, st state) {
	rest := m.s[m.i:]
	if strings.HasPrefix(rest, "/*") {
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			m.i = len(m.s)
			return m.i, cut
		}
		return m.i + 2 + n + 2, whole
	}
	mark := 1
	if rest[0] == '/' {
		if !strings.HasPrefix(rest, "//") {
			return m.i, whole
		}
		mark = 2
	}
	spaced := len(rest) == mark || blank(rest[mark])
	if !spaced && (mark == 1 || m.want == wantValue || m.want == wantElement) {
		return m.i, whole
	}
	if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
		return m.i + n, whole
	}
	return len(m.s), whole
}

// pastSpace returns the index of the first byte from i that is not white space
// of any kind.
func (m *mender) pastSpace(i int) int {
	for i < len(m.s) {
		n := 1
		if !blank(m.s[i]) {
			n = oddSpace(m.s, i)
		}
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// commentAt reports whether a comment begins at an index. One with a quotation
// mark of the kind in it is none: it may be the rest of the string.
func (m *mender) commentAt(i int, kind quoteMark) bool {
	if i+1 >= len(m.s) {
		return false
	}
	a, b := m.s[i], m.s[i+1]
	if a != '/' && a != '#' || a == '/' && b != '/' && b != '*' || a == '#' && !blank(b) {
		return false
	}
	for i += 2; i < len(m.s); i++ {
		switch q, _ := quoteAt(m.s, i); {
		case q == kind:
			return false
		case b == '*' && m.s[i] == '*' && i+1 < len(m.s) && m.s[i+1] == '/', b != '*' && m.s[i] == '\n':
			return true
		}
	}
	return true
}
