package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the workspace, such as docs/notes.md; missing directories are made" schema:"minLength=1"`
	Content string `json:"content" jsonschema:"the whole new content of the file, without [rein: …] lines"`
}

func (w *workspace) writeTool() tool.Tool {
	doc := tool.Doc{
		What:    "Creates a text file, or replaces all of what it holds.",
		When:    "For new files, and for files that change almost everywhere. An existing file must have been read in this run, all of it and as it is now. To change a part use edit_file.",
		Returns: "How many lines and bytes were written; no read is needed to check that. A file that was not read, or has changed since, is left as it is, with an error that says what to read.",
	}
	return tool.WithUndo(tool.New("write_file", doc, w.writeFile, &tool.Options{Effect: event.Repeatable, Resources: []string{"path"}}), w.undo)
}

func (w *workspace) writeFile(ctx context.Context, in writeArgs) (*tool.Result, error) {
	name, err := w.path(in.Path)
	if err != nil {
		return nil, err
	}
	if err := w.acceptable(in.Content, "content"); err != nil {
		return nil, err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	old, err := w.before(ctx, name)
	if err != nil {
		return nil, err
	}
	now := newFile(in.Content)
	size := fmt.Sprintf("%s, %d bytes", lineWord(now.lines), len(now.text))
	wrote := []event.Seen{{Resource: name, Version: now.version, Total: now.lines, Wrote: true}}
	undo := func() jsontext.Value { return w.remember(ctx, name, old, now.version) }
	if old == nil {
		if err := w.replace(ctx, name, now.text, nil); err != nil {
			return nil, err
		}
		return &tool.Result{Parts: tool.Text("created " + name + ": " + size).Parts, Seen: wrote, Undo: undo()}, nil
	}
	if old.version == now.version {
		r := tool.Text(name + " already has exactly this content (" + size + "); nothing was written, and nothing needs to be")
		r.Seen, r.Undo = sees(name, now, min(1, now.lines), now.lines), undo()
		return r, nil
	}
	k := knownLines(seenBy(ctx), name, old)
	if err := k.unseen(name, old, 1, old.lines, "write it again, or change only a part of it with edit_file"); err != nil {
		return nil, err
	}
	before := undo()
	if err := w.replace(ctx, name, now.text, old); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("wrote %s: %s (before: %s, %d bytes)", name, size, lineWord(old.lines), len(old.text))
	if allCRLF(old.text) && !strings.Contains(now.text, "\r\n") {
		text += "; the line ends changed from CRLF to LF"
	}
	return &tool.Result{Parts: tool.Text(text).Parts, Seen: wrote, Undo: before}, nil
}

func lineWord(n int64) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func seenBy(ctx context.Context) []event.Seen {
	if call := tool.CallFrom(ctx); call != nil {
		return call.Seen
	}
	return nil
}

// acceptable refuses text that must not get into a file: what a result says
// about itself, and what could not be read back.
func (w *workspace) acceptable(text, member string) error {
	switch {
	case tool.HasNotice(text):
		return refuse("notice_in_content", member+" holds a remark of Rein's, [rein …], which is about a result and not part of the file", "leave the remark out; if it stands for lines that were not shown, read those first")
	case strings.Contains(text, "\x00"):
		return refuse("not_text", member+" holds a NUL character", "only text can be written")
	case int64(len(text)) > w.max:
		return refuse("too_large", fmt.Sprintf("%s has %d bytes; files up to %d are written", member, len(text), w.max), "write several smaller files")
	}
	return nil
}

// before returns the file that is about to be changed, nil if there is none.
func (w *workspace) before(ctx context.Context, name string) (*file, error) {
	if name == "." {
		return nil, refuse("is_directory", "the workspace itself is a directory", "give the path of a file")
	}
	info, err := w.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, w.failed("looked at", name, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		hint := "change the file that it points to by its own path"
		if target, err := w.root.Readlink(name); err == nil && !path.IsAbs(target) {
			hint += ": the link says " + quote(target)
		}
		return nil, refuse("symbolic_link", name+" is a symbolic link, which is not replaced", hint)
	}
	return w.read(ctx, name)
}

// replace puts text in the place of old, or of nothing, where the target keeps
// changes.
func (w *workspace) replace(ctx context.Context, name, text string, old *file) error {
	var mode fs.FileMode
	if old != nil {
		mode = old.info.Mode().Perm()
	} else if err := w.within(name); err != nil {
		return err
	}
	err := w.target.Write(ctx, name, text, mode, func() error { return w.unchanged(ctx, name, old) })
	if err != nil {
		return w.failed("written", name, err)
	}
	return nil
}

// unchanged makes sure, just before the rename, that the file is still the one
// that was read.
func (w *workspace) unchanged(ctx context.Context, name string, old *file) error {
	if err := ctx.Err(); err != nil {
		return &tool.Error{Type: "cancelled", Message: "the call was given up before the file was changed", Hint: "nothing was written", NoEffect: true, Retryable: true}
	}
	info, err := w.lstat(name)
	switch {
	case old == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case old != nil && err == nil && os.SameFile(info, old.info) && info.Size() == old.info.Size() && info.ModTime().Equal(old.info.ModTime()):
		return nil
	}
	e := refuse("stale", name+" was changed by somebody else at this moment", "read it again with read_file")
	e.Retryable = true
	return e
}
