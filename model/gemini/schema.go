package gemini

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// Gemini takes a subset of OpenAPI 3.0's schemas and refuses a whole request for
// one member that it does not know. (A newer field takes JSON Schema, but not all
// of it, and not on every model and version of the API.) So a JSON Schema is
// rewritten into that subset, deterministically:
//
//   - $ref is replaced by what it refers to, allOf by one schema of all of it,
//     oneOf by anyOf; a recursive reference ends after one more round.
//   - const becomes an enum of one; type lists become anyOf; null in any of these
//     becomes nullable. anyOf stands alone, as some endpoints want it.
//   - What has no place there is told in the description: exclusive bounds of
//     numbers that are no integers, default, multipleOf, uniqueItems, enums of
//     anything but text, formats, free names.
//   - The rest is left out: additionalProperties, not, if, dependentRequired, ….
//
// The result guides the model and no more: whoever runs a tool checks the
// arguments against the schema itself.

// appendParameters appends the schema of a tool's parameters, which must be an
// object, as the member name. A tool without parameters gets none, since some
// models refuse an object without properties there.
func appendParameters(dst []byte, name string, v jsontext.Value) []byte {
	if len(v) == 0 {
		return dst
	}
	n, err := parse(v)
	if err != nil {
		return dst
	}
	s := newConverter(n).schema(n, 0).asObject()
	if len(s.properties) == 0 && !s.free {
		return dst
	}
	return s.append(append(dst, name...))
}

// appendSchema appends a schema of any kind as the member name. What is no
// schema is left out.
func appendSchema(dst []byte, name string, v jsontext.Value) []byte {
	n, err := parse(v)
	if err != nil {
		return dst
	}
	return newConverter(n).schema(n, 0).append(append(dst, name...))
}

// shape is a schema of the subset.
type shape struct {
	kind        string // "STRING", …; empty for anyOf
	format      string
	title       string
	description string
	notes       []string // what the subset cannot say, for the description
	nullable    bool
	enum        []string
	anyOf       []*shape
	items       *shape
	properties  []property
	required    []string
	free        bool // an object with names of any kind
	// limits are further members with their numbers, in the order written.
	limits []limit
}

type property struct {
	name string
	*shape
}

type limit struct {
	name  string
	value string // JSON
}

// text returns the description with the notes.
func (s *shape) text() string {
	notes := strings.Join(s.notes, "; ")
	switch {
	case notes == "":
		return s.description
	case s.description == "":
		return notes
	}
	return s.description + " [" + notes + "]"
}

// append appends the schema as JSON.
func (s *shape) append(dst []byte) []byte {
	if len(s.anyOf) > 0 {
		return s.appendAnyOf(dst)
	}
	dst = wire.Quote(append(dst, `{"type":`...), s.kind)
	if s.format != "" {
		dst = wire.Quote(append(dst, `,"format":`...), s.format)
	}
	text := s.text()
	if text != "" {
		dst = wire.Quote(append(dst, `,"description":`...), text)
	} else if s.title != "" {
		dst = wire.Quote(append(dst, `,"title":`...), s.title)
	}
	if s.nullable {
		dst = append(dst, `,"nullable":true`...)
	}
	dst = wire.Strings(dst, `,"enum":`, s.enum)
	if s.items != nil {
		dst = s.items.append(append(dst, `,"items":`...))
	}
	for _, l := range s.limits {
		dst = append(wire.Quote(append(dst, ','), l.name), ':')
		dst = append(dst, l.value...)
	}
	if len(s.properties) > 0 {
		dst = append(dst, `,"properties":`...)
		var names []string
		for i, p := range s.properties {
			sep := byte(',')
			if i == 0 {
				sep = '{'
			}
			dst = append(wire.Quote(append(dst, sep), p.name), ':')
			dst = p.append(dst)
			names = append(names, p.name)
		}
		dst = append(dst, '}')
		dst = wire.Strings(dst, `,"required":`, s.required)
		if len(names) > 1 { // the wire's objects have no order of their own
			dst = wire.Strings(dst, `,"propertyOrdering":`, names)
		}
	}
	return append(dst, '}')
}

// appendAnyOf appends a schema of several kinds, whose description and null
// stand in each of them.
func (s *shape) appendAnyOf(dst []byte) []byte {
	dst = append(dst, `{"anyOf":[`...)
	for i, v := range s.anyOf {
		if i > 0 {
			dst = append(dst, ',')
		}
		one := *v
		one.nullable = one.nullable || s.nullable
		if text := s.text(); text != "" {
			if own := one.text(); own != "" {
				text += " — " + own
			}
			one.description, one.notes = text, nil
		}
		dst = one.append(dst)
	}
	return append(dst, `]}`...)
}

// asObject returns the shape as the object that parameters must be: several
// objects become one that has the members of all.
func (s *shape) asObject() *shape {
	if s.kind == "OBJECT" {
		s.nullable = false
		return s
	}
	out := &shape{kind: "OBJECT", description: s.description, notes: s.notes, free: true}
	var sets []string
	for _, v := range s.anyOf {
		if v.kind != "OBJECT" {
			continue
		}
		for _, p := range v.properties {
			if !slices.ContainsFunc(out.properties, func(q property) bool { return q.name == p.name }) {
				out.properties = append(out.properties, p)
			}
		}
		if len(sets) == 0 {
			out.required = slices.Clone(v.required)
		}
		out.required = slices.DeleteFunc(out.required, func(name string) bool { return !slices.Contains(v.required, name) })
		sets = append(sets, strings.Join(v.required, ", "))
	}
	if len(sets) > 1 {
		out.notes = append(slices.Clone(out.notes), "give one of these sets: "+strings.Join(sets, " | "))
	}
	return out
}
