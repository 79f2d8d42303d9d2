package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/yamltree"
)

// Text returns the agent file's text: as it was read, or written anew as JSON,
// which is YAML too, where [Agent.With] changed something. Comments and the
// order of keys are lost then.
func (a *Agent) Text() string { return a.source.text }

// Changes are settings given elsewhere than in the file; empty ones change nothing.
type Changes struct {
	Model, BaseURL, KeyEnv string
}

// With returns a copy of the agent with changes. It fails with an [*Error] if
// one is not of the right form.
//
// What belongs to the agent's own model does not go over to another: another
// model has neither its price nor its window's size, nor its tokenizer or its way to
// call, and one of another provider is not asked at its base URL and does not get its key. An agent without a model
// keeps them all, for they are then meant for whichever is named.
func (a *Agent) With(c Changes) (*Agent, error) {
	b := *a
	rules, r, changed := textRules(), report{file: "command line"}, false
	set := func(field *string, to, is, setting string) {
		if to == "" || to == *field {
			return
		}
		*field, changed = to, true
		if rule := rules[is]; rule.refuse(to) != "" {
			r.add(yamltree.Pos{}, setting, "%s", rule.refuse(to))
		}
	}
	set(&b.Model, c.Model, "model", "model")
	if a.Model != "" && b.Model != a.Model {
		b.Price, b.Window.Size, b.Window.Tokenizer, b.Calls = nil, 0, "", Calls{}
		if a.OtherProvider(b.Model) {
			b.BaseURL, b.KeyEnv, b.KeyFile = "", "", ""
		}
	}
	if changed { // a model is not named twice
		b.Fallback = slices.DeleteFunc(slices.Clone(a.Fallback), func(full string) bool { return full == b.Model })
	}
	set(&b.BaseURL, c.BaseURL, "url", "base URL")
	set(&b.KeyEnv, c.KeyEnv, "env", "key variable")
	if err := r.err(); err != nil {
		return nil, err
	}
	if changed {
		b.source.text = b.encode()
	}
	return &b, nil
}

// OtherProvider reports whether the agent has a model, and the model of that full
// name is another provider's. Two names of one provider count as two.
func (a *Agent) OtherProvider(full string) bool {
	own, _, _ := strings.Cut(a.Model, "/")
	name, _, _ := strings.Cut(full, "/")
	return a.Model != "" && own != name
}

// encode writes the agent as JSON, by the tags that it is read by.
func (a *Agent) encode() string {
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.Multiline(true))
	if err := encodeValue(enc, reflect.ValueOf(a).Elem()); err != nil {
		// Only text that is not UTF-8 cannot be written, and none is read.
		panic(fmt.Sprintf("config: write the agent: %v", err))
	}
	return out.String()
}

func encodeValue(enc *jsontext.Encoder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		return encodeValue(enc, v.Elem())
	case reflect.Struct:
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for _, s := range settings(v.Type()) {
			f := v.Field(s.index)
			if f.IsZero() {
				continue
			}
			if err := enc.WriteToken(jsontext.String(s.key)); err != nil {
				return err
			}
			if err := encodeValue(enc, f); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndObject)
	case reflect.Slice:
		if err := enc.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := encodeValue(enc, v.Index(i)); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndArray)
	case reflect.Map:
		return encodeMap(enc, v)
	case reflect.Bool:
		return enc.WriteToken(jsontext.Bool(v.Bool()))
	case reflect.Int64:
		return enc.WriteToken(jsontext.Int(v.Int()))
	}
	if v.Type() == reflect.TypeFor[Decimal]() {
		return enc.WriteValue(jsontext.Value(v.String()))
	}
	return enc.WriteToken(jsontext.String(v.String()))
}

// encodeMap writes a map with its keys sorted.
func encodeMap(enc *jsontext.Encoder, v reflect.Value) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		if err := enc.WriteToken(jsontext.String(k.String())); err != nil {
			return err
		}
		if err := encodeValue(enc, v.MapIndex(k)); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
