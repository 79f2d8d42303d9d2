package window

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class says what a word tells of what it stands in.
type class uint8

const (
	// plainWord: of letters, in no way special.
	plainWord class = iota
	// nameWord: a capital where no sentence begins, or capitals only.
	nameWord
	// identWord: a name from code: camelCase, snake_case, a.b.
	identWord
	// pathWord: of a file, or a host.
	pathWord
	// smallNumber: a number of one or two digits.
	smallNumber
	// bigNumber: any other: amounts, times, dates, versions.
	bigNumber
	// codeWord: letters and digits: an order's number, a hash, a model's name.
	codeWord
	// addressWord: of mail, or a URL.
	addressWord
	// blobWord: too long to be a word: encoded data.
	blobWord
)

// worth is what a word of each class tells, in sixteenths of the
// most.
var worth = [...]int{plainWord: 0, nameWord: 6, identWord: 2, pathWord: 9, smallNumber: 3, bigNumber: 11, codeWord: 13, addressWord: 14, blobWord: 0}

// strong reports whether a word of the class is a fact that must stay whole and is
// one even without what stands around it.
func (c class) strong() bool { return c >= pathWord && c <= addressWord && c != smallNumber }

// counts reports whether the class is a number.
func (c class) counts() bool { return c == smallNumber || c == bigNumber }

// word is one word of a text.
type word struct {
	text  string
	class class
	// key is the same for all ways to write it: in capitals or not.
	key uint64
	// start is its place in the text, in bytes.
	start int
}

// folded returns the key of the word in small letters, of all scripts.
func (w *word) folded() uint64 {
	if w.text[0] < utf8.RuneSelf {
		return w.key
	}
	return keyOf(strings.ToLower(w.text))
}

// maxWord is the longest run of characters that is a word, in bytes; URLs are
// rarely longer.
const maxWord = 160

// scanner goes through the words of a text.
type scanner struct {
	s string
	i int
	// begins: the next word begins a sentence.
	begins bool
}

func scan(s string) scanner { return scanner{s: s, begins: true} }

// next returns the next word.
func (w *scanner) next() (word, bool) {
	for w.i < len(w.s) {
		switch k := kinds[w.s[w.i]]; {
		case k == apart:
			w.i++
		case k == ends:
			w.i, w.begins = w.i+1, true
		case k == high:
			if x, ok := w.foreign(); ok {
				return x, true
			}
		default:
			if x, ok := w.ascii(); ok {
				return x, true
			}
		}
	}
	return word{}, false
}

// kind is what a byte is for finding words.
type kind uint8

const (
	apart  kind = iota // between words
	ends               // ends a sentence, if it stands outside of a word
	joins              // belongs to a word if one goes on after it
	opens              // may begin a word
	digit              // 0-9
	lower              // a-z
	upper              // A-Z
	high               // part of a character beyond ASCII
	dollar             // a currency sign, or one of a number
)

var kinds = func() (t [256]kind) {
	for c := range t {
		switch c := byte(c); {
		case c >= utf8.RuneSelf:
			t[c] = high
		case '0' <= c && c <= '9':
			t[c] = digit
		case 'a' <= c && c <= 'z':
			t[c] = lower
		case 'A' <= c && c <= 'Z':
			t[c] = upper
		}
	}
	for _, c := range []byte("!?.\n") {
		t[c] = ends
	}
	for _, c := range []byte(".,:-'@+&=?%") {
		t[c] = joins
	}
	for _, c := range []byte("/~_#") {
		t[c] = opens
	}
	t['$'] = dollar
	return t
}()

// ascii takes a word that begins with an ASCII character.
func (w *scanner) ascii() (word, bool) {
	start := w.i
	if kinds[w.s[start]] == joins && !w.signed() {
		w.begins = w.begins || w.s[start] == '.' || w.s[start] == '?'
		w.i++
		return word{}, false
	}
	if x, ok := w.simple(); ok {
		return x, true
	}
	i := start
	for i < len(w.s) {
		k := kinds[w.s[i]]
		if k == joins && i > start && !w.joined(i) || k == apart || k == ends || k == high && !w.letter(i) {
			break
		}
		i++
	}
	w.i = max(i, start+1)
	if i == start {
		return word{}, false
	}
	x := word{text: w.s[start:i], start: start}
	x.class = classify(x.text, w.begins)
	x.key = keyOf(x.text)
	if x.class == plainWord && !wordy(x.text) {
		return x, false
	}
	w.begins = false
	return x, true
}

