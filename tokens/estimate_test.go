package tokens_test

import (
	"encoding/json"
	"os"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/tokens"
)

// sample is a line of testdata/o200k.jsonl: a text and what o200k_base makes of it.
type sample struct {
	Kind   string
	Tokens int
	Text   string
}

func samples(t testing.TB) []sample {
	t.Helper()
	b, err := os.ReadFile("testdata/o200k.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for line := range strings.Lines(string(b)) {
		var s sample
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// The estimate is near o200k_base for every kind of text, and rather above.
func TestEstimateAgainstO200k(t *testing.T) {
	type sum struct{ est, exact int }
	kinds := map[string]*sum{}
	for _, s := range samples(t) {
		if kinds[s.Kind] == nil {
			kinds[s.Kind] = &sum{}
		}
		n := tokens.Estimate{}.Count(s.Text)
		kinds[s.Kind].est += n
		kinds[s.Kind].exact += s.Tokens
		if n*100 < s.Tokens*90 || n*100 > s.Tokens*130 {
			t.Errorf("%s: %d tokens, estimated %d: %.40q", s.Kind, s.Tokens, n, s.Text)
		}
	}
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		s := kinds[k]
		t.Logf("%-12s %5d tokens, estimated %+.1f%%", k, s.exact, 100*float64(s.est-s.exact)/float64(s.exact))
	}
	// The kinds that runs are made of.
	for _, k := range []string{"english", "code", "json", "chinese", "digits", "emoji", "tool_result"} {
		if s := kinds[k]; s.est*100 < s.exact*98 || s.est*100 > s.exact*115 {
			t.Errorf("%s: %d tokens, estimated %d", k, s.exact, s.est)
		}
	}
}

func TestEstimateOfLittle(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, " ": 1, "\n": 1, "7": 1, "123": 1, "1234": 2, "hello": 1, "hello world": 2, "\xff": 1, "\xff\xfe": 2,
		"中": 1, ".": 1, "\n\n": 1, "don't": 1, "   x": 2,
		"read_file": 2, "    ": 1,
	} {
		if got := (tokens.Estimate{}).Count(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestEstimateTakesNoMemory(t *testing.T) {
	all := samples(t)
	if n := testing.AllocsPerRun(10, func() {
		for i := range all {
			tokens.Estimate{}.Count(all[i].Text)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzEstimate holds the bounds of a count, and that a text is about the sum of
// its halves: nothing in the first changes what the second costs by much.
func FuzzEstimate(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.Text)
	}
	f.Add("\xed\xa0\x80\xff a\xc3")
	f.Add("ſİ\u200d\U0010ffff\u0300")
	f.Add(strings.Repeat("=", 100) + "\r\n" + strings.Repeat(" ", 100))
	f.Fuzz(func(t *testing.T, s string) {
		n := tokens.Estimate{}.Count(s)
		if n > len(s) || n < 0 || (n == 0) != (s == "") {
			t.Fatalf("%d tokens of %d bytes", n, len(s))
		}
		cut := len(s) / 2
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		a, b := tokens.Estimate{}.Count(s[:cut]), tokens.Estimate{}.Count(s[cut:])
		if a+b > 2*n+32 || n > 2*(a+b)+32 {
			t.Fatalf("%d tokens, but the halves are %d and %d", n, a, b)
		}
	})
}

// Times are for people: go test -bench . ./tokens
func BenchmarkEstimate(b *testing.B) {
	byKind := map[string]string{}
	for _, s := range samples(b) {
		byKind[s.Kind] += s.Text
	}
	for _, kind := range []string{"english", "code", "json", "chinese", "emoji", "encoded"} {
		text := strings.Repeat(byKind[kind], 1+(64<<10)/len(byKind[kind]))
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Estimate{}.Count(text)
			}
		})
	}
}
