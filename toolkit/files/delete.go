package files

import (
	"context"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type deleteArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the workspace, such as docs/old.md; not a directory" schema:"minLength=1"`
}

func (w *workspace) deleteTool() tool.Tool {
	doc := tool.Doc{
		What:    "Deletes one text file.",
		When:    "When a file is to be gone, and some of it was read in this run as it is now. Not to empty it or to write it anew: use write_file for that.",
		Returns: "That the file is gone; no read is needed to check that. A file that was not read, or has changed since, stays, with an error that says so.",
	}
	return tool.WithUndo(tool.New("delete_file", doc, w.deleteFile, &tool.Options{Effect: event.Repeatable, Resources: []string{"path"}}), w.undo)
}

func (w *workspace) deleteFile(ctx context.Context, in deleteArgs) (*tool.Result, error) {
	name, err := w.path(in.Path)
	if err != nil {
		return nil, err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	old, err := w.before(ctx, name)
	if err != nil {
		return nil, err
	}
	gone := []event.Seen{{Resource: name, Gone: true}}
	if old == nil {
		if call := tool.CallFrom(ctx); call != nil && call.Attempt > 1 {
			r := tool.Text(name + " is gone: an earlier attempt of this call had deleted it already")
			r.Seen = gone
			return r, nil
		}
		return nil, w.missing(name)
	}
	k := knownLines(seenBy(ctx), name, old)
	if !k.current {
		return nil, k.unseen(name, old, 1, old.lines, "delete it again")
	}
	r := tool.Text("deleted " + name + ": it had " + lineWord(old.lines))
	r.Seen, r.Undo = gone, w.remember(ctx, name, old, "")
	if err := w.target.Remove(ctx, name, func() error { return w.unchanged(ctx, name, old) }); err != nil {
		return nil, w.failed("deleted", name, err)
	}
	return r, nil
}
