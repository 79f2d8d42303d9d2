package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// What links lead to is written, whether it is there yet or not, and the links stay.
func TestWholeThroughLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, folder := range []string{"far/deep", "near"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("far/old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, l := range [][2]string{{"near/direct", at("far/old")}, {"near/relative", "../far/old"}, {"near/twice", "relative"}, {"near/new", "../far/fresh"},
		{"near/folder", "../far/deep"}, {"far/deep/up", "../raised"}, {"near/circle", "circle"}, {"near/file", "../far"}} {
		if err := os.Symlink(l[1], at(l[0])); err != nil {
			t.Skipf("no links can be made here: %v", err)
		}
	}
	for _, x := range []struct{ name, end string }{
		{"near/direct", "far/old"}, {"near/relative", "far/old"}, {"near/twice", "far/old"}, {"near/new", "far/fresh"}, {"near/folder/up", "far/raised"}, {"plain", "plain"},
	} {
		if err := writeWhole(at(x.name), says(x.name)); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		if got, err := os.ReadFile(at(x.end)); err != nil || string(got) != x.name {
			t.Errorf("%s: %s has %q, %v", x.name, x.end, got, err)
		}
		if info, err := os.Lstat(at(x.name)); err != nil || (info.Mode()&os.ModeSymlink != 0) != (x.name != x.end) {
			t.Errorf("%s: %v, %v", x.name, info, err)
		}
	}
	// What fails leaves what was there, and nothing beside it.
	for _, name := range []string{"near/circle", "near/file", "near", "gone/x"} {
		if err := writeWhole(at(name), says("x")); err == nil || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := errors.New("full")
	if err := writeWhole(at("near/direct"), func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if got, _ := os.ReadFile(at("far/old")); string(got) != "near/twice" {
		t.Errorf("after a failure there is %q", got)
	}
	if left, _ := filepath.Glob(at("*/.rein-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
