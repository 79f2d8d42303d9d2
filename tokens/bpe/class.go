package bpe

import "unicode"

// class is what a character is for cutting a text into pieces.
type class uint8

// The classes, as far as the patterns of tokenizers tell characters apart.
const (
	other  class = iota // none of those below: signs, controls, what is not assigned
	upper               // \p{Lu} \p{Lt}
	lower               // \p{Ll}
	letter              // \p{Lm} \p{Lo}: letters without case
	mark                // \p{M}
	number              // \p{N}
	blank               // \s but line ends
	line                // \r \n
	end                 // no character: the text's end
)

// isLetter reports \p{L}.
func (c class) isLetter() bool { return c-upper <= letter-upper }

// isSpace reports \s.
func (c class) isSpace() bool { return c == blank || c == line }

// isSign reports [^\s\p{L}\p{N}].
func (c class) isSign() bool { return c == other || c == mark }

// inUpper and inLower report what o200k_base's two halves of a word take: letters
// without case and marks are in both.
func (c class) inUpper() bool { return c-upper <= mark-upper && c != lower }
func (c class) inLower() bool { return c-lower <= mark-lower }

// classes has the class of each character up to U+FFFF.
type classes [1 << 16]class

// newClasses reads Unicode's tables once, so that looking a character up takes no
// search.
func newClasses() *classes {
	t := new(classes)
	for _, k := range kinds {
		for _, table := range k.tables {
			for _, r := range table.R16 {
				for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
					t[c] = k.is
				}
			}
		}
	}
	t['\r'], t['\n'] = line, line
	return t
}

// kinds are the tables of each class. They don't overlap.
var kinds = [...]struct {
	is     class
	tables []*unicode.RangeTable
}{
	{upper, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
	{lower, []*unicode.RangeTable{unicode.Ll}},
	{letter, []*unicode.RangeTable{unicode.Lm, unicode.Lo}},
	{mark, []*unicode.RangeTable{unicode.M}},
	{number, []*unicode.RangeTable{unicode.N}},
	{blank, []*unicode.RangeTable{unicode.White_Space}},
}

// of returns a character's class.
func (t *classes) of(r rune) class {
	if uint32(r) < uint32(len(t)) {
		return t[r]
	}
	if 0x1F200 <= r && r <= 0x1FAFF {
		return other // emoji, too many in some texts to search for each
	}
	for _, k := range kinds {
		if unicode.In(r, k.tables...) {
			return k.is
		}
	}
	return other
}
