package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct{ got, want, says string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nc\n", "a\nb\n", "line 2 is   c\nand was    b"},
		{"a\n", "a\nb", "line 2 is   \nand was    b"},
		{"a", "a\nb", "line 2 is missing: b"},
		{"a\nb", "a", "line 2 is new: b"},
		{"", "", ""},
	} {
		if got := difference([]byte(c.got), []byte(c.want)); got != c.says {
			t.Errorf("%q, was %q: %q", c.got, c.want, got)
		}
	}
}

// failed is a test that keeps what it was told.
type failed struct {
	testing.TB
	says string
}

func (f *failed) Helper()                        {}
func (f *failed) Errorf(format string, _ ...any) { f.says += format }

// A file is written only where that is asked for, and is what counts.
func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "want.txt")
	Check(t, file, []byte("new\n"), true, "never")
	Check(t, file, []byte("new\n"), false, "never")
	f := &failed{TB: t}
	Check(f, file, []byte("newer\n"), false, "say so")
	if !strings.Contains(f.says, "if that is meant") {
		t.Errorf("a difference is told as %q", f.says)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "new\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}
