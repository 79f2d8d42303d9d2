//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rein.example/rein/journal"
)

func init() { parts["readonly"], parts["reading"] = openReadOnly, readWithoutRights }

// nobody makes this process one without rights, or says why it cannot.
func nobody(path string) bool {
	if err := errors.Join(syscall.Setgid(65534), syscall.Setuid(65534)); os.Geteuid() == 0 {
		fmt.Println("cannot give up being root:", err)
		return false
	}
	if _, err := os.Stat(path); err != nil {
		fmt.Println("cannot get there:", err)
		return false
	}
	return true
}

// readWithoutRights is the part of a process that may only read.
func readWithoutRights(_ *testing.T, path string) {
	if !nobody(path) {
		return
	}
	s, err := Open(context.Background(), path, &Options{ReadOnly: true})
	if err != nil {
		fmt.Println(errors.Is(err, journal.ErrReadOnly), err)
		return
	}
	n := 0
	for _, err := range s.Read(context.Background(), "r1", 1) {
		if err != nil {
			fmt.Println(err)
			return
		}
		n++
	}
	fmt.Println("events:", n, s.Close())
}

// openReadOnly is the part of a process without the right to write.
func openReadOnly(_ *testing.T, path string) {
	if !nobody(path) {
		return
	}
	_, err := Open(context.Background(), path, nil)
	fmt.Println(errors.Is(err, journal.ErrReadOnly), err)
}

func TestOpenReadOnly(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // made for this test, too
	path := filepath.Join(dir, "rein.db")
	must(t, openTest(t, path, nil).Close())
	for name, mode := range map[string]struct{ file, dir os.FileMode }{
		"file":   {0o444, 0o755},
		"folder": {0o666, 0o555},
	} {
		must(t, errors.Join(os.Chmod(path, mode.file), os.Chmod(dir, mode.dir)))
		other := start(t, "readonly", path)
		got := other.line()
		other.wait()
		if strings.HasPrefix(got, "cannot ") {
			t.Skip(got)
		}
		if !strings.HasPrefix(got, "true ") || !strings.Contains(got, path) || !strings.Contains(got, "writable") {
			t.Errorf("%s: %s\nwant ErrReadOnly and what to do", name, got)
		}
	}
	must(t, os.Chmod(dir, 0o700))
}

// A store that cannot be written can be read, whether its process still runs,
// has ended, or was killed and left a log behind. What cannot be read is called
// that.
func TestReadWithoutRights(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // made for this test, too
	path := filepath.Join(dir, "rein.db")
	s, l := ready(t, path, nil)
	_, err := appendNote(t.Context(), s, l, "a", false)
	must(t, err)
	t.Cleanup(func() { must(t, os.Chmod(dir, 0o700)) })
	look := func(when string, file os.FileMode, want string) {
		t.Helper()
		files, err := filepath.Glob(path + "*")
		must(t, err)
		for _, f := range files {
			must(t, os.Chmod(f, file))
		}
		must(t, os.Chmod(dir, 0o555))
		other := start(t, "reading", path)
		got := other.line()
		other.wait()
		must(t, os.Chmod(dir, 0o700))
		if strings.HasPrefix(got, "cannot ") {
			t.Skip(got)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", when, got, want)
		}
	}
	look("while it is written", 0o444, "events: 1")
	wal, err := os.ReadFile(path + "-wal")
	must(t, err)
	must(t, s.Close())
	look("closed", 0o444, "events: 1")
	look("closed to others", 0o000, "not readable")
	must(t, os.WriteFile(path+"-wal", wal, 0o600))
	look("with a log but no shared memory", 0o444, "copy the store's files")
}
