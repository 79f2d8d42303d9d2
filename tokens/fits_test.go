package tokens_test

import (
	"strings"
	"testing"

	"rein.example/rein/tokens"
)

// meter counts a token for each four bytes, and what it was asked to count.
type meter struct{ bytes int }

func (m *meter) Count(s string) int    { m.bytes += len(s); return (len(s) + 3) / 4 }
func (m *meter) Method() tokens.Method { return tokens.Exact }

func TestFits(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		limit int
		want  bool
		bytes int // that are counted
	}{
		{"nothing", "", 0, true, 0},
		{"nothing, and less than nothing", "", -1, false, 0},
		{"fits in bytes", strings.Repeat("a", 100), 100, true, 0},
		{"fits in tokens", strings.Repeat("a", 400), 100, true, 400},
		{"one too many", strings.Repeat("a", 401), 100, false, 401},
		{"nothing fits in nothing", "a", 0, false, 0},
		{"far too much is counted in part", strings.Repeat("a", 1<<20), 100, false, 2400},
		{"at a character's beginning", strings.Repeat("中", 1<<20), 100, false, 2400},
		{"between bytes of one", "a" + strings.Repeat("中", 1<<20), 100, false, 2398},
		{"bytes that begin nothing", strings.Repeat("\x80", 1<<20), 100, false, 2397},
		{"a limit beyond all texts", "aaaa", 1 << 62, true, 0},
	} {
		m := &meter{}
		if got := tokens.Fits(m, c.text, c.limit); got != c.want || m.bytes != c.bytes {
			t.Errorf("%s: %t after %d bytes, want %t after %d", c.name, got, m.bytes, c.want, c.bytes)
		}
	}
}
