package gemini

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// How several schemas that hold at once become one.

// flatten returns n with references followed and allOf merged into it. again is
// a reference that was not followed, because it leads round in a circle.
func (c *converter) flatten(n *node, depth int) (flat *node, again string) {
	c.left--
	if c.left < 0 || depth > maxNesting {
		return n.without("$ref", "allOf"), ""
	}
	var parts []*node
	if ref := n.get("$ref").str(); ref != "" {
		target := c.resolve(ref)
		if count(c.refs, ref) > 1 {
			again = ref
		} else if target != nil {
			c.refs = append(c.refs, ref)
			parts = append(parts, target)
		}
	}
	parts = append(parts, n.get("allOf").list()...)
	flat = n.without("$ref", "allOf")
	for _, p := range parts {
		if !p.isObject() {
			continue
		}
		f, round := c.flatten(p, depth+1)
		if round != "" {
			again = round
		}
		flat = merge(flat, f)
	}
	return flat, again
}

func count(list []string, s string) int {
	n := 0
	for _, one := range list {
		if one == s {
			n++
		}
	}
	return n
}

// resolve returns the schema that a reference names; nil if it is not in the
// document.
func (c *converter) resolve(ref string) *node {
	fragment, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at := c.root
	for token := range jsontext.Pointer(pointer).Tokens() {
		if at.isArray() {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at.items) {
				return nil
			}
			at = at.items[i]
		} else if at = at.get(token); at == nil {
			return nil
		}
	}
	return at
}

// merge returns a schema that says what a and b say; where they contradict each
// other, a.
func merge(a, b *node) *node {
	for i, name := range b.names {
		mine, other := a.get(name), b.items[i]
		switch {
		case mine == nil:
			a = a.with(name, other)
		case name == "properties" && mine.isObject() && other.isObject():
			mine = &node{raw: mine.raw, names: slices.Clone(mine.names), items: slices.Clone(mine.items)}
			at := make(map[string]int, len(mine.names))
			for j, p := range mine.names {
				at[p] = j
			}
			for j, p := range other.names {
				if k, both := at[p]; both {
					all := &node{raw: jsontext.Value("["), items: []*node{mine.items[k], other.items[j]}}
					mine.items[k] = &node{raw: jsontext.Value("{"), names: []string{"allOf"}, items: []*node{all}}
				} else {
					mine.names, mine.items = append(mine.names, p), append(mine.items, other.items[j])
				}
			}
			a = a.with(name, mine)
		case name == "required" && mine.isArray() && other.isArray():
			both := &node{raw: mine.raw, items: slices.Clone(mine.items)}
			have := map[string]bool{}
			for _, r := range mine.items {
				have[r.text] = true
			}
			for _, r := range other.items {
				if !have[r.text] {
					both.items = append(both.items, r)
				}
			}
			a = a.with(name, both)
		case name == "enum" && mine.isArray() && other.isArray():
			both, have := &node{raw: mine.raw}, map[string]bool{}
			for _, v := range other.items {
				have[v.json()] = true
			}
			for _, v := range mine.items {
				if have[v.json()] {
					both.items = append(both.items, v)
				}
			}
			if len(both.items) > 0 {
				a = a.with(name, both)
			}
		case name == "type":
			if narrow := narrower(mine, other); narrow != nil {
				a = a.with(name, narrow)
			}
		}
	}
	return a
}

// narrower returns the types that are in both a and b, nil if there is none.
func narrower(a, b *node) *node {
	list := func(n *node) []string { return append(n.strings(), n.str()) }
	in := list(b)
	var both []*node
	for _, s := range list(a) {
		switch {
		case s == "":
			continue
		case slices.Contains(in, s), s == "integer" && slices.Contains(in, "number"):
		case s == "number" && slices.Contains(in, "integer"):
			s = "integer"
		default:
			continue
		}
		both = append(both, &node{raw: jsontext.Value(wire.Quote(nil, s)), text: s})
	}
	switch len(both) {
	case 0:
		return nil
	case 1:
		return both[0]
	}
	return &node{raw: jsontext.Value("["), items: both}
}
