package cut

import (
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s        string
		n        int
		down, up int
	}{
		{"", 0, 0, 0}, {"abc", -1, 0, 0}, {"abc", 0, 0, 0}, {"abc", 2, 2, 2}, {"abc", 3, 3, 3}, {"abc", 9, 3, 3},
		{"é", 1, 0, 2}, {"世界", 1, 0, 3}, {"世界", 2, 0, 3}, {"世界", 3, 3, 3}, {"世界", 5, 3, 6},
		{"a🙂b", 2, 1, 5}, {"a🙂b", 3, 1, 5}, {"a🙂b", 4, 1, 5}, {"a🙂b", 5, 5, 5},
		// What is not UTF-8 is cut where it is to be cut.
		{"a\x80\x80\x80\x80\x80\x80\x80\x80b", 5, 5, 5}, {"a\x80\x80\x80\x80\x80\x80\x80\x80b", 6, 6, 9}, {"a\x80\x80\x80\x80\x80\x80\x80\x80b", 4, 4, 4}, {"\x80\x80\x80\x80\x80\x80", 5, 5, 6}, {"\x80\x80", 1, 0, 2},
	} {
		if down, up := Down(c.s, c.n), Up(c.s, c.n); down != c.down || up != c.up {
			t.Errorf("%q at %d: %d and %d, want %d and %d", c.s, c.n, down, up, c.down, c.up)
		}
		if down := Down([]byte(c.s), c.n); down != c.down {
			t.Errorf("%q at %d, as bytes: %d", c.s, c.n, down)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a🙂b\x80", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(min(n, len(s)), 0)
		down, up := Down(s, n), Up(s, n)
		if down > n || up < n || down < 0 || up > len(s) || n-down >= utf8.UTFMax || up-n >= utf8.UTFMax {
			t.Fatalf("%q at %d: %d and %d", s, n, down, up)
		}
		if utf8.ValidString(s) && !(utf8.ValidString(s[:down]) && utf8.ValidString(s[down:up]) && utf8.ValidString(s[up:])) {
			t.Fatalf("%q at %d is split at %d or %d", s, n, down, up)
		}
	})
}
