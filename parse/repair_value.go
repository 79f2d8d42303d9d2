package parse

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// mender reads a value once from left to right. As long as nothing is wrong it
// only looks; the first repair begins a copy.
type mender struct {
	s     string
	i     int // what is read next
	start int // where the value begins
	done  fixes
	// drives: a string has control characters written where a path may go on.
	drives bool

	out    []byte // strict JSON for s[start:copied]
	copied int

	want want
	last valueKind // of the value that was read last
	// comma is the offset in the output of the comma that was read last in this
	// container; -1 before its first.
	comma int

	depth int
	// One bit a level: set for an object, and for one in doubled braces.
	object, doubled [MaxDepth / 64]uint64
}

// want is what must come next.
type want uint8

const (
	wantValue   want = iota // a value and nothing else
	wantElement             // a value, or the end of the array
	wantName                // a member's name, or the end of the object
	wantColon
	wantComma // a comma, or the end of the container
)

// valueKind is what a value is, as far as it matters to what may stand beside it.
type valueKind uint8

const (
	kindOther valueKind = iota
	kindNumber
	kindString
)

// read reads the value to its end, m.i.
func (m *mender) read() state {
	if m.i >= len(m.s) {
		return cut
	}
	st := m.value(m.s[m.i])
	for st == whole && m.depth > 0 {
		if m.i < len(m.s) && dull(m.s[m.i]) {
			// Nothing to skip.
		} else if st = m.gap(); st != whole {
			break
		}
		if m.i >= len(m.s) {
			return cut
		}
		switch c := m.s[m.i]; m.want {
		case wantComma:
			st = m.separator(c)
		case wantColon:
			st = m.colon(c)
		case wantName:
			st = m.name(c)
		default:
			st = m.value(c)
		}
	}
	return st
}

// put writes text in the place of s[from:to].
func (m *mender) put(from, to int, text string, why fix) {
	m.flush(from)
	m.out = append(m.out, text...)
	m.copied = to
	m.done.add(why)
}

// flush copies what was read up to the index as it stands.
func (m *mender) flush(to int) {
	m.out = append(m.out, m.s[m.copied:to]...)
	m.copied = to
}

// at is the offset in the output of what is read next.
func (m *mender) at() int { return len(m.out) + m.i - m.copied }

// level returns the word and the bit of the innermost container.
func (m *mender) level() (word int, bit uint64) {
	return (m.depth - 1) / 64, 1 << ((m.depth - 1) % 64)
}

func (m *mender) inObject() bool {
	word, bit := m.level()
	return m.object[word]&bit != 0
}

// item is what can follow an opener or a comma.
func (m *mender) item() want {
	if m.inObject() {
		return wantName
	}
	return wantElement
}

// value reads a value, or the beginning of one that holds others.
func (m *mender) value(c byte) state {
	switch {
	case c == '{' || c == '[':
		return m.open(c)
	case c == '}' || c == ']':
		if m.want == wantElement {
			return m.close(c)
		}
		return broken
	case scalar(c):
		return m.scalar()
	}
	if q, _ := quoteAt(m.s, m.i); q == noQuote {
		return broken
	}
	use := placeElement
	if m.depth == 0 {
		use = placeAlone
	} else if m.want == wantValue {
		use = placeMember
	}
	m.last, m.want = kindString, wantComma
	return m.str(use)
}

func (m *mender) open(c byte) state {
	if m.depth == MaxDepth {
		return tooDeep
	}
	m.depth++
	word, bit := m.level()
	m.doubled[word] &^= bit
	if c == '{' {
		m.object[word] |= bit
	} else {
		m.object[word] &^= bit
	}
	m.i++
	m.comma = -1
	m.want = m.item()
	return whole
}

func (m *mender) close(c byte) state {
	if m.inObject() != (c == '}') {
		if m.want == wantComma {
			return m.tail()
		}
		return broken
	}
	if m.want != wantComma && m.comma >= 0 {
		m.flush(m.i)
		m.out = slices.Delete(m.out, m.comma, m.comma+1)
		m.done.add(fixTrailingComma)
	}
	m.i++
	word, bit := m.level()
	if m.doubled[word]&bit != 0 {
		first := m.i
		m.i = skip(m.s, first)
		if m.i >= len(m.s) {
			return cut
		}
		if m.s[m.i] != '}' {
			return broken
		}
		m.i++
		m.put(first, m.i, "", fixDoubledBraces)
	}
	m.depth--
	m.last, m.want = kindOther, wantComma
	return whole
}

