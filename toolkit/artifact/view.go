package artifact

import (
	"fmt"
	"strings"

	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/tool"
)

const (
	// maxShown is how much of a result one call returns, in bytes: more than
	// [tool.Shape] shows, so that the limit of the result, in tokens, decides how
	// long a page is.
	maxShown = 32 << 10
	// longValue is the longest item or member that is shown among others, in bytes;
	// where only a few are asked for, they may have fewShown together.
	longValue = 1500
	fewShown  = 6000
	// maxMatches bounds what a search shows.
	maxMatches = 200
	// excerpt is how much of a line is shown around what was found in it.
	excerpt = 240
)

// view shows a part of a result: units that are lines, items or members.
type view struct {
	args
	name string
	// missing says what of the result was not kept; its remarks are Rein's then.
	missing string
	unit    string // what a unit is called, in the plural
	units   []string
	// at is the path of a unit, for those that have one.
	at func(i int) string
	// paths: units are values of a document, and the whole of a long one has its
	// own path.
	paths bool
	// found are what a search has found, if there was one.
	found func(visit func(where, text string))
}

// text shows lines.
func (v *view) text(text string) {
	text = readable(text)
	v.unit = "lines"
	v.units = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		v.units = nil
	}
}

// document shows a part of a JSON document: the items of a list and the members
// of an object one a line, the text of a string as lines, anything else as it is.
func (v *view) document(n *jsontree.Node) {
	switch n.Kind {
	case jsontree.String:
		v.text(n.Text)
		return
	case jsontree.Literal:
		v.text(n.Text)
		return
	case jsontree.List:
		v.unit = "items"
	default:
		v.unit = "members"
	}
	v.paths = true
	v.at = func(i int) string {
		if n.Kind == jsontree.List {
			return fmt.Sprintf("%s/%d", v.Path, i)
		}
		return jsontree.Step(v.Path, n.Kids[i].Name)
	}
	if v.Search != "" {
		v.found = func(visit func(where, text string)) {
			first := int(max(v.From, 1)) - 1
			for i := first; i < first+v.wanted(len(n.Kids)); i++ {
				leaves(&n.Kids[i], v.at(i), visit)
			}
		}
		return
	}
	v.units = make([]string, len(n.Kids))
	most := max(longValue, fewShown/max(1, v.wanted(len(n.Kids))))
	for i := range n.Kids {
		v.units[i] = v.value(&n.Kids[i], i, n.Kind == jsontree.Object, most)
	}
}

// wanted returns how many of total units are asked for.
func (v *view) wanted(total int) int {
	to := total
	if v.To > 0 {
		to = min(to, int(v.To))
	}
	return to - int(max(v.From, 1)) + 1
}

// value returns a value as one line; one that is longer than most bytes is
// described.
func (v *view) value(n *jsontree.Node, i int, member bool, most int) string {
	var out []byte
	if member {
		out = append(jsontree.AppendString(out, n.Name), ": "...)
	}
	full := n.AppendJSON(nil)
	if len(full) <= most {
		return disowned(string(append(out, full...)))
	}
	what := fmt.Sprintf("a text of %d bytes", len(n.Text))
	switch n.Kind {
	case jsontree.List:
		what = fmt.Sprintf("a list of %d items, %d bytes", len(n.Kids), len(full))
	case jsontree.Object:
		what = fmt.Sprintf("an object of %d members, %d bytes", len(n.Kids), len(full))
	}
	return disowned(string(out)) + tool.Notice(what+"; read it with path="+clean(v.at(i)))
}

// leaves calls visit with each value that is no list or object, its path and its
// text.
func leaves(n *jsontree.Node, path string, visit func(where, text string)) {
	if n.Kind == jsontree.String || n.Kind == jsontree.Literal {
		visit(path, n.Text)
	}
	for i := range n.Kids {
		step := fmt.Sprint(i)
		if n.Kind == jsontree.Object {
			step = n.Kids[i].Name
		}
		leaves(&n.Kids[i], jsontree.Step(path, step), visit)
	}
}

func (v *view) result() (*tool.Result, error) {
	switch {
	case v.found != nil:
		return v.searchDocument(), nil
	case v.Search != "":
		return v.searchLines(), nil
	}
	total := int64(len(v.units))
	from := max(v.From, 1)
	if total == 0 {
		r := tool.Text(tool.Notice(v.subject() + " is empty: it has no " + v.unit))
		r.Remarks = true
		return r, nil
	}
	if from > total {
		return nil, refuse("past_end", fmt.Sprintf("%s has %d %s; %d is past its end", v.subject(), total, v.unit, from), fmt.Sprintf("read from a number between 1 and %d", total))
	}
	to := total
	if v.To > 0 {
		to = min(v.To, total)
	}
	if v.Byte > 0 || len(v.units[from-1]) >= maxShown {
		return v.inLine(from, to)
	}
	var out strings.Builder
	last := from - 1
	for ; last < to && out.Len()+len(v.units[last]) < maxShown; last++ {
		out.WriteString("\n" + v.units[last])
	}
	body := out.String()
	foreign := v.foreign(body)
	heading := func(first, last int64) string { return v.heading(first, last, to, foreign) }
	r := tool.Text(heading(from, last) + body)
	r.Lines = &tool.Lines{First: from, Heading: heading}
	if !v.paths { // a value has a path by which to read it
		r.Lines.Piece = func(n int64) string { return v.pieceHeading(from, 0, n, to, foreign) }
	}
	return r, nil
}

