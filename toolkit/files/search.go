package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema:"the text to find, as it stands in the file, such as total_price" schema:"minLength=1"`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search, such as docs; left out: the whole workspace"`
	Glob    string `json:"glob,omitempty" jsonschema:"only files whose name matches, such as *.md, or whose path matches, such as src/**/*.go"`
	Regex   bool   `json:"regex,omitzero" jsonschema:"true: pattern is a regular expression (RE2); (?i) before it ignores case"`
}

// What a search looks at and shows, at most.
const (
	maxWalkDepth = 64
	maxEntries   = 10_000 // of one directory
	maxFiles     = 50_000
	maxSearched  = 512 << 20 // bytes
	maxMatches   = 200       // shown; all are counted
	maxExcerpt   = 240       // bytes of a line
)

func (w *workspace) searchTool() tool.Tool {
	doc := tool.Doc{
		What:    "Finds the lines that contain a text, in all text files of the workspace or of a directory in it. Upper and lower case differ.",
		When:    "To find where something is. For files by their names use find_files; to see a file as a whole, or before changing it, use read_file.",
		Returns: "A first line in [rein: …] with the totals, then path:line: text for each match, by path. \"Nothing found\" means that no file that was searched contains it: no further call is needed to be sure of that.",
	}
	return tool.New("search_files", doc, w.searchFiles, &tool.Options{Effect: event.Read})
}

func (w *workspace) searchFiles(ctx context.Context, in searchArgs) (*tool.Result, error) {
	match, err := matcher(in)
	if err != nil {
		return nil, err
	}
	return w.look(ctx, &search{workspace: w, args: in, match: match})
}

// look carries a search out.
func (w *workspace) look(ctx context.Context, s *search) (*tool.Result, error) {
	start, err := w.dir(s.args.Path)
	if err != nil {
		return nil, err
	}
	if s.wanted, err = compileGlob(s.args.Glob); err != nil {
		return nil, refuse("invalid_pattern", fmt.Sprintf("the glob %s cannot be used: %v", quote(s.args.Glob), err), "write it like *.md or src/**/*.go")
	}
	info, err := w.stat(start)
	if err != nil {
		return nil, w.failed("searched", start, err)
	}
	if info.IsDir() {
		err = s.walk(ctx, start, 0)
	} else {
		err = s.file(ctx, start)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return s.result(), nil
}

// matcher returns a function that finds the first match in a line: where it
// begins and ends, or -1.
func matcher(in searchArgs) (func(line string) (int, int), error) {
	p := in.Pattern
	switch {
	case p == "":
		return nil, refuse("invalid_pattern", "the pattern is empty", "give the text to find; for files by their names use find_files")
	case len(p) > maxPattern:
		return nil, refuse("invalid_pattern", fmt.Sprintf("the pattern has %d bytes; at most %d are taken", len(p), maxPattern), "search for a shorter piece of it")
	case strings.ContainsAny(p, "\n\r"):
		return nil, refuse("invalid_pattern", "the pattern has a line break; lines are searched one by one", "search for a piece that stands on one line")
	case !in.Regex:
		return func(line string) (int, int) {
			i := strings.Index(line, p)
			return i, i + len(p)
		}, nil
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, refuse("invalid_pattern", fmt.Sprintf("the regular expression %s cannot be read: %s", quote(p), strings.TrimPrefix(err.Error(), "error parsing regexp: ")),
			"correct it (RE2: no lookaround, no back-references), or search for plain text with regex left out")
	}
	return func(line string) (int, int) {
		if m := re.FindStringIndex(line); m != nil {
			return m[0], m[1]
		}
		return -1, -1
	}, nil
}

// errEnough ends a search that has looked at as much as it may.
var errEnough = errors.New("enough searched")

// search is one search under way.
type search struct {
	*workspace
	args   searchArgs
	match  func(string) (int, int)
	wanted func(string) bool

	out      strings.Builder
	shown    int64
	matches  int
	hits     int // files with matches
	searched int
	bytes    int64
	enough   bool
	// what was left out
	binary, large, others, unread, hidden int
}

// skipped names directories that hold a version control system's own files.
func skipped(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

func (s *search) walk(ctx context.Context, dir string, depth int) error {
	list, err := s.entries(dir, maxEntries)
	if err != nil {
		s.unread++
		return nil
	}
	for _, e := range list.entries {
		name := path.Join(dir, e.Name())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && (skipped(e.Name()) || depth >= maxWalkDepth):
			s.hidden++
			continue
		case e.IsDir():
			err = s.walk(ctx, name, depth+1)
		case !s.wanted(name):
		case e.Type().IsRegular():
			err = s.file(ctx, name)
		case e.Type()&fs.ModeSymlink != 0 || e.Type() != 0:
			s.others++
		}
		if err != nil {
			return err
		}
	}
	if list.more() {
		s.enough = true
	}
	return nil
}

// file searches one file. What cannot be read is counted, not an error.
func (s *search) file(ctx context.Context, name string) error {
	if s.searched >= maxFiles || s.bytes >= maxSearched {
		s.enough = true
		return errEnough
	}
	if s.args.Pattern == "" {
		return s.listed(name)
	}
	text, _, err := s.load(ctx, name)
	var told *tool.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &told) && told.Type == "not_text":
		s.binary++
		return nil
	case errors.As(err, &told) && told.Type == "too_large":
		s.large++
		return nil
	case errors.As(err, &told) && (told.Type == "hard_link" || told.Type == "not_regular"):
		s.others++
		return nil
	default:
		s.unread++
		return nil
	}
	s.searched++
	s.bytes += int64(len(text))
	before := s.matches
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		from, to := s.match(line)
		if from < 0 {
			continue
		}
		s.matches++
		if s.shown < maxMatches {
			s.shown++
			fmt.Fprintf(&s.out, "\n%s:%d: %s", shownName(name), number, excerptAt(line, from, to))
		}
	}
	if s.matches > before {
		s.hits++
	}
	return nil
}

