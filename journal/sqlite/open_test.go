package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rein.example/rein/journal"
)

// What cannot be opened is refused with what to do, and left as it was.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
		says string
	}{
		{"folder", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, journal.ErrNotStore, "give the path of a file"},
		{"text", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("hello, world"), 0o600)) }, journal.ErrNotStore, "choose another path"},
		{"short", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("SQLite"), 0o600)) }, journal.ErrNotStore, "choose another path"},
		{"header only", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(magic+"and then this"), 0o600)) }, journal.ErrNotStore, "choose another path"},
		{"another program's", func(t *testing.T, path string) {
			must(t, os.WriteFile(path, nil, 0o600))
			execSQL(t, path, "CREATE TABLE bookmarks (url TEXT)")
		}, journal.ErrNotStore, "another program"},
		{"newer", func(t *testing.T, path string) {
			s := openTest(t, path, nil)
			must(t, s.Close())
			execSQL(t, path, fmt.Sprintf("PRAGMA user_version=%d", schemaVersion+1))
		}, journal.ErrNewer, "upgrade"},
		{"under a file", func(t *testing.T, path string) {
			must(t, os.RemoveAll(filepath.Dir(path)))
			must(t, os.WriteFile(filepath.Dir(path), []byte("a file"), 0o600))
		}, nil, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "rein.db")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			c.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), path, nil)
			if err == nil {
				t.Fatal("it was opened", s.Close())
			}
			if c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("%v\nwant %v, %q and the path", err, c.want, c.says)
			}
			after, _ := os.ReadFile(path)
			if string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := Open(t.Context(), "", nil); err == nil {
		t.Error("an empty path was opened")
	}
}

// A new store is for its owner's eyes only, and so are the folders made for it.
func TestOpenMakesFolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "rein ?#%.db")
	s, l := ready(t, path, nil)
	_, err := appendNote(t.Context(), s, l, strings.Repeat("x", 100<<10), false)
	must(t, err)
	if runtime.GOOS == "windows" {
		return
	}
	for p, want := range map[string]os.FileMode{
		filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".artifacts": 0o700,
	} {
		info, err := os.Stat(p)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", p, got, want)
		}
	}
}

// An empty file becomes a store; several processes may come at once.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	must(t, os.WriteFile(path, nil, 0o600))
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := Open(t.Context(), path, nil)
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A store that an older version made gets what its format has got later, and keeps what
// it has.
func TestOpenOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	s := openTest(t, path, nil)
	l, err := s.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, s.Create(t.Context(), l, "r1"))
	must(t, s.Close())
	execSQL(t, path, "DROP INDEX runs_forks")
	s = openTest(t, path, nil)
	defer s.Close()
	var n int
	must(t, s.reading.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'runs_forks'").Scan(&n))
	if n != 1 {
		t.Error("there is no index of forks")
	}
	if _, err := s.Head(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
	var plan string
	must(t, s.reading.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT no FROM runs WHERE base = 1 AND base <> 0 ORDER BY no").Scan(new(int), new(int), new(int), &plan))
	if !strings.Contains(plan, "runs_forks") {
		t.Errorf("forks are found by %q", plan)
	}
}
