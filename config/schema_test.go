package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rein.example/rein/internal/golden"
	"rein.example/rein/internal/yamltree"
)

// good and bad are files that the schema and the decoder both take, and refuse.
var good = []string{
	full,
	"model: openai/x",
	"{}",
	"name: a\nrules:\naccept:\ntools:\nlimits:\npermissions:\nwindow:\nsampling:\n",
	"limits: qa",
	"limits: {steps: 5}",
	"limits: {wall: 90s}",
	"limits: {}",
	"tools: [calculator, clock]",
	"tools: [{calculator: }, {clock: {}}]",
	"tools: [{files: {root: .}}]",
	"tools: []",
	"permissions: {}",
	"permissions: {allow: []}",
	"permissions: {allow: ['*', write_*, effect:once]}",
	"sampling: {temperature: 0, top_p: 0.5}",
	"sampling: {seed: 9007199254740991}",
	"base_url: https://[::1]:8080/v1",
	"base_url: http://localhost",
	"model: openai/x\nfallback: [anthropic/y, openai/z]",
	"price: {input: 0, output: 1.5}",
	"price: {input: 1, cached: 0.1, cache_write: 1.25, output: 1000000}",
	"rules: {can: ['" + strings.Repeat("ü", 2000) + "']}",
	"rules: {must: [be brief, {text: be brief}, {call: check_x, before: submit_*}], never: [{never: a, after: b}, {never: c}]}",
	"phases: [{name: a, tools: [x], until: x}, {name: b, tools: ['*']}]",
	// As the command's contract writes it.
	"permissions: {allow: [effect:read], ask: [effect:repeatable, effect:once], deny: []}",
	"calls: {}",
	"calls:",
	"calls: {dialect: hermes}",
	"calls: {dialect: pythonic, text: read, strict: auto}",
	"calls: {text: ignore, strict: always}",
}

var bad = []string{
	"[]",
	"text",
	"",
	"modle: openai/x",
	"model: gpt",
	"model: Open AI/x",
	"model: openai/",
	"model:",
	"model: 5",
	"model: [openai/x]",
	"name: ''",
	"name: -x",
	"name: " + strings.Repeat("x", 65),
	"base_url: ftp://x",
	"base_url: http://a@b/",
	"base_url: http://a/?key=1",
	"base_url: http://a:123456/",
	"key_env: sk-1",
	"key_env: A\nkey_file: b",
	"fallback: openai/x",
	"fallback: [x]",
	"price: 1",
	"price: {input: 1}",
	"price: {input: 1, output: -1}",
	"price: {input: 1, output: 1, reasoning: 1}",
	"calls: hermes",
	"calls: {dialect: none}",
	"calls: {dialect: hermes_tool_call}",
	"calls: {text: true}",
	"calls: {strict: never}",
	"calls: {native: true}",
	"rules: [x]",
	"rules: {can: x}",
	"rules: {may: [x]}",
	"rules: {must: [{}]}",
	"rules: {must: [~]}",
	"rules: {must: [1]}",
	"rules: {must: [{call: a}]}",
	"rules: {must: [{before: a}]}",
	"rules: {must: [{text: a, call: b, before: c}]}",
	"rules: {must: [{call: a, before: b, after: c}]}",
	"rules: {never: [{after: a}]}",
	"rules: {never: [{never: a b}]}",
	"phases: [{name: a}]",
	"phases: [{tools: [a]}]",
	"phases: [a]",
	"rules: {can: [1]}",
	"rules: {can: ['']}",
	"rules: {can: [' ']}",
	"rules: {can: [a: b]}",
	"rules: {can: ['" + strings.Repeat("x", 2001) + "']}",
	"rules: {can: [" + strings.Repeat("x,", 101) + "]}",
	"accept: done",
	"accept: {files: [1]}",
	"tools: calculator",
	"tools: [files]",
	"tools: [{files: }]",
	"tools: [{files: {}}]",
	"tools: [{files: {root: ''}}]",
	"tools: [{files: {root: x, write: staged}}]",
	"tools: [{files: {root: x, mode: r}}]",
	"tools: [{calculator: {digits: 5}}]",
	"tools: [{calculator: true}]",
	"tools: [{clock: {timezone: here and now}}]",
	"tools: [{calculator: , clock: }]",
	"tools: [{}]",
	"tools: [~]",
	"tools: [shell]",
	"limits: short",
	"limits: 5",
	"limits: [5]",
	"limits: {steps: 0}",
	"limits: {steps: 1.5}",
	"limits: {steps: '5'}",
	"limits: {steps: 1000001}",
	"limits: {wall: 30}",
	"limits: {wall: 30 minutes}",
	"limits: {wall: 0s}",
	"limits: {preset: none}",
	"limits: {cost_usd: -1}",
	"limits: {cost_usd: 0}",
	"permissions: {allow: effect:read}",
	"permissions: {allow: [effect:all]}",
	"permissions: {allow: [a b]}",
	"permissions: {allow: [{name: x}]}",
	"permissions: {forbid: [x]}",
	"window: {size: 10}",
	"window: {strategy: rolling}",
	"window: {shares: {rule: 0.1}}",
	"window: {shares: {rules: 1.1}}",
	"window: {keep: 0}",
	"window: {keep: 101}",
	"window: {trigger: 0.2}",
	"window: {target: 0}",
	"window: {tokenizer: tokenizer.txt}",
	"window: full",
	"retry: never",
	"retry: true",
	"sampling: {temperature: 2.1}",
	"sampling: {temperature: -0.1}",
	"sampling: {temperature: hot}",
	"sampling: {seed: -1}",
	"sampling: {reasoning: max}",
	"submit: \"a\\nb\"",
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	check := compile(t)
	for _, s := range good {
		if _, err := Parse("f", []byte(s)); err != nil {
			t.Errorf("%q: the decoder says %v", excerpt(s), err)
		}
		if !check(t, s) {
			t.Errorf("%q: the schema refuses it", excerpt(s))
		}
	}
	for _, s := range bad {
		if _, err := Parse("f", []byte(s)); err == nil {
			t.Errorf("%q: the decoder takes it", excerpt(s))
		}
		if check(t, s) {
			t.Errorf("%q: the schema takes it", excerpt(s))
		}
	}
}

