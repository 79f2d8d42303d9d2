package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"rein.example/rein"
	"rein.example/rein/internal/golden"
)

//go:generate go test . -count=1 -run "^(TestSchemaGolden|TestReference)$" -update

// The page for people is made from the structs that the decoder fills, as the
// schema is.
func TestReference(t *testing.T) {
	const file = "../docs/agent-yaml.md"
	golden.Check(t, file, reference(t), *update, "run make generate")
}

const preface = `# agent.yaml

<!-- Made from the structs in config/agent.go by make generate; do not edit. -->

An agent in a file, for ` + "`rein run`" + `: the file named with -f, else agent.yaml in the current folder. What this page does not list is refused, with line and column, and so is what this version would have
to ignore. Relative paths start from the file's folder. ` + "`rein schema`" + ` prints the same as JSON Schema, for editors.

Everything may be left out but the model, which -m can name too.
`

const permissionNotes = `
Effect classes say what running a tool may change, and what may be done when nobody knows whether it was done:

- **read** changes nothing: it may always be done again.
- **repeatable** changes something, and doing it twice is the same as once, such as writing a whole file.
- **once** changes something that must not happen twice, such as sending a mail: after a crash its tool finds out what happened, or a person is asked.

The strictest match wins: deny, ask, allow. An entry for one tool that another entry always overrides is refused.
`

const mcpNotes = `
    - mcp:
        name: github
        command: [npx, -y, some-server]
        secret_env: [GITHUB_TOKEN]
        effects: {"get_*": read, create_issue: once}
        confirm: {create_issue: find_issue}
    - mcp: {url: "https://tools.example/mcp", bearer_env: TOOLS_TOKEN, allow: ["read_*"]}

What a server says of its tools is a claim: a tool that says it only reads is read, one that says it may be repeated is repeatable, and all others are once. Each definition is remembered with
the run; if a server changes one, its calls are refused, and ask first when the run is resumed. Each call carries its idempotency key in _meta, as rein.example/idempotency-key.
`

const agentNotes = `
    - agent:
        file: researcher.yaml
        name: research
        doc: {what: Finds out what the orders of a customer are., when: To find out about more than one order., returns: What was found., or that nothing was.}
        effect: read
        limits: {steps: 10, wall: 5m}

The model gives the agent a task in words. Each call is a run of its own, with its own journal (rein show RUN.1) in the same store; the result is its answer, or what it submits. It works within
what is left of the limits of the run that calls it, is stopped, resumed and cancelled with that, and asks the same people; what must not be done twice is done once in all runs of the tree.
Agents may call agents, five deep; a file that leads back to itself is refused. The files are read again when a run is resumed.
`

const httpNotes = `
    - http_get: {hosts: [docs.example.com, "*.example.org"]}
    - http:
        name: cancel_order
        doc: {what: Cancels an order., when: Only when the customer has asked for it.}
        method: POST
        url: https://desk.example.com/orders/{id}/cancel
        params: {id: {description: "the order's number", pattern: "[0-9]+"}, reason: {optional: true}}
        auth: {bearer_env: DESK_TOKEN}
        confirm: order_is_cancelled
    - openapi: {document: desk.yaml, operations: [listOrders, getOrder], auth: {bearer_env: DESK_TOKEN}}

Requests go to the hosts that are named here only, checked again at each redirect, and never to a link-local address; to a private one only with allow_private, checked when the connection is made.
Proxies of the environment are not used. What writes is sent once, is led nowhere else, and carries its idempotency key. 4xx means that nothing was done (409 leaves it open); after 5xx, and after a
connection that was lost, nobody knows what became of a write: it is unknown, and the confirm tool is asked.
`

const windowNotes = `
The budget of a request is the window's size less reserve, times a margin for what is not known of the model's way to count: 0.9 where the model's own tokenizer counts, else 0.65 until the server's
own figures have corrected the estimate. Every request is held to it. [context.md](context.md) says what each strategy keeps, and how what has left is read again.
`

func reference(t *testing.T) []byte {
	out := bytes.NewBufferString(preface)
	section(out, "", reflect.TypeFor[Agent]())
	out.WriteString("\n## What the tools are called\n\n| entry | tool | effect class |\n|---|---|---|\n")
	a := &Agent{BaseDir: t.TempDir(), Tools: []Tool{{Files: &Files{Root: ".", Write: "direct"}}, {Calculator: &Calculator{}}, {Clock: &Clock{}}, {HTTPGet: &HTTPGet{Hosts: []string{"docs.example.com"}}}}}
	for _, entry := range a.Tools {
		one := *a
		one.Tools = []Tool{entry}
		o, close, err := one.Options()
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range o.Tools {
			d := tl.Definition()
			fmt.Fprintf(out, "| %s | %s | %s |\n", entry.kind(), d.Name, d.Effect)
		}
		if err := close(); err != nil {
			t.Error(err)
		}
	}
	return out.Bytes()
}

