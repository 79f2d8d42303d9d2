package parse_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

const mb = 1 << 20

// fill returns a megabyte of s, again and again.
func fill(s string) string { return strings.Repeat(s, max(1, mb/len(s))) }

// proses are texts without calls.
func proses() map[string]string {
	return map[string]string{
		"plain":    fill("The quick brown fox jumps over \"the\" lazy dog, twice.\n"),
		"brackets": fill("The quick {brown} fox [1] jumps if a < b, over the lazy dog <em>twice</em>, as in [this](that) and `x[i]`.\n"),
		"markdown": fill("# The fox\n\n- **quick**, see `jump()`\n- [ ] brown\n\n```go\nif x := m[\"a\"]; x < 3 { jump(map[string]int{\"b\": x}) }\n```\n\n```json\n{\"jumps\": [1, 2, 3]}\n```\n"),
		"quotes":   fill("> The quick brown fox\n> {\"jumps\": 1}\n"),
	}
}

// callsOf returns the example of a dialect with a path of about a kilobyte, as
// often as makes a megabyte, but at most as many times as calls are read.
func callsOf(d *dialect.Dialect) string {
	long := strings.Repeat("a/some folder/and_another-one/", mb/parse.MaxCalls/30)
	return strings.Repeat(strings.Replace(d.Example, "a.txt", long+"a.txt", 1)+"\n", parse.MaxCalls)
}

