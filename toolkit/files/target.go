package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rein.example/rein/tool"
)

// A Target is where the changes go that the tools make: into the directory itself,
// or into a [Stage] from which somebody applies them later. What the tools read is
// always the directory with those changes. Its methods are called one at a time,
// but for Root and Removed, which are safe for concurrent use.
type Target interface {
	// Root holds the files that were changed, laid out as in the directory; nil if
	// they are changed in the directory itself.
	Root() *os.Root
	// Removed reports whether a file of the directory counts as gone.
	Removed(name string) bool
	// Write makes text the whole content of a file with these permissions (0: those
	// that new files have), all at once: until still has returned nil, just before that, nothing is changed, and
	// its error is returned as it is. Directories that are missing are made.
	Write(ctx context.Context, name, text string, mode fs.FileMode, still func() error) error
	// Remove takes a file away, if still returns nil.
	Remove(ctx context.Context, name string, still func() error) error
}

// direct changes the directory itself.
type direct struct{ root *os.Root }

// Root implements [Target].
func (direct) Root() *os.Root { return nil }

// Removed implements [Target].
func (direct) Removed(string) bool { return false }

// Write implements [Target]: in a temporary file beside the old one, written
// through to the disk and then renamed.
func (d direct) Write(ctx context.Context, name, text string, mode fs.FileMode, still func() error) error {
	dir := path.Dir(name)
	if dir != "." {
		if err := d.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	// The name follows from the call, so that a call that is carried out again
	// after a crash finds what it has left behind.
	key := name
	if call := tool.CallFrom(ctx); call != nil {
		key += "\x00" + call.Key
	}
	sum := sha256.Sum256([]byte(key))
	temp := path.Join(dir, temporary+hex.EncodeToString(sum[:8]))
	if err := d.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := d.temp(temp, text, mode)
	if err == nil {
		err = still()
	}
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		_ = d.root.Remove(temp)
		return err
	}
	d.sync(dir)
	return nil
}

// Remove implements [Target].
func (d direct) Remove(_ context.Context, name string, still func() error) error {
	if err := still(); err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil {
		return err
	}
	d.sync(path.Dir(name))
	return nil
}

func (d direct) temp(name, text string, mode fs.FileMode) error {
	usual := fs.FileMode(0o644)
	if mode != 0 {
		usual = 0o600 // until it has its own: nobody may read it meanwhile
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, usual)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// sync makes a rename durable, where directories can be synced.
func (d direct) sync(dir string) {
	if f, err := d.root.OpenFile(dir, os.O_RDONLY|nonBlocking, 0); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// Stage is a folder that holds changes back. It implements [Target].
type Stage struct {
	// files has what was written, removed an empty file for each that was removed.
	files, removed *os.Root
}

// NewStage opens the stage in the folder dir, which is made if it is missing and
// may hold changes from before. It must not be inside the directory that the tools
// work in.
func NewStage(dir string) (*Stage, error) {
	s := &Stage{}
	for _, part := range []struct {
		name string
		root **os.Root
	}{{"files", &s.files}, {"removed", &s.removed}} {
		p := dir + string(os.PathSeparator) + part.name
		err := os.MkdirAll(p, 0o700)
		if err == nil {
			*part.root, err = os.OpenRoot(p)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close closes the stage; what it holds stays.
func (s *Stage) Close() error {
	var errs []error
	for _, r := range []*os.Root{s.files, s.removed} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// Root implements [Target].
func (s *Stage) Root() *os.Root { return s.files }

// Removed implements [Target].
func (s *Stage) Removed(name string) bool {
	info, err := s.removed.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Write implements [Target].
func (s *Stage) Write(ctx context.Context, name, text string, mode fs.FileMode, still func() error) error {
	if err := (direct{s.files}).Write(ctx, name, text, mode, still); err != nil {
		return err
	}
	return absent(s.removed.Remove(name))
}

// Remove implements [Target].
func (s *Stage) Remove(ctx context.Context, name string, still func() error) error {
	if err := (direct{s.removed}).Write(ctx, name, "", 0o600, still); err != nil {
		return err
	}
	return absent(s.files.Remove(name))
}

// absent forgives what was not there.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Change is one file that a stage holds.
type Change struct {
	// Name is the file's path in the directory.
	Name string
	// Removed: it is to be taken away; else its content is in the stage's Root.
	Removed bool
}

// Changes returns what the stage holds, by name.
func (s *Stage) Changes() ([]Change, error) {
	var out []Change
	for _, part := range []struct {
		root    *os.Root
		removed bool
	}{{s.files, false}, {s.removed, true}} {
		err := fs.WalkDir(part.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !isTemporary(name) {
				out = append(out, Change{name, part.removed})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
