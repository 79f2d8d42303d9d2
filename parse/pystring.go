package parse

import (
	"strings"
	"unicode/utf8"
)

// pyQuote is a string that is being read.
type pyQuote struct {
	mark        byte // ' or "
	triple, raw bool
	// format: no braces may stand in it, since they would be evaluated.
	format bool
	from   int // the first index inside
	// opened is the index after an inner quote that waits for its partner; 0
	// for none.
	opened int
	inner  bool // there are inner quotes
}

// strings reads a string and those beside it, which belong to it.
func (p *pyReader) strings() state {
	p.text = true
	q, ok := pyOpening(p.s, p.i)
	if !ok {
		return broken
	}
	p.out = append(p.out, '"')
	for {
		p.single = p.single || q.mark == '\'' || q.triple || q.raw || q.format
		if st := p.str(&q); st != whole {
			return st
		}
		next := pyGap(p.s, p.i)
		if q, ok = pyOpening(p.s, next); !ok {
			p.out = append(p.out, '"')
			return whole
		}
		p.joined = true
	}
}

// pyOpening reads a string's prefix and opening quote at s[i].
func pyOpening(s string, i int) (q pyQuote, ok bool) {
	n := i
	for n < len(s) && n-i < 2 && letter(s[n]) {
		n++
	}
	if n >= len(s) || s[n] != '\'' && s[n] != '"' {
		return q, false
	}
	for _, c := range []byte(s[i:n]) {
		switch c | 0x20 {
		case 'r':
			ok, q.raw = !q.raw, true
		case 'f':
			ok, q.format = !q.format, true
		case 'u':
			ok = n-i == 1
		default: // bytes are no text
			ok = false
		}
		if !ok {
			return q, false
		}
	}
	q.mark, q.from = s[n], n+1
	if thrice(s, n) {
		q.triple, q.from = true, n+3
	}
	return q, true
}

// thrice reports whether the quote at s[i] stands there three times.
func thrice(s string, i int) bool {
	return i+2 < len(s) && s[i+1] == s[i] && s[i+2] == s[i]
}

// str reads the content of a string and its closing quote.
func (p *pyReader) str(q *pyQuote) state {
	p.i = q.from
	for {
		j := plain(p.s, p.i)
		if q.format && strings.ContainsAny(p.s[p.i:j], "{}") {
			return broken
		}
		p.out = append(p.out, p.s[p.i:j]...)
		if p.i = j; j >= len(p.s) {
			return cut
		}
		switch c := p.s[j]; {
		case c == '\\':
			if j+1 >= len(p.s) {
				p.i = len(p.s)
				return cut
			}
			if !p.escape(q) {
				return broken
			}
		case c == q.mark:
			ends, st := p.closing(q)
			if st != whole || ends {
				return st
			}
			p.rune(rune(c))
			p.i++
		case c < utf8.RuneSelf:
			if !q.triple && (c == '\n' || c == '\r') || c == 0 {
				p.done.add(fixControls)
			}
			p.rune(rune(c))
			p.i++
		default:
			r, n := utf8.DecodeRuneInString(p.s[j:])
			if r == utf8.RuneError && n == 1 {
				p.done.add(fixUTF8)
			}
			p.rune(r)
			p.i += n
		}
	}
}

// rune writes a character of a string.
func (p *pyReader) rune(r rune) {
	switch {
	case r == '"' || r == '\\':
		p.out = append(p.out, '\\', byte(r))
	case r < ' ':
		p.out = append(p.out, escaped(byte(r))...)
	default:
		p.out = utf8.AppendRune(p.out, r)
	}
}

// closing reports whether the quote at p.i ends the string, and then steps over
// it. For Python, the first one does. Models leave quotes inside a string
// unescaped, above all in commands:
//
//	'sed -n '1,20p' a.txt'
//
// So a loose reader takes a quote for the end if a comma, a colon, a closing
// bracket or the end of the text follows, or another string or a comment, as
// long as there were no inner quotes. Otherwise it may be part of the text, if
// such quotes come in pairs: the first has no letter or digit before it and no
// white space after it, the second, whatever follows, no white space before it
// and no letter or digit after it. An apostrophe between two letters stands
// alone. All else is broken. Since a pair is closed before the string can end,
// a quote too many or too few leaves the value without an end, and not with the
// wrong one.
func (p *pyReader) closing(q *pyQuote) (ends bool, st state) {
	if q.triple {
		if ends = thrice(p.s, p.i); ends {
			p.i += 3
		}
		return ends, whole
	}
	before, then := p.s[p.i-1], byte(0)
	if p.i+1 < len(p.s) {
		then = p.s[p.i+1]
	}
	switch {
	case q.opened == 0 && (!p.loose || p.follows(q)):
		p.i++
		return true, whole
	case q.opened > 0 && q.opened < p.i && !blank(before) && !letter(then):
		q.opened = 0
	case q.opened == 0 && (p.i == q.from || !letter(before)) && !blank(then):
		q.opened = p.i + 1
	case q.mark == '\'' && p.i > q.from && letter(before) && letter(then):
	default:
		return false, broken
	}
	q.inner = true
	p.done.add(fixInnerQuotes)
	return false, whole
}

