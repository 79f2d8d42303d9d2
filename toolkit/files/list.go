package files

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the directory, relative to the workspace, such as docs; left out: the workspace itself"`
}

// maxListed is how many entries list_dir shows.
const maxListed = 500

func (w *workspace) listTool() tool.Tool {
	doc := tool.Doc{
		What:    "Lists what a directory holds: its files with their sizes, and its subdirectories, which end with /.",
		When:    "To see what files there are. Not to find a file somewhere below: use find_files; nor text in files: use search_files.",
		Returns: "A first line in [rein: …] with the totals, then one entry a line, sorted by name. An empty directory says that it is empty; a directory that does not exist is an error that names what there is.",
	}
	return tool.New("list_dir", doc, w.listDir, &tool.Options{Effect: event.Read})
}

func (w *workspace) listDir(ctx context.Context, in listArgs) (*tool.Result, error) {
	name, err := w.dir(in.Path)
	if err != nil {
		return nil, err
	}
	info, err := w.stat(name)
	if err != nil {
		return nil, w.failed("listed", name, err)
	}
	if !info.IsDir() {
		return nil, refuse("not_directory", name+" is a file", "use read_file to read it")
	}
	found, err := w.entries(name, maxListed)
	if err != nil {
		return nil, w.failed("listed", name, err)
	}
	list := found.entries
	if len(list) == 0 {
		return tool.Text(shownDir(name) + " is empty: it holds no files and no directories"), nil
	}
	dirs := 0
	var b strings.Builder
	for _, e := range list {
		if e.IsDir() {
			dirs++
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.WriteString("\n" + entryLine(e))
	}
	total, order := fmt.Sprintf("%d", found.total), "the first"
	if found.partial {
		total, order = "more than "+total, "some, not the first by name:"
	}
	heading := func(first, last int64) string {
		if last == int64(len(list)) && !found.more() {
			return tool.Notice(fmt.Sprintf("%s holds %d files and %d directories", shownDir(name), len(list)-dirs, dirs))
		}
		return tool.Notice(fmt.Sprintf("%s %d of %s entries of %s; to see others find_files with a glob such as m*", order, last, total, shownDir(name)))
	}
	r := tool.Text(heading(1, int64(len(list))) + b.String())
	r.Lines = &tool.Lines{First: 1, Heading: heading}
	return r, nil
}

func shownDir(name string) string {
	if name == "." {
		return "the workspace"
	}
	return shownName(name)
}

// shownName returns a name that stands on one line as what it is: one that has
// line ends, other control characters or invisible ones is quoted, with those
// escaped as in Go and JSON.
func shownName(name string) string {
	for _, r := range name {
		if r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return disowned(strconv.Quote(name))
		}
	}
	return disowned(name)
}

func entryLine(e fs.DirEntry) string {
	name := shownName(e.Name())
	switch {
	case e.IsDir():
		return name + "/"
	case e.Type()&fs.ModeSymlink != 0:
		return name + " (symbolic link)"
	case !e.Type().IsRegular():
		return name + " (not a regular file)"
	}
	info, err := e.Info()
	if err != nil {
		return name + " (gone)"
	}
	return fmt.Sprintf("%s (%d bytes)", name, info.Size())
}
