package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// load writes an agent file into a fresh folder and loads it.
func load(t *testing.T, text string, files map[string]string) (*Agent, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files { // order: each is a file of its own
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func options(t *testing.T, text string, files map[string]string) *rein.Options {
	t.Helper()
	a, err := load(t, text, files)
	if err != nil {
		t.Fatal(err)
	}
	o, close, err := a.Options()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func toolNames(o *rein.Options) []string {
	var names []string
	for _, t := range o.Tools {
		names = append(names, t.Definition().Name)
	}
	slices.Sort(names)
	return names
}

func TestOptions(t *testing.T) {
	o := options(t, full, map[string]string{"workspace/a.txt": "x", "workspace/ops/b.txt": "x", "result.json": `{"type":"object"}`})
	want := []string{"ask_user", "calculator", "delete_file", "deploy", "edit_file", "find_files", "get_now", "go_test", "list_dir", "plan", "read_file", "search_files", "write_file"}
	if got := toolNames(o); !slices.Equal(got, want) {
		t.Errorf("tools %v, want %v", got, want)
	}
	if want := (event.Limits{Steps: 12, ToolCalls: 30, Tokens: 50000, Wall: 90 * 60_000, Work: 20 * 60_000, Cost: 500_000, Output: 4000}); *o.Limits != want {
		t.Errorf("limits %+v, want %+v", *o.Limits, want)
	}
	if want := (event.AcceptSpec{Files: []string{"orders/1.txt"}, IDs: []string{"A-17"}, Fields: []string{"/order/id"}, Calls: []string{"write_*"}}); !reflect.DeepEqual(o.Done, want) || o.Check || o.ReadBack != 5 {
		t.Errorf("done %+v, check %v, read back %d", o.Done, o.Check, o.ReadBack)
	}
	if want := rein.RetryFast(); *o.Retry != want {
		t.Errorf("retry %+v", *o.Retry)
	}
	if want := (event.Sampling{Temperature: "0.2", TopP: "1", Seed: "0", Reasoning: "low"}); o.Sampling != want {
		t.Errorf("sampling %+v", o.Sampling)
	}
	wantWindow := event.WindowSpec{Strategy: "summary", Keep: 4, Trigger: 800_000, Target: 450_000, Tokenizer: "estimate", Size: 32768, Reserve: 4096, Shares: []event.BlockShare{
		{Name: "rules", Share: 100_000}, {Name: "tools", Share: 250_000}, {Name: "task", Share: 50_000}, {Name: "input", Share: 60_000},
		{Name: "digest", Share: 150_000}, {Name: "material", Share: 0}}}
	if !reflect.DeepEqual(o.Window, wantWindow) {
		t.Errorf("window %+v", o.Window)
	}
	if o.Contract != "Work through the orders one by one." {
		t.Errorf("contract %q", o.Contract)
	}
	if want := []rein.Calling{{Text: "read", Strict: "always"}}; !slices.Equal(o.Calling, want) {
		t.Errorf("calling %+v", o.Calling)
	}
	wantPermissions := []event.Permission{
		{Verdict: event.Deny, Match: "delete_*"},
		{Verdict: event.Ask, Match: "edit_file"}, {Verdict: event.Ask, Match: "effect:once"},
		{Verdict: event.Allow, Match: "effect:read"}, {Verdict: event.Allow, Match: "write_file"},
	}
	if !slices.Equal(o.Permissions, wantPermissions) {
		t.Errorf("permissions %+v", o.Permissions)
	}
	if string(o.Submit) != `{"type":"object"}` || o.Config != full || o.Name != "order-desk" || !strings.Contains(o.Accept, "orders/") {
		t.Errorf("submit %s, name %q, accept %q", o.Submit, o.Name, o.Accept)
	}
}

// What the file leaves out is what the library would do.
func TestDefaults(t *testing.T) {
	o := options(t, "model: openai/x\ntools: [files: {root: .}]", nil)
	if o.Permissions != nil || o.Calling != nil {
		t.Errorf("permissions %+v, calling %+v", o.Permissions, o.Calling)
	}
	preset, _, _ := rein.Preset("multi-step")
	if *o.Limits != preset || *o.Retry != rein.RetryPatient() {
		t.Errorf("limits %+v, retry %+v", o.Limits, o.Retry)
	}
	for preset, want := range map[string]string{"": window.Layered, "limits: qa": window.Full, "limits: lookup": window.Full, "limits: long": window.Layered,
		"limits: {preset: qa}\nwindow: {strategy: state}": window.TaskState} {
		if o := options(t, "model: openai/x\n"+preset, nil); o.Window.Strategy != want || o.Contract != "" {
			t.Errorf("%q has the strategy %q", preset, o.Window.Strategy)
		}
	}
	if got := toolNames(o); !slices.Equal(got, []string{"find_files", "list_dir", "read_file", "search_files"}) {
		t.Errorf("files without write gives %v", got)
	}
	// Permissions that are there but empty deny everything.
	if o := options(t, "model: openai/x\npermissions: {}", nil); o.Permissions == nil || len(o.Permissions) != 0 {
		t.Errorf("empty permissions are %+v", o.Permissions)
	}
}

func TestLimits(t *testing.T) {
	research, _, _ := rein.Preset("research")
	long, _, _ := rein.Preset("long")
	long.Tokens = 7
	multi, _, _ := rein.Preset("multi-step")
	multi.Steps, multi.ToolCalls = 5, 20
	for text, want := range map[string]event.Limits{
		"research":                  research,
		"{preset: long, tokens: 7}": long,
		"{steps: 5}":                multi, // 4 tool calls a step
	} {
		if o := options(t, "limits: "+text, nil); *o.Limits != want {
			t.Errorf("%s: %+v, want %+v", text, *o.Limits, want)
		}
	}
}

func TestRetry(t *testing.T) {
	for text, want := range map[string]event.RetrySpec{
		"retry: fast": rein.RetryFast(), "retry: patient": rein.RetryPatient(), "{}": rein.RetryPatient(),
		"limits: qa": rein.RetryFast(), "limits: lookup\nretry: patient": rein.RetryPatient(), "limits: research": rein.RetryPatient(),
	} {
		if o := options(t, text, nil); *o.Retry != want {
			t.Errorf("%s: %+v", text, *o.Retry)
		}
	}
}

func TestPresetNames(t *testing.T) {
	names := presetNames()
	if !slices.Equal(names, []string{"qa", "lookup", "multi-step", "research", "long"}) {
		t.Errorf("presets %q", names)
	}
	if _, _, ok := rein.Preset(defaultPreset); !ok {
		t.Errorf("there is no preset %s", defaultPreset)
	}
}

// What cannot be carried out here is found before a run begins, with its place.
func TestNotHere(t *testing.T) {
	for _, c := range []struct {
		text  string
		files map[string]string
		want  string
	}{
		{"tools: [files: {root: gone}]", nil, "agent.yaml:1:23: tools[0].files.root: the folder cannot be used"},
		{"tools: [files: {root: a}]", map[string]string{"a": "a file"}, "agent.yaml:1:23: tools[0].files.root: "},
		{"tools: [clock]\npermissions: {deny: [get_nw]}", nil, `agent.yaml:2:22: permissions.deny[0]: there is no tool "get_nw"; did you mean get_now?`},
		{"permissions: {allow: [get_now]}", nil, `agent.yaml:1:23: permissions.allow[0]: there is no tool "get_now": the agent has no tools`},
		{
			"tools: [files: {root: ., write: direct}]\npermissions: {allow: [effect:read, write_file], ask: [effect:repeatable]}", nil,
			`agent.yaml:2:36: permissions.allow[1]: "allow write_file" does nothing here: "ask effect:repeatable" matches write_file too, and the strictest match wins`,
		},
		{"tools: [clock]\npermissions: {ask: [get_now], deny: ['get_*']}", nil, `permissions.ask[0]: "ask get_now" does nothing here: "deny get_*" matches`},
		{"submit: a.json", map[string]string{"a.json": `{"type":"objekt"}`}, "agent.yaml:1:9: submit: a.json: "},
		{"submit: .", nil, "is a folder"},
		{"submit: /dev/zero", nil, "is a pipe or a device"},
		{"submit: gone.json", nil, "agent.yaml:1:9: submit: the schema cannot be read"},
		{"submit: a.json", map[string]string{"a.json": "[]"}, "agent.yaml:1:9: submit: a.json does not hold a JSON Schema"},
		{"submit: a.json", map[string]string{"a.json": `{"type":`}, "agent.yaml:1:9: submit: a.json does not hold a JSON Schema"},
		{"submit: a.json", map[string]string{"a.json": strings.Repeat(" ", maxSchema+1)}, "agent.yaml:1:9: submit: the schema cannot be read"},
	} {
		a, err := load(t, c.text, c.files)
		if err == nil {
			_, _, err = a.Options()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestLoadRefusesLargeAndMissingFiles(t *testing.T) {
	if _, err := load(t, "# "+strings.Repeat("x", bounds.Bytes), nil); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("large: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "agent.yaml")); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("missing: %v", err)
	}
}

func unwrapped(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
}

// A run remembers its agent as it was, whatever has become of the files since.
func TestFromSpec(t *testing.T) {
	a, err := load(t, "model: openai/x\nsubmit: a.json\n", map[string]string{"a.json": `{"type":"object"}`})
	if err != nil {
		t.Fatal(err)
	}
	b, err := FromSpec("r1", &event.Spec{Config: a.Text(), BaseDir: a.BaseDir, Submit: a.SubmitSchema})
	if err != nil {
		t.Fatal(err)
	}
	a.source, b.source = source{}, source{}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v became %+v", a, b)
	}
	if _, err := FromSpec("r1", &event.Spec{}); err == nil || !strings.Contains(err.Error(), "r1") {
		t.Errorf("a run of a program: %v", err)
	}
}

// The example of the README can be carried out.
func TestExampleOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "```yaml\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the README has no agent.yaml")
	}
	if o := options(t, text, map[string]string{"workspace/a.txt": "x"}); o.Name != "order-desk" {
		t.Errorf("the agent is %q", o.Name)
	}
}

// byteTokens are the 256 tokens of one byte, as GPT-2 writes them: the printable ones
// of Latin-1 as they are, the others from U+0100 on.
func byteTokens() string {
	var out []string
	next := rune(256)
	for b := range rune(256) {
		c := b
		if b < '!' || b > '~' && b < '¡' || b == 0xAD {
			c, next = next, next+1
		}
		out = append(out, fmt.Sprintf("%s:%d", strconv.Quote(string(c)), b))
	}
	return strings.Join(out, ",")
}

// What counts tokens is a vocabulary of Rein's, or the model's own in a file.
func TestTokenizer(t *testing.T) {
	file := `{"model":{"type":"BPE","vocab":{` + byteTokens() + `,"ab":256},"merges":["a b"]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true}}`
	o := options(t, "model: openai/x\nwindow: {tokenizer: o200k_base}", nil)
	if o.Counter != nil || o.Window.Tokenizer != "o200k_base" {
		t.Errorf("%v, %q", o.Counter, o.Window.Tokenizer)
	}
	o = options(t, "model: openai/x\nwindow: {tokenizer: own/tokenizer.json}", map[string]string{"own/tokenizer.json": file})
	if o.Counter == nil || o.Counter.Method() != tokens.Exact || o.Counter.Count("abab") != 2 || !strings.HasPrefix(o.Window.Tokenizer, "sha256:") {
		t.Errorf("%v, %q", o.Counter, o.Window.Tokenizer)
	}
	for text, want := range map[string]string{"": "cannot be read", "{}": "cannot be used"} {
		a, err := load(t, "model: openai/x\nwindow: {tokenizer: t.json}", map[string]string{"u.json": text})
		if text != "" {
			a, err = load(t, "model: openai/x\nwindow: {tokenizer: u.json}", map[string]string{"u.json": text})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.Options(); err == nil || !strings.Contains(err.Error(), "window.tokenizer: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
