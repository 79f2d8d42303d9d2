package parse

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// maxTree is how deep elements nest that stand for objects and lists.
const maxTree = 32

// treeItem is the name of an element that stands for one of a list.
const treeItem = "item"

// A tree is a text of elements whose names are those of members.
type tree struct {
	s string
	// prefix stands before every tag that counts.
	prefix string
	// odd: tags were missing.
	odd bool
}

// branch is an element: with a text, or with elements in it.
type branch struct {
	name string
	text string
	kids []branch
	leaf bool
}

// tag reads the tag at s[i], behind white space and the prefix, which may be
// repeated, and missing where loose is set. at is where the tag itself begins,
// or would.
func (x *tree) tag(i int, loose bool) (t tag, at int, ok bool) {
	seen := false
	for {
		i = skip(x.s, i)
		if x.prefix == "" || !strings.HasPrefix(x.s[i:], x.prefix) {
			break
		}
		i, seen = i+len(x.prefix), true
	}
	if i == len(x.s) || x.s[i] != '<' || x.prefix != "" && !seen && !loose {
		return tag{}, i, false
	}
	t, ok = tagAt(x.s, i)
	return t, i, ok
}

// next returns where the next tag begins, prefix included, and the tag; or
// len(s).
func (x *tree) next(i int) (from int, t tag) {
	mark := x.prefix
	if mark == "" {
		mark = "<"
	}
	for {
		k := strings.Index(x.s[i:], mark)
		if k < 0 {
			return len(x.s), tag{}
		}
		i += k
		t, at, ok := x.tag(i, false)
		if ok {
			return i, t
		}
		i = max(i+1, at)
	}
}

// branch reads the element that t opens and that the elements of these names
// stand around.
func (x *tree) branch(t tag, around []string) (b branch, end int, st state) {
	b.name = t.base
	if t.empty {
		b.leaf = true
		return b, t.end, whole
	}
	if len(around) == maxTree {
		return b, t.end, tooDeep
	}
	around = append(around, t.base)
	i := t.end
	for {
		n, u := x.next(i)
		if n == len(x.s) || u.torn {
			return b, len(x.s), cut
		}
		switch text := x.s[i:n]; {
		case len(b.kids) == 0 && (u.shut || trim(text) != ""):
			b.text, b.leaf = text, true
		case trim(text) != "":
			return b, n, broken
		}
		switch {
		case u.shut && u.base == t.base:
			return b, u.end, whole
		case u.shut && slices.Contains(around, u.base), b.leaf && !u.shut:
			// Its closing tag is missing, or lacks the prefix.
			x.odd = true
			b.text = withoutBreak(b.text, false)
			b.text = strings.TrimSuffix(b.text, "</"+b.name+">")
			return b, n, whole
		case u.shut:
			return b, n, broken
		}
		kid, end, st := x.branch(u, around)
		b.kids = append(b.kids, kid)
		if st != whole {
			return b, end, st
		}
		i = end
	}
}

// value appends the JSON that a branch stands for where the schema declares n.
func (b *branch) value(dst []byte, n schema.Node, look undeclared) (out []byte, ok bool, repairs []event.Repair) {
	kinds := n.Kinds()
	if b.leaf {
		if trim(b.text) == "" && kinds != 0 && !kinds.Has(schema.String|schema.Null) {
			switch {
			case kinds.Has(schema.Array):
				return append(dst, "[]"...), true, nil
			case kinds.Has(schema.Object):
				return append(dst, "{}"...), true, nil
			}
		}
		value, repairs := typedAs(b.text, kinds, look)
		return append(dst, value...), true, repairs
	}
	if kinds.Has(schema.Array) && !kinds.Has(schema.Object) || !kinds.Has(schema.Object) && alike(b.kids) {
		dst = append(dst, '[')
		for i := range b.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			var more []event.Repair
			if dst, ok, more = b.kids[i].value(dst, n.Item(i), look); !ok {
				return dst, false, nil
			}
			repairs = add(repairs, more...)
		}
		return append(dst, ']'), true, repairs
	}
	return treeObject(dst, b.kids, n, look)
}

// alike reports whether elements are those of a list: called item, or several of
// one name.
func alike(list []branch) bool {
	for i := range list {
		if list[i].name != list[0].name {
			return false
		}
	}
	return len(list) > 1 || len(list) == 1 && list[0].name == treeItem
}

