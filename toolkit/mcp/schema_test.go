package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/schema"
)

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		// out is what the model is shown; checked: arguments are held against the
		// whole schema too.
		out     string
		checked bool
		// err is why the tool is refused.
		err string
	}{
		{name: "none", in: `null`, out: `{"type":"object"}`},
		{name: "of no type", in: `{"properties":{"a":{"type":"string"}}}`, out: `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{name: "what only costs tokens", in: `{"$schema":"http://json-schema.org/draft-07/schema#","title":"Args","type":"object"}`, out: `{"type":"object"}`},
		{
			name: "hidden text in a description",
			in:   "{\"type\":\"object\",\"properties\":{\"a\":{\"description\":\"a\u202e name\u200b\U000E0041\U000E0042\"}}}",
			out:  `{"properties":{"a":{"description":"a name"}},"type":"object"}`,
		},
		{name: "a member called description", in: `{"type":"object","properties":{"description":{"type":"string"}}}`, out: `{"properties":{"description":{"type":"string"}},"type":"object"}`},
		{
			name:    "unevaluatedProperties",
			in:      `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"unevaluatedProperties":false}`,
			out:     `{"allOf":[{"properties":{"a":{"type":"string"}}}],"description":"Also holds: \"unevaluatedProperties\": false","type":"object"}`,
			checked: true,
		},
		{
			name:    "under not, what takes less would let more through",
			in:      `{"type":"object","not":{"properties":{"a":{"const":1}},"unevaluatedProperties":false}}`,
			out:     `{"description":"Also holds: \"not\": {\"properties\":{\"a\":{\"const\":1}},\"unevaluatedProperties\":false}","type":"object"}`,
			checked: true,
		},
		{
			name:    "a look-ahead",
			in:      `{"type":"object","properties":{"a":{"type":"string","description":"A word.","pattern":"^(?!x)"}}}`,
			out:     `{"properties":{"a":{"description":"A word. Also holds: \"pattern\": \"^(?!x)\"","type":"string"}},"type":"object"}`,
			checked: true,
		},
		{
			name:    "an anchor",
			in:      `{"type":"object","properties":{"a":{"$ref":"#word"}},"$defs":{"w":{"$anchor":"word","type":"string"}}}`,
			out:     `{"$defs":{"w":{"$anchor":"word","type":"string"}},"properties":{"a":{"description":"Also holds: \"$ref\": \"#word\""}},"type":"object"}`,
			checked: true,
		},
		{name: "another document", in: `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, err: "references to other documents are not followed"},
		{name: "another server", in: `{"type":"object","properties":{"a":{"$ref":"https://evil.example/s.json"}}}`, err: "references to other documents are not followed"},
		{name: "no object", in: `{"type":"string"}`, err: `"type": "object"`},
		{name: "no schema", in: `[1]`, err: "is no JSON object"},
		{name: "wrong", in: `{"type":"object","minProperties":"x"}`, err: "minProperties"},
		{name: "too deep", in: strings.Repeat(`{"properties":{"a":`, 20) + `{}` + strings.Repeat(`}}`, 20), err: "nested more than 32 deep"},
		{name: "too long", in: `{"description":"` + strings.Repeat("x", 70_000) + `"}`, err: "more than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var given any
			if err := json.Unmarshal([]byte(c.in), &given); err != nil {
				t.Fatal(err)
			}
			out, check, err := arguments(given)
			if err == nil {
				_, err = schema.Compile(out)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, want an error that says %q", err, c.err)
				}
				return
			}
			if err != nil || string(out) != c.out || (check != nil) != c.checked {
				t.Errorf("got  %s (checked: %v) %v\nwant %s", out, check != nil, err, c.out)
			}
		})
	}
}

// What the schema in front lets through and the tool's own does not is refused at
// the tool's door, in words for the model.
func TestWholeSchemaIsChecked(t *testing.T) {
	var given any
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"a":{"type":"string"}},"unevaluatedProperties":false}`), &given); err != nil {
		t.Fatal(err)
	}
	_, check, err := arguments(given)
	if err != nil {
		t.Fatal(err)
	}
	if got := problems(check, jsontext.Value(`{"a":"x"}`)); got != nil {
		t.Errorf("right arguments: %q", got)
	}
	if got, want := problems(check, jsontext.Value(`{"a":"x","b":1}`)), []string{"/b: false schema"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzArguments feeds schemas as servers may send them: what comes out is one that
// the harness can use, and takes all that the given one takes.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		`{"type":"object","oneOf":[{"unevaluatedProperties":false},{"required":["a"]}]}`,
		`{"type":"object","if":{"$dynamicRef":"#x"},"then":false}`,
		`{"type":"object","patternProperties":{"(?!a)":{"type":"integer"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"$id":"x","$ref":"#/y"}}}`,
		`{"type":"object","properties":{"a":{"contains":{"unevaluatedItems":false},"maxContains":1}}}`,
	} {
		f.Add(seed, `{"a":[1,"x"]}`)
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		var given any
		if len(text) > 4000 || json.Unmarshal([]byte(text), &given) != nil {
			return
		}
		out, check, err := arguments(given)
		if err != nil {
			return
		}
		s, err := schema.Compile(out)
		if err != nil {
			t.Fatalf("%s became %s: %v", text, out, err)
		}
		if check == nil || len(args) > 1000 || !isValue(jsontext.Value(args)) {
			return
		}
		if problems(check, jsontext.Value(args)) == nil {
			if wrong := s.Validate([]byte(args)); wrong != nil {
				t.Errorf("%s takes %s, and %s does not: %v", text, args, out, wrong)
			}
		}
	})
}
