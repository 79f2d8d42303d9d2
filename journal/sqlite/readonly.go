package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"rein.example/rein/journal"
)

// onlyReads is the error of what writes where the store is open for reading.
func (s *Store) onlyReads() error {
	return fmt.Errorf("writing to the store %s: %w: it was opened for reading only", s.path, journal.ErrReadOnly)
}

// connectReading opens the connections of a store that is only read.
//
// SQLite reads a file in WAL mode through a file of shared memory beside it, and
// makes that where it is missing. In a folder that cannot be written it gives
// up; then, if there is no log with commits that the file lacks, the file can be
// read as if nobody ever wrote to it.
func (s *Store) connectReading(ctx context.Context) error {
	err := s.connectReadingBy(ctx, "ro", nil)
	if err == nil {
		return nil
	}
	if _, cause := s.classify(err); !errors.Is(cause, journal.ErrReadOnly) {
		return s.explain("opening the store", err)
	}
	if info, serr := os.Stat(s.path + "-wal"); serr == nil && info.Size() > 0 {
		return fmt.Errorf("opening the store %s: %w: what was written last is still in %s-wal, which can be read only in a folder that can be written: copy the store's files into one (%w)",
			s.path, journal.ErrReadOnly, s.path, err)
	}
	return s.explain("opening the store", s.connectReadingBy(ctx, "ro", map[string]string{"immutable": "1"}))
}

func (s *Store) connectReadingBy(ctx context.Context, mode string, more map[string]string) (err error) {
	var undo []io.Closer
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i].Close())
		}
	}()
	if s.reading, err = openDB(s.dsn(mode, more, "query_only(1)")); err != nil {
		return err
	}
	undo = append(undo, s.reading)
	conn, err := s.reading.Conn(ctx)
	if err != nil {
		return err
	}
	empty, err := s.identify(ctx, conn)
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	if empty {
		return fmt.Errorf("nothing was stored there yet: %w", fs.ErrNotExist)
	}
	if err := s.prepareReading(ctx); err != nil {
		return err
	}
	s.codec, err = newCodec()
	return err
}
