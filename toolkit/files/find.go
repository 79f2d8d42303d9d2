package files

import (
	"context"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type findArgs struct {
	Glob string `json:"glob" jsonschema:"the names to find: *.md in any directory, or with a slash the path from the workspace, such as src/**/*.go or docs/*; * and ? are anything within a name, ** any number of directories, [a-z] characters, {a,b} alternatives" schema:"minLength=1"`
	Path string `json:"path,omitempty" jsonschema:"the directory to look in, with all below it, such as docs; left out: the whole workspace"`
}

func (w *workspace) findTool() tool.Tool {
	doc := tool.Doc{
		What:    "Finds files by their names, in the workspace or in a directory of it, with all below.",
		When:    "To find out where a file is, or which files of a kind there are. For what is in files use search_files; for all that one directory holds use list_dir.",
		Returns: "A first line in [rein: …] with the total, then one path a line, by name. \"Nothing found\" means that there is no such file: no further call is needed to be sure of that.",
	}
	return tool.New("find_files", doc, w.findFiles, &tool.Options{Effect: event.Read})
}

func (w *workspace) findFiles(ctx context.Context, in findArgs) (*tool.Result, error) {
	if in.Glob == "" {
		return nil, refuse("invalid_pattern", "the glob is empty", "give one such as *.md; ** finds every file")
	}
	return w.look(ctx, &search{workspace: w, args: searchArgs{Path: in.Path, Glob: in.Glob}})
}
