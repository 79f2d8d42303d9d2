package anthropic

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
	"rein.example/rein/schema"
)

// errUnsupported says that a schema has something that the server refuses.
var errUnsupported = errors.New("not supported as the form of an answer")

// formattable reports whether the server takes the schema as the form of an
// answer: every object closed, and no constraint that its grammar cannot hold
// (bounds of numbers, lengths, patterns, and definitions that refer to
// definitions, as these may recur). The whole request would be refused else.
func formattable(schema jsontext.Value) bool {
	_, ok := walkSchema(schema)
	return ok
}

// Bounds of what the server compiles into one grammar, as Anthropic documents
// them: it refuses a whole request with more strict tools, or with more optional
// or more union-typed parameters in all of them.
const (
	maxStrictTools = 20
	maxOptional    = 24
	maxUnions      = 16
)

// strictTools says which tools of a request are strict: in their order, each whose
// schema the server takes, as far as the bounds go.
type strictTools struct {
	off                     bool
	tools, optional, unions int
}

// looseWords are words that the server's grammar cannot hold and that a tool's
// schema can do without: they narrow a value's range, which is checked when the call
// has come anyhow, or are for people.
var looseWords = []string{
	"minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
}

// take returns the schema of the next tool as it is to be sent, and whether it is to
// be strict.
func (s *strictTools) take(loose jsontext.Value) (jsontext.Value, bool) {
	if s.off || len(loose) == 0 {
		return loose, false
	}
	strict := schema.Without(loose, func(word string) bool { return slices.Contains(looseWords, word) })
	if s.fits(strict) {
		return strict, true
	}
	return loose, false
}

// fits reports whether a strict tool of that schema can be added, and counts it if so.
func (s *strictTools) fits(schema jsontext.Value) bool {
	w, ok := walkSchema(schema)
	if !ok || !w.object || s.tools+1 > maxStrictTools || s.optional+w.optional > maxOptional || s.unions+w.unions > maxUnions {
		return false
	}
	s.tools, s.optional, s.unions = s.tools+1, s.optional+w.optional, s.unions+w.unions
	return true
}

// walkSchema walks through a schema; ok is false for one with something in it that
// the server refuses.
func walkSchema(schema jsontext.Value) (w schemaWalk, ok bool) {
	w.d = jsontext.NewDecoder(bytes.NewReader(schema))
	if w.d.PeekKind() != '{' {
		return w, false
	}
	object, err := w.schema(0)
	w.object = object
	return w, err == nil
}

type schemaWalk struct {
	d           *jsontext.Decoder
	definitions bool // within $defs
	object      bool // the schema is one of an object
	// optional counts properties that are not required, unions schemas of more than
	// one kind.
	optional, unions int
}

// schema reads one schema and returns an error if it is not supported.
func (w *schemaWalk) schema(depth int) (object bool, err error) {
	const deepest = 64
	if depth > deepest {
		return false, errUnsupported
	}
	below := func([]byte) error { _, err := w.schema(depth + 1); return err }
	properties, required := 0, 0
	var closed bool
	err = wire.Members(w.d, func(name []byte) error {
		switch string(name) {
		case `"type"`:
			v, err := w.d.ReadValue()
			if v.Kind() == '[' {
				w.unions++
			}
			object = object || bytes.Contains(v, []byte(`"object"`))
			return err
		case `"additionalProperties"`:
			v, err := w.d.ReadValue()
			closed = string(v) == "false"
			return err
		case `"properties"`:
			object = true
			return wire.Members(w.d, func(name []byte) error {
				properties++
				return below(name)
			})
		case `"required"`:
			if w.d.PeekKind() != '[' {
				return w.d.SkipValue()
			}
			return wire.Elements(w.d, func() error { required++; return w.d.SkipValue() })
		case `"$defs"`, `"definitions"`:
			outer := w.definitions
			w.definitions = true
			err := wire.Members(w.d, below)
			w.definitions = outer
			return err
		case `"$ref"`:
			s, err := wire.ReadString(w.d)
			if err == nil && (w.definitions || !strings.HasPrefix(s, "#/$defs/") && !strings.HasPrefix(s, "#/definitions/")) {
				return errUnsupported
			}
			return err
		case `"items"`:
			return below(nil)
		case `"anyOf"`, `"allOf"`:
			if string(name) == `"anyOf"` {
				w.unions++
			}
			return wire.Elements(w.d, func() error { return below(nil) })
		case `"minItems"`:
			n, ok, err := wire.ReadInt(w.d)
			if err == nil && (!ok || n > 1) {
				return errUnsupported
			}
			return err
		case `"enum"`:
			return wire.Elements(w.d, w.scalar)
		case `"const"`:
			return w.scalar()
		case `"title"`, `"description"`, `"default"`, `"examples"`, `"format"`, `"$schema"`, `"$id"`, `"$comment"`:
			return w.d.SkipValue()
		}
		return errUnsupported
	})
	if err == nil && object && !closed {
		return object, errUnsupported
	}
	w.optional += max(properties-required, 0)
	return object, err
}

// scalar reads a value that must not be an object or array.
func (w *schemaWalk) scalar() error {
	if k := w.d.PeekKind(); k == '{' || k == '[' {
		return errUnsupported
	}
	return w.d.SkipValue()
}
