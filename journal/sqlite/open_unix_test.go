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

func init() { parts["readonly"] = openReadOnly }

// openReadOnly is the part of a process without the right to write.
func openReadOnly(_ *testing.T, path string) {
	if err := errors.Join(syscall.Setgid(65534), syscall.Setuid(65534)); os.Geteuid() == 0 {
		fmt.Println("cannot give up being root:", err)
		return
	}
	if _, err := os.Stat(path); err != nil {
		fmt.Println("cannot get there:", err)
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