// follows reports whether what comes after the quote at p.i can follow a string.
// It looks no further than the next quote.
func (p *pyReader) follows(q *pyQuote) bool {
	next := skip(p.s, p.i+1)
	if next >= len(p.s) {
		return true
	}
	switch p.s[next] {
	case ',', ':', ')', ']', '}':
		return true
	case '#', '\\':
		return !q.inner && pyGap(p.s, next) > next
	}
	_, ok := pyOpening(p.s, next)
	return ok && !q.inner
}

// escape reads a backslash and what it escapes. It reports false for what can
// not be read.
func (p *pyReader) escape(q *pyQuote) bool {
	c := p.s[p.i+1]
	if q.raw {
		p.rune('\\')
		if p.i++; c == q.mark || c == '\\' {
			p.rune(rune(c))
			p.i++
		}
		return true
	}
	p.escaped = p.escaped || !strings.ContainsRune(`"\/bfnrtu`, rune(c))
	if at := strings.IndexByte(`\'"abfnrtv`, c); at >= 0 {
		p.rune(rune("\\'\"\a\b\f\n\r\t\v"[at]))
		p.i += 2
		return true
	}
	switch {
	case '0' <= c && c <= '7':
		p.octal()
		return true
	case c == '\n' || c == '\r': // the line goes on
		p.i += 2
		if c == '\r' && p.i < len(p.s) && p.s[p.i] == '\n' {
			p.i++
		}
		return true
	case c == 'x':
		return p.hex(2)
	case c == 'u':
		return p.hex(4)
	case c == 'U':
		return p.hex(8)
	case c == 'N' && strings.HasPrefix(p.s[p.i+2:], "{"):
		return false // a character by its name in Unicode
	case c == 'N':
		p.done.add(fixEscapes)
	}
	p.rune('\\')
	p.i++
	return true
}

// octal reads an escape of one to three octal digits.
func (p *pyReader) octal() {
	r := rune(0)
	p.i++
	for n := 0; n < 3 && p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '7'; n++ {
		r = r<<3 | rune(p.s[p.i]-'0')
		p.i++
	}
	p.rune(r)
}

// hex reads an escape of n hexadecimal digits. With fewer, the backslash is part
// of the text, as in C:\users.
func (p *pyReader) hex(n int) bool {
	r, ok := hexRune(p.s, p.i+2, n)
	switch {
	case !ok:
		p.done.add(fixEscapes)
		p.rune('\\')
		p.i++
		return true
	case r > utf8.MaxRune:
		return false
	}
	p.i += 2 + n
	if !surrogate(r) {
		p.rune(r)
		return true
	}
	// Python has no pairs, but who writes one means one character.
	if r < 0xDC00 && strings.HasPrefix(p.s[p.i:], `\u`) {
		if low, ok := hexRune(p.s, p.i+2, 4); ok && surrogate(low) && low >= 0xDC00 {
			p.i += 6
			p.rune(0x10000 + (r-0xD800)<<10 + low - 0xDC00)
			return true
		}
	}
	p.done.add(fixSurrogates)
	p.rune(utf8.RuneError)
	return true
}

func surrogate(r rune) bool { return 0xD800 <= r && r < 0xE000 }

// hexRune reads n hexadecimal digits at s[i].
func hexRune(s string, i, n int) (r rune, ok bool) {
	v, ok := hexDigits(s, i, n)
	return rune(min(v, utf8.MaxRune+1)), ok
}

// hexDigits reads n hexadecimal digits, at most eight, at s[i].
func hexDigits(s string, i, n int) (v uint32, ok bool) {
	if i+n > len(s) {
		return 0, false
	}
	for _, c := range []byte(s[i : i+n]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, true
}
