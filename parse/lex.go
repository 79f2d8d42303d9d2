package parse

import "strings"

// state is how far a value could be followed.
type state uint8

const (
	whole   state = iota
	cut           // the text ends inside the value
	broken        // no value can go on like this
	tooDeep       // nested deeper than MaxDepth
)

// value returns the index after the JSON value that begins at s[i]. It follows
// strings and brackets only: that finds the end of every valid value, however
// many braces its strings hold, and says of an invalid one whether the text
// ends too early. What is whole for it may still not be JSON.
//
// It reads each byte once, does not recurse and does not allocate.
func value(s string, i int) (end int, st state) {
	if i >= len(s) {
		return i, cut
	}
	switch s[i] {
	case '"':
		return stringEnd(s, i)
	case '{', '[':
	default:
		j := i
		for j < len(s) && scalar(s[j]) {
			j++
		}
		if j == i {
			return i, broken
		}
		return j, whole
	}
	// One bit a level: set for an object.
	var open [MaxDepth / 64]uint64
	depth := 0
	for i < len(s) {
		switch c := s[i]; c {
		case '"':
			if i, st = stringEnd(s, i); st != whole {
				return i, st
			}
			continue
		case '{', '[':
			if depth == MaxDepth {
				return i, tooDeep
			}
			bit := uint64(1) << (depth % 64)
			if c == '{' {
				open[depth/64] |= bit
			} else {
				open[depth/64] &^= bit
			}
			depth++
		case '}', ']':
			depth--
			if object := open[depth/64]&(1<<(depth%64)) != 0; object != (c == '}') {
				return i, broken
			}
			if depth == 0 {
				return i + 1, whole
			}
		}
		for i++; i < len(s) && !bracketOrQuote[s[i]]; i++ {
		}
	}
	return i, cut
}

// bracketOrQuote are the bytes at which value has something to do.
var bracketOrQuote = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// stringEnd returns the index after the JSON string that begins at s[i].
func stringEnd(s string, i int) (int, state) {
	first := i + 1
	for j := first; ; j++ {
		k := strings.IndexByte(s[j:], '"')
		if k < 0 {
			return len(s), cut
		}
		j += k
		slashes := 0
		for j-1-slashes >= first && s[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1, whole
		}
	}
}

// scalar reports whether c can be part of a number or a literal.
func scalar(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		c == '-' || c == '+' || c == '.'
}

// blank reports whether c is JSON white space.
func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// skip returns the index of the first byte from i that is not white space.
func skip(s string, i int) int {
	for i < len(s) && blank(s[i]) {
		i++
	}
	return i
}

// trim cuts JSON white space off both ends.
func trim(s string) string {
	s = s[skip(s, 0):]
	for len(s) > 0 && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// members walks the members of an object, also of one that is cut off or
// broken: it then yields what stands before the fault.
type members struct {
	s string
	i int
	// state is whole while the walk goes well.
	state state
}

// newMembers starts at an object: s[0] is '{'.
func newMembers(s string) members { return members{s: s, i: 1} }

// next returns the next member's name and raw value. The value may be cut off,
// which state then says. ok is false at the end of the object, and at a fault
// before a value began.
func (m *members) next() (key, raw string, ok bool) {
	if m.state != whole {
		return "", "", false
	}
	i := skip(m.s, m.i)
	if i < len(m.s) && m.s[i] == ',' {
		i = skip(m.s, i+1)
	}
	if i < len(m.s) && m.s[i] == '}' {
		m.i = i + 1
		return "", "", false
	}
	if i >= len(m.s) {
		m.state = cut
		return "", "", false
	}
	if m.s[i] != '"' {
		m.state = broken
		return "", "", false
	}
	end, st := stringEnd(m.s, i)
	if st != whole {
		m.state = st
		return "", "", false
	}
	key = unquote(m.s[i:end])
	i = skip(m.s, end)
	switch {
	case i >= len(m.s):
		m.state = cut
		return "", "", false
	case m.s[i] != ':':
		m.state = broken
		return "", "", false
	}
	i = skip(m.s, i+1)
	end, m.state = value(m.s, i)
	m.i = end
	if m.state != whole {
		end = len(m.s)
	}
	return key, m.s[i:end], true
}