// simple takes a word of digits, or of ASCII letters of which only the first ones are
// capitals; most are. It does for those what ascii does for all.
func (w *scanner) simple() (word, bool) {
	i, h := w.i, uint64(offset64)
	for ; i < len(w.s) && kinds[w.s[i]] == digit; i++ {
		h = (h ^ uint64(w.s[i])) * prime64
	}
	digits := i - w.i
	capitals := 0
	if digits == 0 {
		for ; i < len(w.s) && kinds[w.s[i]] == upper; i++ {
			h = (h ^ uint64(w.s[i]|0x20)) * prime64
		}
		capitals = i - w.i
		for ; i < len(w.s) && kinds[w.s[i]] == lower; i++ {
			h = (h ^ uint64(w.s[i])) * prime64
		}
	}
	n := i - w.i
	if n == 0 || i < len(w.s) && kinds[w.s[i]] > ends && (kinds[w.s[i]] != joins || w.joined(i)) {
		return word{}, false
	}
	x := word{text: w.s[w.i:i], key: h, start: w.i}
	switch {
	case n > maxWord:
		x.class = blobWord
	case digits > 2:
		x.class = bigNumber
	case digits > 0:
		x.class = smallNumber
	case n > 1 && (capitals == n || capitals > 0 && !w.begins):
		x.class = nameWord
	}
	w.i, w.begins = i, false
	return x, true
}

// signed reports whether the sign at hand belongs to what follows: -5, .env, @name.
func (w *scanner) signed() bool {
	if w.i > 0 && kinds[w.s[w.i-1]] > joins || w.i+1 >= len(w.s) {
		return false
	}
	next := kinds[w.s[w.i+1]]
	switch w.s[w.i] {
	case '-', '+':
		return next == digit || next == dollar || next == joins && w.s[w.i+1] == '-'
	case '.', '@':
		return next == lower || next == upper || w.s[w.i] == '.' && (next == opens || next == joins)
	}
	return false
}

// joined reports whether the sign at i has a word on both of its sides.
func (w *scanner) joined(i int) bool {
	if i+1 == len(w.s) {
		return w.s[i] == '%'
	}
	prev, next := kinds[w.s[i-1]], kinds[w.s[i+1]]
	switch w.s[i] {
	case '%':
		return prev == digit
	case ',':
		// Only where it groups digits, by threes.
		return prev == digit && next == digit && i+3 < len(w.s) && kinds[w.s[i+2]] == digit && kinds[w.s[i+3]] == digit
	case '=', '?', '&':
		return strings.Contains(w.s[max(w.i, i-maxWord):i], "://")
	case ':':
		return next == digit && prev == digit || w.s[i+1] == '/' || next == digit && prev != joins
	case '+':
		return next == digit
	}
	return next > joins || w.s[i+1] == '-' || w.s[i+1] == '.'
}

// letter reports whether a letter that is no CJK character begins at i: it goes on
// with a word of Latin letters.
func (w *scanner) letter(i int) bool {
	r, _ := utf8.DecodeRuneInString(w.s[i:])
	return r == utf8.RuneError && !utf8.RuneStart(w.s[i]) || unicode.IsLetter(r) && !wide(r)
}

// wordy reports whether there is anything in the text but signs.
func wordy(s string) bool {
	for i := range len(s) {
		if kinds[s[i]] >= digit && kinds[s[i]] <= high {
			return true
		}
	}
	return false
}

// foreign takes a word that begins beyond ASCII: of other letters; of characters
// of Chinese, Japanese and Korean, of which each pair is a word, as there are no
// spaces between them.
func (w *scanner) foreign() (word, bool) {
	start := w.i
	r, n := utf8.DecodeRuneInString(w.s[start:])
	w.i += n
	switch {
	case r == '。' || r == '！' || r == '？':
		w.begins = true
		return word{}, false
	case r == '€' || r == '£' || r == '¥':
		return w.money(start)
	case wide(r):
		if next, m := utf8.DecodeRuneInString(w.s[w.i:]); wide(next) {
			return word{text: w.s[start : w.i+m], key: keyOf(w.s[start : w.i+m]), start: start}, true
		}
		return word{text: w.s[start:w.i], key: keyOf(w.s[start:w.i]), start: start}, true
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return word{}, false
	}
	for w.i < len(w.s) {
		k := kinds[w.s[w.i]]
		if k < digit || k > high || k == high && !w.letter(w.i) {
			break
		}
		w.i++
	}
	x := word{text: w.s[start:w.i], start: start}
	if x.key = keyOf(x.text); unicode.IsUpper(r) && !w.begins {
		x.class = nameWord
	}
	if len(x.text) > maxWord {
		x.class = blobWord
	}
	w.begins = false
	return x, true
}