// hostile are the units that hostile texts repeat: each marker of each dialect by
// itself and with the beginnings of what may follow it, halves of calls, and what
// stands in no table.
func hostile() []string {
	out := []string{
		"[", "{", "<", ">", "`", "(", `"`, "'", `\`, "“", " ", "\n", "\u2028", "é", "{}", "[]", `{"`, "[{", "{'", "[1,", `{"a":[`, `{"name":`, `{"name":"get_now",`,
		`{"name":"no_such_tool","arguments":{}}`, `{"name":"get_now","arguments":{}}`, "```", "```json\n{\n", "```json {\"a\":1} ```\n", "```xml\n<", "\n```", "```` x\n````` x\n`````` x\n``` x\n",
		"          ```a`\n", "<think></think>```\n", "[f(", "[get_now(", "[get_now(a=", "Action: get_now\n", "\nAction:", "\nAction: get_now\nAction Input: {", "Thought:", "Final Answer:",
		"\n>>>get_now\n{", "get_now\n{", "call:get_now{", "call:get_now{a:", "<get_now>", "<read_file><path>", "</get_now>", "&lt;", "\n&lt;get_now&gt;", "<parameter=a>", `<parameter name="a">`, "</parameter>",
		"<arg_key>", "<arg_value>", "</arg_value>", "<![CDATA[", "]]>", `r#"`, `<|"|>`, "<escape>", "<a ", "</", `<a b="`, "**", "# ", "_", "functools", "to=f ", "analysis ", "assistant to=", "x\n", "x: 1\n",
	}
	for _, d := range dialect.All() {
		for _, list := range [][]string{d.Open, d.Close, d.Wrap} {
			for _, m := range list {
				out = append(out, m, m+"{", m+"[", m+"\n", m+"x", m+`{"name":"`, "\n"+m+"f{", m+"f(", "x "+m+" y ")
			}
		}
		for _, t := range d.Tags {
			out = append(out, "<"+t, "<"+t+">", "<"+t+` name="f">`, "</"+t+">")
		}
		e := d.Example
		out = append(out, e, e[:len(e)/2], e[len(e)/2:], e[:len(e)*3/4], e[:len(e)-1], strings.ReplaceAll(e, "read_file", "no_such_tool"))
	}
	for _, list := range [][]dialect.Span{dialect.Thinking(), dialect.Echoes()} {
		for _, m := range list {
			out = append(out, m.Open, m.Close, m.Open+m.Close, m.Open+"{")
		}
	}
	for _, c := range dialect.Control() {
		out = append(out, c, c+" ")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// before are what stands before a hostile text: where a reader is at work
// already.
func before() []string {
	return []string{
		"", "x {\"\n", "<think>", "```\n", `<tool_call>{"name":"get_now","arguments":{"a":"`, "<tool_call><function=read_file><parameter=path>", "<tool_call>read_file<arg_key>path</arg_key><arg_value>",
		`<function_calls><invoke name="read_file"><parameter name="path">`, `[read_file(path="`, `<|tool_call>call:read_file{path:<|"|>`, "Thought: x\nAction: read_file\nAction Input: ",
	}
}

// Times are for people: go test -bench . ./parse
func BenchmarkParse(b *testing.B) {
	run := func(name, text string) {
		in := inputOf(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				parse.Parse(in)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(proses())) {
		run("prose/"+name, proses()[name])
	}
	call := `{"name":"read_file","arguments":{"path":"a.txt","text":"some words of an argument, \"quoted\", and {braces}"}}`
	run("call", call)
	run("calls", "["+strings.Repeat(call+",", 99)+call+"]")
	run("long", `{"name":"write_file","arguments":{"text":"`+fill(`some code();\n\tif x { y = \"z\" }`)+`"}}`)
	for _, d := range dialect.All() {
		run("one/"+d.ID, d.Example)
		run("calls/"+d.ID, callsOf(d))
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

// BenchmarkHostile reads a megabyte of each hostile text, after each beginning.
// There are many: choose some with -bench, or look for slow ones with
// -benchtime 1x.
func BenchmarkHostile(b *testing.B) {
	for _, unit := range hostile() {
		for _, head := range before() {
			in := inputOf(head + fill(unit))
			b.Run(fmt.Sprintf("%q/%q", head, unit), func(b *testing.B) {
				b.SetBytes(mb)
				for b.Loop() {
					parse.Parse(in)
				}
			})
		}
	}
}

// worst are the hostile texts that were slowest, of each kind of reader: what
// stands before, and what is repeated. BenchmarkHostile finds others.
var worst = [][2]string{
	{"", "["}, {"", "{"}, {"", "<"}, {"", "</"}, {"", "{\""}, {"", "\\u00"}, {"", `\"`}, {"", "<!--"}, {"", "<code>"}, {"", "<pre "}, {"", "`<"}, {"", "<x>1</x>"},
	{"", "</s> "}, {"", "</invoke>"}, {"", `</invoke>{"name":"`}, {"", "</function_results>"}, {"", "\n<|eot|>f{"}, {"", "\n<|message|>f{"}, {"", "<|eom_id|>x"},
	{"", "\n>>>get_now\n{"}, {"", "Action: get_now\nAction Input: {"}, {"", "x <tool_call> y "}, {"", "x functools[ y "}, {"", "\nfunctools[f{"},
	{"", `[{"name": "read_file", "parameters": {"path": "a.txt"}}`}, {"", "functools[{"}, {"", "[1,"}, {"", `"[`}, {"", "<s>"}, {"", "```json {\"a\":1} ```\n"},
	{"", `[read_file(path="a.txt")`}, {"", "x <function= y </tool_call>\n"}, {"", "\n&lt;get_now&gt;]<]minimax[>[<tool_call></steptml:invoke>x"},
	{"", "</||DSML||tool_calls><minimax:tool_call>\n"}, {"", "x ]<]minimax[>[<tool_call> y "}, {"", "<tool_call>\n<s>[{"}, {"<think>", "<|DSML|tool_calls>{\"name\":\""},
	{"```\n", ">>>read_file\n{\""}, {"```\n", "</zyphra_tool_call>{<｜DSML｜tool_calls>{<parameter name=\"a\">"},
	{"", "```json\n{\n"}, {"", "\n```"}, {"", "<|start|>assistantx"},
	{`<function_calls><invoke name="read_file"><parameter name="path">`, "</function_calls>["}, {`<function_calls><invoke name="read_file"><parameter name="path">`, "<"},
	{"<tool_call><function=read_file><parameter=path>", "</"}, {"<tool_call>read_file<arg_key>path</arg_key><arg_value>", "<"},
	{"<think>", "<|open|>["}, {"<think>", "<||DSML||tool_calls>{"}, {"<think>", "<tool_call>f("}, {"```\n", "functools[x"}, {"```\n", "<|channel|>["},
	{"```\n", "<get_now>"}, {"```\n", "x <|open|> y "}, {"x {\"\n", "\n<|message|>f{"}, {"x {\"\n", "\n&lt;get_now&gt;"}, {"x {\"\n", "x <tool_call: y "},
}

// BenchmarkHostileWorst gives the worst time for a megabyte of those texts, each
// the best of three, in one figure: make bench BENCH=HostileWorst PKG=./parse
func BenchmarkHostileWorst(b *testing.B) {
	var slowest time.Duration
	var which [2]string
	for b.Loop() {
		slowest = 0
		for _, w := range worst {
			in := inputOf(w[0] + fill(w[1]))
			best := time.Duration(math.MaxInt64)
			for range 3 {
				start := time.Now()
				parse.Parse(in)
				best = min(best, time.Since(start))
			}
			if best > slowest {
				slowest, which = best, w
			}
		}
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "worst-ms/MB")
	b.Logf("the slowest of %d texts: %q after %q", len(worst), which[1], which[0])
}

// BenchmarkStream shows texts that come in pieces of a token's length, and byte by
// byte.
func BenchmarkStream(b *testing.B) {
	texts := proses()
	for _, d := range dialect.All() {
		texts["calls/"+d.ID] = callsOf(d)
	}
	for _, u := range []string{"<", "[", "{", "`", "<a ", "</", " ", "<think>", "<tool_call>", `{"name":`, "[1,", "```json\n{\n"} {
		texts["hostile/"+u] = fill(u)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, size := range []int{1, 5, mb} {
			text := texts[name]
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					st := parse.NewStream(inputOf(""))
					for i := 0; i < len(text); i += size {
						st.Feed(text[i:min(len(text), i+size)])
					}
				}
			})
		}
	}
}
