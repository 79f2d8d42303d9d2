package files

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

type readArgs struct {
	Path     string `json:"path" jsonschema:"the file, relative to the workspace, such as docs/notes.md" schema:"minLength=1"`
	FromLine int64  `json:"from_line,omitempty" jsonschema:"the first line to show, counted from 1; left out: 1" schema:"minimum=1"`
	Lines    int64  `json:"lines,omitempty" jsonschema:"how many lines to show, such as 100; left out: as many as fit" schema:"minimum=1"`
}

// maxRead is how much of a file one call returns, in bytes: more than a result
// shows of ordinary text, so that the result's limit decides.
const maxRead = 32 << 10

// longShown is what is shown of a line that is longer than that, in bytes.
const longShown = 1500

func (w *workspace) readTool() tool.Tool {
	doc := tool.Doc{
		What: "Reads a text file, or some lines of it.",
		When: "To see what a file says, and always before you change it. To find out which file or line to read use search_files; to see what files there are use list_dir.",
		Returns: "A first line in [rein: …] that says which lines follow, of how many, and how to go on; then the lines as they stand in the file. " +
			"A file that does not exist is an error that names what there is. When the first line says (all), no further call is needed.",
	}
	return tool.New("read_file", doc, w.readFile, &tool.Options{Effect: event.Read, Resources: []string{"path"}})
}

func (w *workspace) readFile(ctx context.Context, in readArgs) (*tool.Result, error) {
	name, err := w.path(in.Path)
	if err != nil {
		return nil, err
	}
	s, err := w.scanned(ctx, name, max(in.FromLine, 1), in.Lines)
	if err != nil {
		return nil, err
	}
	v := view{name: name, scan: s, seen: seenBy(ctx)}
	return v.show()
}

// view shows lines of a file.
type view struct {
	*scan
	name string
	seen []event.Seen // what the run knows
	// remarks: what is shown holds remarks that look like Rein's.
	remarks bool
}

func (v *view) show() (*tool.Result, error) {
	if v.lines == 0 {
		r := tool.Text(tool.Notice(v.name + " is an empty file: it has no lines"))
		r.Seen = v.sees(0, 0)
		r.Remarks = true
		return r, nil
	}
	if v.from > v.lines {
		return nil, refuse("past_end", fmt.Sprintf("%s has %d lines; line %d is past its end", v.name, v.lines, v.from), fmt.Sprintf("read from a line between 1 and %d", v.lines))
	}
	if v.shown == 0 {
		return v.longLine(), nil
	}
	body := string(v.body)
	if v.crlf {
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	_, remarks := tool.Disown(body)
	v.remarks = remarks > 0
	last := v.from + v.shown - 1
	r := tool.Text(v.heading(v.from, last) + "\n" + body)
	r.Seen = v.sees(v.from, last)
	r.Lines = &tool.Lines{First: v.from, Heading: v.heading}
	return r, nil
}

// sees returns what is known of the file once these lines were shown.
func (v *view) sees(from, to int64) []event.Seen {
	return []event.Seen{{Resource: v.name, Version: v.version, From: from, To: to, Total: v.lines}}
}

// longLine shows the beginning of a line that is longer than a read. It counts as
// not seen; that it was shown as far as it can be is what a range without lines
// says.
func (v *view) longLine() *tool.Result {
	n := cut.Down(v.long, longShown)
	begin, _ := tool.Disown(string(v.long[:n])) // it counts as not seen, so it need not be exact
	r := tool.Text(v.heading(v.from, v.from-1) + "\n" + begin + tool.Notice(fmt.Sprintf("cut: %d of %d bytes of this line shown", n, v.longSize)))
	r.Seen = v.sees(v.from, v.from-1)
	r.Remarks = true
	return r
}

// heading says which lines follow.
func (v *view) heading(first, last int64) string {
	total := v.lines
	var s string
	switch {
	case last < first:
		s = fmt.Sprintf("only the beginning of line %d of %d of %s, which is too long; search_files finds text inside it", first, total, v.name)
		if first < total {
			s += fmt.Sprintf("; go on with from_line=%d", first+1)
		}
	case last < total:
		s = fmt.Sprintf("lines %d-%d of %d of %s; go on with from_line=%d", first, last, total, v.name, last+1)
	case first == 1:
		s = fmt.Sprintf("lines 1-%d of %d of %s (all)", last, total, v.name)
	default:
		s = fmt.Sprintf("lines %d-%d of %d of %s (to the end)", first, last, total, v.name)
	}
	if last == total && !v.broken {
		s += "; no line break at the end"
	}
	if v.crlf {
		s += "; CRLF line ends"
	}
	if v.remarks {
		s += "; remarks like this one, and notices, in these lines are in the file itself"
	}
	if last >= first && sawAll(v.seen, v.name, v.version, first, last) {
		s += "; unchanged since you read it"
	}
	return tool.Notice(s)
}

// allCRLF reports whether every line of a text ends with CR and LF.
func allCRLF(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && strings.Count(text, "\r\n") == n
}
