package openai

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// errLoose says that a schema is not of the strict kind.
var errLoose = errors.New("not a strict schema")

// strictable reports whether OpenAI's strict mode takes the schema: every object
// in it lists all its properties as required and allows no others. A schema that
// it would refuse is sent without strict, which still guides the model.
func strictable(schema jsontext.Value) bool {
	d := jsontext.NewDecoder(bytes.NewReader(schema))
	return d.PeekKind() == '{' && strictSchema(d, 0) == nil
}

// strictSchema reads one schema and returns an error if it is not strict.
func strictSchema(d *jsontext.Decoder, depth int) error {
	const deepest = 64
	if depth > deepest {
		return errLoose
	}
	below := func([]byte) error { return strictSchema(d, depth+1) }
	var object, closed bool
	properties := map[string]bool{}
	var required []string
	err := wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"type"`:
			v, err := d.ReadValue()
			object = object || bytes.Contains(v, []byte(`"object"`))
			return err
		case `"additionalProperties"`:
			v, err := d.ReadValue()
			closed = string(v) == "false"
			return err
		case `"required"`:
			return wire.Elements(d, func() error {
				s, err := wire.ReadString(d)
				required = append(required, s)
				return err
			})
		case `"properties"`:
			object = true
			return wire.Members(d, func(name []byte) error {
				s, err := jsontext.AppendUnquote(nil, name)
				if err != nil {
					return err
				}
				properties[string(s)] = true
				return below(nil)
			})
		case `"$defs"`, `"definitions"`:
			return wire.Members(d, below)
		case `"anyOf"`:
			return wire.Elements(d, func() error { return below(nil) })
		case `"items"`:
			return below(nil)
		case `"allOf"`, `"oneOf"`, `"not"`, `"if"`, `"then"`, `"else"`, `"patternProperties"`, `"dependentSchemas"`, `"dependentRequired"`:
			return errLoose // strict mode has none of these
		}
		return d.SkipValue()
	})
	if err != nil {
		return err
	}
	for _, name := range required {
		delete(properties, name)
	}
	if object && (!closed || len(properties) > 0) {
		return errLoose
	}
	return nil
}
