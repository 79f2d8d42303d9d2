package openai

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
	"rein.example/rein/schema"
)

// What strict mode takes, as OpenAI documents it. It refuses a whole request for
// a schema with anything else in it, so a schema is strict only if every word of
// it is known to be taken.
const (
	// strictDepth bounds the nesting of schemas and strictProperties their
	// properties altogether.
	strictDepth      = 10
	strictProperties = 5000
)

var (
	strictWords = []string{
		"description", "title", "enum", "const", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
	}
	strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

// errLoose says that a schema is not of the strict kind.
var errLoose = errors.New("not a strict schema")

// strictable reports whether strict mode takes a schema of an object for sure.
func strictable(schema jsontext.Value) bool {
	w := strictWalk{d: jsontext.NewDecoder(bytes.NewReader(schema)), left: strictProperties}
	top, err := w.schema(0)
	return err == nil && top.object && !top.choice
}

// looseWords are words that strict mode refuses and that a schema can do without:
// they narrow a value's range, which is checked when the call has come anyhow, or
// are for people.
var looseWords = []string{
	"minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems", "format",
	"default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "$schema", "$id", "$comment",
}

// strictly returns a tool's schema as strict mode takes it, without what it can do
// without. ok is false where that is not enough, such as for a parameter that may be
// left out.
func strictly(loose jsontext.Value) (strict jsontext.Value, ok bool) {
	if len(loose) == 0 {
		return closedEmpty(), true
	}
	if strictable(loose) {
		return loose, true
	}
	strict = schema.Without(loose, func(word string) bool { return slices.Contains(looseWords, word) })
	return strict, strictable(strict)
}

// closedEmpty is the schema of a tool without parameters, as strict mode takes it.
func closedEmpty() jsontext.Value {
	return jsontext.Value(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
}

type strictWalk struct {
	d    *jsontext.Decoder
	left int // how many properties there may still be
}

// strictTop says what a schema is at its top: one of objects, and one that
// leaves a choice of kinds.
type strictTop struct{ object, choice bool }

// schema reads one schema; the error says no more than that strict mode may
// refuse it.
func (w *strictWalk) schema(depth int) (top strictTop, err error) {
	if depth > strictDepth || w.d.PeekKind() != '{' {
		return top, errLoose
	}
	below := func() error { _, err := w.schema(depth + 1); return err }
	var closed, typed bool
	var properties, required []string
	err = wire.Members(w.d, func(quoted []byte) error {
		name, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return err
		}
		switch string(name) {
		case "type":
			typed = true
			v, err := w.d.ReadValue()
			top.object = bytes.Contains(v, []byte(`"object"`))
			top.choice = top.choice || v.Kind() == '['
			return err
		case "additionalProperties":
			v, err := w.d.ReadValue()
			closed = string(v) == "false"
			return err
		case "required":
			return wire.Elements(w.d, func() error {
				s, err := wire.ReadString(w.d)
				required = append(required, s)
				return err
			})
		case "properties":
			return wire.Members(w.d, func(quoted []byte) error {
				p, err := jsontext.AppendUnquote(nil, quoted)
				if err != nil {
					return err
				}
				if properties = append(properties, string(p)); len(properties) > w.left {
					return errLoose
				}
				return below()
			})
		case "$defs", "definitions":
			return wire.Members(w.d, func([]byte) error { return below() })
		case "items":
			return below()
		case "anyOf":
			typed, top.choice = true, true
			return wire.Elements(w.d, below)
		case "$ref":
			typed = true
		case "format":
			s, err := wire.ReadString(w.d)
			if err == nil && !slices.Contains(strictFormats, s) {
				return errLoose
			}
			return err
		case "enum", "const":
			typed = true
		}
		if string(name) != "$ref" && !slices.Contains(strictWords, string(name)) {
			return errLoose
		}
		return w.d.SkipValue()
	})
	if err != nil {
		return top, err
	}
	w.left -= len(properties)
	slices.Sort(properties)
	slices.Sort(required)
	all := slices.Equal(properties, slices.Compact(required))
	if !typed || top.object && !(closed && all) || !top.object && len(properties) > 0 {
		return top, errLoose
	}
	return top, nil
}
