package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"rein.example/rein/journal"
)

// explain says what was being done and, for what SQLite reports, what to do.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	advice, cause := s.classify(err)
	if cause == nil {
		return fmt.Errorf("%s %s: %w", doing, s.path, err)
	}
	return fmt.Errorf("%s %s: %w: %s (%w)", doing, s.path, cause, advice, err)
}

// classify returns what can be done about an error of SQLite, and the exported
// error that it means.
func (s *Store) classify(err error) (advice string, cause error) {
	var e *driver.Error
	if !errors.As(err, &e) {
		return "", nil
	}
	switch e.Code() {
	case lib.SQLITE_IOERR_SHMSIZE: // the file that processes share cannot grow
		return adviceFull, journal.ErrFull
	case lib.SQLITE_READONLY_DBMOVED:
		return "the file was moved or deleted while it was open: restart with the store's new path", journal.ErrNotStore
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return fmt.Sprintf("another program has held it for %v: let it finish or end it, then try again", s.wait), journal.ErrLocked
	case lib.SQLITE_FULL:
		return adviceFull, journal.ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN:
		return fmt.Sprintf("make the file and the folder %s writable, or choose another store", filepath.Dir(s.path)), journal.ErrReadOnly
	case lib.SQLITE_CORRUPT:
		return "restore the file from a copy, or recover what can be read with: sqlite3 FILE .recover", journal.ErrDamaged
	case lib.SQLITE_NOTADB:
		return "it is not an SQLite database, or its beginning was overwritten: restore it from a copy, or choose another path", journal.ErrNotStore
	}
	return "", nil
}

const adviceFull = "free some space there, then go on: nothing that was written before is lost"

// fileError adds the exported error that an error of the file system means.
func fileError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: free some space, then try again: %w", journal.ErrFull, err)
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		return fmt.Errorf("%w: %w", journal.ErrReadOnly, err)
	}
	return err
}

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
