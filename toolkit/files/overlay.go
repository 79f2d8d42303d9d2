package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// The workspace is the directory with the target's changes laid over it.

// over returns where a name stands: among the changes, or in the directory. Nil:
// it was removed.
func (w *workspace) over(name string) *os.Root {
	changed := w.target.Root()
	if changed == nil {
		return w.root
	}
	if info, err := changed.Lstat(name); err == nil {
		if !info.IsDir() {
			return changed
		}
		if _, err := w.root.Lstat(name); err != nil {
			return changed // a directory that was made for a file
		}
		return w.root
	}
	if w.target.Removed(name) {
		return nil
	}
	return w.root
}

func gone(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

func (w *workspace) stat(name string) (fs.FileInfo, error) {
	if r := w.over(name); r != nil {
		return r.Stat(name)
	}
	return nil, gone("stat", name)
}

func (w *workspace) lstat(name string) (fs.FileInfo, error) {
	if r := w.over(name); r != nil {
		return r.Lstat(name)
	}
	return nil, gone("lstat", name)
}

// openFile opens for reading, without waiting for anybody.
func (w *workspace) openFile(name string) (*os.File, error) {
	if r := w.over(name); r != nil {
		return r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	}
	return nil, gone("open", name)
}

// changedIn returns the target's own entries of a directory.
func (w *workspace) changedIn(dir string) []fs.DirEntry {
	changed := w.target.Root()
	if changed == nil {
		return nil
	}
	list, err := fs.ReadDir(changed.FS(), dir)
	if err != nil {
		return nil // as a rule there is none
	}
	return list
}

// inDirectory reports whether the directory itself has an entry of that name.
func (w *workspace) inDirectory(name string) bool {
	_, err := w.root.Lstat(name)
	return err == nil
}

// within makes sure that a new file can stand where its path says, for targets that
// do not see the directory: nothing above it is a file or a link.
func (w *workspace) within(name string) error {
	if w.target.Root() == nil {
		return nil
	}
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		info, err := w.lstat(d)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return w.failed("written", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return refuse("symbolic_link", d+" is a symbolic link, through which nothing is written here", "use the path that it points to")
		case !info.IsDir():
			return refuse("not_directory", d+" is a file, so that there is nothing below it", "use list_dir to see what there is, or choose another path")
		}
	}
	return nil
}
