package command

import (
	"path/filepath"
	"strings"
)

// climbs reports whether a value has .. as a part of a path. A program follows
// links before it goes up, so that what .. leads to cannot be told from the text.
func climbs(v string) bool { return ups(v, "") > 0 }

// ups counts the parts of a path that are .., where a path's parts end at slashes
// and at other characters too.
func ups(text, other string) (n int) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == '/' || r == filepath.Separator || strings.ContainsRune(other, r)
	}) {
		if part == ".." {
			n++
		}
	}
	return n
}

// beginsPath are the characters behind which a path may begin within an argument:
// --file=PATH, HEAD:PATH, @PATH, PATH,PATH.
const beginsPath = "=:,@"

// stray says which argument leads out of the root though a value of it is a path
// below it, and why; or "". The values have been looked at by themselves; here they
// are with what stands before and behind them.
func (c *command) stray(given values) string {
	for _, a := range c.args {
		if len(a) == 1 { // the value itself
			continue
		}
		own := 0 // what the template itself goes up is its business
		for _, x := range a {
			own += ups(x.text, beginsPath)
		}
		for i, x := range a {
			if x.param == nil || !x.param.Path || len(given[x.param.name]) == 0 {
				continue
			}
			list := fill([]argument{a}, given)
			if len(list) == 0 {
				break // something optional was left out, and the argument with it
			}
			if ups(list[0], beginsPath) > own {
				return list[0] + ": together with what stands beside the value there is a .. in it"
			}
			if why := c.composed(list[0], len(strings.Join(fill([]argument{a[:i]}, given), ""))); why != "" {
				return list[0] + ": " + why
			}
		}
	}
	return ""
}

// composed says that an argument leads out of the root, or "". at is where a value
// begins that is a path.
func (c *command) composed(text string, at int) string {
	// Where the path begins is the program's to say: at the value, at the beginning,
	// behind an option's letter, or behind one of beginsPath. Each is looked at.
	for start := 0; start <= at; start++ {
		switch {
		case start == 0, start == at, start == 2 && text[0] == '-', strings.IndexByte(beginsPath, text[start-1]) >= 0:
		default:
			continue
		}
		path := text[start:]
		if why := c.linked(path); why != "" {
			return why
		}
		if end := strings.IndexAny(path, beginsPath); end > 0 {
			if why := c.linked(path[:end]); why != "" {
				return why
			}
		}
	}
	return ""
}

// linked says that a link leads out of the root on a path below it, or "". One that
// the template itself has put elsewhere is not below it.
func (c *command) linked(path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.path, filepath.FromSlash(c.t.Dir), path)
	}
	if rel, err := filepath.Rel(c.path, path); err != nil || !filepath.IsLocal(rel) {
		return ""
	} else if _, err := c.root.Stat(rel); err != nil && bare(err).Error() == "path escapes from parent" { // os does not export it
		return "it leads out of the working folder through a symbolic link"
	}
	return ""
}
