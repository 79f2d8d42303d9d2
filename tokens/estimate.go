package tokens

import "unicode/utf8"

// Estimate estimates tokens from the text alone, without a vocabulary: it cuts
// the text into the pieces that o200k_base cuts it into (words with the space
// before them, groups of three digits, runs of signs, white space) and adds up
// what a piece of its kind and length costs on average. The costs were
// measured on prose, code, JSON, tool results and the Universal Declaration of
// Human Rights in 27 languages, and rounded up.
//
// For English, code, JSON, results of tools, Chinese, digits and emoji it is as a
// rule up to ten percent above o200k_base and rarely more than five below; some
// European languages and signs nobody uses are up to a fifth below. The error by
// kind of text is in testdata/README.md. Other tokenizers differ: Claude's, for
// one, gives about a third more, which is the margin's business.
//
// It takes integers only, time linear in the text and no memory.
type Estimate struct{}

// Method returns [Estimated].
func (Estimate) Method() Method { return Estimated }

// unit is one token: costs are in units of 1/32.
const unit = 32

// Count returns the estimate.
func (Estimate) Count(text string) int {
	e := estimator{s: text}
	for e.i < len(text) {
		switch classes[text[e.i]] {
		case small, big:
			e.word(leadNone)
		case digit:
			e.digits()
		case white:
			e.space()
		case beyond:
			e.rune(leadNone)
		case sign:
			e.signs(false)
		}
	}
	if text == "" {
		return 0
	}
	return int(min(max((e.sum+unit/2)/unit, 1), int64(len(text))))
}

// estimator is one pass over a text.
type estimator struct {
	s   string
	i   int
	sum int64
	// mess counts what words rarely do and encoded data, such as base64, does all
	// the time: letters right after a digit, a new word after one of few letters.
	mess int
	// short: the piece before is a word of few letters; afterDigit: a number.
	short, afterDigit bool
	// accents counts down the words after one with accents: text in a European
	// language other than English, whose plain words cost more too. north does
	// the same for the languages with the longer words.
	accents, north int
}

// neighbours is how many words one with accents speaks for.
const neighbours = 24

// lead is what a word takes into its first token.
type lead uint8

const (
	leadNone  lead = iota
	leadSpace      // a space
	leadSign       // one sign, or a tab
)

// Costs of a word of ASCII letters by its length from 1, by shape and lead; each
// letter beyond the table costs more.
const more = 10

var (
	spaceLower = [...]uint8{32, 32, 32, 33, 33, 34, 34, 36, 37, 40, 40, 45, 48, 50, 56, 80}
	spaceTitle = [...]uint8{32, 34, 34, 33, 35, 35, 36, 40, 42, 49, 50, 52, 54, 56, 64, 74}
	plainLower = [...]uint8{32, 32, 36, 36, 38, 38, 41, 43, 48, 57, 60, 76, 84, 92, 100, 112}
	plainTitle = [...]uint8{32, 36, 39, 37, 36, 36, 37, 40, 42, 47, 47, 52, 58, 64, 72, 82}
	signLower  = [...]uint8{34, 35, 41, 41, 44, 47, 50, 55, 62, 68, 78, 84, 100, 120, 138, 144}
	signTitle  = [...]uint8{33, 46, 48, 46, 50, 48, 50, 54, 66, 76, 82, 86, 92, 100, 108, 116}
	upper      = [...]uint8{33, 38, 48, 51, 55, 60, 66, 76, 82, 90, 98, 112, 124, 134, 144, 160}
	mixed      = [...]uint8{48, 60, 67, 72, 90, 100, 98, 104, 110, 120, 124, 128, 132, 136, 140, 144}
	// accentsNear and northNear are for plain words among words with accents.
	accentsNear = [...]uint8{32, 32, 32, 33, 35, 38, 41, 44, 48, 54, 60, 64, 68, 74, 80, 88}
	northNear   = [...]uint8{32, 32, 34, 38, 43, 50, 56, 62, 70, 80, 88, 96, 104, 112, 120, 130}
)

// word takes a word of ASCII letters, or one that begins so.
func (e *estimator) word(l lead) {
	start := e.i
	capitals := run(e.s, start, big)
	i := run(e.s, capitals, small)
	title, low := capitals-start, i-capitals
	if i < len(e.s) {
		if c := e.s[i]; c == '\'' {
			i += contraction(e.s[i:])
		} else if c >= utf8.RuneSelf && latin(e.s, i) {
			e.accented(l)
			return
		}
	}
	n := i - start
	e.i = i
	if e.afterDigit || l == leadNone && e.short {
		e.mess++
	}
	switch {
	case n > 1 && (e.mess > 2 || e.afterDigit):
		// Encoded data, such as base64: about two letters a token.
		e.sum += 26 + 16*int64(n)
		if l == leadSign {
			e.sum += 16
		}
	case title > 1 && low == 0:
		e.table(upper[:], n)
	case title > 1:
		e.table(mixed[:], n)
	case e.north > 0:
		e.north--
		e.table(northNear[:], n)
	case e.accents > 0:
		e.accents--
		e.table(accentsNear[:], n)
	case l == leadSpace && title == 0:
		e.table(spaceLower[:], n)
	case l == leadSpace:
		e.table(spaceTitle[:], n)
	case l == leadSign && title == 0:
		e.table(signLower[:], n)
	case l == leadSign:
		e.table(signTitle[:], n)
	case title == 0:
		e.table(plainLower[:], n)
	default:
		e.table(plainTitle[:], n)
	}
	e.afterDigit, e.short = false, n < 4
}