// Only what a schema cannot say is left to the decoder.
func TestDecoderIsStricterOnlyHere(t *testing.T) {
	check := compile(t)
	for _, s := range []string{
		"window: {size: 2048, reserve: 4096}",
		"window: {strategy: full, keep: 3}",
		"accept: {files: [/tmp/a.md]}",
		"window: {trigger: 0.6, target: 0.4}",
		"calls: {dialect: react, text: ignore}",
		"calls: {dialect: xml, strict: always}",
		"tools: [clock, clock]",
		"tools: [clock: {timezone: Europe/Olso}]",
		"limits: {steps: 5.0}",
		"name: &a x",
	} {
		if _, err := Parse("f", []byte(s)); err == nil {
			t.Errorf("%q: the decoder accepts it", s)
		}
		if !strings.Contains(s, "&") && !check(t, s) {
			t.Errorf("%q: the schema refuses it too: move it there", s)
		}
	}
}

func compile(t *testing.T) func(t *testing.T, text string) bool {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("agent.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("agent.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, text string) bool {
		n, err := yamltree.Parse([]byte(text), bounds)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return s.Validate(plain(n)) == nil
	}
}

// plain returns the tree as the values that a JSON decoder gives.
func plain(n *yamltree.Node) any {
	switch n.Kind {
	case yamltree.Bool:
		return n.Scalar == "true"
	case yamltree.Int, yamltree.Float:
		return json.Number(n.Scalar)
	case yamltree.Text:
		return n.Scalar
	case yamltree.List:
		list := []any{}
		for _, i := range n.Items {
			list = append(list, plain(i))
		}
		return list
	case yamltree.Mapping:
		m := map[string]any{}
		for _, e := range n.Entries {
			m[e.Key] = plain(e.Value)
		}
		return m
	}
	return nil
}

var update = flag.Bool("update", false, "write the golden files again")

// The schema is kept as a file, so that a change of it is seen in review.
func TestSchemaGolden(t *testing.T) {
	const file = "testdata/agent.schema.json"
	golden.Check(t, file, Schema(), *update, "run go test ./config -update")
}

func FuzzParse(f *testing.F) {
	for _, s := range slices.Concat(good, bad) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Parse("f", text)
		if err == nil {
			roundTrip(t, string(text))
			return
		}
		if a != nil || err.Error() == "" || len(err.Error()) > 64<<10 {
			t.Errorf("agent %v, error of %d bytes", a, len(err.Error()))
		}
	})
}
