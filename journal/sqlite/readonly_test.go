package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/journal"
)

// A store that is only read shows what is there, also while somebody writes, and
// writes nothing.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	_, err := Open(t.Context(), path, &Options{ReadOnly: true})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store that is not there: %v, want ErrNotExist", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := Open(t.Context(), path, &Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v, want ErrNotExist", err)
	}

	s, l := ready(t, path, nil)
	_, err = appendNote(t.Context(), s, l, strings.Repeat("x", 100<<10), false)
	must(t, err)
	r := openTest(t, path, &Options{ReadOnly: true})
	count := func() (n int) {
		for _, err := range r.Read(t.Context(), "r1", 1) {
			must(t, err)
			n++
		}
		return n
	}
	if n := count(); n != 1 {
		t.Errorf("%d events are read", n)
	}
	_, err = appendNote(t.Context(), s, l, "b", false)
	must(t, err)
	if n := count(); n != 2 {
		t.Errorf("%d events are read while somebody writes", n)
	}

	for what, do := range map[string]func() error{
		"Join":    func() error { _, err := r.Join(t.Context(), journal.ThisProcess("reader")); return err },
		"Create":  func() error { return r.Create(t.Context(), l, "r2") },
		"Append":  func() error { _, err := appendNote(t.Context(), r, l, "c", false); return err },
		"PutBody": func() error { _, err := r.PutBody(t.Context(), []byte("c"), "text/plain"); return err },
		"Claim":   func() error { _, err := r.Claim(t.Context(), l, "r1"); return err },
	} {
		if err := do(); !errors.Is(err, journal.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	must(t, r.Close())
	if n := len(runsOf(t, s)); n != 1 {
		t.Errorf("there are %d runs", n)
	}
}

func runsOf(t *testing.T, s *Store) (out []journal.Summary) {
	t.Helper()
	for sum, err := range s.Runs(t.Context()) {
		must(t, err)
		out = append(out, sum)
	}
	return out
}
