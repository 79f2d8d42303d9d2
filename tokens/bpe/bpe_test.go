package bpe

import (
	"fmt"
	"math/rand/v2"
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
	b, err := NewBuilder(strings.Split(alphabet, ""), len(choices)/2)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	texts := strings.Split(alphabet, "")
	for i := 0; i+1 < len(choices); i += 2 {
		l, r := int(choices[i])%len(texts), int(choices[i+1])%len(texts)
		whole := texts[l] + texts[r]
		if known[whole] || len(whole) > 100 || !b.Neighbours(Token(l), Token(r)) {
			continue
		}
		if _, err := b.Learn(Token(l), Token(r)); err != nil {
			t.Fatal(err)
		}
		known[whole] = true
		texts = append(texts, whole)
	}
	v, err := b.Build()
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

// FuzzEncode holds the tokens of arbitrary vocabularies, and of arbitrary texts,
// against what merging by the book makes of them.
func FuzzEncode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		choices, text := make([]byte, 2*r.IntN(40)), make([]byte, r.IntN(60))
		for i := range choices {
			choices[i] = byte(r.IntN(i/2 + 3))
		}
		for i := range text {
			text[i] = byte(r.IntN(3))
		}
		f.Add(string(choices), string(text))
	}
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

// What a vocabulary of characters makes of those that it lacks.
func TestMissing(t *testing.T) {
	for missing, want := range map[Missing]int{MissingBytes: 3 + 2 + 3 + 1, MissingOne: 3 + 2 + 1, MissingFused: 3 + 1 + 1} {
		b, err := NewBuilder([]string{"a", "é", "中"}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Learn(0, 1); err != nil { // "aé"
			t.Fatal(err)
		}
		b.Missing(missing)
		v, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if got := New(v).Count("aé中a" + "ü" + "文" + "中"); got != want {
			t.Errorf("%d: %d tokens, want %d", missing, got, want)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	many := make([]string, MaxTokens+1)
	for name, make := range map[string]func() error{
		"nothing given":  func() error { _, err := NewBuilder(nil, 1); return err },
		"an empty token": func() error { _, err := NewBuilder([]string{"a", ""}, 1); return err },
		"too many":       func() error { _, err := NewBuilder(many, 0); return err },
		"twice the same": func() error {
			b, err := NewBuilder([]string{"a", "b", "a"}, 1)
			if err == nil {
				_, err = b.Build()
			}
			return err
		},
		"a token that is not known": func() error {
			b, err := NewBuilder([]string{"a"}, 1)
			if err == nil {
				_, err = b.Learn(0, 1)
			}
			return err
		},
		"more than there was to be": func() error {
			b, err := NewBuilder([]string{"a"}, 0)
			if err == nil {
				_, err = b.Learn(0, 0)
			}
			return err
		},
		"tokens that grow and grow": func() error {
			b, err := NewBuilder([]string{"a"}, 100)
			for i := 0; err == nil && i < 100; i++ {
				_, err = b.Learn(Token(i), Token(i))
			}
			return err
		},
	} {
		if err := make(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Texts of 2 MB of the kinds that make merging slow: they are counted in time that is
// linear, or this test takes hours.
func TestLongPieces(t *testing.T) {
	v := vocabulary(t, "ab ", "\x00\x00\x03\x03\x04\x04\x02\x02\x06\x06\x00\x01\x08\x08")
	const n = 2 << 20
	for name, text := range map[string]string{
		"one letter": strings.Repeat("a", n), "spaces": strings.Repeat(" ", n), "in turn": strings.Repeat("ab", n/2),
		"almost": strings.Repeat("aaaaaaab", n/8), "none": strings.Repeat("b", n),
	} {
		got := New(v).Count(text)
		// Ends matter little: a tenth of it is a tenth of the tokens.
		if tenth := New(v).Count(text[:n/10]); got < 10*tenth-20 || got > 10*tenth+20 {
			t.Errorf("%s: %d tokens, and of a tenth of it %d", name, got, tenth)
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
	for p := GPT2; p <= Ideographs; p++ {
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
	// Bytes, of which three pairs were learnt.
	b, err := NewBuilder([]string{"l", "o", "w", "e", "r", " "}, 3)
	if err != nil {
		panic(err)
	}
	lo, _ := b.Learn(0, 1)
	low, _ := b.Learn(lo, 2)
	_, _ = b.Learn(5, low) // " low"
	v, err := b.Build()
	if err != nil {
		panic(err)
	}
	t := New(v, GPT2)
	fmt.Println(t.Count("low lower"), t.Method())
	// Output: 4 exact
}