// listed counts and shows a file's name.
func (s *search) listed(name string) error {
	s.searched++
	s.matches++
	if s.shown < maxMatches {
		s.shown++
		s.out.WriteString("\n" + shownName(name))
	}
	return nil
}

// excerptAt returns a line, or what is around a match in it and how much that is.
func excerptAt(line string, from, to int) string {
	if len(line) <= maxExcerpt {
		return disowned(line)
	}
	from = max(0, from-(maxExcerpt-min(to-from, maxExcerpt))/2)
	from, to = cut.Down(line, from), cut.Down(line, from+maxExcerpt)
	return tool.Notice(fmt.Sprintf("bytes %d-%d of %d", from+1, to, len(line))) + disowned(line[from:to])
}

// disowned marks what looks like a remark of Rein's as somebody else's.
func disowned(text string) string {
	text, _ = tool.Disown(text)
	return text
}

func (s *search) result() *tool.Result {
	what := "contains " + quote(s.args.Pattern)
	if s.args.Regex {
		what = "matches " + quote(s.args.Pattern)
	}
	where := ""
	if s.args.Glob != "" {
		where = " whose name matches " + quote(s.args.Glob)
	}
	if s.matches == 0 {
		text := fmt.Sprintf("Nothing found: none of the %s%s that were searched %s%s.", fileWord(s.searched), where, what, s.leftOut())
		if s.args.Pattern == "" {
			text = fmt.Sprintf("Nothing found: there is no file%s%s.", where, s.leftOut())
		}
		if s.enough {
			return tool.Text(text + " Not everything was searched: narrow the search with path or glob.")
		}
		return tool.Text(text + " No further call is needed to be sure of that; other spellings or case may still occur.")
	}
	heading := func(_, last int64) string {
		var t string
		switch {
		case s.args.Pattern == "":
			t = fileWord(s.matches) + where
		case s.matches == 1:
			t = fmt.Sprintf("1 line of %s searched %s", fileWord(s.searched), what)
		default:
			t = fmt.Sprintf("%d lines in %d of %s searched %s", s.matches, s.hits, fileWord(s.searched), plural(what))
		}
		t += s.leftOut()
		if last < int64(s.matches) {
			t += fmt.Sprintf("; the first %d follow: narrow the search with path, glob or a longer pattern", last)
		}
		if s.enough {
			t += "; not everything was searched: narrow it with path or glob"
		}
		return tool.Notice(t)
	}
	r := tool.Text(heading(1, s.shown) + s.out.String())
	r.Lines = &tool.Lines{First: 1, Heading: heading}
	return r
}

func plural(what string) string {
	return strings.Replace(strings.Replace(what, "contains ", "contain ", 1), "matches ", "match ", 1)
}

func fileWord(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// leftOut says what was not searched.
func (s *search) leftOut() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{s.binary, "not text"}, {s.large, "too large"}, {s.others, "links or special files"}, {s.unread, "not readable"}, {s.hidden, "version control or too deep"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if parts == nil {
		return ""
	}
	return " (left out: " + strings.Join(parts, ", ") + ")"
}
