package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// reader reads one page of a file, or both.
const reader = `
turns:
  - call: {name: read_file, arguments: {path: config.yaml, lines: 2}}
  - %s
  - %s
`

// pairOfRuns makes two runs, of which only the second reads all of a file.
func pairOfRuns(t *testing.T, b *box) (first, second string) {
	t.Helper()
	b.file("config.yaml", "port: 80\nhost: a\ntls: on\n")
	for i, turns := range []string{
		fmt.Sprintf(reader, "say: TLS is not mentioned.", "say: never"),
		fmt.Sprintf(reader, "call: {name: read_file, arguments: {path: config.yaml, from_line: 3, lines: 1}}", "say: TLS is on."),
	} {
		_, url := server(t, turns)
		file := b.file("agent.yaml", "name: teller\nmodel: openai/any\nbase_url: "+url+"\ntools: [files: {root: .}]\ncheck: false\n")
		var got resultObject
		if p := b.decode(&got, "run", "-f", file, "Is TLS on?"); p.code != 0 {
			t.Fatalf("exit %d: %s", p.code, p.err)
		}
		if first, second = second, got.Run; i == 0 {
			first = ""
		}
	}
	return first, second
}

// The words come first: where the runs part, and what only one of them saw.
func TestDiff(t *testing.T) {
	b := newBox(t)
	first, second := pairOfRuns(t, b)
	text := b.ok("diff", first, second)
	for _, want := range []string{
		"\nThey part: at step 2 A answered “TLS is not mentioned.”, B called read_file\n",
		"on the same context",
		"\n  run A never saw line 3 of config.yaml (read_file), which B got at step 2\n",
		"\n= 1 the first 2 lines of config.yaml", "\n| 2 answered “TLS is not mentioned.”",
		"rein request " + first + " --step 2\n", "rein request " + second + " --step 2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if textWidth(line) > usualWidth && !strings.HasPrefix(line, "A  run") && !strings.HasPrefix(line, "B  run") {
			t.Errorf("a line of %d columns: %s", textWidth(line), line)
		}
	}
	if same := b.ok("diff", second, second); !strings.Contains(same, "no difference: it is the same run") {
		t.Errorf("a run and itself:\n%s", same)
	}
	if p := b.rein("diff", first, "nothing"); p.code != 2 || !strings.Contains(p.err, "nothing") {
		t.Errorf("a run that is not there: exit %d, %s", p.code, p.err)
	}
	if p := b.rein("diff", first); p.code != 2 || !strings.Contains(p.err, "RUN_B is missing") {
		t.Errorf("one run: exit %d, %s", p.code, p.err)
	}
}

// The keys of the JSON are a contract.
func TestDiffObject(t *testing.T) {
	b := newBox(t)
	first, second := pairOfRuns(t, b)
	var got map[string]any
	if p := b.decode(&got, "diff", first, second); p.code != 0 || p.err != "" {
		t.Fatalf("exit %d: %s", p.code, p.err)
	}
	for _, list := range []string{"", "first_divergence", "contexts", "findings", "steps"} {
		v := any(got)
		if list != "" {
			v = got[list]
		}
		if l, ok := v.([]any); ok {
			v = l[0]
		}
		want := map[string]string{
			"":                 "a b contexts exact findings first_divergence parting redacted run_a run_b same shared_events shared_steps steps",
			"first_divergence": "kind same_context step_a step_b text",
			"contexts":         "event_a event_b same step_a step_b",
			"findings":         "diff follows kind look only step_a step_b text where",
			"steps":            "kind step_a step_b text_a text_b",
		}[list]
		if keys := keysOf(t, v); keys != want {
			t.Errorf("%s has the keys %s, not %s", list, keys, want)
		}
	}
	steps := got["steps"].([]any)
	if last := steps[len(steps)-1].(map[string]any); last["step_a"] != nil || last["text_b"] != "answered “TLS is on.”" {
		t.Errorf("the last step is %v", last)
	}
}

