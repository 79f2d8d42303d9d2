package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words names the kinds of a set, by spaces; nothing for 0.
func (k Kinds) words() string {
	var out []string
	for i, w := range [...]string{"string", "number", "integer", "boolean", "array", "object", "null"} {
		if k.Has(1 << i) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// at goes down a path of names and, after #, indices.
func at(t *testing.T, n Node, path string) Node {
	t.Helper()
	for _, step := range strings.Fields(path) {
		var i int
		if _, err := fmt.Sscanf(step, "#%d", &i); err == nil {
			n = n.Item(i)
		} else {
			n = n.Member(step)
		}
	}
	return n
}

// TestNodeKinds says what a place in a schema declares.
func TestNodeKinds(t *testing.T) {
	for _, test := range []struct{ schema, path, kinds string }{
		// Said plainly.
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, "", "object"},
		{`{"properties":{"a":{"type":"string"}}}`, "a", "string"},
		{`{"properties":{"a":{"type":["integer","null"]}}}`, "a", "integer null"},
		{`{"properties":{"a":{"type":["integer","number"]}}}`, "a", "number"},
		{`{"properties":{"a":{"type":"string","nullable":true}}}`, "a", "string null"},
		{`{"properties":{"a":{"type":"array","items":{"type":"boolean"}}}}`, "a #7", "boolean"},
		{`{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"null"}}`, "#1", "integer"},
		{`{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"null"}}`, "#2", "null"},
		{`{"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}`, "#1", "integer"},

		// By values.
		{`{"properties":{"a":{"enum":["low","high"]}}}`, "a", "string"},
		{`{"properties":{"a":{"enum":["auto",1,null]}}}`, "a", "string number null"},
		{`{"properties":{"a":{"type":"integer","enum":[1,2]}}}`, "a", "integer"},
		{`{"properties":{"a":{"const":true}}}`, "a", "boolean"},

		// By keywords that are for one type, where none is named.
		{`{"properties":{"a":{"properties":{"b":{}}}}}`, "a", "object"},
		{`{"properties":{"a":{"additionalProperties":false}}}`, "a", "object"},
		{`{"properties":{"a":{"items":{}}}}`, "a", "array"},
		{`{"properties":{"a":{"pattern":"^x"}}}`, "a", "string"},
		{`{"properties":{"a":{"minimum":1}}}`, "a", "number"},
		{`{"properties":{"a":{"minimum":1,"maxLength":3}}}`, "a", "string number"},

		// By reference and composition.
		{`{"properties":{"a":{"$ref":"#/$defs/id"}},"$defs":{"id":{"type":"integer"}}}`, "a", "integer"},
		{`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/id"},{"description":"x"}]}},"$defs":{"id":{"type":"integer"}}}`, "a", "integer"},
		{`{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, "a", "integer null"},
		{`{"properties":{"a":{"oneOf":[{"type":"array"},{"pattern":"x"}]}}}`, "a", "string array"},
		{`{"properties":{"a":{"anyOf":[{"type":"integer"},{}]}}}`, "a", ""},
		{`{"properties":{"a":{"anyOf":[{"type":"integer"},false]}}}`, "a", "integer"},
		{`{"allOf":[{"properties":{"a":{"type":["string","integer"]}}},{"properties":{"a":{"type":["integer","null"]}}}]}`, "a", "integer"},
		{`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"description":"x"}}}]}`, "a", "string"},
		{`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"integer"}}}]}`, "a", "string integer"},
		{`{"properties":{"a":{"type":["integer","null"]}},"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"integer"}}}]}`, "a", "integer"},
		{`{"oneOf":[{"properties":{"k":{"const":"on"},"v":{"type":"integer"}}},{"properties":{"k":{"const":"off"}}}]}`, "v", "integer"},
		{`{"oneOf":[{"properties":{"k":{"const":"on"},"v":{"type":"integer"}}},{"properties":{"k":{"const":"off"}}}]}`, "k", "string"},
		{`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{"type":"boolean"}}},"else":{"properties":{"b":{"type":"array"}}}}`, "b", "array"},
		{`{"dependentSchemas":{"k":{"properties":{"a":{"type":"boolean"}}}}}`, "a", "boolean"},
		{`{"anyOf":[{"properties":{"a":{"properties":{"x":{"type":"null"}}}}},{"properties":{"a":{"properties":{"x":{"type":"integer"}}}}}]}`, "a x", "integer null"},

		// By a pattern, and for all other names.
		{`{"patternProperties":{"^n_":{"type":"integer"}}}`, "n_a", "integer"},
		{`{"patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, "n_a", "integer"},
		{`{"patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, "m", "string"},
		{`{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, "a", "integer"},

		// A list that holds lists like itself.
		{`{"$defs":{"tree":{"type":"object","properties":{"kids":{"items":{"$ref":"#/$defs/tree"}}}}},"$ref":"#/$defs/tree"}`, "kids #0 kids #3", "object"},

		// Nothing is said.
		{`{"type":"object"}`, "a", ""},
		{`{"properties":{"a":{}}}`, "a", ""},
		{`{"properties":{"a":true}}`, "a", ""},
		{`{"properties":{"a":false}}`, "a", ""},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, "b", ""},
		{`{"not":{"properties":{"a":{"type":"string"}}}}`, "a", ""},
		{`{"properties":{"a":{"type":"string","const":1}}}`, "a", ""},
		{`{"type":"string"}`, "#0", ""},
		{`{"type":"string"}`, "a b #0 c", ""},
	} {
		n := at(t, compile(t, test.schema).Root(), test.path)
		if got := n.Kinds().words(); got != test.kinds {
			t.Errorf("%s at %q: %q, want %q", test.schema, test.path, got, test.kinds)
		}
	}
}

// TestNodeKindsAgree: what a place declares takes in every value that is right
// there.
func TestNodeKindsAgree(t *testing.T) {
	values := []string{`"a"`, `1.5`, `2`, `true`, `[]`, `{}`, `null`}
	kinds := []Kinds{String, Number, Integer | Number, Boolean, Array, Object, Null}
	for _, text := range []string{
		`{"type":["string","boolean"]}`, `{"anyOf":[{"type":"integer"},{"const":null}]}`,
		`{"allOf":[{"type":["string","number","null"]},{"type":["number","object","null"]}]}`,
		`{"oneOf":[{"type":"array"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"enum":[{},true]}}}`,
	} {
		s := compile(t, text)
		declared := s.Root().Kinds()
		for i, v := range values {
			if right := s.Validate([]byte(v)) == nil; right != declared.Has(kinds[i]) {
				t.Errorf("%s declares %q; %s is right: %v", text, declared.words(), v, right)
			}
		}
	}
}

func TestNodeNames(t *testing.T) {
	for _, test := range []struct{ schema, names string }{
		{`{"properties":{"z":{},"a":{},"m":{}},"required":["q","m"]}`, "z a m"},
		{`{"allOf":[{"$ref":"#/$defs/x"}],"properties":{"z":{}},"$defs":{"x":{"properties":{"y":{},"z":{},"b":{}}}}}`, "z y b"},
		{`{"oneOf":[{"properties":{"k":{},"b":{}}},{"properties":{"k":{},"a":{}}}]}`, "k b a"},
		{`{"properties":{"gone":false,"a":{}},"patternProperties":{"^x":{}},"additionalProperties":{}}`, "a"},
		{`{"required":["a"]}`, ""},
		{`true`, ""},
	} {
		n := compile(t, test.schema).Root()
		if got := strings.Join(n.Names(), " "); got != test.names {
			t.Errorf("%s: %q, want %q", test.schema, got, test.names)
		}
		for _, name := range n.Names() {
			if !n.Declared(name) {
				t.Errorf("%s: %s is named and not declared", test.schema, name)
			}
		}
		for _, name := range []string{"q", "gone", "xa", ""} {
			if n.Declared(name) {
				t.Errorf("%s: %q is declared", test.schema, name)
			}
		}
	}
}

// TestNodeOfNothing: a tool without a schema is no special case.
func TestNodeOfNothing(t *testing.T) {
	var none *Schema
	n := none.Root()
	if n != (Node{}) || n.Member("a") != n || n.Item(0) != n || n.Kinds() != 0 || n.Declared("a") || n.Names() != nil {
		t.Error("a nil schema declares something")
	}
	if n := compile(t, `{"items":{"type":"string"}}`).Root().Item(-1); n != (Node{}) {
		t.Error("there is an item before the first")
	}
}

// TestNodeBounds: references that fan out, and names without end, cost no more
// than any other schema.
func TestNodeBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 60 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	b.WriteString(`"d60":{"properties":{"a":{"type":"string"}}}}}`)
	n := compile(t, b.String()).Root() // 2^60 ways lead to a
	if got := n.Member("a").Kinds(); got != String && got != 0 {
		t.Errorf("a is %q", got.words())
	}
	n.Names()

	b.Reset()
	b.WriteString(`{"properties":{"a0":{}`)
	for i := range 5000 {
		fmt.Fprintf(&b, `,"a%d":{}`, i+1)
	}
	b.WriteString(`}}`)
	n = compile(t, b.String()).Root()
	if names := n.Names(); len(names) != maxNames || names[2] != "a2" {
		t.Errorf("%d names", len(names))
	}
	if !n.Declared("a4999") {
		t.Error("a name beyond those that are listed is not found")
	}
}

func TestNodeAllocates(t *testing.T) {
	root := compile(t, `{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"path":{"type":"string"},"lines":{"items":{"type":"integer"}}}}}}`).Root()
	n := testing.AllocsPerRun(100, func() {
		if root.Member("path").Kinds() != String || root.Member("lines").Item(3).Kinds() != Integer || root.Declared("paht") {
			t.Fatal("read something else")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a name, an item and a look", n)
	}
}

// TestNodeOfUnion: a place of which several rules speak stays comparable, and
// what they don't share is still found.
func TestNodeOfUnion(t *testing.T) {
	n := compile(t, `{"anyOf":[{"properties":{"a":{"properties":{"x":{},"y":{}}}}},{"properties":{"a":{"properties":{"z":{}}}}}]}`).Root().Member("a")
	if got := n.Names(); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("names %q", got)
	}
	if n == (Node{}) || n.Kinds() != Object {
		t.Errorf("it is %q", n.Kinds().words())
	}
}
