package schema

import (
	"bytes"
	"slices"
)

// A change is a node as it was before a conversion.
type change struct {
	at  int32
	old node
}

// A mark is a state that the checker can go back to.
type mark struct{ undo, repairs, nodes, buf int }

func (c *checker) mark() mark {
	return mark{len(c.undo), len(c.repairs), len(c.nodes), len(c.buf)}
}

func (c *checker) back(m mark) {
	for i := len(c.undo) - 1; i >= m.undo; i-- {
		c.nodes[c.undo[i].at] = c.undo[i].old
	}
	c.undo, c.repairs = c.undo[:m.undo], c.repairs[:m.repairs]
	c.nodes, c.buf = c.nodes[:m.nodes], c.buf[:m.buf]
}

// set replaces what a node is, not its name or place.
func (c *checker) set(at int32, to node) {
	old := c.nodes[at]
	c.undo = append(c.undo, change{at, old})
	to.name, to.rawName, to.next = old.name, old.rawName, old.next
	c.nodes[at] = to
}

func (c *checker) repaired(kind string, lossy bool) {
	c.repairs = append(c.repairs, Repair{Kind: kind, Where: string(c.path), Lossy: lossy})
}

// fixRoot tries the conversions of the arguments as a whole, after those of the
// values in them.
func (c *checker) fixRoot(at int32, r *rule) bool {
	c.track = true
	n := &c.nodes[at]
	if n.kind == kindNull || n.kind == kindString && blank(c.bytes(n.text)) {
		if r.takes&n.kind == 0 && r.takes&kindObject != 0 {
			c.repaired(NoArguments, false)
			c.set(at, node{kind: kindObject, first: none})
		}
	}
	m := c.mark()
	if c.fix(at, r, false) {
		return true
	}
	c.back(m)
	if c.unwrap(at, r) {
		return true
	}
	c.back(m)
	// Leave the values that could be converted converted: they are no problems.
	c.fix(at, r, false)
	return false
}

func blank(s []byte) bool { return len(bytes.TrimSpace(s)) == 0 }

// wrappers are the names that the arguments' object has on some wire.
var wrappers = []string{"arguments", "args", "input", "parameters", "params", "kwargs", "properties"}

// unwrap takes the object out of an object whose only member the rule does not
// know. It must not lose anything: the inner object is one that the rule has
// members for, or the name says that it was only a wrapper.
func (c *checker) unwrap(at int32, r *rule) bool {
	n := c.nodes[at]
	if n.kind != kindObject || n.count != 1 {
		return false
	}
	inner := c.nodes[n.first]
	if r.knows(c.bytes(inner.name), 0) {
		return false
	}
	name := string(c.bytes(inner.name))
	c.repaired(Unwrapped, false)
	c.set(at, inner)
	if inner.kind == kindString {
		if !c.decode(at) {
			return false
		}
		c.repaired(JSONString, false)
	}
	if n := &c.nodes[at]; n.kind != kindObject || n.count == 0 && !slices.Contains(wrappers, name) {
		return false
	}
	return c.fix(at, r, false)
}

// knows reports whether the rule has a member of that name, somewhere.
func (r *rule) knows(name []byte, depth int) bool {
	if m := r.member(name); m != nil && m.rule != nil {
		return true
	}
	known := false
	if depth < maxWords {
		r.each(func(s *rule) { known = known || s.knows(name, depth+1) })
	}
	return known
}

// fix makes a value valid by conversions, the values in it first. It reports
// whether the value is valid now; if not, values in it may be converted. wrapped
// says that the value is, or is in, a list that was made here: one is enough.
func (c *checker) fix(at int32, r *rule, wrapped bool) bool {
	if c.valid(at, r) {
		return true
	}
	if c.work <= 0 {
		return false
	}
	if n := &c.nodes[at]; n.kind == kindArray || n.kind == kindObject {
		c.fixInside(at, r, wrapped)
		if c.valid(at, r) {
			return true
		}
		m := c.mark()
		if c.defaultsHere(at, r) && c.valid(at, r) {
			return true
		}
		c.back(m)
	}
	return c.convert(at, r, wrapped)
}

