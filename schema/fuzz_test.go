package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
)

// A gen makes schemas and values from a seed. Both come from a small vocabulary,
// so that they often meet.
type gen struct{ *rand.Rand }

func (g *gen) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *gen) name() string { return g.one(`"a"`, `"b"`, `"c"`, `"é"`, `"\ud83d\ude00"`, `"\ue000"`) }

func (g *gen) value(depth int) string {
	switch k := g.IntN(8); {
	case k == 0:
		return g.one("null", "true", "false")
	case k == 1:
		return g.one("0", "1", "-1", "1.0", "2", "3", "1e1", "0.1", "0.30", "100000000000000000000", "1.5", "-0")
	case k == 2:
		return g.one(`""`, `"a"`, `"ab"`, `"1"`, `"\u0061"`, `"😀"`, `"true"`, `"[1]"`, `"{\"a\":1}"`, `"2.0"`)
	case k < 5 && depth > 0:
		var items []string
		for range g.IntN(4) {
			items = append(items, g.value(depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case depth > 0:
		var members []string
		for range g.IntN(4) {
			name := g.name()
			if !slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, name) }) {
				members = append(members, name+":"+g.value(depth-1))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return "1"
}

func (g *gen) schema(depth int) string {
	if depth <= 0 {
		return g.one("true", `{"type":"integer"}`, `{"type":"string"}`, `{"type":"number"}`, "{}", `{"type":["null","boolean"]}`, "false")
	}
	words := map[string]string{}
	for range 1 + g.IntN(3) {
		k, v := g.keyword(depth - 1)
		words[k] = v
	}
	var out []string
	for k, v := range words {
		out = append(out, fmt.Sprintf("%q:%s", k, v))
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ",") + "}"
}

func (g *gen) list(f func() string) string {
	var out []string
	for range 1 + g.IntN(3) {
		if s := f(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (g *gen) object(f func() string) string {
	names := []string{}
	var out []string
	for range g.IntN(4) {
		if n := g.name(); !slices.Contains(names, n) {
			names = append(names, n)
			out = append(out, n+":"+f())
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (g *gen) keyword(depth int) (string, string) {
	sub := func() string { return g.schema(depth) }
	number := func() string { return g.one("0", "1", "1.0", "2", "0.1", "1e1", "-1") }
	size := func() string { return g.one("0", "1", "2", "3") }
	types := func() string {
		return g.one(`"null"`, `"boolean"`, `"integer"`, `"number"`, `"string"`, `"array"`, `"object"`)
	}
	all := []func() (string, string){
		func() (string, string) { return "type", types() },
		func() (string, string) { return "type", g.list(types) },
		func() (string, string) { return "enum", g.list(func() string { return g.value(1) }) },
		func() (string, string) { return "const", g.value(2) },
		func() (string, string) {
			return g.one("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), number()
		},
		func() (string, string) { return "multipleOf", g.one("1", "2", "0.1", "0.3", "1e1") },
		func() (string, string) {
			return g.one("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), size()
		},
		func() (string, string) { return "pattern", g.one(`"^a"`, `"b$"`, `"[0-9]+"`) },
		func() (string, string) { return "prefixItems", g.list(sub) },
		func() (string, string) { return "items", sub() },
		func() (string, string) { return "uniqueItems", g.one("true", "false") },
		func() (string, string) { return "contains", sub() },
		func() (string, string) { return g.one("minContains", "maxContains"), size() },
		func() (string, string) { return "properties", g.object(sub) },
		func() (string, string) { return "properties", g.object(sub) },
		func() (string, string) { return "required", g.list(g.name) },
		func() (string, string) { return "additionalProperties", sub() },
		func() (string, string) {
			return "patternProperties", `{` + g.one(`"^a"`, `"."`, `"[bc]"`) + ":" + sub() + "}"
		},
		func() (string, string) { return "propertyNames", sub() },
		func() (string, string) {
			return "dependentRequired", g.object(func() string { return g.list(g.name) })
		},
		func() (string, string) { return "dependentSchemas", g.object(sub) },
		func() (string, string) { return g.one("allOf", "anyOf", "oneOf"), g.list(sub) },
		func() (string, string) { return g.one("not", "if", "then", "else"), sub() },
		func() (string, string) { return "$ref", g.one(`"#/$defs/x"`, `"#/$defs/y"`) },
		func() (string, string) { return "default", g.value(1) },
	}
	return all[g.IntN(len(all))]()
}

// document is a whole schema, with a place to refer to; y is recursive.
func (g *gen) document() string {
	body := g.schema(3)
	defs := `"$defs":{"x":` + g.schema(0) + `,"y":{"properties":{"a":{"$ref":"#/$defs/y"}},"items":{"$ref":"#/$defs/y"},"type":["array","object","integer"]}}`
	if body == "{}" {
		return "{" + defs + "}"
	}
	return "{" + defs + "," + body[1:]
}

// agree compares this package with another implementation on one schema and a
// few values, and holds Check to what it promises. It returns how many of the
// values were valid.
func agree(t *testing.T, seed uint64) (valid int) {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 1))}
	text := g.document()
	s, err := Compile([]byte(text))
	if err != nil {
		t.Fatalf("seed %d: %s: %v", seed, text, err)
	}
	doc, err := oracle.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := oracle.NewCompiler()
	c.DefaultDraft(oracle.Draft2020)
	if err := c.AddResource("mem:s.json", doc); err != nil {
		t.Fatal(err)
	}
	o, err := c.Compile("mem:s.json")
	if err != nil {
		t.Fatalf("seed %d: the oracle refuses %s: %v", seed, text, err)
	}
	for range 8 {
		value := g.value(3)
		v, err := oracle.UnmarshalJSON(strings.NewReader(value))
		if err != nil {
			t.Fatal(err)
		}
		problems, want := s.Validate([]byte(value)), o.Validate(v)
		if (problems == nil) != (want == nil) {
			t.Fatalf("seed %d: %s\nvalue %s\nhere: %s\noracle: %v", seed, text, value, Text(problems), want)
		}
		promises(t, s, text, value, problems == nil)
		if problems == nil {
			valid++
		}
	}
	return valid
}

// promises: whatever Check returns is valid and canonical, and a valid value is
// at most given defaults.
func promises(t *testing.T, s *Schema, schema, value string, valid bool) {
	t.Helper()
	canonical, repairs, problems := s.Check([]byte(value))
	if (canonical == nil) == (problems == nil) {
		t.Fatalf("%s of %s: both or neither: %s, %v", value, schema, canonical, problems)
	}
	again, againRepairs, againProblems := s.Check([]byte(value))
	if !bytes.Equal(canonical, again) || !slices.Equal(repairs, againRepairs) || !slices.Equal(problems, againProblems) {
		t.Fatalf("%s of %s: not the same twice", value, schema)
	}
	if canonical == nil {
		if valid {
			t.Fatalf("%s of %s is valid, and refused: %s", value, schema, Text(problems))
		}
		return
	}
	if p := s.Validate(canonical); p != nil {
		t.Fatalf("%s of %s became %s, which is not valid: %s", value, schema, canonical, Text(p))
	}
	if c, err := Canonical(canonical); err != nil || !bytes.Equal(c, canonical) {
		t.Fatalf("%s of %s became %s, which is not canonical (%s, %v)", value, schema, canonical, c, err)
	}
	for _, r := range repairs {
		if valid && r.Kind != Default && r.Kind != Rounded {
			t.Fatalf("%s of %s is valid, and was repaired: %v", value, schema, repairs)
		}
	}
	if len(repairs) == 0 {
		if c, err := Canonical([]byte(value)); err != nil || !bytes.Equal(c, canonical) {
			t.Fatalf("%s of %s became %s without a word", value, schema, canonical)
		}
	}
}

func TestAgreesWithOracle(t *testing.T) {
	const seeds = 3000
	valid := 0
	for seed := range uint64(seeds) {
		valid += agree(t, seed)
	}
	t.Logf("%d of %d values valid", valid, seeds*8)
	if valid < seeds*8/4 || valid > seeds*8*3/4 {
		t.Error("the values are too one-sided to show much")
	}
}

func FuzzOracle(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { agree(t, seed) })
}

// FuzzCheck reads any schema and any arguments.
func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer","default":1},"b":{"type":"array","items":{"type":"boolean"}}},"additionalProperties":false}`, `{"arguments":"{\"a\":\"5\",\"b\":\"true\"}"}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"null"}]}}}`, `"[[null],\"[]\"]"`)
	f.Add(`{"items":[{"minimum":0.1}],"exclusiveMaximum":true}`, `[0.10000000000000000000001]`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		s, err := Compile([]byte(schema))
		if err != nil {
			return
		}
		canonical, _, _ := s.Check([]byte(args))
		if canonical != nil {
			if p := s.Validate(canonical); p != nil {
				t.Fatalf("%s became %s: %s", args, canonical, Text(p))
			}
			if !stdjson.Valid(canonical) {
				t.Fatalf("not JSON: %s", canonical)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, `{"type":"object","properties":{"path":{"type":"string","minLength":1},"from_line":{"type":"integer","minimum":1},"lines":{"type":"integer","minimum":1,"maximum":2000}},"required":["path"],"additionalProperties":false}`)
	defaults := compile(b, `{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer","default":200}},"required":["path"],"additionalProperties":false}`)
	for _, bench := range []struct {
		name string
		s    *Schema
		args string
	}{
		{"valid", s, `{"path":"notes/today.md","from_line":121,"lines":120}`},
		{"converted", s, `{"path":"notes/today.md","from_line":"121","lines":120}`},
		{"default", defaults, `{"path":"notes/today.md"}`},
		{"wrong", s, `{"paht":"notes/today.md","lines":0}`},
		{"large", s, `{"path":"` + strings.Repeat("line of text\\n", 5000) + `"}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			args := []byte(bench.args)
			for b.Loop() {
				bench.s.Check(args)
			}
		})
	}
}
