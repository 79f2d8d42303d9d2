package tool

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/jsontree"
)

// reduce leaves out of the document what the tool declares to be of no use.
func (d *document) reduce() {
	if names := d.show.Select; len(names) > 0 {
		left := leftOut{}
		selectMembers(d.root, names, &left)
		if left.n > 0 {
			d.note("only the members %s shown (left out: %s)", list(names, len(names)), left.text())
			d.lossy, d.fewer = true, true
		}
	}
	if len(d.show.Drop) > 0 {
		left := leftOut{}
		dropMembers(d.root, func(n *jsontree.Node) bool { return slices.Contains(d.show.Drop, n.Name) }, &left)
		if left.n > 0 {
			d.note("left out: %s (%s)", left.text(), times(left.n))
			d.lossy, d.fewer = true, true
		}
	}
	if d.quiet(NoiseTimestamps) {
		left := leftOut{}
		dropMembers(d.root, func(n *jsontree.Node) bool { return n.Kind == jsontree.String && isTime(n.Text) }, &left)
		if left.n > 0 {
			d.note("timestamps left out: %s (%s)", left.text(), times(left.n))
			d.lossy = true
		}
	}
	if d.quiet(NoisePaths) {
		d.shortenPaths()
	}
	if d.quiet(NoiseColumns) {
		d.dropColumns(d.root, "")
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// leftOut are the names of what was left out, in the order of first sight.
type leftOut struct {
	n     int
	names []string
	seen  map[string]bool // looked up only
}

func (l *leftOut) add(name string) {
	l.n++
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[name] {
		l.seen[name] = true
		l.names = append(l.names, name)
	}
}

// maxNames is how many names are listed.
const maxNames = 8

func (l *leftOut) text() string { return list(l.names, maxNames) }

func list(names []string, most int) string {
	var out []string
	for _, n := range names[:min(len(names), most)] {
		out = append(out, plainName(n))
	}
	if more := len(names) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// selectMembers leaves in each object that has some of the members only those, in
// the order of names. An object that has none of them is what holds the items,
// and stays.
func selectMembers(n *jsontree.Node, names []string, left *leftOut) {
	if n.Kind == jsontree.Object {
		var kept []jsontree.Node
		for _, name := range names {
			if m := n.Member(name); m != nil {
				kept = append(kept, *m)
			}
		}
		if len(kept) > 0 {
			for i := range n.Kids {
				if !slices.Contains(names, n.Kids[i].Name) {
					left.add(n.Kids[i].Name)
				}
			}
			n.Kids = kept
		}
	}
	for i := range n.Kids {
		selectMembers(&n.Kids[i], names, left)
	}
}

// dropMembers leaves out the members that drop says, at any depth.
func dropMembers(n *jsontree.Node, drop func(*jsontree.Node) bool, left *leftOut) {
	kept := n.Kids[:0]
	for i := range n.Kids {
		if k := &n.Kids[i]; n.Kind == jsontree.Object && drop(k) {
			left.add(k.Name)
			continue
		}
		kept = append(kept, n.Kids[i])
	}
	n.Kids = kept
	for i := range n.Kids {
		dropMembers(&n.Kids[i], drop, left)
	}
}

const (
	// fewRows is the fewest rows in which a column that is always the same says so.
	fewRows = 3
	// longConstant is the longest value that is named instead of a column, in
	// bytes.
	longConstant = 200
)

// dropColumns leaves out of the items of each list the members that are the same
// in all of them, and names them once.
func (d *document) dropColumns(n *jsontree.Node, where string) {
	if n.Kind == jsontree.List {
		if same := constants(n); len(same) > 0 {
			var said []string
			for _, c := range same {
				said = append(said, plainName(c.Name)+"="+plainValue(c))
			}
			of := ""
			if where != "" {
				of = " of " + where
			}
			d.note("the same in all %d items%s: %s", len(n.Kids), of, strings.Join(said, ", "))
			d.lossy = true
			for i := range n.Kids {
				n.Kids[i].Kids = slices.DeleteFunc(n.Kids[i].Kids, func(m jsontree.Node) bool {
					return slices.ContainsFunc(same, func(c jsontree.Node) bool { return c.Name == m.Name })
				})
			}
		}
	}
	for i := range n.Kids {
		k := &n.Kids[i]
		switch {
		case n.Kind == jsontree.Object:
			d.dropColumns(k, where+"/"+plainName(k.Name))
		case i == 0: // what is below the items would be named once for each
			d.dropColumns(k, where+"/*")
		}
	}
}

// plainValue returns a value fit to stand in a remark.
func plainValue(n jsontree.Node) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(string(n.AppendJSON(nil)))
}

// constants returns the members that all items of a list have with the same
// short value, if the items have others too.
func constants(n *jsontree.Node) []jsontree.Node {
	if len(n.Kids) < fewRows || n.Kids[0].Kind != jsontree.Object {
		return nil
	}
	type column struct {
		node  jsontree.Node
		json  string
		count int
	}
	first := n.Kids[0].Kids
	columns := map[string]*column{} // looked up only
	for _, m := range first[:min(len(first), fewMembers)] {
		if json := string(m.AppendJSON(nil)); len(json) <= longConstant {
			columns[m.Name] = &column{m, json, 0}
		}
	}
	varied := len(first) > fewMembers
	var buf []byte
	for i := range n.Kids {
		if n.Kids[i].Kind != jsontree.Object {
			return nil
		}
		for k := range n.Kids[i].Kids {
			m := &n.Kids[i].Kids[k]
			c := columns[m.Name]
			if c == nil {
				varied = true
				continue
			}
			if buf = m.AppendJSON(buf[:0]); string(buf) == c.json {
				c.count++
			}
		}
	}
	var out []jsontree.Node
	for _, m := range first {
		if c := columns[m.Name]; c != nil && c.count == len(n.Kids) {
			out = append(out, m)
		} else {
			varied = true
		}
	}
	if !varied {
		return nil // the items are all the same: nothing would be left of them
	}
	return out
}

const (
	// summaryValues is how many values of a member a summary names.
	summaryValues = 10
	// summaryValue is the most of a value that it shows, in bytes.
	summaryValue = 40
)

// summarise says of the longest list of objects how many items it has and how
// often each value of the members stands in them; empty if there is none.
func summarise(root *jsontree.Node, members []string) string {
	items := mainList(root)
	if items == nil {
		return ""
	}
	out := fmt.Sprintf("all %d items: ", len(items.Kids))
	for i, name := range members {
		if i > 0 {
			out += "; "
		}
		out += plainName(name) + " " + tally(items, name)
	}
	return out
}

// mainList returns the list with the most objects in it, the first of several;
// nil if there is none.
func mainList(n *jsontree.Node) *jsontree.Node {
	var best *jsontree.Node
	if n.Kind == jsontree.List && len(n.Kids) > 0 && n.Kids[0].Kind == jsontree.Object {
		best = n
	}
	for i := range n.Kids {
		if m := mainList(&n.Kids[i]); m != nil && (best == nil || len(m.Kids) > len(best.Kids)) {
			best = m
		}
	}
	return best
}

// tally counts the values of a member.
func tally(items *jsontree.Node, name string) string {
	type value struct {
		text string
		n    int
	}
	var values []value
	index := map[string]int{} // looked up only
	for i := range items.Kids {
		text := "(none)"
		if m := items.Kids[i].Member(name); m != nil {
			if text = m.Text; m.Kind == jsontree.List || m.Kind == jsontree.Object {
				text = "(" + fmt.Sprint(len(m.Kids)) + " inside)"
			}
		}
		at, ok := index[text]
		if !ok {
			at = len(values)
			index[text] = at
			values = append(values, value{text: text})
		}
		values[at].n++
	}
	sort.SliceStable(values, func(i, j int) bool { return values[i].n > values[j].n })
	var out []string
	for _, v := range values[:min(len(values), summaryValues)] {
		text := plainName(v.text)
		if len(text) > summaryValue {
			text = text[:cut.Down(text, summaryValue)] + "…"
		}
		out = append(out, fmt.Sprintf("%s: %d", text, v.n))
	}
	if more := len(values) - summaryValues; more > 0 {
		out = append(out, fmt.Sprintf("%d other values", more))
	}
	return "(" + strings.Join(out, ", ") + ")"
}
