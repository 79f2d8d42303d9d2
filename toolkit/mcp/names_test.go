package mcp

import (
	"strings"
	"testing"
)

func TestUsableNames(t *testing.T) {
	long := strings.Repeat("very_", 20)
	for in, want := range map[string]string{
		"read_file":    "read_file",
		"Read-File2":   "Read-File2",
		"files.read/1": "files_read_1",
		"lire été":     "lire__t_",
		"rеad":         "r_ad", // a Cyrillic letter
		long:           long[:55] + "_f3499053",
	} {
		if got := usable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if usable(long+"a") == usable(long+"b") {
		t.Error("two long names become one")
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"read", "read", true}, {"read", "reads", false}, {"*", "", true}, {"*", "x", true},
		{"read_*", "read_file", true}, {"read_*", "read", false}, {"*_file", "read_file", true}, {"*_file", "read_files", false},
		{"a*b*c", "a1b2c", true}, {"a*b*c", "ac", false}, {"a*a", "a", false}, {"**", "x", true}, {"", "x", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.name, got)
		}
	}
}
