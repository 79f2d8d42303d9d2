package gemini

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

const (
	// maxShapes bounds the schemas that one schema becomes: references can
	// multiply. What is beyond takes any value.
	maxShapes = 2000
	// maxNesting bounds how deep they nest.
	maxNesting = 24
	// maxEnum bounds the values of one enum.
	maxEnum = 1000
	// maxNote bounds a value that is told in a description, in bytes.
	maxNote = 300
)

// converter rewrites the schemas of one document.
type converter struct {
	root *node
	refs []string // the references that are being followed
	left int      // how many schemas may still be made
}

func newConverter(root *node) *converter { return &converter{root: root, left: maxShapes} }

// anything returns the shape of any value. The subset has no word for it.
func anything(notes ...string) *shape {
	return &shape{notes: notes, anyOf: []*shape{{kind: "STRING"}, {kind: "NUMBER"}, {kind: "BOOLEAN"}, {kind: "OBJECT", free: true}}}
}

// schema converts one schema.
func (c *converter) schema(n *node, depth int) *shape {
	c.left--
	if c.left < 0 || depth > maxNesting || !n.isObject() {
		return anything()
	}
	mark := len(c.refs)
	defer func() { c.refs = c.refs[:mark] }()
	n, again := c.flatten(n, depth)
	if again != "" && !n.has("type", "properties", "anyOf", "oneOf", "enum", "const") {
		name := again[strings.LastIndexByte(again, '/')+1:]
		if name = strings.TrimPrefix(name, "#"); name == "" {
			name = "value"
		}
		s := anything("shaped like the " + name + " that holds it")
		if target := c.resolve(again); target.get("type").str() == "object" || target.has("properties") {
			s = &shape{kind: "OBJECT", free: true, notes: s.notes}
		}
		c.describe(s, n)
		return s
	}
	var s *shape
	if variants := alternatives(n); len(variants) > 0 {
		s = c.choice(n, variants, depth)
	} else {
		s = c.plain(n, depth)
	}
	c.describe(s, n)
	return s
}

// describe adds what a schema says for people, and what only words can say.
func (c *converter) describe(s *shape, n *node) {
	if d := strings.TrimSpace(n.get("description").str()); d != "" {
		s.description = d
	}
	if s.title == "" {
		s.title = n.get("title").str()
	}
	if string(n.get("nullable").json()) == "true" {
		s.nullable = true
	}
	for _, word := range []string{"default", "example"} {
		if v := n.get(word); v != nil && v.kind() != 'n' {
			s.note(word + ": " + v.json())
		}
	}
	if list := n.get("examples").list(); len(list) > 0 && !n.has("example") {
		s.note("example: " + list[0].json())
	}
}

// note adds a note, unless it is there.
func (s *shape) note(text string) {
	text = wire.Limit(text, maxNote)
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// alternatives returns the schemas of anyOf or oneOf.
func alternatives(n *node) []*node {
	if list := n.get("anyOf").list(); len(list) > 0 {
		return list
	}
	return n.get("oneOf").list()
}

// choice converts a schema with alternatives: what stands beside them holds for
// each.
func (c *converter) choice(n *node, variants []*node, depth int) *shape {
	beside := n.without("anyOf", "oneOf", "description", "title", "default", "example", "examples", "nullable", "$defs", "definitions", "$schema", "$id", "$comment")
	out := &shape{}
	var seen []string
	for _, v := range variants {
		if c.left < 0 {
			break
		}
		if isNull(v) {
			out.nullable = true
			continue
		}
		if len(beside.names) > 0 {
			v = &node{raw: jsontext.Value("{"), names: []string{"allOf"}, items: []*node{{raw: jsontext.Value("["), items: []*node{v, beside}}}}
		}
		s := c.schema(v, depth+1)
		for _, one := range s.flat() {
			text := string(one.append(nil))
			if !slices.Contains(seen, text) {
				seen, out.anyOf = append(seen, text), append(out.anyOf, one)
			}
		}
	}
	switch len(out.anyOf) {
	case 0: // nothing but null
		return &shape{kind: "STRING", nullable: true}
	case 1:
		out.anyOf[0].nullable = out.anyOf[0].nullable || out.nullable
		return out.anyOf[0]
	}
	return out
}

// flat returns the alternatives of a shape, or itself.
func (s *shape) flat() []*shape {
	if len(s.anyOf) == 0 {
		return []*shape{s}
	}
	var out []*shape
	for _, v := range s.anyOf {
		one := *v
		one.nullable = one.nullable || s.nullable
		if text := s.text(); text != "" && one.text() == "" {
			one.description = text
		}
		out = append(out, &one)
	}
	return out
}

// isNull reports whether a schema takes null only.
func isNull(n *node) bool {
	if n.get("type").str() == "null" || n.get("const").kind() == 'n' {
		return true
	}
	list := n.get("enum").list()
	return len(list) == 1 && list[0].kind() == 'n'
}

// plain converts a schema without references and alternatives.
func (c *converter) plain(n *node, depth int) *shape {
	kinds, null := kindsOf(n)
	var s *shape
	switch len(kinds) {
	case 0:
		s = anything()
		if null {
			s = &shape{kind: "STRING"}
		}
	case 1:
		s = c.single(n, kinds[0], depth)
	default:
		s = &shape{}
		for _, kind := range kinds {
			s.anyOf = append(s.anyOf, c.single(n, kind, depth))
		}
	}
	s.nullable = s.nullable || null
	return s
}

// single converts a schema as far as it concerns values of one kind.
func (c *converter) single(n *node, kind string, depth int) *shape {
	s := &shape{kind: strings.ToUpper(kind)}
	switch kind {
	case "string":
		c.text(s, n)
	case "integer", "number":
		c.number(s, n)
	case "array":
		c.array(s, n, depth)
	case "object":
		c.object(s, n, depth)
	}
	if kind != "string" {
		switch v := n.get("const"); {
		case v != nil:
			s.note("always " + v.json())
		case n.get("enum").isArray():
			var all []string
			for _, v := range n.get("enum").list() {
				if v.kind() != 'n' {
					all = append(all, v.json())
				}
			}
			s.note("one of " + strings.Join(all, ", "))
		}
	}
	return s
}

// kindsOf returns the kinds of values that a schema takes, in JSON Schema's
// words, and whether it takes null. No kinds at all means any.
func kindsOf(n *node) (kinds []string, null bool) {
	add := func(kind string) {
		switch {
		case kind == "null":
			null = true
		case slices.Contains(kinds, kind):
		case slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, kind):
			kinds = append(kinds, kind)
		}
	}
	t := n.get("type")
	add(strings.ToLower(t.str())) // some write OpenAPI's capitals
	for _, s := range t.strings() {
		add(s)
	}
	values := n.get("enum").list()
	if v := n.get("const"); v != nil {
		values = []*node{v}
	}
	for _, v := range values {
		if v.kind() == 'n' {
			null = true
		}
	}
	if len(kinds) == 0 && t == nil {
		for _, v := range values {
			add(kindOf(v))
		}
	}
	if len(kinds) == 0 && !null {
		for _, by := range [...]struct {
			kind  string
			words []string
		}{
			{"object", []string{"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}},
			{"array", []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}},
			{"string", []string{"pattern", "minLength", "maxLength", "format"}},
			{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
		} {
			if n.has(by.words...) {
				return []string{by.kind}, null
			}
		}
	}
	if slices.Contains(kinds, "number") { // which integers are, too
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "integer" })
	}
	return kinds, null
}

func kindOf(v *node) string {
	switch v.kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	if _, whole := v.int(); whole {
		return "integer"
	}
	return "number"
}

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