// convert tries the conversions of the value itself, in a fixed order. A value
// of a type that is declared is never taken for something else.
func (c *checker) convert(at int32, r *rule, wrapped bool) bool {
	n := &c.nodes[at]
	if c.isType(n, r.takes) {
		return false
	}
	try := func(ok bool, kind string, wrapped bool, m mark) bool {
		if ok {
			c.repaired(kind, false)
			if c.fix(at, r, wrapped) {
				return true
			}
		}
		c.back(m)
		return false
	}
	m := c.mark()
	switch {
	case n.kind == kindNumber && r.takes&kindString != 0 && !bytes.ContainsAny(c.bytes(n.text), "eE"):
		text := n.text
		c.set(at, node{kind: kindString, raw: true, text: text, first: none})
		if try(true, NumberToString, wrapped, m) {
			return true
		}
	case n.kind == kindString:
		s := bytes.TrimSpace(c.bytes(n.text))
		if r.takes&(kindNumber|kindInteger) != 0 && try(c.setScalar(at, s, kindNumber), StringToNumber, wrapped, m) ||
			r.takes&kindBool != 0 && try(c.setScalar(at, s, kindBool), StringToBoolean, wrapped, m) ||
			r.takes&(kindArray|kindObject) != 0 && try(c.decode(at), JSONString, wrapped, m) {
			return true
		}
	}
	if r.takes&kindArray == 0 || wrapped || n.kind == kindNull || n.kind == kindArray || c.listLike(n) {
		return false
	}
	item := int32(len(c.nodes))
	inner := c.nodes[at]
	inner.next, inner.name = none, span{}
	c.nodes = append(c.nodes, inner)
	c.set(at, node{kind: kindArray, first: item, count: 1})
	return try(true, ValueToList, true, m)
}

// listLike reports whether the value is a string that begins as a list does. One
// that could not be decoded may be a list that was cut off, or written in another
// way: it is no lone item.
func (c *checker) listLike(n *node) bool {
	return n.kind == kindString && bytes.HasPrefix(bytes.TrimSpace(c.bytes(n.text)), []byte("["))
}

// setScalar makes the value what its text says, if that is a number or boolean.
func (c *checker) setScalar(at int32, text []byte, k kind) bool {
	switch string(text) {
	case "True":
		text = []byte("true")
	case "False":
		text = []byte("false")
	}
	if k == kindBool {
		isTrue := string(text) == "true"
		if !isTrue && string(text) != "false" {
			return false
		}
		c.set(at, node{kind: kindBool, raw: isTrue, first: none})
		return true
	}
	if len(text) == 0 || len(text) > maxNumber || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	return c.replace(at, text, kindNumber)
}

// decode makes the value the list or object that its text holds.
func (c *checker) decode(at int32) bool {
	text := bytes.TrimSpace(c.bytes(c.nodes[at].text))
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	return c.replace(at, text, kindArray|kindObject)
}

// replace makes the value what the JSON text says, if that is of a kind.
func (c *checker) replace(at int32, text []byte, kinds kind) bool {
	c.work -= len(text)
	to, err := c.parse(text)
	if err != nil || c.nodes[to].kind&kinds == 0 || c.work <= 0 {
		return false // the caller goes back to its mark
	}
	c.set(at, c.nodes[to])
	return true
}

// fixInside fixes the items or members of a value by the rules that apply to
// them.
func (c *checker) fixInside(at int32, r *rule, wrapped bool) {
	if r.ref != nil {
		c.fixInside(at, r.ref, wrapped)
	}
	for _, s := range r.all {
		c.fixInside(at, s, wrapped)
	}
	for _, list := range [][]*rule{r.any, r.one} {
		c.fixAny(at, list)
	}
	i := 0
	for m := c.nodes[at].first; m != none && c.work > 0; m = c.nodes[m].next {
		if c.nodes[at].kind == kindArray {
			if s := r.item(i); s != nil {
				mark := c.enterItem(i)
				c.fix(m, s, wrapped)
				c.path = c.path[:mark]
			}
			i++
			continue
		}
		name := c.bytes(c.nodes[m].name)
		s := r.additional
		if known := r.member(name); known != nil && known.rule != nil {
			s = known.rule
		}
		if s != nil {
			mark := c.enter(name)
			c.fix(m, s, false)
			c.path = c.path[:mark]
		}
	}
}

// fixAny makes a list or object fit the first alternative that it can be made
// to fit, if it fits none.
func (c *checker) fixAny(at int32, list []*rule) {
	for _, s := range list {
		if c.check(at, s) {
			return
		}
	}
	for _, s := range list {
		m := c.mark()
		if c.isType(&c.nodes[at], s.takes) && c.fix(at, s, false) {
			return
		}
		c.back(m)
	}
}