// section writes the settings of a struct, then those of the structs in it.
func section(out *bytes.Buffer, path string, t reflect.Type) {
	if path != "" {
		fmt.Fprintf(out, "\n## %s\n", path)
	}
	out.WriteString("\n| key | takes | what it is |\n|---|---|---|\n")
	for _, s := range settings(t) {
		f := t.Field(s.index)
		what := s.tag.Get("doc")
		if s.tag.Get("need") == "true" {
			what += " Needed."
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", s.key, cell(takes(f.Type, s.tag, join(path, s.key))), cell(what))
	}
	switch t {
	case reflect.TypeFor[Permissions]():
		out.WriteString(permissionNotes)
	case reflect.TypeFor[Limits]():
		presetTable(out)
	case reflect.TypeFor[Window]():
		out.WriteString(windowNotes)
	case reflect.TypeFor[Template]():
		out.WriteString(commandNotes)
	case reflect.TypeFor[MCP]():
		out.WriteString(mcpNotes)
	case reflect.TypeFor[HTTPGet]():
		out.WriteString(httpNotes)
	case reflect.TypeFor[AgentTool]():
		out.WriteString(agentNotes)
	case reflect.TypeFor[Rule]():
		out.WriteString("\nA rule, under never as under must, is words, `- be brief`, or one that the harness sees to: `- {call: check_stock, before: submit_order}` or `- {never: cancel_order, after: submit_order}`.\n")
	case reflect.TypeFor[Tool]():
		out.WriteString("\nEach entry of the list is one tool: `- clock`, or with settings `- clock: {timezone: Europe/Oslo}`.\n")
	}
	for _, s := range settings(t) {
		f := t.Field(s.index).Type
		for f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice || f.Kind() == reflect.Map {
			f = f.Elem()
		}
		if f == reflect.TypeFor[Rule]() && s.key != "must" {
			continue // the same
		}
		if f == reflect.TypeFor[Limits]() && path != "" {
			continue // the same
		}
		if f.Kind() == reflect.Struct && len(settings(f)) > 0 {
			section(out, join(path, s.key), f)
		}
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// takes says what a setting can be.
func takes(t reflect.Type, tag reflect.StructTag, path string) string {
	switch {
	case t == reflect.TypeFor[Limits]():
		return "a preset or a mapping, see [limits](#limits)"
	case t == reflect.TypeFor[Rule]():
		return "a rule in words or a mapping, see [rules.must](#rulesmust)"
	case t.Kind() == reflect.Pointer:
		return takes(t.Elem(), tag, path)
	case t.Kind() == reflect.Struct && len(settings(t)) == 0:
		return "nothing"
	case t.Kind() == reflect.Struct:
		return fmt.Sprintf("a mapping, see [%s](#%s)", path, strings.ReplaceAll(strings.ReplaceAll(path, ".", ""), " ", ""))
	case t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[Tool]():
		return "a list of tools, see [tools](#tools)"
	case t.Kind() == reflect.Slice:
		return fmt.Sprintf("a list of at most %d, each %s", bound(tag, "max", maxItems), takes(t.Elem(), tag, path))
	case t.Kind() == reflect.Map:
		return fmt.Sprintf("a mapping of at most %d, each %s", bound(tag, "max", maxItems), takes(t.Elem(), tag, path))
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int64:
		return fmt.Sprintf("a whole number from %s to %s", tag.Get("min"), tag.Get("max"))
	case t == reflect.TypeFor[Decimal]():
		return fmt.Sprintf("a number from %s to %s", tag.Get("min"), tag.Get("max"))
	}
	r := textRules()[tag.Get("is")]
	return r.allowed()
}

func presetTable(out *bytes.Buffer) {
	out.WriteString("\n| preset | steps | tool_calls | tokens | wall | retry, if left out | window.strategy, if left out |\n|---|---|---|---|---|---|---|\n")
	for _, name := range presetNames() {
		l, _, _ := rein.Preset(name)
		a := Agent{Limits: Limits{Preset: name}}
		retry := "patient"
		if *a.retry() == rein.RetryFast() {
			retry = "fast"
		}
		wall := shortDuration(time.Duration(l.Wall) * time.Millisecond)
		fmt.Fprintf(out, "| %s | %d | %d | %d | %s | %s | %s |\n", name, l.Steps, l.ToolCalls, l.Tokens, wall, retry, a.strategy())
	}
	out.WriteString("\nA program that uses the library gets patient unless it says otherwise: only agent.yaml takes fast for qa and lookup. The same goes for the strategy, which there is layered.\n")
}

// shortDuration writes a time as the file takes it: 30m, 12h.
func shortDuration(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
