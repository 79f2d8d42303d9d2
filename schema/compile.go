package schema

import (
	"errors"
	"fmt"
)

// The sizes of schemas.
const (
	maxSchema  = 1 << 20 // bytes
	maxRules   = 20_000
	maxPattern = 1000 // bytes of one pattern
	maxDigits  = 100  // of a number
)

// ErrUnsupported is wrapped by errors of [Compile] that say that a schema may be
// right but uses what this package does not check: unevaluatedProperties,
// $dynamicRef, references to other documents, patterns that Go cannot read.
var ErrUnsupported = errors.New("not supported")

// Compile reads a JSON Schema: the draft 2020-12, without what [ErrUnsupported]
// lists, and the forms of older drafts that tools still send (definitions, items
// as a list, dependencies, boolean exclusiveMinimum, nullable). Unknown keywords
// and format are annotations. A $ref names a place in the same document, by
// "#/…"; references may be recursive, but only through a member or an item.
//
// A default that does not validate is never applied.
func Compile(raw []byte) (*Schema, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("schema has %d bytes; at most %d are taken", len(raw), maxSchema)
	}
	c := compiler{rules: map[int32]*rule{}}
	root, err := c.tree.parse(raw)
	if err != nil {
		return nil, fmt.Errorf("schema is not readable: %w", err)
	}
	c.root = root
	s := &Schema{root: c.rule(root, "")}
	for len(c.refs) > 0 && c.err == nil {
		ref := c.refs[0]
		c.refs = c.refs[1:]
		ref.from.ref = c.resolve(ref)
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := acyclic(c.order); err != nil {
		return nil, err
	}
	for range 4 { // takes follow references; a few rounds settle what matters
		for _, r := range c.order {
			r.takes = r.accepts()
		}
	}
	settle(c.order)
	c.checkDefaults(s)
	return s, nil
}

type compiler struct {
	tree  tree
	root  int32
	rules map[int32]*rule // by node, for references
	order []*rule
	refs  []reference
	err   error
	// defaults by rule, to be checked at the end.
	defaults []pending
}

type reference struct {
	from   *rule
	target string
}

type pending struct {
	rule *rule
	at   int32
}

func (c *compiler) fail(r *rule, keyword, format string, args ...any) {
	if c.err == nil {
		where := r.pointer
		if keyword != "" {
			where += "/" + keyword
		}
		if where == "" {
			where = "/"
		}
		c.err = fmt.Errorf("schema at %s: %w", where, fmt.Errorf(format, args...))
	}
}

// rule compiles the schema at a node.
func (c *compiler) rule(at int32, pointer string) *rule {
	if r := c.rules[at]; r != nil {
		return r
	}
	r := newRule(pointer)
	c.rules[at] = r
	c.order = append(c.order, r)
	if len(c.order) > maxRules {
		c.fail(r, "", "more than %d subschemas", maxRules)
		return r
	}
	n := &c.tree.nodes[at]
	switch n.kind {
	case kindBool:
		r.never = !n.isTrue()
	case kindObject:
		for i := n.first; i != none && c.err == nil; i = c.tree.nodes[i].next {
			c.keyword(r, string(c.tree.bytes(c.tree.nodes[i].name)), i)
		}
		c.finish(r, at)
	default:
		c.fail(r, "", "a schema is an object or a boolean")
	}
	return r
}

func (c *compiler) keyword(r *rule, name string, at int32) {
	switch name {
	case "type":
		r.types |= c.types(r, at)
	case "enum":
		r.enum = []constant{}
		c.list(r, name, at, func(_ int, i int32) { r.enum = append(r.enum, c.constant(i)) })
	case "const":
		r.only = []constant{c.constant(at)}
	case "default":
		c.defaults = append(c.defaults, pending{r, at})
	case "examples":
		r.sample = c.sample(at)
	case "$ref":
		if s, ok := c.str(r, name, at); ok {
			c.refs = append(c.refs, reference{r, s})
		}
	case "$id", "id":
		if r.pointer != "" && name == "$id" {
			c.fail(r, name, "a schema of its own inside another: %w", ErrUnsupported)
		}
	case "$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems":
		c.fail(r, name, "%w; say it with $ref, properties and additionalProperties", ErrUnsupported)
	case "if":
		r.iff = c.sub(r, name, at)
	case "then":
		r.then = c.sub(r, name, at)
	case "else":
		r.els = c.sub(r, name, at)
	case "not":
		r.not = c.sub(r, name, at)
	case "allOf":
		r.all = c.subs(r, name, at)
	case "anyOf":
		r.any = c.subs(r, name, at)
	case "oneOf":
		r.one = c.subs(r, name, at)
	case "$defs", "definitions":
		c.members(r, name, at, func(_ []byte, i int32, p string) { c.rule(i, p) })
	default:
		if !c.numberKeyword(r, name, at) && !c.arrayKeyword(r, name, at) {
			c.objectKeyword(r, name, at)
		}
	}
}

