package submit

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

func TestSubmit(t *testing.T) {
	for _, test := range []struct{ name, schema, args, canonical, value string }{
		{"words", ``, `{"answer":"196"}`, `{"answer":"196"}`, `{"answer":"196"}`},
		{"an object", `{"type":"object","properties":{"total":{"type":"integer"}},"required":["total"]}`, `{"total":"196"}`, `{"total":196}`, `{"total":196}`},
		{"a list", `{"type":"array","items":{"type":"integer"}}`, `{"answer":[1,2]}`, `{"answer":[1,2]}`, `[1,2]`},
		{"a number", `{"type":"number"}`, `{"answer":0.50}`, `{"answer":0.5}`, `0.5`},
		{"with references", `{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}`, `{"answer":["1"]}`, `{"answer":[1]}`, `[1]`},
		{"an object by reference", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object"}}}`, `{"a":1}`, `{"a":1}`, `{"a":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tl, err := Tool(jsontext.Value(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			d := tl.Definition()
			if d.Name != Name || !d.Harness {
				t.Errorf("%+v", d)
			}
			s, err := schema.Compile(d.Schema)
			if err != nil {
				t.Fatal(err)
			}
			args, _, problems := s.Check([]byte(test.args))
			if problems != nil || string(args) != test.canonical {
				t.Fatalf("%s, %s", args, schema.Text(problems))
			}
			r, err := tl.Run(t.Context(), &tool.Call{Args: args})
			if err != nil || string(r.Value) != test.value || !strings.Contains(r.Parts[0].Text, "accepted") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestSubmitRefuses(t *testing.T) {
	for _, test := range []struct{ schema, says string }{
		{`{"type":"objekt"}`, "is not a type"},
		{`{`, "not readable"},
		{`{"type":"array","items":{"anyOf":[{"type":"integer"},{"$ref": "#"}]}}`, "cannot refer to its whole schema"},
	} {
		if _, err := Tool(jsontext.Value(test.schema)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.schema, err)
		}
	}
}
