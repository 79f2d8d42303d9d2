package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rein.example/rein/schema"
)

// entries returns up to most entries of a directory, sorted by name, and whether
// there are more.
func (w *workspace) entries(name string, most int) (list []fs.DirEntry, more bool, err error) {
	f, err := w.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, refuse("not_directory", name+" is not a directory", "use read_file to read a file")
	}
	list, err = f.ReadDir(most + 1)
	if err == io.EOF {
		err = nil
	}
	if err != nil {
		return nil, false, err
	}
	if more = len(list) > most; more {
		list = list[:most]
	}
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return isTemporary(e.Name()) })
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, more, nil
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
	list, more, err := w.entries(dir, missingEntries)
	if err != nil {
		return refuse("not_found", "there is no "+quote(name), "use list_dir to see what there is")
	}
	var names, shown []string
	for _, e := range list {
		n := e.Name()
		names = append(names, n)
		if e.IsDir() {
			n += "/"
		}
		if len(shown) < missingShown {
			shown = append(shown, n)
		}
	}
	hint := holds(dir, shown, len(names), more)
	if near := schema.Nearest(base, names); len(near) > 0 {
		for i := range near {
			near[i] = path.Join(dir, near[i])
		}
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	} else if at := w.elsewhere(path.Base(name)); at != "" {
		hint = "did you mean " + at + "? " + hint
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
		list, _, err := w.entries(dir, missingEntries)
		if err != nil || depth > maxWalkDepth {
			return
		}
		for _, e := range list {
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