// tail reads closers of which the first does not fit. They are accepted if
// nothing else follows and among them is one for every level, in whatever order:
// no closer is ever made up. The value ends with the last one that is needed.
func (m *mender) tail() state {
	braces, brackets := 0, 0 // still needed
	for d := m.depth; d > 0; d-- {
		word, bit := (d-1)/64, uint64(1)<<((d-1)%64)
		switch {
		case m.object[word]&bit == 0:
			brackets++
		case m.doubled[word]&bit != 0:
			braces += 2
		default:
			braces++
		}
	}
	end := -1
	j := m.i
	for ; j < len(m.s); j++ {
		if c := m.s[j]; c == '}' {
			braces--
		} else if c == ']' {
			brackets--
		} else if !blank(c) {
			break
		}
		if end < 0 && braces <= 0 && brackets <= 0 {
			end = j + 1
		}
	}
	// No value begins with '<' or '`', and none goes on with them: that is the
	// dialect's closing tag, or the end of the fence.
	if end < 0 || j < len(m.s) && m.s[j] != '<' && m.s[j] != '`' {
		return broken
	}
	m.put(m.i, end, "", fixClosers)
	for ; m.depth > 0; m.depth-- {
		if m.inObject() {
			m.out = append(m.out, '}')
		} else {
			m.out = append(m.out, ']')
		}
	}
	m.i = end
	return whole
}

// separator reads what follows a value in a container.
func (m *mender) separator(c byte) state {
	if c == '}' || c == ']' {
		return m.close(c)
	}
	m.comma, m.want = m.at(), m.item()
	if c == ',' {
		m.i++
		return whole
	}
	digit := '0' <= c && c <= '9'
	if m.inObject() {
		if digit {
			return broken // a number in two pieces?
		}
		m.put(m.i, m.i, ",", fixMissingComma)
		return m.name(c)
	}
	q, _ := quoteAt(m.s, m.i)
	if m.last == kindString && q != noQuote || m.last == kindNumber && (digit || c == '.' || c == '-' || c == '+') {
		return broken // two elements, or one in two pieces?
	}
	m.put(m.i, m.i, ",", fixMissingComma)
	return m.value(c)
}

func (m *mender) colon(c byte) state {
	if c != ':' {
		return broken
	}
	m.i++
	m.want = wantValue
	return whole
}

// name reads a member's name, the end of the object, or the second of two
// opening braces.
func (m *mender) name(c byte) state {
	switch c {
	case '}', ']':
		return m.close(c)
	case '{':
		word, bit := m.level()
		if m.comma >= 0 || m.doubled[word]&bit != 0 {
			return broken
		}
		m.doubled[word] |= bit
		m.put(m.i, m.i+1, "", fixDoubledBraces)
		m.i++
		return whole
	}
	m.want = wantColon
	if q, _ := quoteAt(m.s, m.i); q != noQuote {
		return m.str(placeName)
	}
	return m.bareName()
}

// bareName reads a name without quotes. True, False and None are none: Python
// writes them as JSON's words, and the model may have meant the text. Nor are
// numbers other than whole ones.
func (m *mender) bareName() state {
	from, j := m.i, m.i
	for j < len(m.s) {
		r, n := utf8.DecodeRuneInString(m.s[j:])
		if !nameRune(r) && (j == from || r != '-' && r != '.') {
			break
		}
		j += n
	}
	name := m.s[from:j]
	number := digits(name)
	switch {
	case name == "", name == "True", name == "False", name == "None":
		return broken
	case number > 0 && number < len(name), number > 1 && name[0] == '0':
		return broken
	}
	m.put(from, j, `"`+name+`"`, fixBareNames)
	m.i = j
	return whole
}

func nameRune(r rune) bool {
	return unicode.IsLetter(r) || '0' <= r && r <= '9' || r == '_' || r == '$'
}
