package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/parse"
)

const lookTools = `[
  {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "from": {"type": "integer"}}, "required": ["path"]}},
  {"type": "function", "function": {"name": "list_dir", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}},
  {"name": "get_now", "inputSchema": {"type": "object"}}
]`

func tagged(calls ...string) string {
	var out strings.Builder
	for _, c := range calls {
		out.WriteString("<tool_call>\n" + c + "\n</tool_call>\n")
	}
	return out.String()
}

// Each case is a text and the whole object that is printed of it.
func TestParse(t *testing.T) {
	b := newBox(t)
	tools := b.file("tools.json", lookTools)
	for _, c := range []struct {
		what, text string
		args       []string
		want       string
		code       int
	}{
		{what: "an answer", text: "All is well.",
			want: `{"format":"text","calls":[],"content":"All is well.","reasoning":"","repairs":[],"incomplete":false,"problems":[],"notes":[]}`},
		{what: "a call of a tool of any name, with prose and reasoning about it",
			text: "<think>Which file?</think>Let me look.\n" + tagged(`{"name": "peek", "arguments": {"at": 1.50}}`) + "Then I go on.",
			want: `{"format":"hermes_tool_call","calls":[{"id":"call_0","name":"peek","arguments":{"at":1.50}}],"content":"Let me look.\n\nThen I go on.","reasoning":"Which file?","repairs":[],"incomplete":false,"problems":[],"notes":[]}`},
		{what: "a value that a tool's parameters can take, converted", args: []string{"--tools", tools},
			text: tagged(`{"name": "read_file", "arguments": {"path": "a.txt", "from": "5"}}`),
			want: `{"format":"hermes_tool_call","calls":[{"id":"call_0","name":"read_file","arguments":{"from":5,"path":"a.txt"}}],"content":"","reasoning":"","repairs":[{"kind":"string_to_number","lossy":false,"call":"call_0","where":"/from"}],"incomplete":false,"problems":[],"notes":[]}`},
		{what: "arguments that they cannot take, and a call that is not touched by that", args: []string{"--tools", tools}, code: badEnd,
			text: tagged(`{"name": "read_file", "arguments": {"from": 1}}`, `{"name": "get_now", "arguments": {}}`),
			want: `{"format":"hermes_tool_call","calls":[{"id":"call_0","name":"read_file","arguments":{"from":1}},{"id":"call_1","name":"get_now","arguments":{}}],"content":"","reasoning":"","repairs":[],"incomplete":false,"problems":[{"problem":"invalid_arguments","message":"- /path is missing; wanted: a string","call":"call_0","name":"read_file","raw":"{\"from\": 1}"}],"notes":[]}`},
		{what: "a tool that is not in the list", args: []string{"--tools", tools}, code: badEnd,
			text: tagged(`{"name": "read_files", "arguments": {"path": "a.txt"}}`),
			want: `{"format":"hermes_tool_call","calls":[{"id":"call_0","name":"read_files","arguments":{"path":"a.txt"}}],"content":"","reasoning":"","repairs":[],"incomplete":false,"problems":[{"problem":"unknown_tool","message":"there is no tool read_files; the nearest: read_file","call":"call_0","name":"read_files","raw":"{\"path\": \"a.txt\"}"}],"notes":[]}`},
		{what: "the same, dropped", args: []string{"--tools", tools, "--policy", "drop-unknown,own-ids"},
			text: tagged(`{"name": "read_files", "arguments": {"path": "a.txt"}}`, `{"name": "get_now", "arguments": {}, "id": "k1"}`),
			want: `{"format":"hermes_tool_call","calls":[{"id":"call_0","name":"get_now","arguments":{}}],"content":"","reasoning":"","repairs":[],"incomplete":false,"problems":[],"notes":["a call of \"read_files\" was dropped: no such tool is offered"]}`},
		{what: "a fenced example in an answer", args: []string{"--tools", tools},
			text: "So you call it:\n```json\n{\"name\": \"get_now\", \"arguments\": {}}\n```\n```\n12:00\n```\n",
			want: `{"format":"text","calls":[],"content":"So you call it:\n` + "```json" + `\n{\"name\": \"get_now\", \"arguments\": {}}\n` + "```" + `\n` + "```" + `\n12:00\n` + "```" + `\n","reasoning":"","repairs":[],"incomplete":false,"problems":[],"notes":["a call of \"get_now\" in a fenced block was left alone: the text around it is an answer"]}`},
		{what: "bytes that are no text", text: "All is \xff well.",
			want: `{"format":"text","calls":[],"content":"All is ` + "\uFFFD" + ` well.","reasoning":"","repairs":[],"incomplete":false,"problems":[],"notes":["the text is not UTF-8: what is wrong in it was read as U+FFFD"]}`},
	} {
		t.Run(c.what, func(t *testing.T) {
			b.in = c.text
			args := append([]string{"parse", "--json"}, c.args...)
			for _, from := range []string{"", "-", b.file("reply.txt", c.text)} {
				if from != "" {
					args = append(args, from)
				}
				p := b.rein(args...)
				if strings.TrimSuffix(p.out, "\n") != c.want || p.code != c.code || p.err != "" {
					t.Errorf("%q: exit %d, stderr %q\n%s\nwant exit %d\n%s", args, p.code, p.err, p.out, c.code, c.want)
				}
				if from != "" {
					args = args[:len(args)-1]
				}
			}
		})
	}
}

