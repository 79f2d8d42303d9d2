package schema

import (
	"fmt"
	"strings"
	"testing"
)

func compile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// report writes what Check says as one text.
func report(s *Schema, args string) string {
	canonical, repairs, problems := s.Check([]byte(args))
	if problems != nil {
		if canonical != nil || repairs != nil {
			return "both problems and a result"
		}
		return Text(problems)
	}
	b := string(canonical)
	for _, r := range repairs {
		b += fmt.Sprintf(" | %s %s", r.Kind, r.Where)
		if r.Lossy {
			b += " (lossy)"
		}
	}
	return b
}

// TestConversions documents every conversion, and the looks-alike that is
// refused.
func TestConversions(t *testing.T) {
	const tool = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
		"path":{"type":"string"}, "lines":{"type":"integer","minimum":1}, "ratio":{"type":"number"}, "all":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}}, "ids":{"type":"array","items":{"type":"integer"}},
		"where":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]},
		"mode":{"enum":["fast","slow",3]}, "either":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`
	const free = `{"type":"object","properties":{"a":{"type":"integer"}}}`
	const none = `{"type":"object","additionalProperties":false}`
	const all = `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"additionalProperties":false}`
	for _, test := range []struct{ name, schema, args, want string }{
		{"nothing to do", tool, `{"path":"a","lines":5}`, `{"lines":5,"path":"a"}`},
		{"5.0 is the integer 5", tool, `{"path":"a","lines":5.0}`, `{"lines":5,"path":"a"}`},
		{"5e1 too", tool, `{"path":"a","lines":5e1}`, `{"lines":50,"path":"a"}`},

		{"string to integer", tool, `{"path":"a","lines":"5"}`, `{"lines":5,"path":"a"} | string_to_number /lines`},
		{"with spaces", tool, `{"path":"a","lines":" 5\n"}`, `{"lines":5,"path":"a"} | string_to_number /lines`},
		{"string to number", tool, `{"path":"a","ratio":"-1.50"}`, `{"path":"a","ratio":-1.5} | string_to_number /ratio`},
		{"a fraction is no integer", tool, `{"path":"a","lines":"5.5"}`, `- /lines is the string "5.5"; wanted: an integer of at least 1`},
		{"out of range", tool, `{"path":"a","lines":"0"}`, `- /lines is the string "0"; wanted: an integer of at least 1`},
		{"words are no numbers", tool, `{"path":"a","lines":"five"}`, `- /lines is the string "five"; wanted: an integer of at least 1`},
		{"nor is a unit dropped", tool, `{"path":"a","lines":"5 lines"}`, `- /lines is the string "5 lines"; wanted: an integer of at least 1`},
		{"nor other bases", tool, `{"path":"a","lines":"0x10"}`, `- /lines is the string "0x10"; wanted: an integer of at least 1`},
		{"nor separators", tool, `{"path":"a","lines":"1,000"}`, `- /lines is the string "1,000"; wanted: an integer of at least 1`},
		{"through alternatives", tool, `{"path":"a","either":"7"}`, `{"either":7,"path":"a"} | string_to_number /either`},

		{"string to boolean", tool, `{"path":"a","all":"true"}`, `{"all":true,"path":"a"} | string_to_boolean /all`},
		{"as Python writes it", tool, `{"path":"a","all":"False"}`, `{"all":false,"path":"a"} | string_to_boolean /all`},
		{"yes is a guess", tool, `{"path":"a","all":"yes"}`, `- /all is the string "yes"; wanted: true or false`},
		{"so is 1", tool, `{"path":"a","all":1}`, `- /all is the number 1; wanted: true or false`},

		{"number to string", tool, `{"path":1042}`, `{"path":"1042"} | number_to_string /path`},
		{"digits as written", tool, `{"path":1.50}`, `{"path":"1.50"} | number_to_string /path`},
		{"even very long", tool, `{"path":12345678901234567890}`, `{"path":"12345678901234567890"} | number_to_string /path`},
		{"but not with an exponent", tool, `{"path":1e3}`, `- /path is the number 1e3; wanted: a string`},
		{"a boolean is no string", tool, `{"path":true}`, `- /path is true; wanted: a string`},

		{"lone value to list", tool, `{"path":"a","tags":"x"}`, `{"path":"a","tags":["x"]} | value_to_list /tags`},
		{"and its item", tool, `{"path":"a","ids":"5"}`, `{"ids":[5],"path":"a"} | value_to_list /ids | string_to_number /ids/0`},
		{"null is no value", tool, `{"path":"a","tags":null}`, `- /tags is null; wanted: a list, each a string`},
		{"not a list of lists", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, `5`, `- the value is the number 5; wanted: a list, each a list, each an integer`},
		{"not for ever", `{"type":"array","items":{"$ref":"#"}}`, `5`, `- the value is the number 5; wanted: a list, each a list, each a list`},
		{"commas are not split", tool, `{"path":"a","ids":"1,2"}`, `- /ids is the string "1,2"; wanted: a list, each an integer`},

		{"list in a string", tool, `{"path":"a","tags":"[\"x\",\"y\"]"}`, `{"path":"a","tags":["x","y"]} | json_string /tags`},
		{"object in a string", tool, `{"path":"a","where":"{\"x\":\"1\"}"}`, `{"path":"a","where":{"x":1}} | json_string /where | string_to_number /where/x`},
		{"all arguments in a string", tool, `"{\"path\":\"a\"}"`, `{"path":"a"} | json_string `},
		{"a declared string stays one", tool, `{"path":"[1]"}`, `{"path":"[1]"}`},
		{"half a list is not completed", tool, `{"path":"a","ids":"[1,2"}`, `- /ids is the string "[1,2"; wanted: a list, each an integer`},
		{"nor taken for an item", tool, `{"path":"a","tags":"[\"x\", \"y"}`, `- /tags is the string "[\"x\", \"y"; wanted: a list, each a string`},
		{"nor is a list in another notation", tool, `{"path":"a","tags":" ['x','y']"}`, `- /tags is the string " ['x','y']"; wanted: a list, each a string`},
		{"nor taken with a rest", tool, `{"path":"a","ids":"[1] and so on"}`, `- /ids is the string "[1] and so on"; wanted: a list, each an integer`},
		{"nor with a name twice", tool, `{"path":"a","where":"{\"x\":1,\"x\":2}"}`, `- /where is the string "{\"x\":1,\"x\":2}"; wanted: an object`},

		{"no text", none, ``, `{} | no_arguments `},
		{"white space", none, " \n", `{} | no_arguments `},
		{"empty string", none, `""`, `{} | no_arguments `},
		{"null", none, `null`, `{} | no_arguments `},
		{"nothing where something is needed", tool, ``, `- /path is missing; wanted: a string`},
		{"null where something is needed", tool, `null`, `- /path is missing; wanted: a string`},

		{"wrapped", tool, `{"arguments":{"path":"a"}}`, `{"path":"a"} | unwrapped `},
		{"under any name", tool, `{"_":{"path":"a","lines":"5"}}`, `{"lines":5,"path":"a"} | unwrapped  | string_to_number /lines`},
		{"in a string", tool, `{"input":"{\"path\":\"a\"}"}`, `{"path":"a"} | unwrapped  | json_string `},
		{"once", tool, `{"args":{"args":{"path":"a"}}}`, "- /path is missing; wanted: a string\n- /args is not known; known: all, either, ids, lines, mode, path, ratio, tags, where"},
		{"a declared member is no wrapper", tool, `{"where":{"path":"a"}}`, "- /path is missing; wanted: a string\n- /where/x is missing; wanted: a number"},
		{"an empty wrapper", none, `{"arguments":{}}`, `{} | unwrapped `},
		{"an unknown member is not dropped", none, `{"filter":{}}`, `- /filter is not known: there are no members`},
		{"what validates is left", free, `{"input":{"a":1}}`, `{"input":{"a":1}}`},
		{"optional members", all, `{"input":{"a":"1"}}`, `{"a":1} | unwrapped  | string_to_number /a`},

		{"rounded fraction", tool, `{"path":"a","ratio":0.12345678901234567890}`, `{"path":"a","ratio":0.12345678901234568} | rounded /ratio (lossy)`},
		{"an integer is not rounded", tool, `{"path":"a","lines":12345678901234567890}`, `- /lines is the number 12345678901234567890, which has more digits than JSON numbers can carry; wanted: an integer that a double holds exactly, as all up to 2^53 are, or a string`},
		{"a large round one is exact", tool, `{"path":"a","lines":1e22}`, `{"lines":1e+22,"path":"a"}`},
		{"not rounded over a bound", `{"type":"number","exclusiveMinimum":0.1}`, `0.10000000000000000000001`, `- the value is the number 0.1; wanted: a number of more than 0.1`},

		{"one good, one bad", tool, `{"lines":"5","ratio":"x"}`, "- /path is missing; wanted: a string\n- /ratio is the string \"x\"; wanted: a number"},
		{"no reading of enums", tool, `{"path":"a","mode":"3"}`, `- /mode is the string "3"; wanted: one of "fast", "slow", 3`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := report(compile(t, test.schema), test.args); got != test.want {
				t.Errorf("Check(%s)\n got %s\nwant %s", test.args, got, test.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	const nested = `{"type":"object","properties":{"page":{"type":"object","default":{},"properties":{"size":{"type":"integer","default":20}}},"q":{"type":"string"}}}`
	for _, test := range []struct{ name, schema, args, want string }{
		{"missing", `{"properties":{"n":{"type":"integer","default":10}}}`, `{}`, `{"n":10} | default /n`},
		{"present", `{"properties":{"n":{"type":"integer","default":10}}}`, `{"n":1}`, `{"n":1}`},
		{"null is present", `{"properties":{"n":{"type":["integer","null"],"default":10}}}`, `{"n":null}`, `{"n":null}`},
		{"in order", `{"properties":{"b":{"default":1},"d":{"default":{"x":[]}},"a":{}}}`, `{"c":0,"a":0}`, `{"a":0,"b":1,"c":0,"d":{"x":[]}} | default /b | default /d`},
		{"makes required members valid", `{"properties":{"n":{"default":10}},"required":["n"]}`, `{}`, `{"n":10} | default /n`},
		{"in defaults", nested, `{}`, `{"page":{"size":20}} | default /page | default /page/size`},
		{"in members", nested, `{"page":{"size":"5"}}`, `{"page":{"size":5}} | string_to_number /page/size`},
		{"in items", `{"type":"array","items":{"properties":{"n":{"default":1}}}}`, `[{},{"n":2}]`, `[{"n":1},{"n":2}] | default /0/n`},
		{"through references", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"n":{"default":1}}}}}`, `{}`, `{"n":1} | default /n`},
		{"one that does not validate is not applied", `{"properties":{"n":{"type":"integer","default":"ten"}}}`, `{}`, `{}`},
		{"none if the whole were not valid", `{"maxProperties":1,"properties":{"n":{"default":1},"a":{}}}`, `{"a":1}`, `{"a":1}`},
		{"after a wrapper", `{"properties":{"q":{"type":"string"},"n":{"default":1}},"required":["q"],"additionalProperties":false}`, `{"input":{"q":"x"}}`, `{"n":1,"q":"x"} | unwrapped  | default /n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := report(compile(t, test.schema), test.args); got != test.want {
				t.Errorf("Check(%s)\n got %s\nwant %s", test.args, got, test.want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	s := compile(t, `{"type":"object"}`)
	for _, test := range []struct{ name, args, want string }{
		{"cut", `{"a":"b`, "- /a cannot be read: the text ends in the middle of a value: it was cut off (at byte 7); wanted: one JSON value"},
		{"duplicate", `{"a":1,"a":2}`, "- /a cannot be read: the member /a appears twice (at byte 13); wanted: one JSON value"},
		{"deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "nested more than 64 deep"},
		{"large", `{"a":"` + strings.Repeat("x", MaxBytes) + `"}`, "at most 4194304 are taken"},
	} {
		if got := report(s, test.args); !strings.Contains(got, test.want) {
			t.Errorf("%s:\n got %.300s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestWorkIsBounded: schemas and arguments made to take for ever do not.
func TestWorkIsBounded(t *testing.T) {
	// Each level doubles the work: 2^40 in all.
	doubling := `{"$defs":{"l0":{"type":"integer"}`
	for i := 1; i <= 40; i++ {
		doubling += fmt.Sprintf(`,"l%d":{"allOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]}`, i, i-1, i-1)
	}
	doubling += `},"not":{"not":{"$ref":"#/$defs/l40"}}}`
	const want = "- the value takes too long to check; wanted: a smaller or simpler value"
	if got := report(compile(t, doubling), "1"); got != want {
		t.Errorf("got %s", got)
	}
	tree := `{"anyOf":[{"type":"object","required":["x"],"additionalProperties":{"$ref":"#"}},{"type":"object","required":["y"],"additionalProperties":{"$ref":"#"}},{"type":"integer"}]}`
	deep := strings.Repeat(`{"z":`, 60) + `"5"` + strings.Repeat("}", 60)
	if got := report(compile(t, tree), deep); got != want {
		t.Errorf("got %s", got)
	}
}

func TestProblemsAreLimited(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"integer"}}`)
	_, _, problems := s.Check([]byte("[" + strings.Repeat("null,", 99) + "null]"))
	if len(problems) != MaxProblems+1 || problems[MaxProblems].Message != "has 50 more problems" {
		t.Errorf("%d problems, the last %q", len(problems), problems[len(problems)-1])
	}
}
