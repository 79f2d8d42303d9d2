package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/message"
)

func TestStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return openTest(t, filepath.Join(t.TempDir(), "rein.db"), nil) }, &journaltest.Options{
		Outside: func(t *testing.T, st journal.Store) journal.Store { return openTest(t, st.(*Store).path, nil) },
		Reopen: func(t *testing.T, st journal.Store) journal.Store {
			must(t, st.Close())
			return openTest(t, st.(*Store).path, nil)
		},
		Abandon: func(_ *testing.T, st journal.Store, l *journal.Lease) {
			s := st.(*Store)
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.leases, l.ID)
		},
		Damage: damage,
		DamageBody: func(t *testing.T, st journal.Store, ref message.Ref, remove bool) {
			path := st.(*Store).bodies.path(ref.SHA256)
			if remove {
				must(t, os.Remove(path))
				return
			}
			b, err := os.ReadFile(path)
			must(t, err)
			b[0]++
			must(t, os.WriteFile(path, b, 0o600))
		},
	})
}

func openTest(t testing.TB, path string, opts *Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, opts)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// damage spoils an event as somebody with a database tool would.
func damage(t *testing.T, st journal.Store, run string, seq int64, how journaltest.Damage) {
	t.Helper()
	const where = ` WHERE id = (SELECT no << 32 FROM runs WHERE run = ?) | ?`
	query := map[journaltest.Damage]string{
		journaltest.Changed: `UPDATE events SET data = '{"kind":"test","text":"a lie"}'`,
		journaltest.Halved:  `UPDATE events SET data = CASE typeof(data) WHEN 'blob' THEN substr(data, 1, length(data) / 2) ELSE substr(data, 1, length(data) / 2) END`,
		journaltest.Removed: `DELETE FROM events`,
	}[how]
	execSQL(t, st.(*Store).path, query+where, run, seq)
}

// execSQL runs a statement on a connection of its own.
func execSQL(t testing.TB, path, query string, args ...any) {
	t.Helper()
	db, err := openDB(fmt.Sprintf("file:%s?_pragma=busy_timeout(5000)", path))
	must(t, err)
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