// keysOf returns the names of an object's members, sorted.
func keysOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v) // sorts them
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	var keys []string
	for depth, name := 0, true; ; {
		tok, err := dec.Token()
		if err != nil {
			return strings.Join(keys, " ")
		}
		switch d, ok := tok.(json.Delim); {
		case ok && (d == '{' || d == '['):
			depth++
			name = true
		case ok:
			depth--
			name = true
		case depth == 1 && name:
			keys = append(keys, tok.(string))
			name = false
		default:
			name = true
		}
	}
}

// What the journals still say is compared where one is damaged, and that it is.
func TestDiffOfDamage(t *testing.T) {
	b := newBox(t)
	first, second := pairOfRuns(t, b)
	b.tamper(`UPDATE events SET data = replace(data, 'TLS is on', 'TLS is off') WHERE type = 'model.answered'`)
	p := b.rein("diff", first, second)
	if p.code != 1 || !strings.Contains(p.err, second) || !strings.Contains(p.out, "They part: at step 2") {
		t.Errorf("exit %d\n%s%s", p.code, p.out, p.err)
	}
}

// How long a command took is no difference between two runs.
func TestDiffOfTimings(t *testing.T) {
	if _, err := os.Stat("/bin/sleep"); err != nil {
		t.Skip("there is no /bin/sleep here")
	}
	b := newBox(t)
	var runs []string
	for _, seconds := range []string{"0.01", "0.15"} {
		b.file("time.txt", seconds)
		_, url := server(t, "turns:\n  - call: {name: build, arguments: {}}\n  - say: Built.\n")
		file := b.file("agent.yaml", "name: builder\nmodel: openai/any\nbase_url: "+url+"\ncheck: false\nsandbox: none\npermissions: {allow: ['*']}\n"+
			"tools:\n  - command: {templates: [{name: build, effect: read, argv: [/bin/sh, -c, '/bin/sleep $(/bin/cat time.txt); echo built'], doc: {what: Builds., when: To build.}}]}\n")
		var got resultObject
		if p := b.decode(&got, "run", "-f", file, "Build."); p.code != 0 {
			t.Fatalf("exit %d: %s", p.code, p.err)
		}
		if text := b.ok("request", got.Run, "--step", "2"); !strings.Contains(text, "took ") {
			t.Fatalf("the command has not run:\n%s", text)
		}
		runs = append(runs, got.Run)
	}
	text := b.ok("diff", runs[0], runs[1])
	if !strings.Contains(text, "no difference: ") || strings.Count(text, "took") > 0 || !strings.Contains(text, "\n  timings in commands' results differ\n") {
		t.Errorf("two equal runs differ:\n%s", text)
	}
}

// Which tools a recording's program offered is not made up of the calls in it.
func TestDiffOfUnlistedTools(t *testing.T) {
	b := newBox(t)
	for _, name := range []string{"look", "think"} {
		b.ok("import", b.file(name+".json", `[{"role":"user","content":"Which?"},{"role":"assistant","content":null,"tool_calls":[{"id":"x1","type":"function","function":{"name":"`+name+
			`","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x1","content":"`+name+`ed"},{"role":"assistant","content":"Done."}]`))
	}
	text := strings.Join(strings.Fields(b.ok("diff", "look", "think")), " ")
	if !strings.Contains(text, "which tools were offered is not known of A and B: the recordings do not list them") || strings.Contains(text, "is offered only") {
		t.Errorf("what nobody knows is said:\n%s", text)
	}
}

