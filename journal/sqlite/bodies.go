package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
	"rein.example/rein/message"
)

// bodies keeps bodies in files named by the hash of their content. A file is
// complete and durable before its name appears, so whatever has a name can be
// referred to.
type bodies struct {
	dir   string
	sweep sync.Once
}

// PutBody stores a body. It is durable when PutBody returns.
func (s *Store) PutBody(ctx context.Context, body []byte, mediaType string) (message.Ref, error) {
	if err := s.open(ctx); err != nil {
		return message.Ref{}, err
	}
	if s.w == nil {
		return message.Ref{}, s.onlyReads()
	}
	ref := storekit.Ref(body, mediaType)
	if err := s.bodies.put(ref.SHA256, body); err != nil {
		return message.Ref{}, fmt.Errorf("storing a body of %d bytes in %s: %w", len(body), s.bodies.dir, fileError(err))
	}
	return ref, nil
}

// Body returns a stored body, checked against its hash.
func (s *Store) Body(ctx context.Context, ref message.Ref) ([]byte, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if _, err := storekit.CheckRef(ref); err != nil {
		return nil, err
	}
	body, err := s.bodies.get(ref.SHA256, ref.Bytes)
	if err != nil {
		return nil, err
	}
	return body, storekit.CheckBody(ref, body)
}

// path returns where the body with a hash is: 256 folders, so that none of them
// gets long.
func (b *bodies) path(hash string) string { return filepath.Join(b.dir, hash[:2], hash[2:]) }

func (b *bodies) put(hash string, body []byte) error {
	path := b.path(hash)
	if have, err := b.get(hash, int64(len(body))); err == nil && bytes.Equal(have, body) {
		// Whoever wrote it may have died before the name was durable.
		return syncDir(filepath.Dir(path))
	}
	b.sweep.Do(b.removeLeftovers)
	if err := b.makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	if err := b.makeDir(b.temporary()); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.temporary(), "body-*")
	if err != nil {
		return err
	}
	if err := write(f, body); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// write writes, syncs and closes a file.
func write(f *os.File, body []byte) error {
	if _, err := f.Write(body); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// get reads a body that has the given size, or any up to [event.MaxLine] if it
// is negative. Its hash is not checked.
func (b *bodies) get(hash string, size int64) ([]byte, error) {
	f, err := os.Open(b.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &journal.BodyError{SHA256: hash, Missing: true}
	}
	if err != nil {
		return nil, &journal.BodyError{SHA256: hash, Err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &journal.BodyError{SHA256: hash, Err: err}
	}
	n := info.Size()
	if size >= 0 && n != size || n > event.MaxLine && size < 0 {
		return nil, &journal.BodyError{SHA256: hash, Err: fmt.Errorf("its file has %d bytes", n)}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, &journal.BodyError{SHA256: hash, Err: err}
	}
	return body, nil
}

// temporary returns the folder of files that are being written.
func (b *bodies) temporary() string { return filepath.Join(b.dir, "tmp") }

// removeLeftovers removes files that a crash left unfinished: those that nobody
// has written to for an hour. What cannot be removed does no harm.
func (b *bodies) removeLeftovers() {
	entries, err := os.ReadDir(b.temporary())
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(b.temporary(), e.Name()))
		}
	}
}

// makeDir makes a folder of bodies and the folder of all of them, durably.
func (b *bodies) makeDir(dir string) error {
	for _, d := range []string{b.dir, dir} {
		err := os.Mkdir(d, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}
