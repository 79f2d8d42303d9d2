package schema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestExample(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"required members only", `{"type":"object","properties":{"to":{"type":"string"},"cc":{"type":"string"}},"required":["to"]}`, `{"to":"<to>"}`},
		{"by type", `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object"},"z":{"type":"null"}},"required":["s","n","i","b","l","o","z"]}`,
			`{"b":false,"i":1,"l":[],"n":1,"o":{},"s":"<s>","z":null}`},
		{"nothing required", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`},
		{"no type", `{"properties":{"a":{}},"required":["a","b"]}`, `{"a":"<a>","b":"<b>"}`},

		{"const first", `{"properties":{"a":{"const":"x","default":"x","examples":["y"],"enum":["z","x"]}},"required":["a"]}`, `{"a":"x"}`},
		{"then default", `{"properties":{"a":{"type":"string","default":"x","examples":["y"]}},"required":["a"]}`, `{"a":"x"}`},
		{"then examples", `{"properties":{"a":{"examples":["y"],"enum":["z","y"]}},"required":["a"]}`, `{"a":"y"}`},
		{"then enum", `{"properties":{"a":{"enum":["low","high"]}},"required":["a"]}`, `{"a":"low"}`},
		{"a wrong example", `{"properties":{"a":{"type":"integer","examples":["y"]}},"required":["a"]}`, `{"a":1}`},
		{"examples of another form", `{"properties":{"a":{"type":"integer","examples":7}},"required":["a"]}`, `{"a":1}`},
		{"a whole list as enum", `{"properties":{"a":{"enum":[[1,{"b":2}]]}},"required":["a"]}`, `{"a":[1,{"b":2}]}`},

		{"minimum", `{"properties":{"a":{"type":"integer","minimum":50}},"required":["a"]}`, `{"a":50}`},
		{"a minimum with a fraction", `{"properties":{"a":{"type":"integer","minimum":0.5}},"required":["a"]}`, `{"a":1}`},
		{"maximum", `{"properties":{"a":{"type":"number","maximum":-2.5}},"required":["a"]}`, `{"a":-2.5}`},
		{"multiple", `{"properties":{"a":{"type":"integer","multipleOf":8,"exclusiveMinimum":0}},"required":["a"]}`, `{"a":8}`},

		{"items", `{"properties":{"files":{"type":"array","minItems":1,"items":{"type":"string"}}},"required":["files"]}`, `{"files":["<files>"]}`},
		{"two items", `{"properties":{"at":{"type":"array","minItems":2,"prefixItems":[{"type":"number"},{"type":"string"}]}},"required":["at"]}`, `{"at":[1,"<at>"]}`},
		{"nested", `{"properties":{"who":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}},"required":["who"]}`, `{"who":{"name":"<name>"}}`},

		{"optional value", `{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"integer","minimum":3}]}},"required":["a"]}`, `{"a":3}`},
		{"string or null", `{"properties":{"a":{"type":["null","string"]}},"required":["a"]}`, `{"a":"<a>"}`},
		{"reference", `{"properties":{"a":{"$ref":"#/$defs/level"}},"required":["a"],"$defs":{"level":{"enum":[2,1]}}}`, `{"a":2}`},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"]},{"required":["b"]}]}`, `{"a":false,"b":"<b>"}`},
		{"one of two members", `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"to":{"type":"string"}},"required":["to"],"oneOf":[{"required":["id"]},{"required":["name"]}]}`, `{"id":1,"to":"<to>"}`},
		{"one of two objects", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"move"},"x":{"type":"number"}},"required":["kind","x"]},{"type":"object","properties":{"kind":{"const":"stop"}},"required":["kind"]}]}`, `{"kind":"move","x":1}`},
		{"name with quotes", `{"properties":{"a\"<\\":{"type":"string"}},"required":["a\"<\\"]}`, `{"a\"<\\":"<a\"<\\>"}`},
		{"list in list", `{"required":["a"],"properties":{"a":{"type":"array","minItems":1,"items":{"type":"array","minItems":1,"items":{"type":"object","required":["b"]}}}}}`, `{"a":[[{"b":"<b>"}]]}`},

		// What no example is made for.
		{"no object", `{"type":"string"}`, ``},
		{"pattern", `{"properties":{"day":{"type":"string","pattern":"^[0-9]+$"}},"required":["day"]}`, ``},
		{"no value", `{"properties":{"a":false},"required":["a"]}`, ``},
		{"number that is not exact", `{"properties":{"a":{"const":123456789012345678901}},"required":["a"]}`, ``},
		{"endless", `{"properties":{"next":{"$ref":"#"}},"required":["next"]}`, ``},
		{"too deep", `{"required":["a"],"properties":{"a":` + strings.Repeat(`{"type":"array","minItems":1,"items":`, 5) + `{"type":"integer"}` + strings.Repeat("}", 5) + `}}`, ``},
		{"too long", `{"required":["` + strings.Repeat("a", 200) + `"]}`, ``},
		{"too many items", `{"required":["a"],"properties":{"a":{"type":"array","minItems":1000000000000,"items":{"type":"integer"}}}}`, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := compile(t, test.schema)
			if got := string(s.Example()); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			exampleHolds(t, s, test.schema)
		})
	}
}

// exampleHolds holds an example to what it promises, and reports whether there
// is one.
func exampleHolds(t *testing.T, s *Schema, schema string) bool {
	t.Helper()
	v := s.Example()
	if !bytes.Equal(v, s.Example()) {
		t.Fatalf("%s: not the same twice", schema)
	}
	if v == nil {
		return false
	}
	if len(v) > maxExample || v[0] != '{' {
		t.Fatalf("%s: the example is %s", schema, v)
	}
	if p := s.Validate(v); p != nil {
		t.Fatalf("%s: the example %s is not valid: %s", schema, v, Text(p))
	}
	if c, err := Canonical(v); err != nil || !bytes.Equal(c, v) {
		t.Fatalf("%s: the example %s is not canonical: %s, %v", schema, v, c, err)
	}
	// A model that sends it is understood: nothing but defaults is added.
	_, repairs, problems := s.Check(v)
	if problems != nil || slices.ContainsFunc(repairs, func(r Repair) bool { return r.Kind != Default }) {
		t.Fatalf("%s: the example %s is taken with %v, %s", schema, v, repairs, Text(problems))
	}
	return true
}

// TestExampleOfManySchemas: of schemas that are put together by chance, for a
// good part nothing validates or only what cannot be guessed.
func TestExampleOfManySchemas(t *testing.T) {
	const seeds = 3000
	found := 0
	for seed := range uint64(seeds) {
		g := &gen{Rand: rand.New(rand.NewPCG(seed, 2))}
		text := g.document()
		if exampleHolds(t, compile(t, text), text) {
			found++
		}
	}
	t.Logf("%d of %d schemas have one", found, seeds)
	if found < seeds/4 {
		t.Error("too few of the schemas have an example to show much")
	}
}

// TestExampleIsBounded: a schema whose references fan out costs no more than
// another.
func TestExampleIsBounded(t *testing.T) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		var defs []string
		for i := range 60 {
			defs = append(defs, fmt.Sprintf(`"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i+1, i+1))
		}
		text := `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `,"d60":{"type":"integer"}}}`
		exampleHolds(t, compile(t, text), text)
		whole := compile(t, strings.Replace(text, `"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/d0"}}`, `"$ref":"#/$defs/d0"`, 1))
		if whole.Object() || exampleHolds(t, whole, text) {
			t.Errorf("%s: an integer is taken for an object", keyword)
		}
	}
}

func FuzzExample(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer","minimum":1e2},"b":{"type":"array","minItems":2,"items":{"enum":["x"]}}},"required":["a","b"]}`)
	f.Add(`{"anyOf":[{"required":["a"]},{"$ref":"#/$defs/o"}],"$defs":{"o":{"type":"object","required":["é"],"minProperties":1}}}`)
	f.Add(`{"properties":{"a":{"examples":[1e-7],"default":"x","const":1.50}},"required":["a"]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if s, err := Compile([]byte(schema)); err == nil {
			exampleHolds(t, s, schema)
		}
	})
}

func BenchmarkExample(b *testing.B) {
	s := compile(b, `{"type":"object","properties":{"path":{"type":"string","minLength":1},"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}}},"required":["path","edits"],"additionalProperties":false}`)
	b.ReportAllocs()
	for b.Loop() {
		s.Example()
	}
}
