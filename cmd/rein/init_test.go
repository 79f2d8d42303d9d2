package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/config"
)

// The written agent file loads, describes what was asked for, and runs.
func TestInit(t *testing.T) {
	for _, c := range []struct {
		what     string
		args     []string
		in       string // what is typed, if somebody is there
		model    string
		purpose  string
		write    string
		asked    bool
		terminal bool
	}{
		{what: "nobody there", model: "ollama/qwen3:4b", purpose: usualPurpose, write: "none"},
		{what: "flags", args: []string{"--task", `Say "hi": # not a comment`, "-m", "anthropic/claude-haiku-4-5", "--write"},
			model: "anthropic/claude-haiku-4-5", purpose: `Say "hi": # not a comment`, write: "direct"},
		{what: "asked, the usual", terminal: true, in: "\n\n\n", model: "ollama/qwen3:4b", purpose: usualPurpose, write: "none"},
		{what: "asked", terminal: true, in: "Sort the mail\u2028NAME.\n7\nno/such\nmistral/x y\nmistral/mistral-large-2512\nmaybe\nYES\n",
			model: "mistral/mistral-large-2512", purpose: "Sort the mail\u2028NAME.", write: "direct"},
		{what: "asked, by number, without a last line end", terminal: true, in: "Sort.\n1\ny", model: "ollama/qwen3:4b", purpose: "Sort.", write: "direct"},
		{what: "half asked", terminal: true, args: []string{"--task", "Sort.", "--write=false"}, in: "\n", model: "ollama/qwen3:4b", purpose: "Sort.", write: "none"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBox(t)
			b.terminal, b.in = c.terminal, c.in
			dir := filepath.Join(b.dir, "Order desk")
			o := machine(t, 11434, ollamaList, hello)
			p := b.look(o, append([]string{"init", "--dir", dir}, c.args...)...)
			if p.code != 0 || p.out != "" {
				t.Fatalf("exit %d\n%s%s", p.code, p.out, p.err)
			}
			cfg, err := config.Load(filepath.Join(dir, agentFile))
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Name != "Order-desk" || cfg.Model != c.model || cfg.Tools[0].Files.Write != c.write || !strings.HasSuffix(cfg.Rules.Must[0].Text, ": "+c.purpose) {
				t.Errorf("name %q, model %q, files %+v, must %q", cfg.Name, cfg.Model, cfg.Tools[0].Files, cfg.Rules.Must)
			}
			if _, closeTools, err := cfg.Options(); err != nil {
				t.Error(err)
			} else if err := closeTools(); err != nil {
				t.Error(err)
			}
			if suite, err := os.ReadFile(filepath.Join(dir, suiteFile)); err != nil || !strings.Contains(string(suite), "does not run suites yet") {
				t.Errorf("the suite: %v, %s", err, suite)
			}
			if c.model == "ollama/qwen3:4b" {
				if p := b.rein("run", "-f", filepath.Join(dir, agentFile), "hi"); p.code != 0 {
					t.Errorf("the agent does not run: exit %d, %s", p.code, p.err)
				}
			}
		})
	}
}

// Files that are there are kept, both of them or none is written.
func TestInitKeepsFiles(t *testing.T) {
	b := newBox(t)
	own := b.file("desk/evals/first.yaml", "mine\n")
	args := []string{"init", "--dir", filepath.Join(b.dir, "desk"), "-m", "openai/x"}
	p := b.rein(args...)
	if _, err := os.Stat(filepath.Join(b.dir, "desk", agentFile)); p.code != 2 || err == nil || !strings.Contains(p.err, "--force") {
		t.Errorf("exit %d, %v, %s", p.code, err, p.err)
	}
	var got struct {
		Files []string `json:"files"`
		Model string   `json:"model"`
	}
	if p := b.decode(&got, append(args, "--force")...); p.code != 0 || len(got.Files) != 2 {
		t.Errorf("exit %d, %+v, %s", p.code, got, p.err)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) == "mine\n" {
		t.Errorf("%v, %s", err, text)
	}
}

func TestInitRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		in, want string
		terminal bool
	}{
		"a model without a slash": {args: []string{"-m", "gpt"}, want: "provider/model"},
		"an unknown provider":     {args: []string{"-m", "opnai/x"}, want: "did you mean openai?"},
		"an empty task":           {args: []string{"--task", " "}, want: "--task"},
		"an endless task":         {args: []string{"--task", strings.Repeat("x", maxAnswer+1)}, want: "--task"},
		"an endless answer":       {terminal: true, in: strings.Repeat("x", maxAnswer+1), want: "has more than"},
		"no answer":               {terminal: true, in: "", want: "--task"},
		"an answer in Latin-1":    {terminal: true, in: "caf\xe9\n", want: "UTF-8"},
	} {
		b := newBox(t)
		b.terminal, b.in = c.terminal, c.in
		dir := filepath.Join(b.dir, "new")
		p := b.rein(append([]string{"init", "--dir", dir}, c.args...)...)
		if _, err := os.Stat(dir); p.code != 2 || err == nil || !strings.Contains(p.err, c.want) {
			t.Errorf("%s: exit %d, %v, %s", name, p.code, err, p.err)
		}
	}
}

func TestAgentName(t *testing.T) {
	for folder, want := range map[string]string{"order-desk": "order-desk", "Order desk!": "Order-desk", "日本": "agent", "/": "agent", "..": "agent", strings.Repeat("x", 100): strings.Repeat("x", 64)} {
		if got := agentName(folder); got != want {
			t.Errorf("%q: %q, want %q", folder, got, want)
		}
	}
}
