package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/journal"
)

// ready opens a store with a lease that owns the empty run r1.
func ready(t *testing.T, path string, opts *Options) (*Store, *journal.Lease) {
	t.Helper()
	s := openTest(t, path, opts)
	l, err := s.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, s.Create(t.Context(), l, "r1"))
	return s, l
}

func appendNote(ctx context.Context, s *Store, l *journal.Lease, text string, async bool) (journal.Head, error) {
	return s.Append(ctx, l, journal.Batch{Run: "r1", After: journal.Anywhere, Entries: []journal.Entry{note(text)}, Async: async})
}

// count returns how many events run r1 has, all of them sound.
func count(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	for _, err := range s.Read(t.Context(), "r1", 1) {
		must(t, err)
		n++
	}
	return n
}

// A store that another program has locked is waited for, then reported; what
// was refused was not written, and the next try works.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	s, l := ready(t, path, &Options{LockWait: 100 * time.Millisecond})
	unlock := lock(t, path)
	_, err := appendNote(t.Context(), s, l, "x", false)
	if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("appending: %v, want ErrLocked and the file's name", err)
	}
	if _, err := Open(t.Context(), path, &Options{LockWait: 10 * time.Millisecond}); err != nil && !errors.Is(err, journal.ErrLocked) {
		t.Errorf("opening: %v", err)
	}
	if n := count(t, s); n != 0 { // readers don't wait
		t.Errorf("there are %d events", n)
	}
	unlock()
	_, err = appendNote(t.Context(), s, l, "x", false)
	must(t, err)
	if n := count(t, s); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
}

// lock takes the file's write lock, as another program could.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := openDB("file:" + path)
	must(t, err)
	conn, err := db.Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	return func() {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		must(t, errors.Join(err, conn.Close(), db.Close()))
	}
}

// Whoever waits for the lock can give up, and then nothing was written.
func TestCancelledWhileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	s, l := ready(t, path, nil)
	unlock := lock(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := appendNote(ctx, s, l, "given up", false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("appending: %v, want DeadlineExceeded", err)
	}
	unlock()
	must(t, s.Sync(t.Context(), "r1"))
	if n := count(t, s); n != 0 {
		t.Errorf("there are %d events", n)
	}
}

// failingStmt fails instead of committing.
type failingStmt struct {
	driver.Stmt
	err error
}

func (f *failingStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return nil, f.err
}

// failCommits makes commits fail with err until it is nil again.
func failCommits(t *testing.T, s *Store, err error) {
	t.Helper()
	must(t, s.do(t.Context(), &request{settle: func(w *writer, _ error) error {
		if f, ok := w.st.commit.Stmt.(*failingStmt); ok {
			w.st.commit.Stmt = f.Stmt
		}
		if err != nil {
			w.st.commit.Stmt = &failingStmt{w.st.commit.Stmt, err}
		}
		return nil
	}}))
}

var errDisk = errors.New("the disk is gone")

// A batch that could not be made durable is not there. An async one is reported
// to whoever asks first: Sync, or the next append, which then adds nothing.
func TestLostBatch(t *testing.T) {
	s, l := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
	ctx := t.Context()
	_, err := appendNote(ctx, s, l, "safe", false)
	must(t, err)

	failCommits(t, s, errDisk)
	if _, err := appendNote(ctx, s, l, "lost", false); !errors.Is(err, errDisk) {
		t.Errorf("a synced batch: %v", err)
	}
	must(t, s.Sync(ctx, "r1")) // the caller knows already

	h, err := appendNote(ctx, s, l, "lost", true)
	if err != nil || h.Seq != 2 {
		t.Fatalf("an async batch is ordered at %+v, %v", h, err)
	}
	if n := count(t, s); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
	if err := s.Sync(ctx, "r1"); !errors.Is(err, errDisk) {
		t.Errorf("Sync: %v", err)
	}
	must(t, s.Sync(ctx, "r1")) // reported once

	if err := s.Create(ctx, l, "r2"); !errors.Is(err, errDisk) {
		t.Errorf("another call: %v", err)
	}
	failCommits(t, s, nil)
	if h, err := appendNote(ctx, s, l, "well again", false); err != nil || h.Seq != 2 {
		t.Errorf("appended at %+v, %v", h, err)
	}
}

