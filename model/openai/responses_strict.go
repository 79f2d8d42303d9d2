package openai

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
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

// strictest reports whether strict mode takes a schema of an object for sure.
func strictest(schema jsontext.Value) bool {
	w := strictWalk{d: jsontext.NewDecoder(bytes.NewReader(schema)), left: strictProperties}
	top, err := w.schema(0)
	return err == nil && top.object && !top.choice
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
