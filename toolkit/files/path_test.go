package files

import (
	"strings"
	"testing"
)

// A name of a file need not be UTF-8, and is shown all the same.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt":                     `"a.txt"`,
		strings.Repeat("é", 80):     `"` + strings.Repeat("é", 50) + `…"`,
		strings.Repeat("\x80", 9):   `"` + strings.Repeat("\x80", 9) + `"`,
		strings.Repeat("\x80", 200): `"` + strings.Repeat("\x80", 100) + `…"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("%q is shown as %q", in, got)
		}
	}
}