func (e *estimator) table(t []uint8, n int) {
	if n <= len(t) {
		e.sum += int64(t[n-1])
		return
	}
	e.sum += int64(t[len(t)-1]) + more*int64(n-len(t))
}

// contraction returns the length of an English one, which s[0] begins: 's, 't,
// 're, ….
func contraction(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		if len(s) == 2 || !letter(s[2]) {
			return 2
		}
	case 'r', 'v', 'l':
		if len(s) > 2 && (s[2]|0x20 == 'e' || s[1]|0x20 == 'l' && s[2]|0x20 == 'l') {
			return 3
		}
	}
	return 0
}

// digits takes a number: a token for each three digits.
func (e *estimator) digits() {
	start := e.i
	e.i = run(e.s, start, digit)
	e.sum += unit * int64((e.i-start+2)/3)
	e.afterDigit, e.short = true, false
}

// space takes white space, with what it leads.
func (e *estimator) space() {
	start := e.i
	line := -1 // after the last line end
	for e.i < len(e.s) && classes[e.s[e.i]] == white {
		if c := e.s[e.i]; c == '\n' || c == '\r' {
			line = e.i + 1
		}
		e.i++
	}
	e.pause()
	if line >= 0 {
		e.blanks(line - start)
		start = line
	}
	n := e.i - start
	if n == 0 {
		return
	}
	if e.i == len(e.s) {
		e.blanks(n)
		return
	}
	// All but the last are a token; the last goes to what follows, if it can.
	if n > 1 {
		e.blanks(n - 1)
	}
	blank, l := e.s[e.i-1] == ' ', leadSign
	if blank {
		l = leadSpace
	}
	switch k := classes[e.s[e.i]]; {
	case k == small || k == big:
		e.word(l)
	case k == beyond:
		e.rune(l)
	case k == sign && blank:
		e.signs(true)
	default:
		e.sum += unit
	}
}

// blanks takes n characters of white space: one token, unless they are many.
func (e *estimator) blanks(n int) { e.sum += unit + int64(n/4) }

// signCost is the cost of a run of different signs by its length from 1.
var signCost = [...]uint8{32, 34, 40, 50, 64, 84, 96, 112}

// signs takes a run of ASCII signs and the line ends after it. A single one,
// unless a space stands before it, goes to the word that follows.
func (e *estimator) signs(afterSpace bool) {
	start := e.i
	same := true
	for e.i < len(e.s) && classes[e.s[e.i]] == sign {
		same = same && e.s[e.i] == e.s[start]
		e.i++
	}
	n := e.i - start
	if c := e.s[start]; n > 1 || c != '+' && c != '/' && c != '-' {
		e.mess = 0
	}
	e.short, e.afterDigit = false, false
	if n == 1 && !afterSpace && e.i < len(e.s) {
		if c := e.s[e.i]; letter(c) {
			e.word(leadSign)
			return
		} else if c >= utf8.RuneSelf {
			e.rune(leadSign)
			return
		}
	}
	switch {
	case n > 3 && same:
		e.sum += unit + int64(n)
	case n <= len(signCost):
		e.sum += int64(signCost[n-1])
	default:
		e.sum += int64(signCost[len(signCost)-1]) + 16*int64(n-len(signCost))
	}
	for e.i < len(e.s) && (e.s[e.i] == '\n' || e.s[e.i] == '\r') {
		e.i++
		e.sum++
	}
}

// pause ends a chain of pieces.
func (e *estimator) pause() { e.mess, e.short, e.afterDigit = 0, false, false }

// class is what a byte is.
type class uint8

const (
	sign  class = iota // ASCII that is none of the others, control characters included
	small              // a lower-case letter
	big                // an upper-case letter
	digit
	white
	beyond // part of a character beyond ASCII
)

// classes has the class of each byte.
var classes = func() (t [256]class) {
	for c := range t {
		switch c := byte(c); {
		case c >= utf8.RuneSelf:
			t[c] = beyond
		case 'a' <= c && c <= 'z':
			t[c] = small
		case 'A' <= c && c <= 'Z':
			t[c] = big
		case '0' <= c && c <= '9':
			t[c] = digit
		case c == ' ' || '\t' <= c && c <= '\r':
			t[c] = white
		}
	}
	return t
}()

// run returns the index of the first byte from i that is not of the class.
func run(s string, i int, k class) int {
	for i < len(s) && classes[s[i]] == k {
		i++
	}
	return i
}

func letter(c byte) bool { return classes[c] == small || classes[c] == big }
