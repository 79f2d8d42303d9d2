package main

import (
	"strconv"
	"strings"
	"testing"
)

// What lint finds, with the fix; then which rules are enforced. Warnings make it
// fail, hints do not.
func TestLint(t *testing.T) {
	b := newBox(t)
	file := b.file("agent.yaml", `
rules:
  must: [be careful, {call: read_file, before: write_*}]
tools: [clock, files: {root: ., write: direct}]
permissions: {allow: ["*"]}
`)
	p := b.rein("lint", file)
	for _, want := range []string{
		`warning  rule must[0]: "be careful" is nothing that anybody could see in a run`,
		"\ntold only  must: be careful\n",
		"\nenforced   must: call read_file before write_*\n",
		": 0 errors, 1 warning, 0 hints\n",
	} {
		if !strings.Contains(p.out, want) {
			t.Errorf("there is no %q in\n%s", want, p.out)
		}
	}
	if p.code != 1 {
		t.Errorf("exit %d", p.code)
	}
	var v linted
	if p := b.decode(&v, "lint", file); p.code != 1 || v.OK || len(v.Findings) != 1 || len(v.Rules) != 3 || !v.Rules[1].Enforced {
		t.Errorf("exit %d, %+v", p.code, v)
	}

	file = b.file("agent.yaml", "rules: {must: [use get_now for the date]}\ntools: [clock]\n")
	if p := b.rein("lint", file); p.code != 0 || !strings.Contains(p.out, ": 0 errors, 0 warnings, 1 hint") {
		t.Errorf("exit %d, %s%s", p.code, p.out, p.err)
	}
	// A file that cannot be used is wrong configuration, as everywhere.
	file = b.file("agent.yaml", "rules: {must: [{call: read_mind, before: submit_result}]}\ntools: [clock]\n")
	if p := b.rein("lint", file); p.code != 2 || !strings.Contains(p.err, `rules.must[0].call: there is no tool "read_mind"`) {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if p := b.rein("lint"); p.code != 2 || !strings.Contains(p.err, "FILE is missing") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
}

// hasty writes before it reads, is refused, and does it in order.
const hasty = `
turns:
  - call: {name: write_file, arguments: {path: a.txt, content: hello}}
  - call: {name: list_dir, arguments: {}}
  - call: {name: write_file, arguments: {path: a.txt, content: hello}}
  - call: {name: submit_result, arguments: {answer: done}}
  - call: {name: read_file, arguments: {path: a.txt}}
  - call: {name: submit_result, arguments: {answer: done}}
`

// The agent's rules bind the run, and check says of each what became of it. A run
// may be held against the rules of another file, which did not bind it.
func TestRulesBindAndAreChecked(t *testing.T) {
	b := newBox(t)
	file := b.agent(hasty, `
permissions: {allow: ["*"]}
rules:
  never: [lie, {never: edit_file, after: submit_result}]
  must: [{call: list_dir, before: write_*}]
`)
	var run resultObject
	if p := b.decode(&run, "run", "-f", file, "write it"); p.code != 0 || run.Reason != "submitted" {
		t.Fatalf("exit %d, %s%s", p.code, p.out, p.err)
	}
	p := b.rein("check", run.Run)
	for _, want := range []string{
		"not decidable  never: lie\n",
		"kept           never: call edit_file after submit_result\n               it never came up\n",
		"kept           must: call list_dir before write_*\n               1 call kept it, 1 call refused\n",
		"kept           must: read what you have changed again, after its last change, before you submit the result\n               1 call kept it, 1 call refused\n",
		"3 kept, 0 broken, 1 not decidable\n",
	} {
		if !strings.Contains(p.out, want) {
			t.Errorf("there is no %q in\n%s", want, p.out)
		}
	}
	if p.code != 0 {
		t.Errorf("exit %d, %s", p.code, p.err)
	}

	other := b.file("other.yaml", "tools: [files: {root: ., write: direct}]\nrules: {must: [{call: read_file, before: write_file}]}\n")
	var v checked
	if p := b.decode(&v, "check", run.Run, "-f", other); p.code != 1 || v.OK {
		t.Errorf("exit %d, %+v", p.code, v)
	}
	if r := v.Rules[0]; r.Result != "broken" || len(r.Events) != 1 || !strings.Contains(r.Why, "no call of read_file has succeeded") {
		t.Errorf("%+v", r)
	}
	if p := b.rein("check", "last", "-f", b.file("none.yaml", "{}")); p.code != 0 || !strings.Contains(p.out, "no rules") {
		t.Errorf("exit %d, %s", p.code, p.out)
	}
}

// Phases from the file: the tools that a request offers change with them.
func TestPhasesChangeTheTools(t *testing.T) {
	b := newBox(t)
	s, url := server(t, `
turns:
  - call: {name: write_file, arguments: {path: a.txt, content: hello}}
  - call: {name: list_dir, arguments: {}}
  - call: {name: write_file, arguments: {path: a.txt, content: hello}}
  - call: {name: read_file, arguments: {path: a.txt}}
  - say: Written.
`)
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+`
tools: [clock, files: {root: ., write: direct}]
permissions: {allow: ["*"]}
phases:
  - {name: look, tools: [list_dir, read_file], until: list_dir}
  - {name: write, tools: [write_file, read_file]}
`)
	var run resultObject
	if p := b.decode(&run, "run", "-f", file, "write it"); p.code != 0 {
		t.Fatalf("exit %d, %s%s", p.code, p.out, p.err)
	}
	bodies := s.Received()
	for i, want := range []bool{false, false, true, true} {
		_, tools, _ := strings.Cut(string(bodies[i]), `"tools":`)
		tools, _, _ = strings.Cut(tools, `"messages":`)
		if strings.Contains(tools, `"name":"write_file"`) != want || strings.Contains(tools, `"name":"get_now"`) || !strings.Contains(tools, `"name":"submit_result"`) {
			t.Errorf("request %d offers %s", i+1, tools)
		}
	}
	if out := b.ok("show", run.Run); !strings.Contains(out, "\nphase: write\n") {
		t.Errorf("the phase is not shown:\n%s", out)
	}
	// What was sent can be made again, whatever the tools were then.
	var v shown
	b.decode(&v, "show", run.Run)
	made := 0
	for _, row := range v.Rows {
		if row.ToolName != nil {
			continue
		}
		var r requested
		if b.decode(&r, "request", run.Run, "--step", strconv.FormatInt(row.Step, 10), "--purpose", *row.Purpose); !r.Exact || made >= len(bodies) || r.Body != string(bodies[made]) {
			t.Errorf("the request of step %d (%s) is not exact", row.Step, *row.Purpose)
		}
		made++
	}
	if made != len(bodies) {
		t.Errorf("%d requests of %d", made, len(bodies))
	}
	for text, want := range map[string]string{
		"{name: a, tools: [get_now]}, {name: b, tools: ['*']}":                         "say until which tool's success it lasts",
		"{name: a, tools: [get_now], until: read_file}, {name: b, tools: ['*']}":       "would never end",
		"{name: a, tools: [get_now], until: get_now}":                                  "the last phase lasts until the run's end",
		"{name: a, tools: [get_now], until: get_now}, {name: a, tools: [read_file]}":   "a name of its own",
		"{name: a, tools: [get_nowt], until: get_nowt}, {name: b, tools: [read_file]}": `there is no tool "get_nowt"`,
	} {
		file := b.file("bad.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock, files: {root: .}]\nphases: ["+text+"]\n")
		if p := b.rein("run", "-f", file, "x"); p.code != 2 || !strings.Contains(p.err, want) {
			t.Errorf("%s: exit %d, %s", text, p.code, p.err)
		}
	}
}
