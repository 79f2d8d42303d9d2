package schema

import (
	"errors"
	"strings"
	"testing"
)

// TestKeywords holds every keyword against values that it takes and refuses.
func TestKeywords(t *testing.T) {
	for _, test := range []struct {
		schema string
		good   string // values, by spaces
		bad    string
		says   string // of the last bad value
	}{
		{`true`, `1 "a" null {}`, ``, ``},
		{`false`, ``, `1 {}`, "the value is not allowed here"},
		{`{"type":"integer"}`, `1 -5 5.0 1e3 0 123456789012345678901234567890`, `1.5 "1" null [1] 1e-1`, "the value is the number 1e-1; wanted: an integer"},
		{`{"type":["string","null"]}`, `"a" null`, `1 true`, "the value is true; wanted: a string or null"},
		{`{"type":"string","nullable":true}`, `"a" null`, `1`, "wanted: a string or null"},
		{`{"enum":["a",1,null,{"x":[1.0]}]}`, `"a" 1 1.0 null {"x":[1]}`, `"b" 2 {"x":[2]} {"x":[1],"y":2}`, `the value is an object; wanted: one of "a", 1, null, {"x":[1]}`},
		{`{"const":"\u0061"}`, `"a"`, `"b"`, `the value is the string "b"; wanted: "a"`},
		{`{"const":1,"enum":[1,2]}`, `1`, `2`, `wanted: 1`},
		{`{"minimum":0.1,"maximum":3}`, `0.1 0.10 3 3.0 "0"`, `0.09999999999999999999999 3.00000000000000000001`, "of at least 0.1 and at most 3"},
		{`{"exclusiveMinimum":0,"exclusiveMaximum":1e2}`, `0.001 99.9`, `0 100 -1`, "of more than 0 and less than 100"},
		{`{"minimum":5,"exclusiveMinimum":true}`, `6`, `5`, "of more than 5"},
		{`{"multipleOf":0.01}`, `0 1 0.07 4.35 -0.99 1e20 1e-2`, `0.001 0.015`, "a multiple of 0.01"},
		{`{"multipleOf":3}`, `9 3e20 0`, `10 1e20`, "a multiple of 3"},
		{`{"minLength":2,"maxLength":3}`, `"ab" "äöü" "😀😀" "\ud83d\ude00\u0061" 1`, `"a" "abcd" "😀"`, "has 1 character; wanted: a string of 2 to 3 characters"},
		{`{"pattern":"^[a-z]+\\u0031$"}`, `"ab1" 5`, `"ab2" "A1"`, "that matches"},
		{`{"items":{"type":"integer"}}`, `[] [1,2] 5`, `[1,"a"]`, `/1 is the string "a"; wanted: an integer`},
		{`{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`, `[] ["a"] ["a",1]`, `[1] ["a",1,2]`, "/2 is not allowed here"},
		{`{"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}`, `["a",1]`, `["a","b"]`, `/1 is the string "b"; wanted: an integer`},
		{`{"minItems":1,"maxItems":2}`, `[1] [1,2]`, `[1,2,3] []`, "has 0 items; wanted: a list of 1 to 2 items"},
		{`{"uniqueItems":true}`, `[] [1,2,"1",[1],[2]] [{"a":1},{"a":2}] [0.1,0.10000000000000000001]`, `[1,1.0] [{"a":1,"b":2},{"b":2,"a":1}]`, "has equal items"},
		{`{"contains":{"type":"integer"},"minContains":2,"maxContains":3}`, `[1,2] [1,"a",2,3]`, `[1] [1,2,3,4]`, "has 4 items that are an integer; wanted: from 2 to 3 such items"},
		{`{"contains":{"const":1}}`, `[1]`, `[] [2]`, "has 0 items that are 1"},
		{`{"properties":{"a":{"type":"integer"}},"required":["a","b"]}`, `{"a":1,"b":null} 5`, `{"a":1} {"b":2} {}`, "/a is missing; wanted: an integer"},
		{`{"properties":{"path":{}},"additionalProperties":false}`, `{} {"path":1}`, `{"paht":1}`, "/paht is not known; did you mean path? known: path"},
		{`{"properties":{"a":true},"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, `{"a":null,"x-b":1,"c":"d"}`, `{"x-b":"c"} {"c":1}`, "/c is the number 1; wanted: a string"},
		{`{"propertyNames":{"maxLength":2}}`, `{"ab":1}`, `{"abc":1}`, "/abc has a name that is not allowed; wanted: a string of at most 2 characters"},
		{`{"minProperties":1,"maxProperties":1}`, `{"a":1}`, `{"a":1,"b":2} {}`, "has 0 members; wanted: an object of 1 member"},
		{`{"dependentRequired":{"a":["b"]}}`, `{} {"b":1} {"a":1,"b":2}`, `{"a":1}`, "/b is missing; wanted: it together with a"},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{} {"a":1,"b":2}`, `{"a":1}`, "/b is missing"},
		{`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{} {"a":1,"b":2}`, `{"a":1} {"c":1}`, "/d is missing"},
		{`{"allOf":[{"type":"integer"},{"minimum":3}]}`, `3`, `"3" 2`, "is the number 2"},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `1 null`, `"a"`, `the value is the string "a"; wanted: an integer or null`},
		{`{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}`, `[1] null`, `[1,true]`, `/1 is true; wanted: an integer`},
		{`{"oneOf":[{"multipleOf":2},{"multipleOf":3}]}`, `2 3`, `5 6`, "fits more than one of the alternatives"},
		{`{"not":{"type":"null"}}`, `1`, `null`, "is null, which is not allowed"},
		{`{"if":{"properties":{"k":{"const":"a"}},"required":["k"]},"then":{"required":["x"]},"else":{"required":["y"]}}`, `{"k":"a","x":1} {"k":"b","y":1} {"y":1}`, `{"k":"a"} {"k":"b","x":1}`, "/y is missing"},
		{`{"$ref":"#/$defs/id","$defs":{"id":{"type":"integer"}}}`, `1`, `"a"`, "an integer"},
		{`{"properties":{"a":{"$ref":"#/definitions/a~1b%25"}},"definitions":{"a/b%":{"type":"integer"}}}`, `{"a":1}`, `{"a":"b"}`, "/a is the string"},
		{`{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"additionalProperties":false}`, `{"next":{"next":{"v":1}}}`, `{"next":{"next":{"v":"a"}}}`, "/next/next/v is the string"},
		{`{"format":"email","title":"x","$comment":"y","madeUp":[1]}`, `"nobody"`, ``, ``},
	} {
		s := compile(t, test.schema)
		for _, v := range strings.Fields(test.good) {
			if p := s.Validate([]byte(v)); p != nil {
				t.Errorf("%s refuses %s: %s", test.schema, v, Text(p))
			}
		}
		last := ""
		for _, v := range strings.Fields(test.bad) {
			p := s.Validate([]byte(v))
			if p == nil {
				t.Errorf("%s takes %s", test.schema, v)
			}
			last = Text(p)
		}
		if !strings.Contains(last, test.says) {
			t.Errorf("%s says\n     %s\nwant %s", test.schema, last, test.says)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, test := range []struct {
		schema, says string
		unsupported  bool
	}{
		{``, "no JSON value", false},
		{`{"type":"object"`, "cut off", false},
		{`{"type":"object","type":"string"}`, "appears twice", false},
		{`[]`, "schema at /: a schema is an object or a boolean", false},
		{`{"type":"str"}`, `schema at /type: "str" is not a type`, false},
		{`{"type":[]}`, "must not be empty", false},
		{`{"properties":{"a":{"minimum":"1"}}}`, "schema at /properties/a/minimum: must be a number", false},
		{`{"properties":{"a/b":5}}`, "schema at /properties/a~1b: a schema is", false},
		{`{"multipleOf":0}`, "greater than 0", false},
		{`{"minLength":-1}`, "integer of at least 0", false},
		{`{"required":true}`, "list of names", false},
		{`{"anyOf":[]}`, "must not be empty", false},
		{`{"$ref":"#/$defs/x"}`, "there is no /$defs/x", false},
		{`{"$ref":"#"}`, "refers to itself", false},
		{`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "refers to itself", false},
		{`{"$ref":"https://example.org/x.json"}`, "not supported", true},
		{`{"$ref":"#anchor"}`, "not supported", true},
		{`{"properties":{"a":{"$id":"x"}}}`, "not supported", true},
		{`{"unevaluatedProperties":false}`, "not supported", true},
		{`{"$dynamicRef":"#x"}`, "not supported", true},
		{`{"pattern":"(?=a)"}`, "not supported", true},
		{`{"pattern":"` + strings.Repeat("a", 1001) + `"}`, "1001 bytes", false},
		{strings.Repeat(`{"items":`, 70) + "true" + strings.Repeat("}", 70), "nested more than 64", false},
		{`{"enum":[1],"x":"` + strings.Repeat("a", maxSchema) + `"}`, "at most 1048576", false},
	} {
		_, err := Compile([]byte(test.schema))
		if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, ErrUnsupported) != test.unsupported {
			t.Errorf("Compile(%.80s) = %v; want %q", test.schema, err, test.says)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"read_file", "list_dir", "search_files", "write_file", "edit_file", "get_now", "calculator"}
	for _, test := range []struct{ name, want string }{
		{"readfile", "read_file"},
		{"ReadFile", "read_file"},
		{"read-file", "read_file"},
		{"raed_file", "read_file"},
		{"wirte_file", "write_file"},
		{"calc", "calculator"},
		{"search", "search_files"},
		{"weather", ""},
		{"", ""},
		{strings.Repeat("a", 1000), ""},
	} {
		got := ""
		if near := Nearest(test.name, names); len(near) > 0 {
			got = near[0]
		}
		if got != test.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFor(t *testing.T) {
	type inner struct {
		X float64 `json:"x" jsonschema:"the <x> & y axis"`
	}
	type args struct {
		Path  string         `json:"path" jsonschema:"the file, such as notes.md" schema:"minLength=1"`
		Lines int            `json:"lines,omitempty" schema:"minimum=1;maximum=2000;default=200"`
		Mode  string         `json:"mode,omitzero" schema:"enum=[\"fast\",\"slow\"]"`
		Tags  []string       `json:"tags,omitempty" schema:"maxItems=3"`
		Near  []inner        `json:"near,omitempty"`
		Opt   *int           `json:"opt,omitempty"`
		Extra map[string]any `json:"extra,omitempty"`
		Skip  string         `json:"-"`
	}
	got, err := For[args]()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"the file, such as notes.md","minLength":1},` +
		`"lines":{"type":"integer","default":200,"minimum":1,"maximum":2000},` +
		`"mode":{"type":"string","enum":["fast","slow"]},` +
		`"tags":{"type":"array","items":{"type":"string"},"maxItems":3},` +
		`"near":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number","description":"the <x> & y axis"}},"required":["x"],"additionalProperties":false}},` +
		`"opt":{"type":["null","integer"]},` +
		`"extra":{"type":"object","additionalProperties":true}},` +
		`"required":["path"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s := report(compile(t, string(got)), `{"path":"a","opt":null}`); s != `{"lines":200,"opt":null,"path":"a"} | default /lines` {
		t.Error(s)
	}
	if _, err := For[struct {
		A int `schema:"least=1"`
	}](); err == nil || !strings.Contains(err.Error(), `field A: schema tag: "least" is not a keyword`) {
		t.Errorf("wrong keyword: %v", err)
	}
	if _, err := For[struct{ F func() }](); err == nil {
		t.Error("a function has a schema")
	}
}
