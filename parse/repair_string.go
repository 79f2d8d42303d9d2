package parse

import "unicode/utf8"

// quoteMark is a kind of quotation mark.
type quoteMark uint8

const (
	noQuote quoteMark = iota
	doubleQuote
	singleQuote
	curlyDouble // “ ” „ ‟
	curlySingle // ‘ ’ ‚ ‛
)

// quoteAt returns the quotation mark at s[i] and its length in bytes.
func quoteAt(s string, i int) (q quoteMark, n int) {
	switch s[i] {
	case '"':
		return doubleQuote, 1
	case '\'':
		return singleQuote, 1
	case 0xE2: // what U+2018 to U+201F begin with
		switch r, n := utf8.DecodeRuneInString(s[i:]); {
		case '\u2018' <= r && r <= '\u201b':
			return curlySingle, n
		case '\u201c' <= r && r <= '\u201f':
			return curlyDouble, n
		}
	}
	return noQuote, 0
}

// strPlace is where a string stands; it says what can follow.
type strPlace uint8

const (
	placeAlone strPlace = iota
	placeName
	placeMember // as a member's value
	placeElement
)

// quoted is a string that is being read.
type quoted struct {
	mark  quoteMark
	place strPlace
	from  int // the first index inside
	// opened is the index after an inner quote that waits for its partner; 0
	// for none.
	opened int
	inner  bool // there are inner quotes
	escapes
}

// escapes is what is known of the backslashes of a string.
type escapes struct {
	// bare: one begins no escape of JSON, so that they were not doubled.
	bare bool
	// path: one begins a Unicode escape of another language or stands in a path
	// with a drive letter, where the next may do so too, whatever letter follows.
	path bool
	// control: one begins the escape of a control character.
	control bool
	// feeds are where in the output those stand that make a backspace or a form
	// feed, which hardly any text has, unlike regular expressions and paths.
	feeds []int
}

// str reads a string.
func (m *mender) str(p strPlace) state {
	if m.strictString() {
		return whole
	}
	mark, n := quoteAt(m.s, m.i)
	m.delimiter(mark, n)
	q := quoted{mark: mark, place: p, from: m.i}
	for {
		m.i = plain(m.s, m.i)
		if m.i >= len(m.s) {
			return cut
		}
		c := m.s[m.i]
		if c == '\\' {
			if m.i+1 >= len(m.s) {
				m.i = len(m.s)
				return cut
			}
			m.escape(mark, &q)
			continue
		}
		if c < ' ' {
			m.put(m.i, m.i+1, escaped(c), fixControls)
			m.i++
			continue
		}
		other, n := quoteAt(m.s, m.i)
		switch other {
		case mark:
			ends, st := m.closing(&q, n)
			if st != whole {
				return st
			}
			if ends {
				m.settle(&q.escapes)
				m.delimiter(mark, n)
				return whole
			}
			m.inner(mark, n)
		case doubleQuote:
			m.flush(m.i)
			m.out = append(m.out, '\\')
			m.i++
		case noQuote:
			r, n := utf8.DecodeRuneInString(m.s[m.i:])
			if r == utf8.RuneError && n == 1 {
				m.put(m.i, m.i+1, "\uFFFD", fixUTF8)
			}
			m.i += n
		default:
			m.i += n
		}
	}
}

// strictString reads the commonest string: in double quotes, without anything
// in it that needs a look, and with something right after it that shows that it
// has ended. It reports false, and reads nothing, where that is not so.
func (m *mender) strictString() bool {
	if m.s[m.i] != '"' {
		return false
	}
	end := plain(m.s, m.i+1)
	if end+1 >= len(m.s) || m.s[end] != '"' {
		return false
	}
	if c := m.s[end+1]; c != ':' && c != ',' && c != '}' && c != ']' {
		return false
	}
	m.i = end + 1
	return true
}

// plain returns the index of the first byte from i that needs a look.
func plain(s string, i int) int {
	for i < len(s) && ' ' <= s[i] && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' && s[i] != '\'' {
		i++
	}
	return i
}

// delimiter reads the quotation mark at either end of a string.
func (m *mender) delimiter(q quoteMark, n int) {
	switch q {
	case singleQuote:
		m.put(m.i, m.i+n, `"`, fixSingleQuotes)
	case curlyDouble, curlySingle:
		m.put(m.i, m.i+n, `"`, fixTypographicQuotes)
	}
	m.i += n
}

// inner reads a quotation mark that is part of the string.
func (m *mender) inner(q quoteMark, n int) {
	m.done.add(fixInnerQuotes)
	if q == doubleQuote {
		m.flush(m.i)
		m.out = append(m.out, '\\')
	}
	m.i += n
}