// treeObject appends the object whose members elements are. One that comes again
// is another item where the schema has a list, and must else be the same.
func treeObject(dst []byte, list []branch, n schema.Node, look undeclared) (out []byte, ok bool, repairs []event.Repair) {
	at := make(map[string]int, len(list))
	var names []string
	var values [][]branch
	for i := range list {
		k, found := at[list[i].name]
		if !found {
			k = len(names)
			at[list[i].name] = k
			names, values = append(names, list[i].name), append(values, nil)
		}
		values[k] = append(values[k], list[i])
	}
	dst = append(dst, '{')
	for k, name := range names {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst, _ = jsontext.AppendQuote(dst, name)
		dst = append(dst, ':')
		node, b := n.Member(name), values[k][0]
		if len(values[k]) > 1 {
			if node.Kinds().Has(schema.Array) {
				b = branch{name: name, kids: values[k]}
			} else {
				return dst, false, nil
			}
		}
		var more []event.Repair
		if dst, ok, more = b.value(dst, node, look); !ok {
			return dst, false, nil
		}
		repairs = add(repairs, more...)
	}
	return append(dst, '}'), true, repairs
}

// readTree reads calls whose parameters are elements of their names.
func (r *reading) readTree(d *dialect.Dialect, start, body int) (block, bool) {
	if d.Bare {
		return r.readToolTags(d, start, body)
	}
	x := &treeReader{r: r, d: d, tree: tree{s: r.s, prefix: d.Wrap[0]}}
	return x.block(start, body)
}

// treeReader reads a block of MiniMax M3.
type treeReader struct {
	r *reading
	d *dialect.Dialect
	tree
}

func (x *treeReader) block(start, body int) (block, bool) {
	var b block
	i, opened, shut := start, 0, false
	for more := true; more && !shut; {
		t, at, ok := x.tag(i, true)
		switch {
		case ok && t.torn && strings.HasPrefix("invoke", t.base):
			b.problem, b.cut, i = cutProblem(len(b.calls)), true, len(x.s)
			more = false
		case !ok || t.torn:
			if more = false; len(b.calls) == 0 {
				i = at
			}
		case t.base == "tool_call" && t.shut:
			shut, i = true, x.r.closers(x.d, t.end)
		case t.base == "tool_call":
			opened, i = opened+1, t.end
			more = opened <= maxRepeats
		case t.base == "invoke" && t.shut:
			i = t.end
		case t.base == "invoke" && plausible(t.name):
			var c event.ParsedCall
			c, i = x.call(t)
			b.calls = append(b.calls, c)
		default:
			more = false
		}
	}
	b.end = i
	switch {
	case len(b.calls) > 0 || b.problem != "":
		x.r.unclosed(x.d, b.calls, shut || opened == 0)
		return b, true
	case opened > 0:
		return block{}, false
	}
	i = max(i, body) // tokens that leaked
	return block{said: true, text: span{i, i}, end: i}, true
}

// call reads the call that t opens.
func (x *treeReader) call(t tag) (c event.ParsedCall, end int) {
	c.Name = x.r.toolName(t.name)
	x.odd = false
	kids, to, end, ended, st := x.kids(t)
	var args []byte
	var ok bool
	var repairs []event.Repair
	if st == whole {
		args, ok, repairs = treeObject(nil, kids, x.r.params(c.Name), asJSON)
	}
	switch {
	case st == tooDeep:
		c.Problem = ProblemLimit
	case st == cut, st == whole && !ended && (len(kids) == 0 || x.r.in.Policy.StrictEnd):
		c.Problem, to, end = ProblemIncomplete, len(x.s), len(x.s)
	case !ok:
		c.Problem = ProblemParams
	}
	if c.Problem == "" {
		if x.odd {
			c.Repairs = []event.Repair{{Kind: RepairTags}}
		}
		c.Args, c.Repairs = string(args), add(c.Repairs, repairs...)
		return c, end
	}
	if st != whole {
		to = x.r.closerStart(x.d, to)
		end = x.r.closers(x.d, to)
	}
	c.Args = strings.TrimSpace(x.s[t.end:max(to, t.end)])
	return c, end
}

// kids reads the elements in the call that t opens: they stand before s[to].
// ended: its closing tag was read, or another that ends it.
func (x *treeReader) kids(t tag) (kids []branch, to, end int, ended bool, st state) {
	if t.empty {
		return nil, t.end, t.end, true, whole
	}
	for i := t.end; ; {
		u, _, ok := x.tag(i, true)
		switch {
		case skip(x.s, i) == len(x.s):
			return kids, len(x.s), len(x.s), false, whole
		case u.torn:
			return kids, i, i, false, cut
		case !ok:
			return kids, i, i, false, broken
		case u.base == "invoke" && u.shut:
			return kids, i, u.end, true, whole
		case u.base == "invoke" || u.base == "tool_call":
			return kids, i, i, true, whole
		case u.shut:
			x.odd, i = true, u.end // closes nothing
			continue
		}
		var kid branch
		kid, i, st = x.branch(u, []string{"tool_call", "invoke"})
		kids = append(kids, kid)
		if st != whole {
			return kids, i, i, false, st
		}
	}
}
