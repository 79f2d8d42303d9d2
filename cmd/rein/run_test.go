package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/model/script"
)

const hello = "turns:\n  - The order is on its way.\n"

func TestRunPrintsTheAnswerAndNothingElse(t *testing.T) {
	b := newBox(t)
	_, url := server(t, hello)
	p := b.rein("run", "-m", "openai/any", "--base-url", url, "Where is my order?")
	if p.code != 0 || p.out != "The order is on its way.\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if !strings.Contains(p.err, "finished, answered (1 step, 0 tool calls") {
		t.Errorf("stderr %q", p.err)
	}
}

// The keys of the result object are a contract.
func TestResultObject(t *testing.T) {
	b := newBox(t)
	b.in = "What is the state of A-1042?"
	_, url := server(t, "turns:\n  - {say: done, usage: {input: 120, cached: 100}}\n")
	var got map[string]any
	p := b.decode(&got, "run", "-m", "openai/any", "--base-url", url, "-")
	if p.code != 0 || strings.Count(p.out, "\n") != 1 {
		t.Errorf("exit %d, stdout %q", p.code, p.out)
	}
	id, _ := got["run"].(string)
	if id == "" {
		t.Errorf("run is %v", got["run"])
	}
	delete(got, "run")
	delete(got, "duration_ms")
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"answer":"done","best_effort":false,"cost_usd":null,"ok":true,"pending":[],"reason":"answered","result":null,` +
		`"status":"finished","steps":1,"tool_calls":0,"usage":{"cached_tokens":100,"input_tokens":120,"output_tokens":null,"total_tokens":null}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRunEvents(t *testing.T) {
	b := newBox(t)
	_, url := server(t, hello)
	p := b.rein("run", "--events", "-m", "openai/any", "--base-url", url, "Where is my order?")
	lines := strings.Split(strings.TrimSpace(p.out), "\n")
	var types []string
	for i, line := range lines {
		var e struct {
			Seq  int    `json:"seq"`
			Type string `json:"type"`
			Hash string `json:"hash"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != i+1 || strings.Trim(e.Hash, "0") == "" {
			t.Fatalf("line %d: %v: %s", i+1, err, line)
		}
		types = append(types, e.Type)
	}
	const want = "run.started input.received context.assembled model.called model.answered reply.parsed run.finished"
	if got := strings.Join(types, " "); got != want || p.code != 0 {
		t.Errorf("exit %d, events %s", p.code, got)
	}
}

func TestRunReadsTheAgentFile(t *testing.T) {
	b := newBox(t)
	s, url := server(t, hello)
	file := b.file("desk/agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\nrules: {must: [be brief]}\nsampling: {temperature: 0.5}\n")
	b.ok("run", "-f", file, "Where is my order?")
	body := string(s.Received()[0])
	for _, want := range []string{"be brief", `"temperature":0.5`, `"model":"any"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the request has no %s: %s", want, body)
		}
	}
	var list []runObject
	b.decode(&list, "runs")
	if len(list) != 1 || list[0].Agent != "desk" || list[0].Status != "finished" || list[0].Reason != "answered" {
		t.Errorf("runs: %+v", list)
	}
}

// Bad input gets a message that says what to do, exit 2, and nothing begun.
func TestBadInput(t *testing.T) {
	_, url := server(t, hello)
	for name, c := range map[string]struct {
		args []string
		in   string
		file string // content of agent.yaml, given with -f
		want []string
	}{
		"no model":               {args: []string{"run", "hi"}, want: []string{"no model is named", "-m openai/NAME"}},
		"unknown provider":       {args: []string{"run", "-m", "opnai/x", "hi"}, want: []string{`no provider "opnai"`, "did you mean openai?", "--base-url"}},
		"model without a slash":  {args: []string{"run", "-m", "gpt", "hi"}, want: []string{"provider/model"}},
		"missing key":            {args: []string{"run", "-m", "openai/x", "hi"}, want: []string{"OPENAI_API_KEY", "key_env"}},
		"missing key variable":   {args: []string{"run", "hi"}, file: "model: openai/x\nkey_env: MY_KEY\n", want: []string{"MY_KEY", "not set"}},
		"missing key file":       {args: []string{"run", "hi"}, file: "model: openai/x\nkey_file: key.txt\n", want: []string{"key.txt", "no such file"}},
		"invalid YAML":           {args: []string{"run", "hi"}, file: "model: openai/x\nlimits: [", want: []string{"agent.yaml:2:"}},
		"unknown setting":        {args: []string{"run", "hi"}, file: "modle: openai/x\n", want: []string{"agent.yaml:1:1:", "did you mean model?"}},
		"missing agent file":     {args: []string{"run", "-f", "/nowhere/agent.yaml", "hi"}, want: []string{"/nowhere/agent.yaml"}},
		"missing folder":         {args: []string{"run", "hi"}, file: "model: openai/x\nbase_url: " + url + "\ntools: [files: {root: gone}]\n", want: []string{"agent.yaml:3:", "gone"}},
		"missing schema":         {args: []string{"run", "hi"}, file: "model: openai/x\nsubmit: gone.json\n", want: []string{"agent.yaml:2:", "gone.json"}},
		"permission of no tool":  {args: []string{"run", "hi"}, file: "model: openai/x\nbase_url: " + url + "\ntools: [clock]\npermissions: {deny: [get_nw]}\n", want: []string{"agent.yaml:4:", "did you mean get_now?"}},
		"bad base URL":           {args: []string{"run", "-m", "openai/x", "--base-url", "localhost:8080", "hi"}, want: []string{"base URL", "http://127.0.0.1"}},
		"no task":                {args: []string{"run"}, want: []string{"TASK is missing"}},
		"two tasks":              {args: []string{"run", "a", "b"}, want: []string{`"b"`, "quotes"}},
		"empty task":             {args: []string{"run", "-m", "openai/x", " "}, want: []string{"empty"}},
		"empty stdin":            {args: []string{"run", "-m", "openai/x", "-"}, want: []string{"empty"}},
		"task not UTF-8":         {args: []string{"run", "-m", "openai/x", "a\xff"}, want: []string{"UTF-8"}},
		"stdin not UTF-8":        {args: []string{"run", "-m", "openai/x", "-"}, in: "a\xff", want: []string{"UTF-8"}},
		"endless task":           {args: []string{"run", "-m", "openai/x", "-"}, in: strings.Repeat("x", maxTask+1), want: []string{"put long material into a file"}},
		"unknown approval":       {args: []string{"run", "-m", "openai/x", "--base-url", url, "--approve", "maybe", "hi"}, want: []string{"ask, deny or allow"}},
		"unknown flag":           {args: []string{"run", "--modle", "x", "hi"}, want: []string{"--modle"}},
		"unknown command":        {args: []string{"rnu"}, want: []string{"rnu", "did you mean run?\n  rein --help", "run"}},
		"unknown run":            {args: []string{"show", "nothing"}, want: []string{`no run "nothing"`, "rein runs"}},
		"step that is not one":   {args: []string{"request", "x"}, want: []string{"--step"}},
		"store elsewhere":        {args: []string{"runs", "--db", "postgres://u:p@h/db"}, want: []string{"--db", "REIN_DB"}},
		"store below a file":     {args: []string{"runs", "--db", "/dev/null/x.db"}, want: []string{"/dev/null/x.db"}},
		"step that is no number": {args: []string{"undo", "a", "--to", "x"}, want: []string{`"x" for "--to" flag: it is not a whole number; see`}},
		"step that is too large": {args: []string{"undo", "a", "--to", "99999999999999999999"}, want: []string{"the number is too large"}},
		"settled without word":   {args: []string{"settle", "a", "b"}, want: []string{"--done or --not-done"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.in = c.in
			args := c.args
			if c.file != "" {
				args = append([]string{args[0], "-f", b.file("agent.yaml", c.file)}, args[1:]...)
			}
			p := b.rein(args...)
			if p.code != 2 || p.out != "" {
				t.Errorf("exit %d, stdout %q", p.code, p.out)
			}
			for _, want := range c.want {
				if !strings.Contains(p.err, want) {
					t.Errorf("stderr does not say %q:\n%s", want, p.err)
				}
			}
			if strings.Contains(p.err, "u:p@h") {
				t.Errorf("stderr repeats a password: %s", p.err)
			}
			if n := strings.Count(b.ok("runs", "--json"), `"run"`); n != 0 {
				t.Errorf("%d runs were begun", n)
			}
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	b := newBox(t)
	file := b.file("agent.yaml", "model: openai/x\nbase_url: http://127.0.0.1:1/v1\nretry: fast\n")
	p := b.rein("run", "-f", file, "hi")
	if p.code != 1 || !strings.Contains(p.err, "model_error") || !strings.Contains(p.err, "127.0.0.1:1") {
		t.Errorf("exit %d, stderr %q", p.code, p.err)
	}
}

// A key is never in the journal, and it is not sent to a server that an agent
// file names without asking for it: the file may come from somebody else.
func TestKeysStayWhereTheyBelong(t *testing.T) {
	const secret = "correct-horse-battery"
	b := newBox(t)
	b.env["OPENAI_API_KEY"] = secret
	b.env["DESK_KEY"] = secret
	url := serve(t, script.Handler(script.MustParse("turns:\n  - Your key is "+secret+".\n"), &script.ServerOptions{Key: secret}))

	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\n")
	if p := b.rein("run", "-f", file, "hi"); p.code != 1 || !strings.Contains(p.err, "401") {
		t.Errorf("the file's server got the key: exit %d, stderr %q", p.code, p.err)
	}
	asking := b.file("asking.yaml", "model: openai/any\nkey_env: DESK_KEY\nbase_url: "+url+"\n")
	for _, args := range [][]string{{"-f", asking}, {"-m", "openai/any", "--base-url", url}} {
		p := b.rein(append(append([]string{"run", "--events"}, args...), "my key is "+secret)...)
		if p.code != 0 || strings.Contains(p.out+p.err, secret) {
			t.Errorf("%q: exit %d; the key is printed: %v", args, p.code, strings.Contains(p.out+p.err, secret))
		}
	}
	err := filepath.WalkDir(filepath.Join(b.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