// foreign reports whether a part of a text holds what looks like a remark of
// Rein's and is none. Values are marked already.
func (v *view) foreign(body string) bool {
	if v.paths || v.missing != "" {
		return false
	}
	_, n := tool.Disown(body)
	return n > 0
}

// subject names what is read.
func (v *view) subject() string {
	if v.Path == "" {
		return v.name
	}
	return clean(v.Path) + " in " + v.name
}

// heading says which units follow. wanted is the last one that was asked for.
func (v *view) heading(first, last, wanted int64, foreign bool) string {
	total := int64(len(v.units))
	var s string
	switch {
	case last < first && v.paths:
		s = fmt.Sprintf("only the beginning of number %d of %d %s of %s, which is too long; read it with path=%s", first, total, v.unit, v.subject(), clean(v.at(int(first-1))))
		if first < wanted {
			s += ", then" + strings.TrimPrefix(v.goOn(first+1, 0, wanted), ";")
		}
	case last < wanted:
		s = fmt.Sprintf("%s %d-%d of %d of %s%s", v.unit, first, last, total, v.subject(), v.goOn(last+1, 0, wanted))
	case first == 1 && last == total:
		s = fmt.Sprintf("%s 1-%d of %d of %s (all)", v.unit, last, total, v.subject())
	case last == total:
		s = fmt.Sprintf("%s %d-%d of %d of %s (to the end)", v.unit, first, last, total, v.subject())
	default:
		s = fmt.Sprintf("%s %d-%d of %d of %s", v.unit, first, last, total, v.subject())
	}
	return tool.Notice(s + foreignWords(foreign))
}

func foreignWords(foreign bool) string {
	if foreign {
		return "; remarks like this one, and notices, in these lines are in the result itself"
	}
	return ""
}

// goOn says with which arguments to go on, given the last unit that was asked for.
func (v *view) goOn(from, at, wanted int64) string {
	s := fmt.Sprintf("; go on with from=%d", from)
	if at > 0 {
		s += fmt.Sprintf(", byte=%d", at)
	}
	if wanted < int64(len(v.units)) {
		s += fmt.Sprintf(", to=%d", wanted)
	}
	return s
}

// inLine shows one line, or item or member as it stands in a line, from a byte on:
// as much of it as the limit of the result lets.
func (v *view) inLine(line, wanted int64) (*tool.Result, error) {
	text := v.units[line-1]
	at := int(max(v.Byte, 1)) - 1
	if at > 0 && at >= len(text) {
		return nil, refuse("past_end", fmt.Sprintf("%s %d of %s has %d bytes; byte %d is past its end", v.one(), line, v.subject(), len(text), at+1), fmt.Sprintf("begin at a byte between 1 and %d", max(1, len(text))))
	}
	at = cut.Down(text, at)
	body := head(text[at:], maxShown)
	foreign := v.foreign(body)
	piece := func(n int64) string { return v.pieceHeading(line, at, n, wanted, foreign) }
	r := tool.Text(piece(int64(len(body))) + "\n" + body)
	r.Lines = &tool.Lines{First: line, Heading: func(int64, int64) string { return piece(int64(len(body))) }, Piece: piece}
	return r, nil
}

// pieceHeading says that n bytes of a line follow, those after the first at.
func (v *view) pieceHeading(line int64, at int, n, wanted int64, foreign bool) string {
	total, end := int64(len(v.units[line-1])), int64(at)+n
	s := fmt.Sprintf("bytes %d-%d of %d of %s %d of %d of %s", at+1, end, total, v.one(), line, len(v.units), v.subject())
	switch {
	case end < total:
		s += v.goOn(line, end+1, wanted)
	case line < wanted:
		s += v.goOn(line+1, 0, wanted)
	case line == int64(len(v.units)):
		s += " (to the end)"
	}
	return tool.Notice(s + foreignWords(foreign))
}

// one is what a unit is called.
func (v *view) one() string { return strings.TrimSuffix(v.unit, "s") }

// clean returns a text fit to stand in a remark.
func clean(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", "\n", "_", "\r", "_").Replace(clip(s, 200))
}

// marked is disowned for what stands in a text whose remarks may be Rein's.
func (v *view) marked(s string) string {
	if v.missing != "" {
		return s
	}
	return disowned(s)
}

// disowned marks what looks like a remark of Rein's as somebody else's.
func disowned(s string) string {
	s, _ = tool.Disown(s)
	return s
}
