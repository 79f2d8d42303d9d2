// Package sqlite answers: how are journals kept on this machine so that a crash
// loses nothing that was acknowledged?
//
// The [Store] is one SQLite file in WAL mode with synchronous=FULL, which any
// number of processes of one host may open, and a folder beside it, named like
// the file with ".artifacts" after it, for bodies by the hash of their content.
//
// One goroutine of each process writes for all of its runs. It takes every batch
// that has come in while the last ones were being synced and commits them
// together: many runs, one sync. What a batch must fulfil (the run's owner, the
// journal's end, outcomes not yet there) is checked inside that transaction, so
// a batch that does not fulfil it fails alone, and no other process can come
// between check and write. Readers have connections of their own and never wait.
//
// SQLite needs shared memory and locks that network file systems don't offer:
// the file must be on a local disk.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Options change how a store is opened. The zero value, and nil, mean the
// defaults.
type Options struct {
	// Clock tells the time that leases expire by; nil is time.Now. It must be
	// one clock for all processes that use the file.
	Clock func() time.Time
	// LockWait is how long a call waits for another process that has locked the
	// file before it fails with [journal.ErrLocked]; 0 means 5 seconds.
	LockWait time.Duration
	// ReadOnly opens the store for reading alone, so that it works on a file, a
	// folder or a mount that cannot be written: no file, table or lease is made,
	// and every method that writes fails with [journal.ErrReadOnly]. A store that
	// is not there, or that is still empty, is then an error that wraps
	// [io/fs.ErrNotExist]. Where even SQLite's shared memory cannot be made beside
	// the file, the file is read as it stands when it is opened.
	ReadOnly bool
}

// lockWait is the default of Options.LockWait.
const lockWait = 5 * time.Second

// Store keeps journals in a SQLite file. It implements [journal.Store],
// [journal.Finder] and [journal.Repairer].
type Store struct {
	path   string
	clock  func() time.Time
	wait   time.Duration
	bodies bodies
	codec  codec
	hub    storekit.Hub
	// scratch holds *[]byte to encode events in.
	scratch sync.Pool

	writing *sql.DB // one connection, the writer's; nil if only reading
	reading *sql.DB
	q       queries
	w       *writer // nil if only reading

	mu      sync.Mutex // guards what follows
	closed  bool
	leases  map[int64]*journal.Lease // joined here and not left
	pending map[string]int           // async batches of a run that are not durable yet
}

var (
	_ journal.Store    = (*Store)(nil)
	_ journal.Finder   = (*Store)(nil)
	_ journal.Repairer = (*Store)(nil)
)

// Path returns the absolute path of the store's file.
func (s *Store) Path() string { return s.path }

// Close finishes what was appended, gives up the leases and closes the file.
// Calling it again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	if s.w == nil {
		s.hub.Close()
		return errors.Join(s.q.close(), s.reading.Close(), s.codec.close())
	}
	err := s.w.close()
	s.hub.Close()
	return errors.Join(err, s.q.close(), s.reading.Close(), s.writing.Close(), s.codec.close())
}

// open returns an error if the store is closed or ctx has ended.
func (s *Store) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return journal.ErrClosed
	}
	return nil
}

// joined reports whether a lease was joined here and not left.
func (s *Store) joined(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases[id] != nil
}
