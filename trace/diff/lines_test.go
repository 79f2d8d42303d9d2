package diff

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerpt(t *testing.T) {
	split := func(s string) []string { return strings.Split(s, "") }
	for _, c := range []struct{ a, b, want string }{
		{"abc", "abc", ""},
		{"abc", "abxc", " a| b|+x| c"},
		{"abc", "ac", " a|-b| c"},
		{"axbyc", "azbwc", " a|-x|+z| b|-y|+w| c"},
		{"abcdefgh", "abcdefgx", "…| e| f| g|-h|+x"},
		{"xabcdefgh", "yabcdefgh", "-x|+y| a| b| c|…"},
		{"xabcdefghz", "yabcdefghw", "-x|+y| a| b| c|…| f| g| h|-z|+w"},
		{"ab", "cd", "-a|-b|+c|+d"},
	} {
		lines, _ := Lines(split(c.a), split(c.b))
		if got := strings.Join(Excerpt{Around: 3}.Of(lines), "|"); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// A long line is shown around what differs, and what is left out is said; so are more
// lines than are shown.
func TestExcerptCuts(t *testing.T) {
	long := strings.Repeat("é", 500)
	lines, _ := Lines([]string{long + "one" + long}, []string{long + "two" + long, "b", "c", "d"})
	got := Excerpt{Width: 60, Lines: 3}.Of(lines)
	if len(got) != 4 || got[3] != "… and 2 more lines that differ not shown" {
		t.Fatalf("%q", got)
	}
	for i, want := range []string{"one", "two"} {
		if l := got[i]; !strings.Contains(l, want) || !strings.Contains(l, "before)") || !strings.Contains(l, "more)") || !utf8.ValidString(l) || len(l) > 140 {
			t.Errorf("line %d: %q", i, l)
		}
	}
}

// JSON on one line is compared value by value.
func TestSplitIndents(t *testing.T) {
	pad := strings.Repeat("x", readable)
	a, b := Split(`{"a":1,"pad":"`+pad+`"}`, `{"a":2,"pad":"`+pad+`"}`)
	lines, _ := Lines(a, b)
	if got := strings.Join((Excerpt{}).Of(lines), "|"); got != `…|-  "a": 1,|+  "a": 2,|…` {
		t.Errorf("got %s", got)
	}
	if a, b := Split("", "one\n"); len(a) != 0 || len(b) != 1 {
		t.Errorf("%q, %q", a, b)
	}
}

// FuzzLines: the lines that are not the second text's are the first, and the other way
// round, and an excerpt of any size says no more than that.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd", uint8(1), uint8(10))
	f.Add("", "x", uint8(0), uint8(0))
	f.Add("é\n\xff\n{}", "{}\né", uint8(3), uint8(1))
	f.Add("", strings.Repeat("\xad", 67), uint8(3), uint8(66))
	f.Fuzz(func(t *testing.T, a, b string, around, width uint8) {
		x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
		lines, _ := Lines(x, y)
		var backA, backB []string
		for _, l := range lines {
			if l.Op != OnlyB {
				backA = append(backA, l.Text)
			}
			if l.Op != OnlyA {
				backB = append(backB, l.Text)
			}
		}
		if strings.Join(backA, "\n") != a || strings.Join(backB, "\n") != b {
			t.Errorf("%q and %q came back as %q and %q", a, b, backA, backB)
		}
		e := Excerpt{Around: int(around % 5), Width: int(width), Lines: int(width)}
		if got := e.Of(lines); (len(got) == 0) != (a == b) {
			t.Errorf("%q and %q: %q", a, b, got)
		}
		Split(a, b)
	})
}

// FuzzCommon: what two sequences have in common is in both, in order, and of short
// sequences there is nothing longer.
func FuzzCommon(f *testing.F) {
	f.Add("abcabba", "cbabac")
	f.Add("", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := numbers(a), numbers(b)
		spans, exact := common(x, y)
		got := check(t, x, y, spans)
		if len(x)*len(y) < 1<<16 && (got != longest(x, y) || !exact) {
			t.Errorf("%q and %q have %d in common, exact %v, and the longest is %d", a, b, got, exact, longest(x, y))
		}
	})
}

func numbers(s string) []int32 {
	out := make([]int32, 0, len(s))
	for i := range len(s) {
		out = append(out, int32(s[i]))
	}
	return out
}

// FuzzRequests: bodies and arguments of any kind are compared without harm.
func FuzzRequests(f *testing.F) {
	f.Add(`{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user"},{}]}`, `{"path":"a","page":1}`)
	f.Add(`{`, ``, `{"call":`)
	f.Fuzz(func(t *testing.T, a, b, args string) {
		n := samePrefix(a, b)
		if p := pointerAt(b, n); p != "" && p[0] != '/' {
			t.Errorf("the pointer is %q", p)
		}
		r := journal("r")
		if got := r.label(&Call{Tool: "t", Args: args}); len(got) > 8*quoteWidth {
			t.Errorf("a label of %d bytes", len(got))
		}
	})
}
