package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema (2020-12) of agent.yaml, made from the structs
// that the decoder fills. It cannot say everything: that a window's reserve is
// less than its size, for one, only the decoder checks.
func Schema() []byte {
	s := structureSchema(reflect.TypeFor[Agent](), textRules())
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "agent.yaml"
	s.Description = "An agent of Rein. rein schema prints this description."
	s.Type, s.Types = "object", nil
	s.Not = &jsonschema.Schema{Required: []string{"key_env", "key_file"}}
	text, err := json.Marshal(s)
	if err == nil {
		err = (*jsontext.Value)(&text).Format(jsontext.Multiline(true), jsontext.WithIndent("  "))
	}
	if err != nil {
		panic(fmt.Sprintf("config: write the schema: %v", err)) // of our own making
	}
	return append(text, '\n')
}

// valueSchema describes what decoder.value takes.
func valueSchema(t reflect.Type, tag reflect.StructTag, texts map[string]textRule) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return valueSchema(t.Elem(), tag, texts)
	case reflect.Struct:
		return structureSchema(t, texts)
	case reflect.Slice:
		most := int(bound(tag, "max", maxItems))
		return &jsonschema.Schema{Types: []string{"array", "null"}, MaxItems: &most, Items: valueSchema(t.Elem(), tag, texts)}
	case reflect.Map:
		most := int(bound(tag, "max", maxItems))
		return &jsonschema.Schema{Types: []string{"object", "null"}, MaxProperties: &most,
			PropertyNames: textSchema(texts[tag.Get("keys")]), AdditionalProperties: valueSchema(t.Elem(), tag, texts)}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int64:
		return integerSchema(tag)
	}
	if t == reflect.TypeFor[Decimal]() {
		return numberSchema(tag)
	}
	return textSchema(texts[tag.Get("is")])
}

func structureSchema(t reflect.Type, texts map[string]textRule) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Types: []string{"object", "null"}, Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // false
	}
	for _, f := range settings(t) {
		p := valueSchema(t.Field(f.index).Type, f.tag, texts)
		p.Description = f.tag.Get("doc")
		s.Properties[f.key] = p
		s.PropertyOrder = append(s.PropertyOrder, f.key)
		if f.tag.Get("need") == "true" {
			s.Required = append(s.Required, f.key)
		}
	}
	switch t {
	case reflect.TypeFor[Limits]():
		s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{textSchema(texts["preset"]), s}}
	case reflect.TypeFor[Rule]():
		s = ruleSchema(s, texts)
	case reflect.TypeFor[Tool]():
		one := 1
		s.Type, s.Types, s.MinProperties, s.MaxProperties = "object", nil, &one, &one
		s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{bareTools(t), s}}
	}
	if len(s.Required) > 0 {
		s.Type, s.Types = "object", nil // nothing has not what is needed
	}
	return s
}

// bareTools are the tools that can be named without settings.
func bareTools(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, f := range settings(t) {
		inner := settings(t.Field(f.index).Type.Elem())
		if f.tag.Get("bare") != "no" && !slices.ContainsFunc(inner, func(s setting) bool { return s.tag.Get("need") == "true" }) {
			s.Enum = append(s.Enum, f.key)
		}
	}
	return s
}

func textSchema(r textRule) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	if len(r.words) > 0 {
		for _, w := range r.words {
			s.Enum = append(s.Enum, w)
		}
		return s
	}
	least, most := 1, r.max
	if s.MaxLength, s.Pattern = &most, r.pattern; !r.empty {
		s.MinLength = &least
	}
	if _, example, ok := strings.Cut(r.what, "such as "); ok && !strings.Contains(example, " ") {
		s.Examples = []any{example}
	}
	return s
}

func numberSchema(tag reflect.StructTag) *jsonschema.Schema {
	least, _ := decimalBound(tag, "min").Float64()
	most, _ := decimalBound(tag, "max").Float64()
	return &jsonschema.Schema{Type: "number", Minimum: &least, Maximum: &most}
}

func integerSchema(tag reflect.StructTag) *jsonschema.Schema {
	least, most := float64(bound(tag, "min", math.MinInt64)), float64(bound(tag, "max", math.MaxInt64))
	return &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
}
