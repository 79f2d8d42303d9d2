package files

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the directory, relative to the workspace, such as docs; left out: the workspace itself"`
}

// The most entries that list_dir looks at, and shows.
const (
	maxEntries = 10_000
	maxListed  = 500
)

func (w *workspace) listTool() tool.Tool {
	doc := tool.Doc{
		What:    "Lists what a directory holds: its files with their sizes, and its subdirectories, which end with /.",
		When:    "To see what files there are. Not to find a file somewhere below, or text in files: use search_files for that.",
		Returns: "A first line in [rein: …] with the totals, then one entry a line, sorted by name. An empty directory says that it is empty; a directory that does not exist is an error that names what there is.",
	}
	return tool.New("list_dir", doc, w.listDir, &tool.Options{Effect: event.Read})
}

func (w *workspace) listDir(ctx context.Context, in listArgs) (*tool.Result, error) {
	name, err := w.dir(in.Path)
	if err != nil {
		return nil, err
	}
	info, err := w.root.Stat(name)
	if err != nil {
		return nil, w.failed("listed", name, err)
	}
	if !info.IsDir() {
		return nil, refuse("not_directory", name+" is a file", "use read_file to read it")
	}
	list, more, err := w.entries(name, maxEntries)
	if err != nil {
		return nil, w.failed("listed", name, err)
	}
	if len(list) == 0 {
		return tool.Text(shownDir(name) + " is empty: it holds no files and no directories"), nil
	}
	dirs := 0
	var b strings.Builder
	for i, e := range list {
		if e.IsDir() {
			dirs++
		}
		if i < maxListed {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b.WriteString("\n" + entryLine(e))
		}
	}
	total := fmt.Sprintf("%d", len(list))
	if more {
		total = "more than " + total
	}
	heading := func(first, last int64) string {
		if last == int64(len(list)) && !more {
			return tool.Notice(fmt.Sprintf("%s holds %d files and %d directories", shownDir(name), len(list)-dirs, dirs))
		}
		return tool.Notice(fmt.Sprintf("the first %d of %s entries of %s; to see others search_files with an empty pattern and a glob such as m*", last, total, shownDir(name)))
	}
	shown := int64(min(len(list), maxListed))
	r := tool.Text(heading(1, shown) + b.String())
	r.Lines = &tool.Lines{First: 1, Heading: heading}
	return r, nil
}

func shownDir(name string) string {
	if name == "." {
		return "the workspace"
	}
	return name
}

func entryLine(e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return e.Name() + "/"
	case e.Type()&fs.ModeSymlink != 0:
		return e.Name() + " (symbolic link)"
	case !e.Type().IsRegular():
		return e.Name() + " (not a regular file)"
	}
	info, err := e.Info()
	if err != nil {
		return e.Name() + " (gone)"
	}
	return fmt.Sprintf("%s (%d bytes)", e.Name(), info.Size())
}
