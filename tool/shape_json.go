package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/jsontree"
)

// document is a result that is one JSON object or list.
type document struct {
	*shaper
	root *jsontree.Node
	show *event.ShowSpec
	// summary of the longest list, for the case that not all of it is shown.
	summary string
	// fewer: members were left out as declared.
	fewer bool
}

// plan bounds what is shown of a document: bytes of a string, items of a list,
// members of an object.
type plan struct{ text, items, members int }

const (
	// fewMembers is how many members of an object are shown if anything else can be
	// left out: it is a record rather than a list.
	fewMembers = 40
	// enoughItems is how many items of a list are better than fewer longer ones.
	enoughItems = 5
	// unbounded is more than any document has.
	unbounded = jsontree.MaxBytes
)

// textBounds are how short strings are made, one after the other, until enough
// items fit.
var textBounds = []int{unbounded, 16_000, 8000, 4000, 2000, 800, 300, 120}

// shape does to the document what is declared, and then what the limit demands.
// It fails where that is not enough: a document whose very names are too long.
func (d *document) shape(mine bool) (string, bool) {
	if !mine {
		d.disowned(disownAll(d.root))
	}
	if len(d.show.Summarise) > 0 {
		d.summary = summarise(d.root, d.show.Summarise)
	}
	d.reduce()
	items := int(d.show.Limit)
	if items <= 0 {
		items = unbounded
	}
	first := unbounded
	if d.show.Field > 0 {
		first = int(d.show.Field)
	}
	longest := longest(d.root, items)
	best, most, tried := plan{}, 0, -1
	for _, bound := range textBounds {
		if bound = min(bound, first); bound == tried {
			continue
		}
		tried = bound
		with := func(k int) plan { return plan{bound, min(k, items), max(k, fewMembers)} }
		fits := func(k int) bool { return d.fits(d.compose(with(k))) }
		if fits(longest) {
			return d.compose(with(longest)), true
		}
		k := d.most(longest, fits)
		if k > most {
			most, best = k, with(k)
		}
		if k >= enoughItems {
			break
		}
	}
	if most == 0 { // records, too, have to be shown in part
		with := func(k int) plan { return plan{tried, min(k, items), k} }
		if most = d.most(fewMembers, func(k int) bool { return d.fits(d.compose(with(k))) }); most == 0 {
			return "", false
		}
		best = with(most)
	}
	return d.compose(best), true
}

// longest returns how many items the longest list has, at most items, or members
// the longest object that has many.
func longest(n *jsontree.Node, items int) int {
	most := 0
	switch {
	case n.Kind == jsontree.List:
		most = min(len(n.Kids), items)
	case len(n.Kids) > fewMembers:
		most = len(n.Kids)
	}
	for i := range n.Kids {
		most = max(most, longest(&n.Kids[i], items))
	}
	return most
}

// compose returns the document as the plan shows it, with its first line.
func (d *document) compose(p plan) string {
	w := writer{plan: p}
	w.value(d.root)
	if len(w.lists) == 0 && len(w.texts) == 0 {
		switch {
		case len(d.notes) == 0:
			return string(w.out)
		case d.fewer && d.readable():
			return d.remarkAnd("for all of it call "+ReadArtifact+" with "+artifactArgs(d.Call, rest{})) + "\n" + string(w.out)
		}
		return d.remark() + "\n" + string(w.out)
	}
	d.lossy = true
	clauses := w.clauses()
	clauses = append(clauses, fmt.Sprintf("%d bytes in all", len(d.full)))
	if len(w.lists) > 0 {
		clauses = append(clauses, d.summary)
	}
	rests := w.rests()
	return d.remarkAnd(d.more(rests[0], rests[1:]...), clauses...) + "\n" + string(w.out)
}

// writer writes a document in part, and keeps what it leaves out.
type writer struct {
	plan
	out   []byte
	path  []step
	lists []cutList
	texts []cutText
	index map[string]int // of both by place; looked up only
}

// at returns the index of the place where the writer is among n known ones, n if
// it is new.
func (w *writer) at(kind, where string, n int) int {
	if w.index == nil {
		w.index = map[string]int{}
	}
	i, ok := w.index[kind+where]
	if !ok {
		i = n
		w.index[kind+where] = n
	}
	return i
}

// step is one step of the way to a value: a member's name, or an item's index.
type step struct {
	name  string
	index int // -1 for a member
}

// cutList are the lists (or objects with many members) at one place of a
// document, or at the same place of each item, that are not shown whole.
type cutList struct {
	where, pointer string
	object, top    bool
	lists          int
	// shown of total, which are those of the longest.
	shown, total int
}

// cutText are such strings.
type cutText struct {
	where, pointer string
	texts, longest int
}

func (w *writer) value(n *jsontree.Node) {
	switch n.Kind {
	case jsontree.Object:
		w.kids(n, w.members, '{', '}')
	case jsontree.List:
		w.kids(n, w.items, '[', ']')
	case jsontree.String:
		w.text(n.Text)
	default:
		w.out = n.AppendJSON(w.out)
	}
}

func (w *writer) kids(n *jsontree.Node, most int, open, end byte) {
	object := n.Kind == jsontree.Object
	shown := min(most, len(n.Kids))
	if shown < len(n.Kids) {
		w.leaveItems(object, shown, len(n.Kids))
	}
	w.out = append(w.out, open)
	w.path = append(w.path, step{})
	for i := range shown {
		kid := &n.Kids[i]
		if i > 0 {
			w.out = append(w.out, ',')
		}
		at := step{index: i}
		if object {
			at = step{kid.Name, -1}
			w.out = append(jsontree.AppendString(w.out, kid.Name), ':')
		}
		w.path[len(w.path)-1] = at
		w.value(kid)
	}
	w.path = w.path[:len(w.path)-1]
	w.out = append(w.out, end)
}