func (c *compiler) numberKeyword(r *rule, name string, at int32) bool {
	switch name {
	case "minimum":
		r.min = c.num(r, name, at)
	case "maximum":
		r.max = c.num(r, name, at)
	case "exclusiveMinimum":
		if c.tree.nodes[at].kind != kindBool {
			r.above = c.num(r, name, at)
		}
	case "exclusiveMaximum":
		if c.tree.nodes[at].kind != kindBool {
			r.below = c.num(r, name, at)
		}
	case "multipleOf":
		r.multiple = c.num(r, name, at)
		if r.multiple != nil && (r.multiple.neg || r.multiple.zero()) {
			c.fail(r, name, "must be greater than 0")
		}
	case "minLength":
		r.minLength = c.size(r, name, at)
	case "maxLength":
		r.maxLength = c.size(r, name, at)
	case "pattern":
		if s, ok := c.str(r, name, at); ok {
			r.pattern = c.regexp(r, name, s)
		}
	default:
		return false
	}
	return true
}

func (c *compiler) arrayKeyword(r *rule, name string, at int32) bool {
	switch name {
	case "prefixItems":
		r.prefix = c.subs(r, name, at)
	case "items":
		if c.tree.nodes[at].kind == kindArray { // before 2020-12
			r.prefix = c.subs(r, name, at)
		} else {
			r.items = c.sub(r, name, at)
		}
	case "minItems":
		r.minItems = c.size(r, name, at)
	case "maxItems":
		r.maxItems = c.size(r, name, at)
	case "uniqueItems":
		r.unique = c.boolean(r, name, at)
	case "contains":
		r.contains = c.sub(r, name, at)
	case "minContains":
		r.minContains = c.size(r, name, at)
	case "maxContains":
		r.maxContains = c.size(r, name, at)
	default:
		return false
	}
	return true
}

func (c *compiler) objectKeyword(r *rule, name string, at int32) {
	switch name {
	case "properties":
		c.members(r, name, at, func(name []byte, i int32, p string) {
			r.members = append(r.members, member{name: name, rule: c.rule(i, p), at: i})
		})
	case "required":
		if c.tree.nodes[at].kind == kindBool { // draft 3
			c.fail(r, name, "must be a list of names, beside properties")
			return
		}
		for _, n := range c.strings(r, name, at) {
			r.members = append(r.members, member{name: n, required: true})
		}
	case "additionalProperties":
		r.additional = c.sub(r, name, at)
	case "patternProperties":
		c.members(r, name, at, func(name []byte, i int32, p string) {
			r.patterns = append(r.patterns, patternRule{c.regexp(r, "patternProperties", string(name)), c.rule(i, p)})
		})
	case "propertyNames":
		r.names = c.sub(r, name, at)
	case "minProperties":
		r.minProperties = c.size(r, name, at)
	case "maxProperties":
		r.maxProperties = c.size(r, name, at)
	case "dependentRequired", "dependentSchemas", "dependencies":
		c.members(r, name, at, func(n []byte, i int32, p string) {
			d := dependency{name: n}
			if name == "dependentRequired" || name == "dependencies" && c.tree.nodes[i].kind == kindArray {
				d.need = c.strings(r, name, i)
			} else {
				d.rule = c.rule(i, p)
			}
			r.dependent = append(r.dependent, d)
		})
	}
}

// finish settles what depends on two keywords.
func (c *compiler) finish(r *rule, at int32) {
	t := &c.tree
	for i := t.nodes[at].first; i != none; i = t.nodes[i].next {
		n := &t.nodes[i]
		switch string(t.bytes(n.name)) {
		case "exclusiveMinimum": // draft 4: says how minimum is meant
			if n.kind == kindBool && n.isTrue() {
				r.min, r.above = nil, r.min
			}
		case "exclusiveMaximum":
			if n.kind == kindBool && n.isTrue() {
				r.max, r.below = nil, r.max
			}
		case "additionalItems":
			if len(r.prefix) > 0 && r.items == nil {
				r.items = c.sub(r, "additionalItems", i)
			}
		case "nullable":
			if n.isTrue() && r.types != 0 {
				r.types |= kindNull
			}
		}
	}
	r.mergeMembers()
	if r.iff == nil {
		r.then, r.els = nil, nil
	}
	if r.contains == nil {
		r.minContains, r.maxContains = 1, -1
	}
}

func (c *compiler) sub(r *rule, name string, at int32) *rule {
	return c.rule(at, r.pointer+"/"+name)
}

func (c *compiler) subs(r *rule, name string, at int32) []*rule {
	var out []*rule
	c.list(r, name, at, func(i int, item int32) {
		out = append(out, c.rule(item, fmt.Sprintf("%s/%s/%d", r.pointer, name, i)))
	})
	if len(out) == 0 {
		c.fail(r, name, "must not be empty")
	}
	return out
}
