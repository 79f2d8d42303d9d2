package files

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

type editArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the workspace, such as docs/notes.md" schema:"minLength=1"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file, with enough around it to occur only once" schema:"minLength=1"`
	New  string `json:"new" jsonschema:"the text to put in its place; empty to delete it"`
	All  bool   `json:"all,omitzero" jsonschema:"true: replace every occurrence; left out: old must occur exactly once"`
}

func (w *workspace) editTool() tool.Tool {
	doc := tool.Doc{
		What:    "Replaces a piece of text in a file.",
		When:    "To change a part of an existing file whose lines around the change were read in this run. For new files, or to replace everything, use write_file.",
		Returns: "What was replaced, and on which lines; no read is needed to check that. Text that does not occur, or occurs several times, is an error that says where similar text is; the file is left as it is.",
	}
	return tool.WithUndo(tool.New("edit_file", doc, w.editFile, &tool.Options{Effect: event.Repeatable, Resources: []string{"path"}}), w.undo)
}

func (w *workspace) editFile(ctx context.Context, in editArgs) (*tool.Result, error) {
	name, err := w.path(in.Path)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct{ text, member string }{{in.Old, "old"}, {in.New, "new"}} {
		if err := w.acceptable(part.text, part.member); err != nil {
			return nil, err
		}
	}
	switch {
	case in.Old == "":
		return nil, refuse("invalid_arguments", "old is empty", "give the text to replace, or use write_file for the whole file")
	case in.Old == in.New:
		return nil, refuse("nothing_to_change", "old and new are the same", "give the text as it should be in new")
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	old, err := w.before(ctx, name)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return nil, w.missing(name)
	}
	e := edit{name: name, file: old, old: in.Old, new: in.New, all: in.All, known: knownLines(seenBy(ctx), name, old)}
	if allCRLF(old.text) {
		e.old, e.new = toCRLF(e.old), toCRLF(e.new)
	}
	if call := tool.CallFrom(ctx); call != nil && call.Attempt > 1 {
		if seen := e.applied(call.Seen); seen != nil {
			r := tool.Text("edited " + name + ": the replacement had been made already, by an earlier attempt of this call")
			r.Seen = seen
			return r, nil
		}
	}
	changes, err := e.changes()
	if err != nil {
		return nil, err
	}
	now := newFile(e.apply(changes))
	if int64(len(now.text)) > w.max {
		return nil, w.tooLarge(name, int64(len(now.text)))
	}
	before := w.remember(ctx, name, old, now.version)
	if err := w.replace(ctx, name, now.text, old); err != nil {
		return nil, err
	}
	r := tool.Text(e.report(changes, now))
	r.Undo = before
	r.Seen = seenRanges(name, now, carry(old.text, e.known.lines, changes))
	return r, nil
}

// toCRLF gives text the line ends of the file that it is for.
func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// edit is a replacement to be made.
type edit struct {
	name     string
	file     *file
	old, new string
	all      bool
	known    known
}

// changes returns the places to change, or why there are none.
func (e *edit) changes() ([]change, error) {
	text := e.file.text
	var at []int // overlapping ones too: they make a place ambiguous
	for from := 0; len(at) < 1000; {
		i := strings.Index(text[from:], e.old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + 1
	}
	switch {
	case len(at) == 0:
		return nil, e.noMatch()
	case len(at) > 1 && !e.all:
		return nil, refuse("several_matches", fmt.Sprintf("old occurs %d times in %s, on lines %s", len(at), e.name, e.lineList(at)), "add lines before or after to old and new, so that it occurs once, or set all to true")
	}
	var out []change
	for from := 0; ; {
		i := strings.Index(text[from:], e.old)
		if i < 0 {
			break
		}
		out = append(out, change{from + i, e.old, e.new})
		from += i + len(e.old)
	}
	for _, c := range out {
		first := e.lineOf(c.at)
		last := e.lineOf(c.at + len(c.old) - 1)
		if err := e.known.unseenByEdit(e.name, e.file, first, last); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *edit) lineOf(at int) int64 { return 1 + int64(strings.Count(e.file.text[:at], "\n")) }

func (e *edit) lineList(at []int) string {
	var b strings.Builder
	for i, a := range at {
		if i == 10 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, e.lineOf(a))
	}
	return b.String()
}

func (e *edit) apply(changes []change) string {
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(e.file.text[at:c.at])
		b.WriteString(c.new)
		at = c.at + len(c.old)
	}
	b.WriteString(e.file.text[at:])
	return b.String()
}

// applied returns what is known of the file if it is what an earlier attempt of
// the same call made of a version that the run has seen; else nil.
func (e *edit) applied(seen []event.Seen) []event.Seen {
	if e.new == "" || e.known.current {
		return nil
	}
	text := e.file.text
	if e.all {
		return e.madeFrom(strings.ReplaceAll(text, e.new, e.old), seen)
	}
	for from, tries := 0, 0; tries < 100; tries++ {
		i := strings.Index(text[from:], e.new)
		if i < 0 {
			return nil
		}
		at := from + i
		if s := e.madeFrom(text[:at]+e.old+text[at+len(e.new):], seen); s != nil {
			return s
		}
		from = at + 1
	}
	return nil
}

// madeFrom makes the same edit in another text and returns what is known then,
// if the run knows that text and the edit makes this file of it.
func (e *edit) madeFrom(text string, seen []event.Seen) []event.Seen {
	b := *e
	b.file = newFile(text)
	b.known = knownLines(seen, e.name, b.file)
	changes, err := b.changes()
	if err != nil || b.apply(changes) != e.file.text {
		return nil
	}
	return seenRanges(e.name, e.file, carry(text, b.known.lines, changes))
}

// noMatch says where text is that looks like what was not found.
func (e *edit) noMatch() error {
	hint := "copy the text exactly as read_file shows it"
	want := firstLine(e.old)
	lines := strings.Split(strings.TrimSuffix(e.file.text, "\n"), "\n")
	if len(lines) > 5000 {
		lines = lines[:5000]
	}
	var similar []string
	for i, l := range lines {
		if want != "" && strings.TrimSpace(l) == want {
			similar = append(similar, fmt.Sprintf("line %d begins like it, but what follows or its white space differs", i+1))
		}
		if len(similar) == 3 {
			break
		}
	}
	if similar == nil {
		for _, near := range schema.Nearest(want, lines) {
			similar = append(similar, fmt.Sprintf("line %d is similar: %s", slices.Index(lines, near)+1, quote(near)))
		}
	}
	if similar != nil {
		hint = strings.Join(similar, "; ") + "; " + hint
	}
	if !e.known.any {
		hint = "read the file with read_file first; " + hint
	}
	return refuse("no_match", "old does not occur in "+e.name, hint)
}

// firstLine returns the first line of a text that is not blank, without the
// white space around it.
func firstLine(text string) string {
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

func (e *edit) report(changes []change, now *file) string {
	lines := make([]int, len(changes))
	for i, c := range changes {
		lines[i] = c.at
	}
	what := "1 replacement, on line "
	if len(changes) > 1 {
		what = fmt.Sprintf("%d replacements, on lines ", len(changes))
	}
	return fmt.Sprintf("edited %s: %s%s; it has %s, %d bytes now", e.name, what, e.lineList(lines), lineWord(now.lines), len(now.text))
}