// Where agents carry a call out, what they did can be compared as well.
func TestDiffOfRunsBelow(t *testing.T) {
	b := newBox(t)
	var runs []string
	for _, found := range []string{"nothing", "a mouse"} {
		_, below := server(t, "turns:\n  - say: There is "+found+".\n")
		_, above := server(t, "turns:\n  - call: {name: look_around, arguments: {task: Look}}\n  - say: Seen.\n")
		b.file("looker.yaml", "name: looker\nmodel: openai/any\nbase_url: "+below+"\ncheck: false\n")
		file := b.file("agent.yaml", "name: boss\nmodel: openai/any\nbase_url: "+above+"\ncheck: false\npermissions: {allow: ['*']}\n"+
			"tools:\n  - agent: {file: looker.yaml, name: look_around, doc: {what: Looks around., when: To see., returns: What is there.}}\n")
		var got resultObject
		if p := b.decode(&got, "run", "-f", file, "Look."); p.code != 0 {
			t.Fatalf("exit %d: %s", p.code, p.err)
		}
		runs = append(runs, got.Run)
	}
	text := b.ok("diff", runs[0], runs[1])
	text = strings.Join(strings.Fields(text), " ")
	i := strings.Index(text, "(rein diff ")
	if i < 0 {
		t.Fatalf("the text does not name the runs below:\n%s", text)
	}
	args := strings.Fields(strings.NewReplacer("(", "", ")", "").Replace(text[i:]))[1:4]
	if below := strings.Join(strings.Fields(b.ok(args...)), " "); strings.Contains(below, "settings") || !strings.Contains(below, "A answered “There is nothing.”, B answered “There is a mouse.”") {
		t.Errorf("%v:\n%s", args, below)
	}
}

// Conversations that another program has recorded can be compared as well: what nobody
// knows of them, such as the bytes of a request, is not made up.
func TestDiffOfRecordings(t *testing.T) {
	b := newBox(t)
	talk := func(result, answer string) string {
		return `[{"role":"user","content":"Which?"},{"role":"assistant","content":null,"tool_calls":[{"id":"x1","type":"function","function":{"name":"get_page","arguments":"{\"path\":\"a.txt\",\"page\":1}"}}]},` +
			`{"role":"tool","tool_call_id":"x1","content":"` + result + `"},{"role":"assistant","content":"` + answer + `"}]`
	}
	b.ok("import", b.file("first.json", talk(`one\ntwo`, "One.")))
	b.ok("import", b.file("second.json", talk(`one\ntwo\nthree`, "Three.")))
	text := b.ok("diff", "first", "second")
	for _, want := range []string{
		"They differ first: at step 1 the same call gave another outcome: page 1 of a.txt",
		"They part: at step 2 A answered “One.”, B answered “Three.”",
		"A's text is the beginning of B's", "\n  +three\n",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "\n    ", " "), want) && !strings.Contains(strings.ReplaceAll(text, "\n", " "), want) && !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	changes := b.ok("request", "first", "--step", "2", "--diff")
	for _, want := range []string{"2 messages added", "(the bytes of the requests are not known)", `+calls get_page {"path":"a.txt","page":1}`, "+tool: one"} {
		if !strings.Contains(strings.ReplaceAll(changes, "\n    ", " "), want) {
			t.Errorf("the changes have no %q:\n%s", want, changes)
		}
	}
}

// A fork keeps the numbers of the steps that it shares, and the first that it made
// itself is the one that was asked for (langchain-ai/langgraph 8458).
func TestDiffOfFork(t *testing.T) {
	b := newBox(t)
	_, url := server(t, forked)
	file := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\npermissions: {allow: ['*']}\ncheck: false\ntools: [calculator, files: {root: ., write: direct}]\n")
	var first, fork resultObject
	b.decode(&first, "run", "-f", file, "What is 12*8?")
	_, otherURL := server(t, "turns: [say: never, say: never, say: never, It is 96.]\n")
	b.decode(&fork, "fork", first.Run, "--step", "3", "-m", "openai/other", "--base-url", otherURL)
	text := b.ok("diff", first.Run, fork.Run)
	for _, want := range []string{"B is a fork of A: they share events 1 to ", ", 3 steps\n", "They part: at step 4 A answered “It is 95.”, B answered “It is 96.”", "\n  A asked the model openai/any, B openai/other\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	if text := b.ok("diff", fork.Run, first.Run); !strings.Contains(text, "A is a fork of B: they share events 1 to ") {
		t.Errorf("the other way round:\n%s", text)
	}
}
