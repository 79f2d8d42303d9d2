package bpe

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// byTheBook merges as byte-pair encoding is defined: the two neighbours with the
// lowest rank, the leftmost of several, until there are none.
func byTheBook(v *Vocabulary, text string) []Token {
	var parts []Token
	for i := range len(text) {
		parts = append(parts, given(v, text[i:i+1]))
	}
	for {
		best, at := none, -1
		for i := range len(parts) - 1 {
			if whole := v.pairs.get(parts[i], parts[i+1]); whole < best {
				best, at = whole, i
			}
		}
		if at < 0 {
			return parts
		}
		parts[at] = best
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}

// given returns the token that a text is from the beginning.
func given(v *Vocabulary, text string) Token {
	for t := range v.parts {
		if v.parts[t][0] == Token(t) && v.texts.at(Token(t)) == text {
			return Token(t)
		}
	}
	panic("no token " + text)
}

// vocabulary learns what follows from choices: each a pair of numbers that stand for
// two tokens. Pairs that cannot be learnt are left out.
func vocabulary(t testing.TB, alphabet, choices string) *Vocabulary {
	t.Helper()
	texts := strings.Split(alphabet, "")
	b := newBuilder(texts, len(choices)/2)
	known := map[string]bool{}
	for i := 0; i+1 < len(choices); i += 2 {
		l, r := int(choices[i])%len(texts), int(choices[i+1])%len(texts)
		whole := texts[l] + texts[r]
		if known[whole] || len(whole) > 100 || !b.neighbours(Token(l), Token(r)) {
			continue
		}
		if err := b.learn(Token(l), Token(r)); err != nil {
			t.Fatal(err)
		}
		known[whole] = true
		texts = append(texts, whole)
	}
	v, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The vocabulary of the example that explains byte-pair encoding everywhere.
func TestEncode(t *testing.T) {
	v := vocabulary(t, "abcd", "\x00\x00\x04\x00\x01\x02\x05\x06") // aa, aaa, bc, aaabc
	for text, want := range map[string]int{
		"a": 1, "aa": 1, "aaa": 1, "aaaa": 2, "abc": 2, "aaabc": 1, "aabc": 2, "aaaabc": 3, "aaaaabc": 2, "dbcd": 3, "bcbc": 2,
	} {
		var w work
		if got := v.encode(text, &w); got != want || got != len(byTheBook(v, text)) {
			t.Errorf("%s: %d tokens, want %d; by the book %d", text, got, want, len(byTheBook(v, text)))
		}
	}
}

// addRandom adds n seeds: choices of which pieces merge, fewer than merges of them, and
// a text of three letters, shorter than length.
func addRandom(f *testing.F, r *rand.Rand, n, merges, length int) {
	for range n {
		choices, text := make([]byte, 2*r.IntN(merges)), make([]byte, r.IntN(length))
		for i := range choices {
			choices[i] = byte(r.IntN(i/2 + 3))
		}
		for i := range text {
			text[i] = byte(r.IntN(3))
		}
		f.Add(string(choices), string(text))
	}
}

// FuzzEncode holds the tokens of arbitrary vocabularies, and of arbitrary texts,
// against what merging by the book makes of them.
func FuzzEncode(f *testing.F) {
	addRandom(f, rand.New(rand.NewPCG(1, 2)), 200, 40, 60)
	f.Fuzz(func(t *testing.T, choices, text string) {
		if len(choices) > 400 || len(text) > 300 {
			return
		}
		v := vocabulary(t, "abc", choices)
		s := strings.Map(func(r rune) rune { return 'a' + r%3 }, text)
		var w work
		if got, want := v.encode(s, &w), len(byTheBook(v, s)); got != want {
			t.Fatalf("%q: %d tokens, by the book %d", s, got, want)
		}
	})
}

// FuzzMerges holds merges in any order, many neighbours at once included, against what
// merging by the book makes of them.
func FuzzMerges(f *testing.F) {
	addRandom(f, rand.New(rand.NewPCG(3, 4)), 100, 30, 200)
	f.Fuzz(func(t *testing.T, choices, text string) {
		if len(choices) > 300 || len(text) > 600 {
			return
		}
		all := []string{"a", "b", "c"}
		var merges []Merge
		for i := 0; i+1 < len(choices); i += 2 {
			m := Merge{uint32(choices[i]) % uint32(len(all)), uint32(choices[i+1]) % uint32(len(all)), 0}
			whole := all[m.Left] + all[m.Right]
			if len(whole) > 100 {
				continue
			}
			at := slices.Index(all, whole)
			if at < 0 {
				at, all = len(all), append(all, whole)
			}
			m.Whole = uint32(at)
			merges = append(merges, m)
		}
		slices.Reverse(merges) // so that what is needed for others comes later
		m, err := NewMerges(all, merges, &MergesOptions{Characters: true})
		if err != nil {
			t.Fatal(err)
		}
		s := strings.Map(func(r rune) rune { return 'a' + r%3 }, text)
		if got, want := New(m).Count(s), mergesByTheBook(merges, s); got != want {
			t.Fatalf("%q with %v: %d tokens, by the book %d", s, merges, got, want)
		}
	})
}

func mergesByTheBook(merges []Merge, text string) int {
	var parts []uint32
	for _, r := range text {
		parts = append(parts, uint32(r-'a'))
	}
	for {
		best, at := -1, -1
		for i := range len(parts) - 1 {
			// The last of those of the same two counts.
			for rank := len(merges) - 1; rank >= 0; rank-- {
				if merges[rank].Left == parts[i] && merges[rank].Right == parts[i+1] {
					if best < 0 || rank < best {
						best, at = rank, i
					}
					break
				}
			}
		}
		if best < 0 {
			return len(parts)
		}
		parts[at] = merges[best].Whole
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}

// What becomes of characters that there is no token for.
func TestMissing(t *testing.T) {
	all := []string{"a", "é", "中", "aé"}
	for missing, want := range map[Missing]int{MissingBytes: 3 + 2 + 3 + 1, MissingOne: 3 + 2 + 1, MissingFused: 3 + 1 + 1} {
		m, err := NewMerges(all, []Merge{{0, 1, 3}}, &MergesOptions{Characters: true, Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		if got := New(m).Count("aé中a" + "ü文" + "中"); got != want {
			t.Errorf("%d: %d tokens, want %d", missing, got, want)
		}
	}
}

func TestNewMergesRefuses(t *testing.T) {
	if _, err := NewMerges(make([]string, MaxTokens+1), nil, nil); err == nil {
		t.Error("too many tokens: no error")
	}
	if _, err := NewMerges(make([]string, 2), make([]Merge, MaxMerges+1), nil); err == nil {
		t.Error("too many merges: no error")
	}
	if _, err := NewMerges([]string{"a", "b"}, []Merge{{0, 1, 2}}, nil); err == nil {
		t.Error("a token that there is not: no error")
	}
	if _, err := NewMerges([]string{"a", "b", "ab"}, []Merge{{0, 1, 2}}, nil); err == nil {
		t.Error("bytes are missing: no error")
	}
}

// Whatever is read as a packed vocabulary, it is one or an error, and counts.
func FuzzRead(f *testing.F) {
	f.Add([]byte(nil), "a")
	f.Add([]byte("rein-bpe 1 x 2 3\n"), "a")
	f.Add(pack("ab", "\x00\x01\x02\x02\x03\x00"), "ababab ab")
	f.Add(pack("ab", "\x00\x01\x00\x01"), "abc")
	f.Add(pack("a", "\x00\x00\x01\x01\x00\x02\x02\x00"), "aaaaaaaaaa")
	f.Fuzz(func(t *testing.T, packed []byte, text string) {
		v, err := Read(packed)
		if err != nil {
			return
		}
		if n := New(v, O200k).Count(text); n < 0 || n > len(text) || n == 0 != (text == "") {
			t.Fatalf("%d tokens of %d bytes", n, len(text))
		}
	})
}

// pack packs a vocabulary as tools/vocab does: pairs has two tokens, of a byte each, for
// each that is learnt.
func pack(given, pairs string) []byte {
	var body bytes.Buffer
	w, err := flate.NewWriter(&body, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	n := len(pairs) / 2
	planes := make([]byte, 6*n)
	for i := range n {
		planes[i], planes[3*n+i] = pairs[2*i], pairs[2*i+1]
	}
	if _, err := w.Write(append([]byte(given), planes...)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return append(fmt.Appendf(nil, "rein-bpe 1 test %d %d\n", len(given), n), body.Bytes()...)
}

func TestReadRefuses(t *testing.T) {
	whole := pack("ab", "\x00\x01\x02\x02")
	if v, err := Read(whole); err != nil || New(v).Count("ababab") != 2 {
		t.Fatalf("a sound one: %v", err)
	}
	for name, packed := range map[string][]byte{
		"nothing": nil, "another format": []byte("rein-bpe 2 x 1 0\n"), "no tokens": []byte("rein-bpe 1 x 0 0\n"),
		"too many":                  []byte("rein-bpe 1 x 256 99999999\n"),
		"cut off":                   whole[:len(whole)-3],
		"fewer than it says":        bytes.Replace(whole, []byte("2 2\n"), []byte("2 3\n"), 1),
		"more than it says":         bytes.Replace(whole, []byte("2 2\n"), []byte("2 1\n"), 1),
		"a token that is not known": pack("ab", "\x00\x02"),
		"twice the same":            pack("ab", "\x00\x01\x00\x01"),
		"given twice":               pack("aa", ""),
		"tokens that grow and grow": pack("a", strings.Join(grow, "")),
	} {
		if _, err := Read(packed); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// grow are 40 tokens, each twice the one before.
var grow = func() (out []string) {
	for i := range 40 {
		out = append(out, string([]byte{byte(i), byte(i)}))
	}
	return out
}()

// Texts of 1 MB of the kinds that make merging slow: they are counted in time that is
// linear, or nearly, or this test takes hours.
func TestLongPieces(t *testing.T) {
	v := New(vocabulary(t, "ab ", "\x00\x00\x03\x03\x04\x04\x02\x02\x06\x06\x00\x01\x08\x08"))
	m, err := NewMerges([]string{"a", "b", " ", "aa", "aaaa", "  ", "ab"}, []Merge{{0, 0, 3}, {3, 3, 4}, {2, 2, 5}, {0, 1, 6}}, &MergesOptions{Characters: true})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 20
	for name, text := range map[string]string{
		"one letter": strings.Repeat("a", n), "spaces": strings.Repeat(" ", n), "in turn": strings.Repeat("ab", n/2),
		"almost": strings.Repeat("aaaaaaab", n/8), "none": strings.Repeat("b", n),
	} {
		for _, c := range []*Tokenizer{v, New(m)} {
			got := c.Count(text)
			// Ends matter little: a tenth of it is a tenth of the tokens.
			if tenth := c.Count(text[:n/10]); got < 10*tenth-20 || got > 10*tenth+20 {
				t.Errorf("%s: %d tokens, and of a tenth of it %d", name, got, tenth)
			}
		}
	}
}

func TestValid(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "é中😀": "é中😀", "a\xffb": "a\uFFFDb", "\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD", "\xe4\xb8": "\uFFFD\uFFFD",
	} {
		if got := Valid(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzPieces holds that pieces are never empty and make the text together, whatever
// the pattern.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{"", "Hello, world's END  \n\n x", "中文ABcd ́e\u0301", "12345 \t x\r\n/", "\x00\x01!a 1\u200d😀👩‍👩‍👧", "'ſ 'LL\xff\xfe"} {
		f.Add(s)
	}
	v := vocabulary(f, "a", "")
	all := []*Tokenizer{New(v, Threes, Ideographs, DeepSeek), New(v, Digits, GPT2)}
	for p := GPT2; p <= Metaspace; p++ {
		all = append(all, New(v, p))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, tokenizer := range all {
			pieces := tokenizer.Pieces(s)
			for _, p := range pieces {
				if p == "" {
					t.Fatalf("tokenizer %d: an empty piece of %q", i, s)
				}
			}
			if joined := strings.Join(pieces, ""); joined != Valid(s) && s != "" {
				t.Fatalf("tokenizer %d: %q in pieces is %q", i, s, joined)
			}
		}
	})
}

func ExampleNew() {
	// Six characters, and three merges: "lo", "low" and " low".
	m, err := NewMerges([]string{"l", "o", "w", "e", "r", " ", "lo", "low", " low"},
		[]Merge{{0, 1, 6}, {6, 2, 7}, {5, 7, 8}}, &MergesOptions{Characters: true})
	if err != nil {
		panic(err)
	}
	t := New(m, GPT2)
	fmt.Println(t.Count("low lower"), t.Pieces("low lower"), t.Method())
	// Output: 4 [low  lower] exact
}