// Until an async batch that was lost is reported, nothing is added on top of it.
func TestLostBatchStopsTheNext(t *testing.T) {
	s, l := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
	ctx := t.Context()
	must(t, s.Create(ctx, l, "r2"))
	failCommits(t, s, errDisk)
	_, err := appendNote(ctx, s, l, "lost", true)
	must(t, err)
	failCommits(t, s, nil)
	_, err = s.Append(ctx, l, journal.Batch{Run: "r2", Entries: []journal.Entry{note("another run")}})
	must(t, err)
	for _, async := range []bool{true, false} {
		if async {
			if _, err = appendNote(ctx, s, l, "on top of it", async); !errors.Is(err, errDisk) {
				t.Errorf("the next append: %v", err)
			}
			continue
		}
		h, err := appendNote(ctx, s, l, "after reading again", async)
		if err != nil || h.Seq != 1 {
			t.Errorf("appended at %+v, %v", h, err)
		}
	}
	if n := count(t, s); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
}

// Who parks a run is told; who claims it begins with what is there.
func TestLostBatchAndOwners(t *testing.T) {
	s, l := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
	ctx := t.Context()
	lose := func() {
		t.Helper()
		failCommits(t, s, errDisk)
		_, err := appendNote(ctx, s, l, "lost", true)
		must(t, err)
		failCommits(t, s, nil)
	}
	lose()
	if err := s.Park(ctx, l, "r1"); !errors.Is(err, errDisk) {
		t.Errorf("parking: %v", err)
	}
	h, err := s.Claim(ctx, l, "r1") // it was parked
	if err != nil || h.Seq != 0 {
		t.Fatalf("claimed at %+v, %v", h, err)
	}
	lose()
	_, err = s.Claim(ctx, l, "r1")
	must(t, err)
	_, err = appendNote(ctx, s, l, "first", false)
	must(t, err)
	if n := count(t, s); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
}

// Close is the last chance to say that something was lost.
func TestLostBatchAtClose(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "rein.db"), nil)
	must(t, err)
	l, err := s.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, s.Create(t.Context(), l, "r1"))
	failCommits(t, s, errDisk)
	_, err = appendNote(t.Context(), s, l, "lost", true)
	must(t, err)
	failCommits(t, s, nil)
	if err := s.Close(); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "r1") {
		t.Errorf("closing: %v, want the error and the run", err)
	}
}

// fullDisk describes a way to run out of space.
type fullDisk struct {
	dir  string
	fill func(t *testing.T, s *Store)
	free func(t *testing.T, s *Store)
}

// A full disk refuses whole batches, loses nothing, and is forgotten once there
// is space again.
func TestFull(t *testing.T) {
	t.Run("pages", func(t *testing.T) {
		limit := func(n int) func(t *testing.T, s *Store) {
			return func(t *testing.T, s *Store) { pragma(t, s, fmt.Sprintf("max_page_count=%d", n)) }
		}
		testFull(t, &fullDisk{dir: t.TempDir(), fill: limit(60), free: limit(1 << 30)})
	})
	t.Run("disk", func(t *testing.T) {
		dir := smallDisk(t)
		ballast := filepath.Join(dir, "ballast")
		must(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))
		testFull(t, &fullDisk{dir: dir, fill: func(*testing.T, *Store) {}, free: func(t *testing.T, _ *Store) { must(t, os.Remove(ballast)) }})
	})
}

