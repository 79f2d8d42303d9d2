package anthropic

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// errUnsupported says that a schema has something that the server refuses.
var errUnsupported = errors.New("not supported as the form of an answer")

// formattable reports whether the server takes the schema as the form of an
// answer: every object closed, and no constraint that its grammar cannot hold
// (bounds of numbers, lengths, patterns, and definitions that refer to
// definitions, as these may recur). The whole request would be refused else.
func formattable(schema jsontext.Value) bool {
	d := jsontext.NewDecoder(bytes.NewReader(schema))
	w := schemaWalk{d: d}
	return d.PeekKind() == '{' && w.schema(0) == nil
}

type schemaWalk struct {
	d           *jsontext.Decoder
	definitions bool // within $defs
}

// schema reads one schema and returns an error if it is not supported.
func (w *schemaWalk) schema(depth int) error {
	const deepest = 64
	if depth > deepest {
		return errUnsupported
	}
	below := func([]byte) error { return w.schema(depth + 1) }
	var object, closed bool
	err := wire.Members(w.d, func(name []byte) error {
		switch string(name) {
		case `"type"`:
			v, err := w.d.ReadValue()
			object = object || bytes.Contains(v, []byte(`"object"`))
			return err
		case `"additionalProperties"`:
			v, err := w.d.ReadValue()
			closed = string(v) == "false"
			return err
		case `"properties"`:
			object = true
			return wire.Members(w.d, below)
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
		case `"required"`, `"title"`, `"description"`, `"default"`, `"examples"`, `"format"`, `"$schema"`, `"$id"`, `"$comment"`:
			return w.d.SkipValue()
		}
		return errUnsupported
	})
	if err == nil && object && !closed {
		return errUnsupported
	}
	return err
}

// scalar reads a value that must not be an object or array.
func (w *schemaWalk) scalar() error {
	if k := w.d.PeekKind(); k == '{' || k == '[' {
		return errUnsupported
	}
	return w.d.SkipValue()
}
