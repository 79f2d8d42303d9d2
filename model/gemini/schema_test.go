package gemini

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const anyJSON = `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"},{"type":"OBJECT"}]}`

func TestSchema(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		// What both have.
		{"text", `{"type":"string","description":"a name","minLength":1,"maxLength":9,"pattern":"^\\w+$"}`, `{"type":"STRING","description":"a name","minLength":1,"maxLength":9,"pattern":"^\\w+$"}`},
		{"numbers", `{"type":"number","minimum":0.5,"maximum":1e3,"format":"double"}`, `{"type":"NUMBER","format":"double","minimum":0.5,"maximum":1e3}`},
		{"a time", `{"type":"string","format":"date-time"}`, `{"type":"STRING","format":"date-time"}`},
		{"a list", `{"type":"array","items":{"type":"integer","format":"int64"},"minItems":1,"maxItems":3}`, `{"type":"ARRAY","items":{"type":"INTEGER","format":"int64"},"minItems":1,"maxItems":3}`},
		{"an object", `{"type":"object","properties":{"b":{"type":"boolean"},"a":{"type":"string"}},"required":["a"]}`, `{"type":"OBJECT","properties":{"b":{"type":"BOOLEAN"},"a":{"type":"STRING"}},"required":["a"],"propertyOrdering":["b","a"]}`},
		{"OpenAPI's own words", `{"type":"STRING","nullable":true,"example":"x"}`, `{"type":"STRING","description":"example: \"x\"","nullable":true}`},
		{"a title without a description", `{"type":"string","title":"Name"}`, `{"type":"STRING","title":"Name"}`},

		// What is rewritten.
		{"const", `{"const":"on"}`, `{"type":"STRING","format":"enum","enum":["on"]}`},
		{"const number", `{"const":5}`, `{"type":"INTEGER","description":"always 5"}`},
		{"const null", `{"const":null}`, `{"type":"STRING","nullable":true}`},
		{"enum", `{"type":"string","enum":["a","b","a",""]}`, `{"type":"STRING","format":"enum","description":"may be empty","enum":["a","b"]}`},
		{"enum with null", `{"enum":["a",null]}`, `{"type":"STRING","format":"enum","nullable":true,"enum":["a"]}`},
		{"enum of numbers", `{"type":"integer","enum":[1,2]}`, `{"type":"INTEGER","description":"one of 1, 2"}`},
		{"enum of kinds", `{"enum":["a",1.5]}`, `{"anyOf":[{"type":"STRING","format":"enum","enum":["a"]},{"type":"NUMBER","description":"one of \"a\", 1.5"}]}`},
		{"type and null", `{"type":["string","null"]}`, `{"type":"STRING","nullable":true}`},
		{"several types", `{"type":["string","integer","number"],"minimum":1,"description":"d"}`, `{"anyOf":[{"type":"STRING","description":"d"},{"type":"NUMBER","description":"d","minimum":1}]}`},
		{"no type", `{"properties":{"a":{"minLength":1}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":1}}}`},
		{"exclusive bounds of integers", `{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}`, `{"type":"INTEGER","minimum":1,"maximum":9}`},
		{"exclusive bounds of numbers", `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `{"type":"NUMBER","description":"greater than 0; less than 1","minimum":0,"maximum":1}`},
		{"both bounds", `{"type":"integer","minimum":5,"exclusiveMinimum":0,"maximum":9,"exclusiveMaximum":9}`, `{"type":"INTEGER","minimum":5,"maximum":8}`},
		{"older exclusive bounds", `{"type":"integer","minimum":5,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"type":"INTEGER","minimum":6,"maximum":9}`},
		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"integer"}],"description":"d"}`, `{"anyOf":[{"type":"STRING","description":"d"},{"type":"INTEGER","description":"d"}]}`},
		{"oneOf, each described", `{"oneOf":[{"type":"string","description":"s"},{"type":"integer"}],"description":"d"}`, `{"anyOf":[{"type":"STRING","description":"d — s"},{"type":"INTEGER","description":"d"}]}`},
		{"anyOf with null", `{"anyOf":[{"type":"string","description":"s"},{"type":"null"}],"description":"d","default":null}`, `{"type":"STRING","description":"d","nullable":true}`},
		{"anyOf of the same", `{"anyOf":[{"type":"string"},{"type":"string"}]}`, `{"type":"STRING"}`},
		{"anyOf in anyOf", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"boolean"}]}`, `{"anyOf":[{"type":"STRING","nullable":true},{"type":"BOOLEAN"}]}`},
		{"what stands beside anyOf", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"anyOf":[{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"required":["a"],"propertyOrdering":["a","b"]},{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"required":["b"],"propertyOrdering":["a","b"]}]}`},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"},"a":{"minLength":1}},"required":["b","a"]}]}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":1},"b":{"type":"NUMBER"}},"required":["a","b"],"propertyOrdering":["a","b"]}`},
		{"allOf narrows", `{"allOf":[{"type":["number","string"]},{"type":"integer"},{"enum":[1,2]},{"enum":[2,3]}]}`, `{"type":"INTEGER","description":"one of 2"}`},
		{"a tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer","description":"n"}]}`, `{"type":"ARRAY","description":"in this order: string, integer (n)","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER","description":"n"}]}}`},
		{"an older tuple", `{"items":[{"type":"string"},{"type":"string"}]}`, `{"type":"ARRAY","description":"in this order: string, string","items":{"type":"STRING"}}`},

		// References.
		{"a reference", `{"$defs":{"id":{"type":"string","description":"an id"}},"type":"object","properties":{"a":{"$ref":"#/$defs/id"},"b":{"$ref":"#/$defs/id","description":"another"}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"an id"},"b":{"type":"STRING","description":"another"}},"propertyOrdering":["a","b"]}`},
		{"a reference to a reference", `{"definitions":{"a":{"$ref":"#/definitions/b~1c"},"b/c":{"type":"boolean"}},"$ref":"#/definitions/a"}`, `{"type":"BOOLEAN"}`},
		{"through a list", `{"prefix":[{"type":"string"}],"items":{"$ref":"#/prefix/0"}}`, `{"type":"ARRAY","items":{"type":"STRING"}}`},
		{"a tree ends after one more round", `{"$defs":{"n":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`,
			`{"type":"OBJECT","properties":{"v":{"type":"STRING"},"next":{"type":"OBJECT","properties":{"v":{"type":"STRING"},"next":{"type":"OBJECT","description":"shaped like the n that holds it"}},"propertyOrdering":["v","next"]}},"propertyOrdering":["v","next"]}`},
		{"a reference to itself", `{"$ref":"#"}`, `{"anyOf":[{"type":"STRING","description":"shaped like the value that holds it"},{"type":"NUMBER","description":"shaped like the value that holds it"},{"type":"BOOLEAN","description":"shaped like the value that holds it"},{"type":"OBJECT","description":"shaped like the value that holds it"}]}`},
		{"nowhere", `{"$ref":"#/$defs/none","description":"d","type":"string"}`, `{"type":"STRING","description":"d"}`},
		{"elsewhere", `{"$ref":"https://example.test/x.json"}`, anyJSON},

		// What only words can say.
		{"default", `{"type":"integer","description":"lines","default":100}`, `{"type":"INTEGER","description":"lines [default: 100]"}`},
		{"a format", `{"type":"string","format":"email"}`, `{"type":"STRING","description":"format: email"}`},
		{"multiples and sets", `{"type":"array","items":{"type":"number","multipleOf":0.1},"uniqueItems":true}`, `{"type":"ARRAY","description":"each item once","items":{"type":"NUMBER","description":"a multiple of 0.1"}}`},
		{"a map", `{"type":"object","additionalProperties":{"type":"integer","description":"a count"}}`, `{"type":"OBJECT","description":"other names may be used; their value: integer (a count)"}`},
		{"names by pattern", `{"type":"object","patternProperties":{"^x-":{}}}`, `{"type":"OBJECT","description":"names may match ^x-"}`},
		{"an example", `{"type":"string","examples":["a","b"]}`, `{"type":"STRING","description":"example: \"a\""}`},

		// What is left out.
		{"closed", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","type":"object","properties":{"a":{"type":"string","contentEncoding":"base64"}},"additionalProperties":false,"unevaluatedProperties":false}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"conditions", `{"type":"object","properties":{"a":{"type":"string"}},"if":{},"then":{},"not":{},"dependentRequired":{"a":["b"]}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"required but not defined", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b","a"]}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`},
		{"not allowed", `{"type":"object","properties":{"a":false,"b":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"b":{"type":"STRING"}}}`},
		{"limits that are none", `{"type":"string","minLength":"1","maxLength":2.5,"pattern":7}`, `{"type":"STRING"}`},

		// Any value.
		{"empty", `{}`, anyJSON},
		{"true", `true`, anyJSON},
		{"a list of anything", `{"type":"array"}`, `{"type":"ARRAY","items":` + anyJSON + `}`},
		{"an unknown type", `{"type":"date"}`, anyJSON},
		{"only null", `{"anyOf":[{"type":"null"}]}`, `{"type":"STRING","nullable":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(appendSchema(nil, "", jsontext.Value(c.in)))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if err := inSubset(jsontext.Value(got)); err != nil {
				t.Errorf("not in the subset: %v", err)
			}
		})
	}
}