// money takes an amount with its sign before it.
func (w *scanner) money(start int) (word, bool) {
	if w.i >= len(w.s) || kinds[w.s[w.i]] != digit {
		return word{}, false
	}
	x, ok := w.ascii()
	if !ok {
		return x, false
	}
	x.text, x.start, x.class = w.s[start:w.i], start, bigNumber
	x.key = keyOf(x.text)
	return x, true
}

// wide reports whether a rune is of a script that has no spaces between words.
func wide(r rune) bool {
	return r >= 0x2E80 && (unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) ||
		unicode.Is(unicode.Thai, r)) || r >= 0x0E00 && r < 0x0E80
}

// shape counts what a word is made of.
type shape struct {
	digits, lowers, uppers, slashes, dots, signs, others int
	// humps: capitals after small letters.
	humps int
}

func shapeOf(s string) (n shape) {
	prev := apart
	for i := range len(s) {
		k := kinds[s[i]]
		switch {
		case k == digit:
			n.digits++
		case k == lower:
			n.lowers++
		case k == upper:
			n.uppers++
			if prev == lower {
				n.humps++
			}
		case k == high:
			n.others++
		case s[i] == '/':
			n.slashes++
		case s[i] == '.':
			n.dots++
		default:
			n.signs++
		}
		prev = k
	}
	return n
}

// classify says what a word is by what it is made of.
func classify(s string, begins bool) class {
	if len(s) > maxWord {
		return blobWord
	}
	n := shapeOf(s)
	letters := n.lowers + n.uppers + n.others
	switch {
	case n.slashes > 1 && strings.Contains(s, "://"):
		return addressWord
	case n.digits+letters == 0:
		return plainWord
	case letters > 1 && n.dots > 0 && strings.IndexByte(s, '@') > 0:
		return addressWord
	case letters > 1 && (n.slashes > 1 || n.slashes == 1 && (n.dots > 0 || n.digits > 0 || s[0] == '/' || s[0] == '~' || s[0] == '.')):
		return pathWord
	case n.digits == 0:
		return wordClass(s, &n, begins)
	case letters == 0:
		if n.digits < 3 && n.signs+n.dots+n.slashes == 0 {
			return smallNumber
		}
		return bigNumber
	case extension(s) && n.lowers+n.uppers > n.digits:
		return pathWord
	case len(s) < 4 || n.digits == 1 && n.lowers > 3 && n.signs == 0:
		// utf8, h1, x2, md5, point3: as a rule from code. 5kg and 7th are a number.
		if kinds[s[0]] == digit {
			return smallNumber
		}
		return identWord
	}
	return codeWord
}

// wordClass is classify for a word without digits.
func wordClass(s string, n *shape, begins bool) class {
	switch letters := n.lowers + n.uppers + n.others; {
	case extension(s):
		return pathWord
	case n.humps > 0 || n.dots > 0 || strings.IndexByte(s, '_') >= 0 || n.slashes > 0:
		return identWord
	case n.uppers == letters && letters > 1:
		return nameWord
	case n.uppers > 0 && kinds[s[0]] == upper && letters > 1 && !begins:
		return nameWord
	}
	return plainWord
}

// extension reports whether a word looks like the name of a file: main.go, a.tar.gz.
func extension(s string) bool {
	i := strings.LastIndexByte(s, '.')
	if i < 1 || len(s)-i < 2 || len(s)-i > 6 {
		return false
	}
	for _, c := range []byte(s[i+1:]) {
		if kinds[c] != lower && kinds[c] != digit {
			return false
		}
	}
	return kinds[s[i+1]] == lower && known(s[i+1:])
}

// known reports whether files end so; a.b is as a rule code.
func known(ext string) bool {
	const list = " c h go js ts py rb rs md txt json jsonl yaml yml toml csv tsv xml html css log pdf png jpg jpeg gif svg sh sql db zip gz tar tgz lock conf cfg ini env java kt cs cpp hpp cc tsx jsx vue php pl lua swift docx xlsx pptx doc xls ppt odt parquet proto tf mod sum bak tmp "
	return strings.Contains(list, " "+ext+" ")
}

// offset64 and prime64 are those of FNV-1a.
const offset64, prime64 = 14695981039346656037, 1099511628211

// keyOf hashes a word (FNV-1a), ASCII letters without their case.
func keyOf(s string) uint64 {
	h := uint64(offset64)
	for i := range len(s) {
		c := s[i]
		if kinds[c] == upper {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * prime64
	}
	return h
}