func testFull(t *testing.T, disk *fullDisk) {
	s, l := ready(t, filepath.Join(disk.dir, "rein.db"), nil)
	ctx := t.Context()
	disk.fill(t, s)
	acked := 0
	var err error
	for n := 0; err == nil; n++ {
		if n > 5000 {
			t.Fatal("the disk is never full")
		}
		if _, err = appendNote(ctx, s, l, strings.Repeat("0123456789", 80), n%5 == 0); err == nil {
			err = s.Sync(ctx, "r1")
		}
		if err == nil {
			acked++
		}
	}
	if !errors.Is(err, journal.ErrFull) {
		t.Fatalf("after %d events: %v, want ErrFull", acked, err)
	}
	if n := count(t, s); n != acked {
		t.Errorf("there are %d events; %d were acknowledged", n, acked)
	}
	disk.free(t, s)
	for range 100 {
		_, err := appendNote(ctx, s, l, strings.Repeat("0123456789", 80), false)
		must(t, err)
	}
	if n := count(t, s); n != acked+100 {
		t.Errorf("there are %d events, want %d", n, acked+100)
	}
}

// pragma runs a pragma on the writer's connection and returns what it says.
func pragma(t *testing.T, s *Store, text string) (says any) {
	t.Helper()
	must(t, s.do(t.Context(), &request{settle: func(w *writer, _ error) error {
		st, err := w.conn.PrepareContext(context.Background(), "PRAGMA "+text)
		if err != nil {
			return err
		}
		p := stmt{Stmt: st}
		return errors.Join(p.query(func(from scanner) error { return from.Scan(&says) }), st.Close())
	}}))
	return says
}

// A process that is killed does not show whether commits are synced; only a
// power cut would. So the settings that make them so are looked at.
func TestCommitsAreSynced(t *testing.T) {
	s, _ := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
	const full = int64(2)
	if got := pragma(t, s, "synchronous"); got != full {
		t.Errorf("synchronous is %v, want %d", got, full)
	}
	if got := pragma(t, s, "journal_mode"); got != "wal" {
		t.Errorf("the journal mode is %v, want wal", got)
	}
}

func TestFullDiskForBodies(t *testing.T) {
	dir := smallDisk(t)
	s, l := ready(t, filepath.Join(dir, "rein.db"), nil)
	if _, err := s.PutBody(t.Context(), make([]byte, 8<<20), ""); !errors.Is(err, journal.ErrFull) {
		t.Errorf("storing a body: %v, want ErrFull", err)
	}
	if _, err := appendNote(t.Context(), s, l, strings.Repeat("x", 8<<20), false); !errors.Is(err, journal.ErrFull) {
		t.Errorf("appending a long event: %v, want ErrFull", err)
	}
	ref, err := s.PutBody(t.Context(), make([]byte, 1<<10), "")
	must(t, err)
	if _, err := s.Body(t.Context(), ref); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(s.bodies.temporary())
	if err != nil || len(left) != 0 {
		t.Errorf("%d unfinished files are left; %v", len(left), err)
	}
}

// Files that a crash left unfinished go away, when nobody can be writing them.
func TestLeftoversAreRemoved(t *testing.T) {
	s, _ := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
	must(t, os.MkdirAll(s.bodies.temporary(), 0o700))
	old, fresh := filepath.Join(s.bodies.temporary(), "body-old"), filepath.Join(s.bodies.temporary(), "body-fresh")
	for _, f := range []string{old, fresh} {
		must(t, os.WriteFile(f, []byte("half"), 0o600))
	}
	must(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)))
	_, err := s.PutBody(t.Context(), []byte("x"), "")
	must(t, err)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old file: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh file: %v", err)
	}
}

// Closing waits for what was accepted; everything else is refused.
func TestCloseWhileAppending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	s, l := ready(t, path, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := 0
	started := make(chan struct{}, 100)
	for range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				_, err := appendNote(context.Background(), s, l, "x", n%2 == 0)
				if err != nil {
					if !errors.Is(err, journal.ErrClosed) {
						t.Errorf("appending: %v, want ErrClosed", err)
					}
					return
				}
				mu.Lock()
				acked++
				mu.Unlock()
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 50 {
		<-started
	}
	must(t, s.Close())
	wg.Wait()
	if n := count(t, openTest(t, path, nil)); n != acked {
		t.Errorf("there are %d events; %d were acknowledged", n, acked)
	}
}
