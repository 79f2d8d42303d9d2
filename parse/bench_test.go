package parse_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// Times are for people: go test -bench . ./parse
func BenchmarkParse(b *testing.B) {
	const mb = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, mb/len(s)) }
	call := `{"name":"read_file","arguments":{"path":"a.txt","text":"some words of an argument, \"quoted\", and {braces}"}}`
	for _, c := range []struct{ name, text string }{
		{"prose", fill("The quick brown fox jumps over \"the\" lazy dog, {twice}.\n")},
		{"call", call},
		{"calls", "[" + strings.Repeat(call+",", 99) + call + "]"},
		{"long", `{"name":"write_file","arguments":{"text":"` + fill(`some code();\n\tif x { y = \"z\" }`) + `"}}`},
		{"hostile/brackets", fill("[")},
		{"hostile/objects", fill("{}")},
		{"hostile/open-objects", fill(`{"name":`)},
		{"hostile/quotes", "{" + fill(`"`)},
		{"hostile/backslashes", `{"a":"` + fill(`\`)},
		{"hostile/fences", fill("```")},
		{"hostile/fence-lines", fill("```json\n{\n")},
		{"hostile/inline-fences", fill("```json {\"a\":1} ```\n")},
		{"hostile/fence-sizes", fill("```` x\n````` x\n`````` x\n``` x\n")},
		{"hostile/fences-after-blanks", fill("          ```a`\n")},
		{"hostile/tags", `{"` + fill("<think>")},
		{"hostile/closing-tags", `x{"` + fill("</think>")},
		{"hostile/tag-pairs", `{"` + fill("<think></think>```\n")},
		{"hostile/foreign-calls", fill(`{"name":"no_such_tool","arguments":{}}`)},
	} {
		if strings.HasPrefix(c.name, "hostile/f") || strings.HasPrefix(c.name, "hostile/i") {
			c.text = `x {"` + "\n" + c.text // past the quick look for a call's least
		}
		m := message.NewText(message.Assistant, c.text)
		in := parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				parse.Parse(in)
			}
		})
	}
	m := message.Message{Role: message.Assistant, Parts: []message.Part{
		{Kind: message.ToolCall, ID: "call_1", Name: "read_file", Args: `{"path":"notes/a.txt","from":1,"to":40}`}}}
	in := parse.Input{Message: &m, Finish: event.FinishToolCalls, Tools: tools, Base: "c7", TextCalls: true}
	b.Run("native", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parse.Parse(in)
		}
	})
}
