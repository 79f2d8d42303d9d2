package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rein.example/rein/schema"
)

// maxEntriesRead is how many entries of a directory are read to find its first ones.
const maxEntriesRead = 1_000_000

// listing is the first entries of a directory by name.
type listing struct {
	entries []fs.DirEntry
	// total counts all that were read. partial: the directory has more, so that
	// the entries are the first of those that were read only.
	total   int
	partial bool
}

// more reports whether the directory has more than the entries.
func (l *listing) more() bool { return l.partial || l.total > len(l.entries) }

// entries returns the first entries of a directory by name, at most most.
func (w *workspace) entries(name string, most int) (*listing, error) {
	l := &listing{}
	changed := w.changedIn(name)
	if err := l.read(w, name, most); err != nil && (changed == nil || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	for _, e := range changed {
		if isTemporary(e.Name()) {
			continue
		}
		at, ok := slices.BinarySearchFunc(l.entries, e.Name(), func(a fs.DirEntry, b string) int { return strings.Compare(a.Name(), b) })
		switch {
		case ok && e.IsDir(): // both have it
		case ok:
			l.entries[at] = e
		default:
			if !w.inDirectory(path.Join(name, e.Name())) {
				l.total++
			}
			l.entries = slices.Insert(l.entries, at, e)
		}
	}
	l.entries = l.entries[:min(len(l.entries), most)]
	return l, nil
}

// read reads the entries that the directory itself has.
func (l *listing) read(w *workspace, name string, most int) error {
	f, err := w.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return refuse("not_directory", name+" is not a directory", "use read_file to read a file")
	}
	for {
		// The file system gives them in no order: the first by name may come last.
		chunk, err := f.ReadDir(1 + most)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		chunk = slices.DeleteFunc(chunk, func(e fs.DirEntry) bool {
			return isTemporary(e.Name()) || w.target.Removed(path.Join(name, e.Name()))
		})
		l.total += len(chunk)
		l.entries = append(l.entries, chunk...)
		slices.SortFunc(l.entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		l.entries = l.entries[:min(len(l.entries), most)]
		if l.total >= maxEntriesRead {
			l.partial = true
			return nil
		}
	}
}

// The most that an error looks at and names.
const (
	missingEntries = 1000
	missingShown   = 20
)

// missing explains that something does not exist by what does.
func (w *workspace) missing(name string) error {
	dir, base := path.Dir(name), path.Base(name)
	for dir != "." {
		if info, err := w.stat(dir); err == nil && info.IsDir() {
			break
		}
		dir, base = path.Dir(dir), path.Base(dir)
	}
	list, err := w.entries(dir, missingEntries)
	if err != nil {
		return refuse("not_found", "there is no "+quote(name), "use list_dir to see what there is")
	}
	var names, shown []string
	for _, e := range list.entries {
		n := shownName(e.Name())
		names = append(names, e.Name())
		if e.IsDir() {
			n += "/"
		}
		if len(shown) < missingShown {
			shown = append(shown, n)
		}
	}
	hint := holds(dir, shown, list.total, list.partial)
	if near := schema.Nearest(base, names); len(near) > 0 {
		for i := range near {
			near[i] = shownName(path.Join(dir, near[i]))
		}
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	} else if at := w.elsewhere(path.Base(name)); at != "" {
		hint = "did you mean " + shownName(at) + "? " + hint
	}
	return refuse("not_found", "there is no "+quote(name), hint)
}

func holds(dir string, shown []string, total int, more bool) string {
	dir = shownDir(dir)
	switch {
	case total == 0:
		return dir + " is empty"
	case more:
		return fmt.Sprintf("%s holds, among more than %d others: %s", dir, total, strings.Join(shown, ", "))
	case len(shown) < total:
		return fmt.Sprintf("%s holds %s and %d more; list_dir shows all", dir, strings.Join(shown, ", "), total-len(shown))
	}
	return dir + " holds " + strings.Join(shown, ", ")
}

// elsewhere looks for a file of that name in other directories, not for long.
func (w *workspace) elsewhere(base string) string {
	left := 2000
	found := ""
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		list, err := w.entries(dir, missingEntries)
		if err != nil || depth > maxWalkDepth {
			return
		}
		for _, e := range list.entries {
			if left--; left < 0 || found != "" {
				return
			}
			switch {
			case e.IsDir() && !skipped(e.Name()):
				walk(path.Join(dir, e.Name()), depth+1)
			case e.Name() == base:
				found = path.Join(dir, base)
			}
		}
	}
	walk(".", 0)
	return found
}