// A call that is cut off does not run, and is shown as it stands.
func TestParseOfACutReply(t *testing.T) {
	b := newBox(t)
	b.in = tagged(`{"name": "get_now", "arguments": {}}`) + "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a"
	var o parsedObject
	p := b.decode(&o, "parse")
	if p.code != badEnd || !o.Incomplete || len(o.Calls) != 1 || len(o.Problems) != 1 {
		t.Fatalf("exit %d, %+v", p.code, o)
	}
	q := o.Problems[0]
	if q.Problem != "incomplete" || *q.Name != "read_file" || *q.Call != "call_1" || *q.Raw != `{"path": "a` || !strings.Contains(q.Message, "cut off") {
		t.Errorf("%+v", q)
	}
	if text := b.rein("parse").out; !strings.Contains(text, "call call_0: get_now {}") || !strings.Contains(text, `problem: incomplete, call call_1 of "read_file"`) ||
		!strings.Contains(text, `  | {"path": "a`) {
		t.Errorf("for people:\n%s", text)
	}
}

// Whoever types the text is told how to end it.
func TestParseOfWhatIsTyped(t *testing.T) {
	b := newBox(t)
	b.in, b.terminal = "All is well.\n", true
	if p := b.rein("parse"); p.code != 0 || !strings.Contains(p.err, "Ctrl-D") || p.out != "format: text\ncontent:\n  | All is well.\n" {
		t.Errorf("exit %d, stderr %q\n%s", p.code, p.err, p.out)
	}
	if p := b.rein("parse", b.file("reply.txt", b.in)); p.code != 0 || p.err != "" {
		t.Errorf("of a file: exit %d, stderr %q", p.code, p.err)
	}
}

// What people see.
func TestParseForPeople(t *testing.T) {
	b := newBox(t)
	b.in = "<think>Which?\nThis.</think>Let me look.\n" + tagged(`{"name": "peek", "arguments": {'at': [1, 2,]}}`)
	want := `format: hermes_tool_call
call call_0: peek {"at": [1, 2]}
  mended: trailing comma
  mended: single quotes
reasoning:
  | Which?
  | This.
content:
  | Let me look.
`
	if p := b.rein("parse"); p.code != 0 || p.out != want {
		t.Errorf("exit %d, %s\n%s", p.code, p.err, p.out)
	}
}

