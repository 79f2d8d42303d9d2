package tokens

import "unicode/utf8"

// script is how a range of characters beyond ASCII is cut into tokens.
type script struct {
	// last is the end of the range; a range begins after the one before.
	last rune
	// Words cost a token and slope more for each letter beyond free. With free
	// 0 each character costs slope, and there are no words.
	free, slope int32
}

// scripts covers all characters from U+0080, in order. Slopes are in 1/32 token.
var scripts = [...]script{
	{0x00BF, 0, 36},   // Latin-1 signs
	{0x024F, 0, 32},   // Latin letters with accents: see accented
	{0x02FF, 0, 56},   // phonetic and modifier letters
	{0x036F, 0, 40},   // combining marks
	{0x03FF, 3, 12},   // Greek
	{0x052F, 4, 9},    // Cyrillic
	{0x058F, 0, 40},   // Armenian
	{0x05FF, 3, 14},   // Hebrew
	{0x07FF, 3, 10},   // Arabic and its neighbours
	{0x08FF, 0, 40},   // smaller scripts of the region
	{0x097F, 4, 10},   // Devanagari
	{0x0DFF, 4, 13},   // Bengali to Sinhala
	{0x0EFF, 0, 15},   // Thai, Lao
	{0x10FF, 0, 32},   // Tibetan, Burmese, Georgian
	{0x11FF, 0, 64},   // Hangul pieces
	{0x1DFF, 0, 40},   // Ethiopic, Khmer, Mongolian, …
	{0x1EFF, 0, 40},   // Latin letters with two accents: see accented
	{0x1FFF, 0, 40},   // Greek with old accents
	{0x206F, 0, 32},   // dashes, quotation marks, joiners
	{0x218F, 0, 60},   // small digits, currency, letters as signs
	{0x21FF, 0, 36},   // arrows
	{0x24FF, 0, 48},   // mathematics
	{0x257F, 0, 36},   // frames
	{0x2FFF, 0, 44},   // dingbats
	{0x303F, 0, 32},   // CJK punctuation
	{0x30FF, 0, 27},   // kana
	{0x33FF, 0, 60},   // CJK compatibility
	{0x4DFF, 0, 72},   // rare Han
	{0x9FFF, 0, 27},   // Han
	{0xABFF, 0, 72},   // Yi and smaller scripts
	{0xD7FF, 2, 20},   // Hangul
	{0xF8FF, 0, 96},   // private use
	{0xFDFF, 0, 64},   // compatibility forms
	{0xFE0F, 0, 12},   // variation selectors
	{0xFEFF, 0, 64},   // more compatibility forms
	{0xFF65, 0, 36},   // full-width signs and letters
	{0xFFFF, 0, 44},   // half-width kana, replacement character
	{0x1F1FF, 0, 64},  // rare scripts, flags
	{0x1FAFF, 0, 80},  // emoji
	{0x10FFFF, 0, 96}, // rarest Han, unassigned
}

// scriptOf returns the script of a character from U+0080.
func scriptOf(r rune) *script {
	lo, hi := 0, len(scripts)-1
	for lo < hi {
		if mid := (lo + hi) / 2; scripts[mid].last < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return &scripts[lo]
}

// rune takes characters beyond ASCII: a word of a script that has words, else
// one character.
func (e *estimator) rune(l lead) {
	r, size := utf8.DecodeRuneInString(e.s[e.i:])
	if r == utf8.RuneError && size == 1 {
		// Not UTF-8: a token for each byte is what byte-level tokenizers make.
		e.sum += unit
		e.i++
		e.pause()
		return
	}
	sc := scriptOf(r)
	if latin(e.s, e.i) {
		e.accented(l)
		return
	}
	if sc.free == 0 {
		e.sum += int64(sc.slope)
		e.i += size
		if l == leadSign {
			e.sum += unit / 4
		}
		// A run of one sign, such as a rule, takes less.
		first := e.i - size
		for e.i+size <= len(e.s) && e.s[e.i:e.i+size] == e.s[first:first+size] {
			e.sum += int64(sc.slope) / 2
			e.i += size
		}
		e.pause()
		return
	}
	n := int32(0)
	if l != leadNone {
		n = 1
	}
	for e.i < len(e.s) && e.s[e.i] >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(e.s[e.i:])
		if scriptOf(r) != sc {
			break
		}
		n++
		e.i += size
	}
	e.sum += unit + int64(sc.slope)*int64(max(0, n-sc.free))
	e.pause()
}

// latin reports whether a Latin letter beyond ASCII stands at s[i].
func latin(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r >= 0xC0 && r <= 0x24F || r >= 0x1E00 && r <= 0x1EFF
}

// accented takes a word of Latin letters of which some are beyond ASCII.
func (e *estimator) accented(l lead) {
	n, marks := int64(0), int64(0)
	if l != leadNone {
		n = 1
	}
	for e.i < len(e.s) {
		if letter(e.s[e.i]) {
			e.i++
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(e.s[e.i:])
		switch {
		case r >= 0x1E00 && r <= 0x1EFF || r >= 0x300 && r <= 0x36F:
			marks += 4
			e.north = neighbours
		case r >= 0x100 && r <= 0x24F:
			marks += 2
			e.north = neighbours
		case r >= 0xC0 && r <= 0xFF:
			marks++
			if r == 'ä' || r == 'å' || r == 'æ' || r == 'ö' || r == 'ø' || r == 'ü' {
				e.north = neighbours
			}
		default:
			size = 0
		}
		if size == 0 {
			break
		}
		e.i += size
		n++
	}
	slope := int64(5)
	if e.north > 0 {
		slope = 9
	}
	e.sum += unit + slope*max(0, n-4) + 8*max(0, marks-1)
	e.accents = neighbours
	e.mess, e.short, e.afterDigit = 0, false, false
}
