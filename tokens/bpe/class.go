package bpe

import (
	"unicode"
	"unicode/utf8"
)

// class is what a character is for cutting a text into pieces.
type class uint8

// The classes, as far as the patterns of tokenizers tell characters apart.
const (
	other  class = iota // none of those below: control and format characters, what is not assigned
	sign                // \p{P} \p{S}
	upper               // \p{Lu} \p{Lt}
	lower               // \p{Ll}
	letter              // \p{Lm} \p{Lo}: letters without case
	mark                // \p{M}
	number              // \p{N}
	blank               // \s but line ends
	line                // \r \n
	end                 // no character: the text's end
)

// classSet is a set of classes.
type classSet uint16

func (k class) in(s classSet) bool { return s>>k&1 != 0 }

const (
	letters = 1<<upper | 1<<lower | 1<<letter // \p{L}
	spaces  = 1<<blank | 1<<line              // \s
	// rest is [^\s\p{L}\p{N}].
	rest = 1<<other | 1<<sign | 1<<mark
)

// classes has the class of each character up to U+1FFFF, which emoji are below, and
// looks the others up: in Unicode 16, which tiktoken has.
type classes [1 << 17]class

// kinds are the tables of each class. They don't overlap.
var kinds = [...]struct {
	is     class
	tables []*unicode.RangeTable
}{
	{sign, []*unicode.RangeTable{unicode.P, unicode.S}},
	{upper, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
	{lower, []*unicode.RangeTable{unicode.Ll}},
	{letter, []*unicode.RangeTable{unicode.Lm, unicode.Lo}},
	{mark, []*unicode.RangeTable{unicode.M}},
	{number, []*unicode.RangeTable{unicode.N}},
	{blank, []*unicode.RangeTable{unicode.White_Space}},
}

// newClasses reads Unicode's tables once, so that looking a character up takes no
// search.
func newClasses() *classes {
	t := new(classes)
	for _, k := range kinds {
		for _, table := range k.tables {
			for _, r := range table.R16 {
				t.fill(k.is, uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
			}
			for _, r := range table.R32 {
				t.fill(k.is, r.Lo, min(r.Hi, uint32(len(t)-1)), r.Stride)
			}
		}
	}
	for _, k := range newer {
		for _, r := range k.ranges {
			t.fill(k.is, uint32(r[0]), min(uint32(r[1]), uint32(len(t)-1)), 1)
		}
	}
	t['\r'], t['\n'] = line, line
	return t
}

func (t *classes) fill(k class, lo, hi, stride uint32) {
	for c := lo; c <= hi; c += stride {
		t[c] = k
	}
}

// of returns a character's class.
func (t *classes) of(r rune) class {
	if uint32(r) < uint32(len(t)) {
		return t[r]
	}
	for _, k := range kinds {
		if unicode.In(r, k.tables...) {
			return k.is
		}
	}
	for _, k := range newer {
		for _, in := range k.ranges {
			if in[0] <= r && r <= in[1] {
				return k.is
			}
		}
	}
	return other
}

// at returns the class and the bytes of the character at i, which may be the end.
func (t *classes) at(s string, i int) (class, int) {
	if i >= len(s) {
		return end, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return t[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return t.of(r), n
}

// run returns the end of a run of characters of classes that begins at i.
func (t *classes) run(s string, i int, in classSet) int {
	for i < len(s) {
		if b := s[i]; b < utf8.RuneSelf {
			if !t[b].in(in) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !t.of(r).in(in) {
			return i
		}
		i += n
	}
	return i
}
