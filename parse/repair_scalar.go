package parse

import "strings"

// scalar reads a number or a word.
func (m *mender) scalar() state {
	from := m.i
	m.last, m.want = kindNumber, wantComma
	if m.i = numberEnd(m.s, from); m.i > from && m.i < len(m.s) && !wordly(m.s[m.i]) {
		return whole // strict, and followed by something else
	}
	for m.i < len(m.s) && wordly(m.s[m.i]) {
		m.i++
	}
	if m.i == len(m.s) && m.depth > 0 {
		return cut
	}
	word := m.s[from:m.i]
	mended, why := word, fixLiterals
	switch word {
	case "true", "false", "null":
	case "True":
		mended = "true"
	case "False":
		mended = "false"
	case "None":
		mended = "null"
	default:
		if m.i == len(m.s) && begun(word) {
			return cut
		}
		if mended, why = mendNumber(word), fixNumbers; mended == "" {
			m.i = from
			return broken
		}
	}
	if why == fixLiterals {
		m.last = kindOther
	}
	if mended != word {
		m.put(from, m.i, mended, why)
	}
	return whole
}

// wordly reports whether c can be part of a number or a word.
func wordly(c byte) bool { return scalar(c) || c == '_' }

// begun reports whether a word that the end of the text follows would have to go
// on to be a value.
func begun(word string) bool {
	for _, w := range [...]string{"true", "false", "null", "True", "False", "None"} {
		if len(word) < len(w) && strings.HasPrefix(w, word) {
			return true
		}
	}
	c, last := word[0], word[len(word)-1]
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') &&
		(last == '-' || last == '+' || last == '.' || last == 'e' || last == 'E')
}

// mendNumber returns a number as JSON writes it; nothing if it is none, or one
// that can be read in several ways.
func mendNumber(s string) string {
	sign := ""
	if s[0] == '+' || s[0] == '-' {
		sign = strings.TrimPrefix(s[:1], "+")
		s = s[1:]
	}
	switch whole := digits(s); {
	case strings.HasPrefix(s, ".") && digits(s[1:]) > 0:
		s = "0" + s
	case strings.HasPrefix(s[whole:], ".") && digits(s[whole+1:]) == 0:
		s = s[:whole+1] + "0" + s[whole+1:]
	}
	if s == "" || s[0] == '-' || numberEnd(s, 0) != len(s) {
		return ""
	}
	return sign + s
}

// numberEnd returns the index after the number of strict JSON that begins at
// s[i]; i if there is none.
func numberEnd(s string, i int) int {
	j := i
	if j < len(s) && s[j] == '-' {
		j++
	}
	n := digits(s[j:])
	if n == 0 || n > 1 && s[j] == '0' {
		return i
	}
	j += n
	if j < len(s) && s[j] == '.' {
		if n = digits(s[j+1:]); n == 0 {
			return i
		}
		j += 1 + n
	}
	if j < len(s) && (s[j] == 'e' || s[j] == 'E') {
		k := j + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if n = digits(s[k:]); n == 0 {
			return i
		}
		j = k + n
	}
	return j
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
