package bpe

import (
	"strings"
	"unicode/utf8"
)

// digits cuts numbers out of a text, and into pieces of at most so many digits;
// \p{N} or \p{N}{1,3} with all else between.
type digits struct {
	*classes
	most int
}

func (d *digits) next(s string, i int) int {
	if k, _ := d.at(s, i); k == number {
		return d.upTo(s, i, d.most)
	}
	return d.run(s, i, ^classSet(1<<number|1<<end))
}

// ideographs cuts Chinese and Japanese characters out of a text:
// [一-龥぀-ゟ゠-ヿ]+ with all else between.
type ideographs struct{}

func (ideographs) next(s string, i int) int {
	r, n := utf8.DecodeRuneInString(s[i:])
	in := ideographic(r)
	for i += n; i < len(s); i += n {
		if r, n = utf8.DecodeRuneInString(s[i:]); ideographic(r) != in {
			break
		}
	}
	return i
}

func ideographic(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FA5 || 0x3040 <= r && r <= 0x30FF
}

// metaspace cuts before each "▁".
type metaspace struct{}

func (metaspace) next(s string, i int) int {
	_, n := utf8.DecodeRuneInString(s[i:])
	if j := strings.Index(s[i+n:], "▁"); j >= 0 {
		return i + n + j
	}
	return len(s)
}

// phrases is how DeepSeek-V3 cuts what digits and ideographs have left. What its
// expression does not match, such as control characters, is a piece as far as it goes.
type phrases struct{ *classes }

func (p phrases) next(s string, i int) int {
	if j := p.match(s, i); j > i {
		return j
	}
	// Nothing begins here.
	for i < len(s) {
		_, n := p.at(s, i)
		i += n
		if i < len(s) && p.match(s, i) > i {
			break
		}
	}
	return i
}

const (
	phrase = letters | 1<<mark
	signs  = 1 << sign
)

// match returns the end of what the expression matches at i, or i.
func (p phrases) match(s string, i int) int {
	k, n := p.at(s, i)
	after, _ := p.at(s, i+n)
	if s[i] < utf8.RuneSelf && k == sign && asciiLetter(s, i+1) {
		for i++; asciiLetter(s, i); {
			i++
		}
		return i
	}
	switch {
	case k.in(phrase), k.in(1<<other|1<<number|1<<blank) && after.in(phrase):
		return p.run(s, i+n, phrase)
	case k == sign, s[i] == ' ' && after == sign:
		i = p.run(s, i+n, signs)
		for i < len(s) && (s[i] == '\n' || s[i] == '\r') {
			i++
		}
		return i
	case k.in(spaces):
		return p.blanks(s, i, true)
	}
	return i
}

func asciiLetter(s string, i int) bool {
	return i < len(s) && ('a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z')
}