// A tool's parameters are an object, or none at all.
func TestParameters(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"none", ``, ``},
		{"no properties", `{"type":"object","properties":{},"additionalProperties":false}`, ``},
		{"free", `{"type":"object","additionalProperties":true}`, `{"type":"OBJECT"}`},
		{"a map", `{"type":"object","description":"counts","additionalProperties":{"type":"integer"}}`, `{"type":"OBJECT","description":"counts [other names may be used; their value: integer]"}`},
		{"anything", `{}`, `{"type":"OBJECT"}`},
		{"no object", `{"type":"string"}`, `{"type":"OBJECT"}`},
		{"broken", `{"type":`, ``},
		{"null too", `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"one of two", `{"type":"object","oneOf":[{"properties":{"id":{"type":"string"},"v":{"type":"number"}},"required":["v","id"]},{"properties":{"name":{"type":"string"}},"required":["v","name"]}],"properties":{"v":{"type":"number"}}}`,
			`{"type":"OBJECT","description":"give one of these sets: v, id | v, name","properties":{"id":{"type":"STRING"},"v":{"type":"NUMBER"},"name":{"type":"STRING"}},"required":["v"],"propertyOrdering":["id","v","name"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(appendParameters(nil, "", jsontext.Value(c.in))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Schemas that grow without end are bounded.
func TestSchemaBounds(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&bomb, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	bomb.WriteString(`"d40":{"type":"string"}}}`)
	var merge strings.Builder
	merge.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&merge, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	merge.WriteString(`"d40":{"type":"string"}}}`)
	wide := `{"type":"object","properties":{"p":{}`
	for i := range 5000 {
		wide += fmt.Sprintf(`,"p%d":{"type":"string"}`, i)
	}
	wide += `}}`
	for name, in := range map[string]string{"references": bomb.String(), "merged references": merge.String(), "properties": wide} {
		got := appendSchema(nil, "", jsontext.Value(in))
		if err := inSubset(got); err != nil || len(got) > 1<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for name, in := range map[string]string{
		"deep":  strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200),
		"large": `{"description":"` + strings.Repeat("x", maxSchema) + `"}`,
		"two":   `{}{}`,
	} {
		if got := appendSchema(nil, "", jsontext.Value(in)); len(got) != 0 {
			t.Errorf("%s: became %.100s", name, got)
		}
	}
}

// inSubset reports what the API would refuse in a schema.
func inSubset(v jsontext.Value) error {
	n, err := parse(v)
	if err != nil {
		return err
	}
	return check(n)
}

func check(n *node) error {
	if !n.isObject() {
		return fmt.Errorf("no object: %s", n.json())
	}
	if variants := n.get("anyOf"); variants != nil {
		if len(n.names) != 1 || len(variants.list()) < 2 {
			return fmt.Errorf("anyOf is not alone, or of one: %s", n.json())
		}
		for _, v := range variants.list() {
			if err := check(v); err != nil {
				return err
			}
		}
		return nil
	}
	kind := n.get("type").str()
	allowed := map[string][]string{
		"STRING": {"enum", "minLength", "maxLength", "pattern"}, "NUMBER": {"minimum", "maximum"}, "INTEGER": {"minimum", "maximum"}, "BOOLEAN": {},
		"ARRAY": {"items", "minItems", "maxItems"}, "OBJECT": {"properties", "required", "propertyOrdering", "minProperties", "maxProperties"},
	}
	formats := map[string][]string{"STRING": {"enum", "date-time"}, "NUMBER": {"float", "double"}, "INTEGER": {"int32", "int64"}}
	own, known := allowed[kind]
	for _, name := range n.names {
		if !known || !slices.Contains([]string{"type", "format", "description", "title", "nullable"}, name) && !slices.Contains(own, name) {
			return fmt.Errorf("%s of %s", name, kind)
		}
	}
	if f := n.get("format"); f != nil && !slices.Contains(formats[kind], f.str()) {
		return fmt.Errorf("format %s of %s", f.json(), kind)
	}
	for _, v := range n.get("enum").list() {
		if v.str() == "" {
			return fmt.Errorf("enum value %s", v.json())
		}
	}
	if kind == "ARRAY" {
		return check(n.get("items"))
	}
	p := n.get("properties")
	for _, name := range append(n.get("required").strings(), n.get("propertyOrdering").strings()...) {
		if p.get(name) == nil {
			return fmt.Errorf("%q is not defined", name)
		}
	}
	if p.isObject() {
		for _, v := range p.items {
			if err := check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// FuzzSchema holds that whatever JSON becomes a schema becomes one that the API
// takes, the same each time.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"oneOf":[{"const":1},{"enum":["",null,"a"]}]}},"required":["a","b"]}`,
		`{"allOf":[{"$ref":"#"},{"type":["string","null"],"minLength":3}]}`, `{"items":[{},true,{"items":false}],"uniqueItems":true}`,
		`{"type":"integer","exclusiveMinimum":-1e400,"maximum":5}`, `{"properties":{"":{},"a b":{"additionalProperties":{"type":"array"}}}}`, `true`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendSchema(nil, "", jsontext.Value(s))
		if string(appendSchema(nil, "", jsontext.Value(s))) != string(got) {
			t.Error("not the same twice")
		}
		if len(got) > 0 {
			if err := inSubset(got); err != nil {
				t.Errorf("%s: %v", got, err)
			}
		}
		if p := appendParameters(nil, "", jsontext.Value(s)); len(p) > 0 {
			if n, err := parse(p); err != nil || n.get("type").str() != "OBJECT" || check(n) != nil {
				t.Errorf("parameters: %s", p)
			}
		}
	})
}