// markBytes is about what the mark inside a shortened string has itself.
const markBytes = 40

func (w *writer) text(s string) {
	if len(s) <= w.plan.text+markBytes {
		w.out = jsontree.AppendString(w.out, s)
		return
	}
	to := cut.Down(s, w.plan.text)
	w.out = jsontree.AppendString(w.out, s[:to]+Notice(fmt.Sprintf("%d of %d bytes", to, len(s))))
	where := w.where()
	i := w.at("text", where, len(w.texts))
	if i == len(w.texts) {
		w.texts = append(w.texts, cutText{where: where, pointer: w.pointer()})
	}
	w.texts[i].texts++
	w.texts[i].longest = max(w.texts[i].longest, len(s))
}

func (w *writer) leaveItems(object bool, shown, total int) {
	where := w.where()
	kind := "list"
	if object {
		kind = "object"
	}
	i := w.at(kind, where, len(w.lists))
	if i == len(w.lists) {
		w.lists = append(w.lists, cutList{where: where, pointer: w.pointer(), object: object, top: len(w.path) <= 1})
	}
	c := &w.lists[i]
	c.lists++
	if total > c.total {
		c.shown, c.total = shown, total
	}
}

// pointer returns the JSON pointer to where the writer is.
func (w *writer) pointer() string {
	p := ""
	for _, s := range w.path {
		if s.index >= 0 {
			p += "/" + strconv.Itoa(s.index)
		} else {
			p = jsontree.Step(p, s.name)
		}
	}
	return p
}

// where returns the pointer with * for each index, fit to stand in a remark.
func (w *writer) where() string {
	p := ""
	for _, s := range w.path {
		if s.index >= 0 {
			p += "/*"
		} else {
			p += "/" + plainName(s.name)
		}
	}
	return p
}

// maxNameShown is the most of a member's name that stands in a remark, in bytes.
const maxNameShown = 60

// plainName returns a name without what could end a remark or a line.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == '[' || r == ']' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			return '_'
		}
		return r
	}, name)
	if len(name) > maxNameShown {
		name = name[:cut.Down(name, maxNameShown)] + "…"
	}
	return name
}

// maxClauses is how many places are named at which lists, and strings, are cut.
const maxClauses = 5

// clauses say what is not shown.
func (w *writer) clauses() []string {
	var out []string
	for _, c := range w.lists[:min(len(w.lists), maxClauses)] {
		what, of := "items", ""
		if c.object {
			what = "members"
		}
		if c.where != "" {
			of = " of " + c.where
		}
		if c.lists == 1 {
			out = append(out, fmt.Sprintf("%s 1-%d of %d%s shown", what, c.shown, c.total, of))
		} else {
			out = append(out, fmt.Sprintf("the first %d %s shown of each of %d lists%s (the longest has %d)", c.shown, what, c.lists, strings.Replace(of, " of ", " ", 1), c.total))
		}
	}
	if more := len(w.lists) - maxClauses; more > 0 {
		out = append(out, fmt.Sprintf("lists at %d more places shown in part", more))
	}
	for _, c := range w.texts[:min(len(w.texts), maxClauses)] {
		if c.texts == 1 {
			out = append(out, fmt.Sprintf("%s shortened, of %d bytes", c.where, c.longest))
		} else {
			out = append(out, fmt.Sprintf("%s shortened in %d items, of up to %d bytes", c.where, c.texts, c.longest))
		}
	}
	if more := len(w.texts) - maxClauses; more > 0 {
		out = append(out, fmt.Sprintf("strings at %d more places shortened", more))
	}
	return out
}

// maxRests is how many ways to what is not shown are named.
const maxRests = 4

// rests lead to what is not shown: first to the list of which most is missing,
// and to other lists and strings that stand alone at their places; where no list
// is cut, to the longest string before the others.
func (w *writer) rests() []rest {
	lists := slices.Clone(w.lists)
	slices.SortStableFunc(lists, func(a, b cutList) int { return cmp.Compare(b.total-b.shown, a.total-a.shown) })
	texts := slices.Clone(w.texts)
	slices.SortStableFunc(texts, func(a, b cutText) int { return cmp.Compare(b.longest, a.longest) })
	var out []rest
	for _, c := range lists {
		if len(out) > 0 && c.lists > 1 {
			continue // one of many: the clause names them
		}
		r := rest{list: true, pointer: c.pointer, from: c.shown + 1}
		if c.top && !c.object && c.lists == 1 {
			r.shown, r.total = c.shown, c.total // what the tool's own paging counts
		}
		out = append(out, r)
	}
	for _, c := range texts {
		if len(out) == 0 || c.texts == 1 {
			out = append(out, rest{pointer: c.pointer})
		}
	}
	return out[:min(len(out), maxRests)]
}

// disownAll marks remarks in all names and strings as somebody else's.
func disownAll(n *jsontree.Node) int {
	var name, text int
	n.Name, name = Disown(n.Name)
	if n.Kind == jsontree.String {
		n.Text, text = Disown(n.Text)
	}
	sum := name + text
	for i := range n.Kids {
		sum += disownAll(&n.Kids[i])
	}
	return sum
}
