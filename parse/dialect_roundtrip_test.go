package parse_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// wordsOfTrouble are what strings are made of: all that means something to some
// reader of calls, beside plain words.
var wordsOfTrouble = []string{
	"stock", " ", "A-7", "größer", "東京", "\n", "\n\n", "\t", "\"", "'", "\\", `\n`, `\d+\s*`, `C:\tmp`, "{", "}", "[", "]", "(", ")", ",", ":", "=", "/",
	"5", "-1.5e3", "true", "True", "null", "None", "```", "```json\n", "<", ">", "&amp;", "<b>", "</b>", "<name>x</name>", "<tools>", "😀", "</think>", "<think>", "\u2028", "\x01",
	"Action: stop", "Action Input: {}", "Observation: 1", "save(text=\"x\")", `{"name": "save", "arguments": {}}`,
}

// marksOf are what strings hold besides in the dialects that have a way to write any
// text. The one of elements has none for its own marks.
var marksOf = map[string][]string{
	"hermes_tool_call": {"<tool_call>", "</tool_call>", "<parameter=a>", "</function>"},
	"pythonic_list":    {"<tool_call>", "</tool_call>", "[save(", ")]", "\"\"\"", "'''"},
	"react":            {"<tool_call>", "</tool_call>"},
}

// roundTripSchema declares a parameter of each kind.
var roundTripSchema = []byte(`{"type":"object","properties":{
	"text":{"type":"string"},"count":{"type":"integer"},"rate":{"type":"number"},"exact":{"type":"boolean"},"since":{"type":"null"},
	"list":{"type":"array"},"where":{"type":"object"}},"additionalProperties":false}`)

// What a writer writes is read as what it was given: the names and values of the
// calls, in their order, with nothing said to be mended, and the text before them.
func TestReadsWhatIsWritten(t *testing.T) {
	s, err := schema.Compile(roundTripSchema)
	if err != nil {
		t.Fatal(err)
	}
	tools := []parse.Tool{{Name: "list_all"}, {Name: "save", Params: s}}
	for _, name := range dialect.Promptable() {
		w, _ := dialect.WriterFor(name)
		t.Run(w.ID(), func(t *testing.T) {
			const seed = 11 // any; the same at every run, so that a failure repeats
			g := &generator{rand.New(rand.NewSource(seed)), slices.Concat(wordsOfTrouble, marksOf[w.ID()])}
			for i := range 2000 {
				var calls []dialect.Call
				for range 1 + g.Intn(3) {
					calls = append(calls, g.call())
					if w.ID() == "react" {
						break // it has one call in a reply
					}
				}
				before := []string{"", "I will save it.\n"}[i%2]
				text := string(w.Calls([]byte(before), calls))
				m := message.NewText(message.Assistant, text)
				r := parse.Parse(parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, TextCalls: true, Base: "b"})
				if why := differs(&r, calls, before); why != "" {
					t.Fatalf("%s\nwritten %s\nread    %+v, problems %q, text %q", why, text, r.Calls, r.Problems, r.Text)
				}
			}
		})
	}
}

// differs says how what was read differs from the calls that were written.
func differs(r *parse.Result, calls []dialect.Call, before string) string {
	if len(r.Calls) != len(calls) || len(r.Problems) > 0 {
		return fmt.Sprintf("%d calls of %d", len(r.Calls), len(calls))
	}
	if strings.TrimSpace(r.Text) != strings.TrimSpace(before) {
		return fmt.Sprintf("the text %q", r.Text)
	}
	for i, c := range calls {
		got := &r.Calls[i]
		a, b := jsontext.Value(got.Args), jsontext.Value(c.Args)
		if c.Args == "" {
			b = jsontext.Value("{}")
		}
		if got.Name != c.Name || got.Problem != "" || len(got.Repairs) > 0 || a.Canonicalize() != nil || b.Canonicalize() != nil || string(a) != string(b) {
			return fmt.Sprintf("call %d is %s(%s), problem %q, repairs %v", i, got.Name, a, got.Problem, got.Repairs)
		}
	}
	return ""
}

// generator makes calls.
type generator struct {
	*rand.Rand
	words []string
}

func (g *generator) call() dialect.Call {
	if g.Intn(10) == 0 {
		return dialect.Call{Name: "list_all"}
	}
	members := []string{}
	for _, m := range [...]struct {
		name  string
		value func() string
	}{
		{"text", g.text}, {"count", func() string { return fmt.Sprint(g.Intn(2000) - 1000) }}, {"rate", func() string { return "2.5e-3" }},
		{"exact", func() string { return fmt.Sprint(g.Intn(2) == 0) }}, {"since", func() string { return "null" }},
		{"list", func() string { return "[" + g.values(2, false) + "]" }}, {"where", func() string { return "{" + g.values(2, true) + "}" }},
	} {
		if g.Intn(5) < 3 {
			members = append(members, fmt.Sprintf("%q:%s", m.name, m.value()))
		}
	}
	return dialect.Call{Name: "save", Args: "{" + strings.Join(members, ",") + "}"}
}

// text returns a JSON string.
func (g *generator) text() string {
	var b strings.Builder
	for range g.Intn(8) {
		b.WriteString(g.words[g.Intn(len(g.words))])
	}
	quoted, err := jsontext.AppendQuote(nil, b.String())
	if err != nil {
		panic(err) // the words are UTF-8
	}
	return string(quoted)
}

// values returns some JSON values, at most depth deep, as the inside of an array or
// of an object.
func (g *generator) values(depth int, named bool) string {
	var out []string
	for i := range g.Intn(4) {
		v := []func() string{
			g.text, func() string { return fmt.Sprint(g.Intn(100)) }, func() string { return "null" }, func() string { return "true" },
			func() string { return "[" + g.values(depth-1, false) + "]" }, func() string { return "{" + g.values(depth-1, true) + "}" },
		}[g.Intn(4+min(depth, 1)*2)]()
		if named {
			v = fmt.Sprintf(`"n%d":%s`, i, v)
		}
		out = append(out, v)
	}
	return strings.Join(out, ",")
}
