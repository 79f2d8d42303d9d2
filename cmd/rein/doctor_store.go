package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rein.example/rein/journal/sqlite"
)

// storeFound is where runs are kept. What is not known is null.
type storeFound struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Writable: runs can be added, or the file can be made.
	Writable *bool `json:"writable"`
	// Bytes is the file's size, and Version that of its tables.
	Bytes   *int64 `json:"bytes"`
	Version *int64 `json:"version"`
	Error   string `json:"error,omitempty"`
}

// lookAtStore looks at the store without making or changing anything.
func (a *app) lookAtStore(ctx context.Context) storeFound {
	path, err := a.storePath()
	if err != nil {
		return storeFound{Error: err.Error()}
	}
	s := storeFound{Path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.Writable = writable(existing(filepath.Dir(path)))
		if s.Writable != nil && !*s.Writable {
			s.Error = "it is not there, and cannot be made in its folder: name another file with --db or REIN_DB"
		}
		return s
	}
	if err != nil {
		s.Error = err.Error()
		return s
	}
	size := info.Size()
	s.Exists, s.Bytes, s.Writable = true, &size, writable(path)
	s.Version = tablesVersion(path)
	store, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if err == nil {
		err = store.Close()
	}
	switch {
	case err != nil && size > 0:
		s.Error = err.Error()
	case s.Writable != nil && !*s.Writable:
		s.Error = "it can be read and not written: name another file with --db or REIN_DB to begin runs"
	}
	return s
}

// existing returns the nearest folder above path that is there, or path.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
		up := filepath.Dir(path)
		if up == path {
			return path
		}
		path = up
	}
}

// tablesVersion returns the version in an SQLite file's head (its user_version,
// at byte 60 of the file format), nil if it has none.
func tablesVersion(path string) *int64 {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 64)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return nil
	}
	v := int64(binary.BigEndian.Uint32(head[60:]))
	return &v
}