// A batch: each line is read by itself, whatever the others are.
func TestParseLines(t *testing.T) {
	b := newBox(t)
	tools := b.file("tools.json", lookTools)
	b.in = strings.Join([]string{
		`{"case": "a", "text": "All is well.", "n": [1, 2.50], "calls": 7}`,
		``,
		`{"text": "{\"name\": \"get_now\", \"arguments\": {}}", "case": "b"}`,
		`{"text": "{\"name\": \"peek\", \"arguments\": {}}", "tools": [{"name": "peek"}]}`,
		`{"text": "{\"name\": \"get_now\", \"arguments\": {}}", "tools": []}`,
		`{"case": "c", "text": "cut`,
		`{"case": "d"}`,
		`{"case": "e", "text": "x", "tools": [{"name": ""}]}`,
		`7`,
		`{"text": "a lone \ud83d"} and more`,
		`{"text": "a lone \ud83d", "tools": null}`,
	}, "\n")
	p := b.rein("parse", "--jsonl", "--tools", tools)
	lines := strings.Split(strings.TrimSuffix(p.out, "\n"), "\n")
	want := []struct{ begins, has string }{
		{`{"case":"a","n":[1, 2.50],"format":"text","calls":[],`, `"content":"All is well."`},
		{`{"case":"b","format":"json","calls":[{"id":"call_0","name":"get_now","arguments":{}}]`, `"content":""`},
		{`{"format":"json","calls":[{"id":"call_0","name":"peek","arguments":{}}]`, ``},
		{`{"format":"text","calls":[],`, `"content":"{\"name\": \"get_now\", \"arguments\": {}}"`},
		{`{"case":"c","format":"","calls":[],"content":"",`, `"problems":[{"problem":"bad_line","message":"line 6 cannot be read: `},
		{`{"case":"d","format":"",`, `line 7 cannot be read: it has no \"text\"`},
		{`{"case":"e","format":"",`, `its tools: tool 1: it has no name`},
		{`{"format":"",`, `it is not a JSON object`},
		{`{"format":"",`, `something follows its object`},
		{`{"format":"text",`, "\"content\":\"a lone \uFFFD\""},
	}
	if p.code != badEnd || len(lines) != len(want) {
		t.Fatalf("exit %d, %s\n%s", p.code, p.err, p.out)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i].begins) || !strings.Contains(line, want[i].has) {
			t.Errorf("line %d: %s\nwant %s … %s", i+1, line, want[i].begins, want[i].has)
		}
		if !jsontext.Value(line).IsValid() {
			t.Errorf("line %d is not JSON: %s", i+1, line)
		}
	}
	b.in = "\uFEFF" + `{"text": "All is well."}`
	if p := b.rein("parse", "--jsonl"); p.code != 0 {
		t.Errorf("a sound batch: exit %d\n%s", p.code, p.out)
	}
}

