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
	f, err := w.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, refuse("not_directory", name+" is not a directory", "use read_file to read a file")
	}
	l := &listing{}
	for {
		// The file system gives them in no order: the first by name may come last.
		chunk, err := f.ReadDir(1 + most)
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		chunk = slices.DeleteFunc(chunk, func(e fs.DirEntry) bool { return isTemporary(e.Name()) })
		l.total += len(chunk)
		l.entries = append(l.entries, chunk...)
		slices.SortFunc(l.entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		l.entries = l.entries[:min(len(l.entries), most)]
		if l.total >= maxEntriesRead {
			l.partial = true
			return l, nil
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
		if info, err := w.root.Stat(dir); err == nil && info.IsDir() {
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
