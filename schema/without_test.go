package schema

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func dropped(word string) bool { return word == "minLength" || word == "default" }

// Words go wherever they stand as words; names of properties and values stay.
func TestWithout(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 100) + `{"minLength":1}` + strings.Repeat(`}`, 100)
	for schema, want := range map[string]string{
		`{"type":"string","minLength":1}`:                                `{"type":"string"}`,
		`{"minLength":1,"type":"string","default":{"minLength":1}}`:      `{"type":"string"}`,
		`{"properties":{"minLength":{"minLength":1,"type":"string"}}}`:   `{"properties":{"minLength":{"type":"string"}}}`,
		`{"enum":[{"minLength":1}],"const":{"default":1}}`:               `{"enum":[{"minLength":1}],"const":{"default":1}}`,
		`{"$defs":{"default":{"default":1}},"anyOf":[{"default":1},{}]}`: `{"$defs":{"default":{}},"anyOf":[{},{}]}`,
		`{"items":{"minLength":1},"additionalProperties":false}`:         `{"items":{},"additionalProperties":false}`,
		`{"properties":[1],"anyOf":{"default":1}}`:                       `{"properties":[1],"anyOf":{"default":1}}`,
		"{ \"type\" : \"string\" ,\n\"minLength\":1 }":                   `{"type":"string"}`,
		`true`:                 `true`,
		`{"minLength":`:        `{"minLength":`,
		`{"a":1}{"b":2}`:       `{"a":1}{"b":2}`,
		deep:                   deep,
		`{"a":1,"a":2}`:        `{"a":1,"a":2}`,
		`{"min\u004cength":1}`: `{}`,
	} {
		if got := Without(jsontext.Value(schema), dropped); string(got) != want {
			t.Errorf("%.80s: %.80s, want %.80s", schema, got, want)
		}
	}
}

// FuzzWithout: a schema stays JSON, and nothing else in it changes.
func FuzzWithout(f *testing.F) {
	f.Add(`{"properties":{"a":{"minLength":1}},"default":[{}]}`)
	f.Add(`{"anyOf":[true,{"items":[{"default":1}]}]`)
	f.Fuzz(func(t *testing.T, s string) {
		got := Without(jsontext.Value(s), dropped)
		if jsontext.Value(s).IsValid() && !got.IsValid() {
			t.Fatalf("%q becomes %q", s, got)
		}
		same := Without(jsontext.Value(s), func(string) bool { return false })
		a, b := jsontext.Value(s).Clone(), same.Clone()
		if a.Compact() == nil && (b.Compact() != nil || string(a) != string(b)) {
			t.Errorf("%q becomes %q with nothing dropped", s, same)
		}
		if again := Without(got, dropped); jsontext.Value(s).IsValid() && string(again) != string(got) {
			t.Errorf("%q becomes %q, and that %q", s, got, again)
		}
	})
}
