package anomaly

import (
	"crypto/sha256"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/trace"
)

// maxActs is how many things that were acted upon are remembered.
const maxActs = 4096

// acts are the calls to be done once that have taken effect, by what they act on.
type acts struct {
	seen map[actKey]*act // looked up only
}

type actKey struct {
	tool string
	on   [sha256.Size]byte
}

type act struct {
	first place
	hash  event.Hash
	n     int64
	at    int // its anomaly, if n > 1
}

// forget forgets what a tool has done: some of it was taken back.
func (a *acts) forget(tool string) {
	kept := map[actKey]*act{}
	for k, v := range a.seen { // order: what is kept does not depend on it
		if k.tool != tool {
			kept[k] = v
		}
	}
	a.seen = kept
}

// acted looks at a call that has taken effect.
func (f *Fold) acted(c *call) {
	if !c.once() {
		return
	}
	if len(c.missing) > 0 {
		f.report(UnsupportedArgument, trace.Warning, c.place, c.id, "%s has taken effect with %s, which stands in nothing that the model was shown",
			c.tool.name, strings.Join(c.missing, ", "))
	}
	root, _, ok := jsontree.Parse(c.args)
	if !ok || root.Kind != jsontree.Object {
		return
	}
	on, what := target(c.tool, root)
	if what == "" {
		return
	}
	if f.acts.seen == nil || len(f.acts.seen) >= maxActs {
		f.acts.seen = map[actKey]*act{}
	}
	key := actKey{c.tool.name, on}
	a := f.acts.seen[key]
	if a == nil {
		f.acts.seen[key] = &act{first: c.place, hash: c.hash, n: 1, at: -1}
		return
	}
	a.n++
	how := "with other arguments"
	if a.hash == c.hash {
		how = "with the same arguments"
	}
	if a.at >= 0 {
		k := &f.found[a.at]
		k.Text = c.tool.name + " has taken effect " + plural(a.n, "time") + " on " + what + ", first in step " + number(a.first.step) + ", last in step " + number(c.step)
		return
	}
	a.at = f.report(DoneAgain, trace.Warning, c.place, c.id, "%s has taken effect again on %s, %s: first in step %s, now in step %s",
		c.tool.name, what, how, number(a.first.step), number(c.step))
}

// target returns what a call acts on, and that in words; empty if it is not known. It
// is what the tool declares as its resources or key; else the ids of what its name
// speaks of (reservation_id of update_reservation); else, where there are at least
// two, all texts at the top of the arguments: then only lists, objects, numbers and
// switches differ from one call to the next.
func target(t *toolState, root *jsontree.Node) ([sha256.Size]byte, string) {
	var names []string
	if t.spec != nil {
		if names = t.spec.Resources; len(names) == 0 {
			names = t.spec.KeyFields
		}
	}
	h := sha256.New()
	var said []string
	take := func(n *jsontree.Node) {
		h.Write([]byte(n.Name + "\x00" + n.Text + "\x00"))
		said = append(said, n.Name+" "+clip(n.Text))
	}
	for i := range root.Kids {
		n := &root.Kids[i]
		scalar := n.Kind == jsontree.String || n.Kind == jsontree.Literal
		if scalar && n.Text != "" && (slices.Contains(names, n.Name) || len(names) == 0 && names == nil && identifies(t, n.Name)) {
			take(n)
		}
	}
	if len(said) == 0 {
		for i := range root.Kids {
			if n := &root.Kids[i]; n.Kind == jsontree.String && n.Text != "" {
				take(n)
			}
		}
		if len(said) < 2 || len(said) == len(root.Kids) {
			return [sha256.Size]byte{}, ""
		}
	}
	if len(said) > 3 {
		said = append(said[:3:3], "…")
	}
	return [sha256.Size]byte(h.Sum(nil)), strings.Join(said, ", ")
}

// identifies reports whether an argument is the id of what the tool's name speaks of.
func identifies(t *toolState, arg string) bool {
	words := nameWords(arg)
	if len(words) < 2 || words[len(words)-1] != "id" && words[len(words)-1] != "number" {
		return false
	}
	for _, w := range words[:len(words)-1] {
		for _, x := range t.words {
			if x == w || x == w+"s" {
				return true
			}
		}
	}
	return false
}
