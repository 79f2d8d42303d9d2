package schema

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// members calls f with each member of a JSON object, in order, until f returns
// false. It reports whether v is a well-formed object.
func members(v jsontext.Value, f func(name string, value jsontext.Value) bool) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for dec.PeekKind() != '}' {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		name := t.String()
		value, err := dec.ReadValue()
		if err != nil {
			return false
		}
		if !f(name, value) {
			return true
		}
	}
	return true
}

// Fields returns the canonical object of those members of the canonical object
// v that are named; names that v lacks are left out.
func Fields(v jsontext.Value, names []string) jsontext.Value {
	out := jsontext.Value("{")
	members(v, func(name string, value jsontext.Value) bool {
		if slices.Contains(names, name) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out, _ = jsontext.AppendQuote(out, name)
			out = append(out, ':')
			out = append(out, value...)
		}
		return true
	})
	return append(out, '}')
}

// Field returns the member of the object v with that name.
func Field(v jsontext.Value, name string) (value jsontext.Value, ok bool) {
	members(v, func(n string, x jsontext.Value) bool {
		if n == name {
			value, ok = x.Clone(), true
		}
		return !ok
	})
	return value, ok
}

// StringField returns the member of the object v with that name, if it is a
// string.
func StringField(v jsontext.Value, name string) (string, bool) {
	x, ok := Field(v, name)
	if !ok || x.Kind() != '"' {
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, x)
	return string(s), err == nil
}

// BoolField returns the member of the object v with that name, if it is true or
// false.
func BoolField(v jsontext.Value, name string) (value, ok bool) {
	x, found := Field(v, name)
	if !found || x.Kind() != 't' && x.Kind() != 'f' {
		return false, false
	}
	return x.Kind() == 't', true
}

// Agree reports whether two canonical objects have at least one member in
// common, and every member that both have is equal.
func Agree(a, b jsontext.Value) bool {
	common, equal := false, true
	sound := members(a, func(name string, x jsontext.Value) bool {
		if y, ok := Field(b, name); ok {
			common = true
			equal = bytes.Equal(x, y)
		}
		return equal
	})
	return sound && common && equal
}

// Members returns the canonical object of those members of the canonical object
// v that the schema has.
func (s *Schema) Members(v jsontext.Value) jsontext.Value {
	var names []string
	members(v, func(name string, _ jsontext.Value) bool {
		if s.Has(name) {
			names = append(names, name)
		}
		return true
	})
	return Fields(v, names)
}
