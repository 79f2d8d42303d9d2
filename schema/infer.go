package schema

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// For returns the JSON Schema of a Go type, for arguments that are decoded into
// it. Members stand in the order of the fields and have the names of their json
// tags; those without omitempty or omitzero are required; unknown members are
// refused. Only pointers may be null. Two further tags say more of a field:
//
//	Lines int `json:"lines,omitempty" jsonschema:"how many lines to return" schema:"minimum=1;maximum=2000;default=200"`
//
// jsonschema is the description, schema a list of keywords with JSON values. It
// fails for types that JSON cannot say, recursive types and wrong tags.
func For[T any]() (jsontext.Value, error) {
	t := reflect.TypeFor[T]()
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("make a schema of %s: %w", t, err)
	}
	if err := applyTags(s, t); err != nil {
		return nil, fmt.Errorf("make a schema of %s: %w", t, err)
	}
	raw, err := stdjson.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("make a schema of %s: %w", t, err)
	}
	v := jsontext.Value(raw)
	if err := v.Format(); err != nil { // models read plain UTF-8, not \u003c
		return nil, fmt.Errorf("make a schema of %s: %w", t, err)
	}
	return v, nil
}

// applyTags brings what the schema tags say, and what Go's slices are, into the
// schema that was made of type t.
func applyTags(s *jsonschema.Schema, t reflect.Type) error {
	if s == nil {
		return nil
	}
	nullable := false
	for t.Kind() == reflect.Pointer {
		t, nullable = t.Elem(), true
	}
	switch t.Kind() {
	case reflect.Slice:
		if !nullable && len(s.Types) == 2 {
			s.Type, s.Types = "array", nil // the library lets every slice be null
		}
		return applyTags(s.Items, t.Elem())
	case reflect.Array:
		return applyTags(s.Items, t.Elem())
	case reflect.Map:
		return applyTags(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			fs := s.Properties[jsonName(f)]
			if f.Anonymous || !f.IsExported() || fs == nil {
				continue
			}
			if err := applyTags(fs, f.Type); err != nil {
				return err
			}
			if tag, ok := f.Tag.Lookup("schema"); ok {
				if err := applyTag(fs, tag); err != nil {
					return fmt.Errorf("field %s: %w", f.Name, err)
				}
			}
		}
	}
	return nil
}

func jsonName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
		return name
	}
	return f.Name
}

// applyTag adds the keywords of one tag: "minimum=1;default=1".
func applyTag(s *jsonschema.Schema, tag string) error {
	for part := range strings.SplitSeq(tag, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("schema tag %q: write keyword=JSON, with ; between", part)
		}
		target, ok := keywordField(s, name)
		if !ok {
			return fmt.Errorf("schema tag: %q is not a keyword that a tag can set", name)
		}
		if err := stdjson.Unmarshal([]byte(value), target); err != nil {
			return fmt.Errorf("schema tag %q: %w", part, err)
		}
	}
	return nil
}

func keywordField(s *jsonschema.Schema, name string) (any, bool) {
	f, ok := map[string]any{
		"title": &s.Title, "format": &s.Format, "enum": &s.Enum, "default": &s.Default, "examples": &s.Examples,
		"minimum": &s.Minimum, "maximum": &s.Maximum, "multipleOf": &s.MultipleOf,
		"exclusiveMinimum": &s.ExclusiveMinimum, "exclusiveMaximum": &s.ExclusiveMaximum,
		"minLength": &s.MinLength, "maxLength": &s.MaxLength, "pattern": &s.Pattern,
		"minItems": &s.MinItems, "maxItems": &s.MaxItems, "uniqueItems": &s.UniqueItems,
	}[name]
	return f, ok
}