// closing reports whether the quotation mark of n bytes at m.i ends the string.
// It does if what follows, after white space, is a comma, a closing bracket or a
// colon, or else a comment or another member where nothing inside the string was
// doubtful. The end of the text says nothing: such a string is cut off, and so is
// what it stands in. Names, and strings alone, end with the first mark in any
// case.
//
// Any other mark may be part of the text. It is taken for that if such marks
// come in pairs, as in
//
//	"say "hi" now"
//
// where the first has no letter or digit before it and no white space after it,
// and the second has no white space before and no letter or digit after; or if
// it is an apostrophe between two letters. All else is broken: "5" nails", and
// ["a" 1, "b"], which could be three elements, or one.
func (m *mender) closing(q *quoted, n int) (ends bool, st state) {
	if q.place == placeAlone || q.place == placeName {
		return true, whole
	}
	after := m.i + n
	next := m.pastSpace(after)
	if next >= len(m.s) {
		m.i = len(m.s)
		return false, cut
	}
	switch c := m.s[next]; {
	case c == ',' || c == '}' || c == ']' || c == ':',
		!q.inner && m.commentAt(next, q.mark),
		!q.inner && q.place == placeMember && m.nameAt(next):
		if q.opened > 0 {
			return false, broken
		}
		return true, whole
	}
	before, then := m.s[m.i-1], m.s[after]
	switch {
	case q.opened > 0 && !blank(before) && !letter(then) && q.opened < m.i:
		q.opened = 0
	case q.opened == 0 && (m.i == q.from || !letter(before)) && !blank(then):
		q.opened = after
	case (q.mark == singleQuote || q.mark == curlySingle) && m.i > q.from && letter(before) && letter(then):
	default:
		return false, broken
	}
	q.inner = true
	return false, whole
}

// nameAt reports whether a string and a colon stand at an index. It looks no
// further than the second quotation mark and what follows it.
func (m *mender) nameAt(i int) bool {
	mark, n := quoteAt(m.s, i)
	if mark == noQuote {
		return false
	}
	for i += n; i < len(m.s); i++ {
		if m.s[i] == '\\' {
			i++
			continue
		}
		if q, n := quoteAt(m.s, i); q == mark {
			i = m.pastSpace(i + n)
			return i < len(m.s) && m.s[i] == ':'
		}
	}
	return false
}

// letter reports whether c is an ASCII letter, a digit or '_'. Scripts without
// spaces between words leave a quotation mark no other sign than what follows it.
func letter(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// escape reads a backslash and, if it begins an escape, the rest of that.
func (m *mender) escape(mark quoteMark, q *quoted) {
	c := m.s[m.i+1]
	q.path = q.path || m.drive(q.from)
	switch c {
	case 'b', 'f':
		m.flush(m.i)
		q.feeds = append(q.feeds, len(m.out))
		fallthrough
	case 'n', 'r', 't':
		q.control = true
		m.i += 2
		return
	case '"', '\\', '/':
		m.i += 2
		return
	case '\'':
		m.put(m.i, m.i+1, "", fixEscapes)
		m.i += 2
		return
	case 'u':
		if unit, ok := hexDigits(m.s, m.i+2, 4); ok {
			m.codeUnit(unit)
			return
		}
		q.path = true
	case 'U':
		q.path = true
	default:
		if other, n := quoteAt(m.s, m.i+1); other == mark {
			m.put(m.i, m.i+1, "", fixEscapes)
			m.i += 1 + n
			return
		}
	}
	q.bare = true
	m.put(m.i, m.i, `\`, fixEscapes)
	m.i++
}

// drive reports whether the backslash at m.i follows a drive letter in a string
// that begins at s[from]. A line may end so too, as in "if x:\n"; then only what
// stands first in the string, or in quotes, is taken for a drive.
func (m *mender) drive(from int) bool {
	i := m.i - 2
	if i < from || m.s[i+1] != ':' || m.s[i]|0x20 < 'a' || m.s[i]|0x20 > 'z' || i > from && letter(m.s[i-1]) {
		return false
	}
	switch m.s[m.i+1] {
	case '\\', '/', '"':
		return false
	case 'n', 'r', 't':
		return i == from || m.s[i-1] == '"' || m.s[i-1] == '\''
	}
	return true
}

// settle decides, at the end of a string, what its backslashes mean.
func (m *mender) settle(e *escapes) {
	m.drives = m.drives || e.path && e.control
	if !e.bare || len(e.feeds) == 0 {
		return
	}
	m.flush(m.i)
	from := e.feeds[0]
	rest := string(m.out[from:])
	m.out = m.out[:from]
	for k, at := range e.feeds {
		end := len(rest)
		if k+1 < len(e.feeds) {
			end = e.feeds[k+1] - from
		}
		m.out = append(m.out, '\\')
		m.out = append(m.out, rest[at-from:end]...)
	}
	m.done.add(fixAmbiguous)
}

// codeUnit reads a \u escape, or the two of a surrogate pair.
func (m *mender) codeUnit(unit uint32) {
	const high, low, past = 0xD800, 0xDC00, 0xE000
	n := 6
	if high <= unit && unit < past {
		second, ok := uint32(0), false
		if unit < low && m.i+7 < len(m.s) && m.s[m.i+6] == '\\' && m.s[m.i+7] == 'u' {
			second, ok = hexDigits(m.s, m.i+8, 4)
		}
		if ok && low <= second && second < past {
			n = 12
		} else {
			m.put(m.i, m.i+n, "\uFFFD", fixSurrogates)
		}
	}
	m.i += n
}

// escaped returns a control character as JSON escapes it.
func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[c>>4], hex[c&15]})
}
