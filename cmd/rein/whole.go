package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a file that only its owner may read: it appears whole or not at all.
// Only a file is replaced: through a link, the one that it leads to. What is none, such as
// a pipe or a device, is written to as it is, by a reader's leave: a pipe is waited for.
func writeWhole(path string, write func(io.Writer) error) error {
	end, info, err := linked(path)
	switch {
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	case info == nil, info.Mode().IsRegular():
		return replace(path, end, write)
	case info.IsDir():
		return fmt.Errorf("write %s: it is a folder: name a file in it", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replace puts what is written in the place of the file at end, which the person calls
// path. The file that is made first lies beside it, on the same disk.
func replace(path, end string, write func(io.Writer) error) (err error) {
	folder, _ := filepath.Split(end) // unlike Dir it leaves .. after a link alone
	if folder == "" {
		folder = "."
	}
	f, err := os.CreateTemp(folder, ".rein-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), end); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// linked returns where links lead, in the end, and what is there: nil for nothing yet.
func linked(path string) (end string, info fs.FileInfo, err error) {
	const most = 40 // as Linux has it
	for range most {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil, nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, info, err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil, err
		}
		if !filepath.IsAbs(to) {
			folder, _ := filepath.Split(path)
			to = folder + to
		}
		path = to
	}
	return path, nil, errors.New("there are more than 40 links one after the other, or they go in a circle")
}
