package gemini

import (
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/model/internal/wire"
)

// The keywords of each kind of value.

// keep takes the limits that the subset knows by the same name.
func (s *shape) keep(n *node, names ...string) {
	for _, name := range names {
		v := n.get(name)
		if _, whole := v.int(); whole {
			s.limits = append(s.limits, limit{name, string(v.raw)})
		}
	}
}

func (c *converter) text(s *shape, n *node) {
	values := n.get("enum").list()
	if v := n.get("const"); v != nil {
		values = []*node{v}
	}
	for _, v := range values {
		switch {
		case !v.isString():
		case v.text == "": // the wire refuses it in an enum
			s.note("may be empty")
		case len(s.enum) < maxEnum && !slices.Contains(s.enum, v.text):
			s.enum = append(s.enum, v.text)
		}
	}
	format := n.get("format").str()
	switch {
	case len(s.enum) > 0:
		s.format = "enum"
	case format == "date-time":
		s.format = format
	case format != "" && format != "enum": // others are refused
		s.note("format: " + format)
	}
	s.keep(n, "minLength", "maxLength")
	if p := n.get("pattern"); p.isString() {
		s.limits = append(s.limits, limit{"pattern", string(wire.Quote(nil, p.text))})
	}
}

func (c *converter) number(s *shape, n *node) {
	format := n.get("format").str()
	if s.kind == "INTEGER" && (format == "int32" || format == "int64") || s.kind == "NUMBER" && (format == "float" || format == "double") {
		s.format = format
	}
	c.bound(s, n, "minimum", "exclusiveMinimum", "greater than ", +1)
	c.bound(s, n, "maximum", "exclusiveMaximum", "less than ", -1)
	if v := n.get("multipleOf"); v.kind() == '0' {
		s.note("a multiple of " + v.json())
	}
}

// bound takes one bound. The subset's bounds are inclusive: for integers an
// exclusive one is the next number, for others it is widened and told.
func (c *converter) bound(s *shape, n *node, name, exclusive, words string, next int64) {
	in, ex := n.get(name), n.get(exclusive)
	if ex.kind() == 't' { // as older drafts write it
		ex, in = in, nil
	}
	if ex.kind() != '0' {
		if in.kind() == '0' {
			s.limits = append(s.limits, limit{name, string(in.raw)})
		}
		return
	}
	if in.kind() == '0' && beyond(in, ex, next) { // the inclusive one is the stricter
		s.limits = append(s.limits, limit{name, string(in.raw)})
		return
	}
	if i, whole := ex.int(); whole && s.kind == "INTEGER" && i > -1<<53 && i < 1<<53 {
		s.limits = append(s.limits, limit{name, strconv.FormatInt(i+next, 10)})
		return
	}
	s.limits = append(s.limits, limit{name, string(ex.raw)})
	s.note(words + ex.json())
}

// beyond reports whether a is past b in the direction of next.
func beyond(a, b *node, next int64) bool {
	x, err1 := strconv.ParseFloat(string(a.raw), 64)
	y, err2 := strconv.ParseFloat(string(b.raw), 64)
	if err1 != nil || err2 != nil {
		return false
	}
	if next > 0 {
		return x > y
	}
	return x < y
}

func (c *converter) array(s *shape, n *node, depth int) {
	items, tuple := n.get("items"), n.get("prefixItems").list()
	if items.isArray() { // as older drafts write a tuple
		tuple, items = items.list(), n.get("additionalItems")
	}
	switch {
	case len(tuple) > 0:
		all := &shape{}
		var seen, names []string
		if items.isObject() {
			tuple = append(slices.Clone(tuple), items)
		}
		for _, t := range tuple {
			if c.left < 0 {
				break
			}
			one := c.schema(t, depth+1)
			names = append(names, one.word())
			for _, v := range one.flat() {
				if text := string(v.append(nil)); !slices.Contains(seen, text) {
					seen, all.anyOf = append(seen, text), append(all.anyOf, v)
				}
			}
		}
		s.note("in this order: " + strings.Join(names, ", "))
		if s.items = all; len(all.anyOf) == 1 {
			s.items = all.anyOf[0]
		}
	case items.isObject():
		s.items = c.schema(items, depth+1)
	default: // the wire wants it
		s.items = anything()
	}
	s.keep(n, "minItems", "maxItems")
	if n.get("uniqueItems").kind() == 't' {
		s.note("each item once")
	}
}

// word names a shape in a sentence.
func (s *shape) word() string {
	if text := s.text(); text != "" {
		return strings.ToLower(s.kind) + " (" + text + ")"
	}
	if len(s.anyOf) > 0 {
		return "any of several"
	}
	return strings.ToLower(s.kind)
}

func (c *converter) object(s *shape, n *node, depth int) {
	properties := n.get("properties")
	if properties.isObject() {
		for i, name := range properties.names {
			if c.left < 0 {
				break
			}
			if name == "" || properties.items[i].kind() == 'f' { // not allowed at all
				continue
			}
			s.properties = append(s.properties, property{name, c.schema(properties.items[i], depth+1)})
		}
	}
	defined := map[string]bool{}
	for _, p := range s.properties {
		defined[p.name] = true
	}
	for _, name := range n.get("required").strings() {
		if defined[name] { // others are refused
			s.required, defined[name] = append(s.required, name), false
		}
	}
	s.keep(n, "minProperties", "maxProperties")
	more := n.get("additionalProperties")
	s.free = more != nil && more.kind() != 'f' || n.has("patternProperties")
	if more.isObject() && len(more.names) > 0 {
		s.note("other names may be used; their value: " + c.schema(more, depth+1).word())
	}
	if p := n.get("patternProperties"); p.isObject() && len(p.names) > 0 {
		s.note("names may match " + strings.Join(p.names, " or "))
	}
}
