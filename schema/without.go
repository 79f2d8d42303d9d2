package schema

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// maxWordDepth bounds the nesting of a schema that [Without] looks into.
const maxWordDepth = 64

// Without returns a JSON Schema without the words that drop names, wherever in it
// they stand as words and not as names of properties; everything else is as it was.
// It is for schemas that guide a model and are held against what it wrote by
// somebody else: one with fewer words allows more. What is no schema of at most 64
// levels is returned unchanged.
func Without(schema jsontext.Value, drop func(word string) bool) jsontext.Value {
	if !schema.IsValid() {
		return schema
	}
	w := without{d: jsontext.NewDecoder(bytes.NewReader(schema)), drop: drop}
	if err := w.schema(0); err != nil {
		return schema // not reached: it is valid
	}
	return w.out
}

type without struct {
	d    *jsontext.Decoder
	out  []byte
	drop func(word string) bool
}

// How the value of a word holds further schemas.
var (
	schemaWords = map[string]bool{
		"items": true, "additionalProperties": true, "not": true, "if": true, "then": true, "else": true, "contains": true,
		"propertyNames": true, "additionalItems": true, "unevaluatedItems": true, "unevaluatedProperties": true,
	}
	schemaLists   = map[string]bool{"anyOf": true, "allOf": true, "oneOf": true, "prefixItems": true}
	schemaMembers = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true}
)

// schema copies the next value, which is a schema.
func (w *without) schema(depth int) error {
	if w.d.PeekKind() != '{' || depth > maxWordDepth {
		return w.value()
	}
	return w.members(w.drop, func(name string) error {
		switch {
		case schemaWords[name]:
			return w.schema(depth + 1)
		case schemaMembers[name]:
			return w.members(nil, func(string) error { return w.schema(depth + 1) })
		case schemaLists[name]:
			return w.list(func() error { return w.schema(depth + 1) })
		}
		return w.value()
	})
}

// value copies the next value.
func (w *without) value() error {
	v, err := w.d.ReadValue()
	w.out = append(w.out, v...)
	return err
}

// members copies an object, but for the members that drop names (nil: none), each
// value with copy. Anything else is copied as it is.
func (w *without) members(drop func(name string) bool, copy func(name string) error) error {
	if w.d.PeekKind() != '{' {
		return w.value()
	}
	w.out = append(w.out, '{')
	first := true
	if _, err := w.d.ReadToken(); err != nil {
		return err
	}
	for w.d.PeekKind() == '"' {
		quoted, err := w.d.ReadValue()
		if err != nil {
			return err
		}
		name, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return err
		}
		if drop != nil && drop(string(name)) {
			if err := w.d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.out = append(append(w.out, quoted...), ':')
		if err := copy(string(name)); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	_, err := w.d.ReadToken()
	return err
}

// list copies an array, each element with copy.
func (w *without) list(copy func() error) error {
	if w.d.PeekKind() != '[' {
		return w.value()
	}
	w.out = append(w.out, '[')
	first := true
	if _, err := w.d.ReadToken(); err != nil {
		return err
	}
	for k := w.d.PeekKind(); k != ']' && k != 0; k = w.d.PeekKind() {
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		if err := copy(); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	_, err := w.d.ReadToken()
	return err
}