// A line may be as long as a text that is searched, and the lines after one
// that is longer are read.
func TestParseLongLines(t *testing.T) {

	call := tagged(`{"name": "peek", "arguments": {"at": 1}}`)
	pad := strings.Repeat("x ", (parse.MaxText-len(call))/2)
	long, err := json.Marshal(map[string]string{"text": pad + call})
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	go func() {
		fmt.Fprintf(write, "%s\n", long)
		fmt.Fprintf(write, `{"text": "`)
		chunk := strings.Repeat("y", 1<<20)
		for range maxParsed>>20 + 1 {
			_, _ = io.WriteString(write, chunk)
		}
		fmt.Fprintf(write, "\"}\n{\"text\": \"All is well.\"}")
		write.Close()
	}()
	var out strings.Builder
	a := &app{self: "rein", in: read, out: &out, err: io.Discard, env: func(string) string { return "" }}
	if code := a.main(t.Context(), []string{"parse", "--jsonl"}); code != badEnd {
		t.Errorf("exit %d", code)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"calls":[{"id":"call_0","name":"peek","arguments":{"at":1}}]`) ||
		!strings.Contains(lines[1], `"problem":"bad_line"`) || !strings.Contains(lines[1], "line 2 has more than") || !strings.Contains(lines[2], "All is well.") {
		for _, l := range lines {
			t.Errorf("%.200s … %s", l, l[max(0, len(l)-200):])
		}
	}
}

// What is wrong with the command line is said before anything is read.
func TestParseUsage(t *testing.T) {
	b := newBox(t)
	twice := b.file("twice.json", `[{"name": "a"}, {"name": "a"}]`)
	odd := b.file("odd.json", `[{"name": "a", "parameters": {"type": "objekt"}}]`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "hermes_tool_cal"}, "did you mean hermes_tool_call?"},
		{[]string{"--format", "zzzzzzz"}, "there are hermes_tool_call, "},
		{[]string{"--policy", "strict"}, "it has drop-unknown, strict-end, unreadable-as-text, one-dialect, own-ids"},
		{[]string{"--tools", filepath.Join(b.dir, "none.json")}, "read the tools: "},
		{[]string{"--tools", twice}, `there are two tools "a"`},
		{[]string{"--tools", odd}, "the parameters of a cannot be used: "},
		{[]string{filepath.Join(b.dir, "none.txt")}, "read the text: "},
		{[]string{"a", "b"}, `"b" is one argument too many`},
	} {
		if p := b.rein(append([]string{"parse"}, c.args...)...); p.code != badUsage || p.out != "" || !strings.Contains(p.err, c.want) {
			t.Errorf("%q: exit %d, stdout %q\n%s\nwant %s", c.args, p.code, p.out, p.err, c.want)
		}
	}
}

// Every form in which tools are listed gives the same.
func TestReadTools(t *testing.T) {
	for _, text := range []string{
		`[{"name": "a", "parameters": {"type": "object"}}]`,
		`[{"type": "function", "function": {"name": "a", "description": "x", "parameters": {"type": "object"}}}]`,
		`{"tools": [{"name": "a", "inputSchema": {"type": "object"}, "annotations": {}}]}`,
		` [{"name": "a", "input_schema": {"type": "object"}}] `,
	} {
		l, err := readTools([]byte(text))
		if err != nil || len(l.tools) != 1 || l.tools[0].Name != "a" || l.tools[0].Params == nil || len(l.notes) > 0 {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	for _, text := range []string{``, `{}`, `7`, `[7]`, `[{}]`, `{"tools": 7}`, `[{"name": "a"}`} {
		if l, err := readTools([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

// The help names every policy, and every member of the object.
func TestParseHelp(t *testing.T) {
	help := newBox(t).ok("parse", "--help")
	for _, w := range policyWords {
		if policies[w] == nil || !strings.Contains(help, "\n  "+w+" ") {
			t.Errorf("the help has no %s", w)
		}
	}
	if len(policies) != len(policyWords) {
		t.Errorf("%d policies, %d words", len(policies), len(policyWords))
	}
	text, err := json.Marshal(emptyObject())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	var names []string
	for m := range members {
		names = append(names, m)
	}
	slices.Sort(names)
	for _, m := range names {
		if !own[m] || !strings.Contains(help, "\n  "+m+" ") {
			t.Errorf("%s is not in the help, or would be passed through", m)
		}
	}
	if len(own) != len(names) {
		t.Errorf("a result has %q", names)
	}
}

// The replies of the shared data go through the command as a batch: a line each.
func TestParseSharedReplies(t *testing.T) {
	const file = "../../../shared/data/tool-calls-vllm.jsonl"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip("the shared test data is not here: ", err)
	}
	p := newBox(t).rein("parse", "--jsonl", file)
	if n := strings.Count(string(text), "\n"); strings.Count(p.out, "\n") != n || strings.Contains(p.out, `"bad_line"`) {
		t.Errorf("%d lines of %d", strings.Count(p.out, "\n"), n)
	}
}
