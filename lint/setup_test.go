package lint_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/lint"
	"rein.example/rein/tool"
)

// configured is a tool that says how it was set up.
type configured struct {
	definition
	setup *tool.Setup
}

func (c configured) Setup() *tool.Setup { return c.setup }

// A parameter in what a shell or an interpreter runs as code is found, wherever the
// program's options put the code; one that is handed to fixed code is not.
func TestCode(t *testing.T) {
	const name, anything, fixed = "[a-z]+", ".*", "enum"
	for _, c := range []struct {
		argv    string // entries parted by |
		pattern string
		want    lint.Level
	}{
		{"sh|-c|echo {m}", anything, lint.Error},
		{"sh|-c|echo {m}", "", lint.Error},
		{"sh|-c|echo {m}", "(?s).*", lint.Error},
		{"sh|-c|echo {m}", ".+", lint.Error},
		{"sh|-c|echo {m}", name, lint.Warning},
		{"sh|-c|echo {m}", fixed, ""},
		{"sh|-c|echo {{m}}", anything, ""},
		{`sh|-c|echo "$1"|x|{m}`, anything, ""},
		{"/bin/bash|-lc|{m}", anything, lint.Error},
		{"bash|--norc|-ec|{m}", anything, lint.Error},
		{"bash|-c|-o|pipefail|{m}", anything, lint.Error},
		{"bash|-o|pipefail|-c|{m}", anything, lint.Error},
		{"bash|deploy.sh|-c|{m}", anything, ""},
		{"zsh|-c|{m}", anything, lint.Error},
		{"env|A=b|sh|-c|{m}", anything, lint.Error},
		{"env|-S|sh -c {m}", anything, lint.Error},
		{"timeout|5|sh|-c|{m}", anything, lint.Error},
		{"docker|exec|box|sh|-c|{m}", anything, lint.Error},
		{"python3.12|-c|print({m})", anything, lint.Error},
		{"python|-Ic|print({m})", anything, lint.Error},
		{"python|-c|import sys; print(sys.argv)|{m}", anything, ""},
		{"python|-m|json.tool|{m}", anything, ""},
		{"perl|-lane|print {m}", anything, lint.Error},
		{"perl|-e{m}", anything, lint.Error},
		{"perl|-MFile::Temp|-e|1|{m}", anything, ""},
		{"node|-e|{m}", anything, lint.Error},
		{"node|--eval={m}", anything, lint.Error},
		{"node|main.js|-e|{m}", anything, ""},
		{"ruby|-e|{m}", anything, lint.Error},
		{"php|-r|{m}", anything, lint.Error},
		{"awk|-F|,|{{print {m}}}|f.csv", anything, lint.Error},
		{"awk|-v|x={m}|{{print x}}|f.csv", anything, ""},
		{"awk|-f|prog.awk|{m}", anything, ""},
		{"sed|-n|s/{m}//p|f", anything, lint.Error},
		{"sed|-e|s/a/b/|{m}", anything, ""},
		{"xargs|-n|1|{m}", anything, lint.Error},
		{"xargs|-a|list|grep|{m}", anything, ""},
		{"find|.|-exec|{m}|;", anything, lint.Error},
		{"find|.|-exec|sh|-c|{m}|;", anything, lint.Error},
		{"find|{m}|-name|x", anything, ""},
		{"ssh|-p|22|host|uptime {m}", anything, lint.Error},
		{"ssh|host|grep|{m}", name, lint.Warning},
		{"ssh|{m}|uptime", anything, ""},
		{"watch|-n|1|{m}", anything, lint.Error},
		{`C:\Windows\cmd.exe|/C|{m}`, anything, lint.Error},
		{"pwsh|-NoProfile|-Command|{m}", anything, lint.Error},
		{"grep|-c|{m}", anything, ""},
		{"git|log|--grep={m}", anything, ""},
	} {
		d := good()
		d.Effect, d.Name, d.Confirm = event.Once, "run_probe", "was_run"
		s := &tool.Setup{Argv: strings.Split(c.argv, "|"), Free: map[string]string{"m": c.pattern}}
		if c.pattern == fixed {
			s.Free = nil
		}
		got := lint.Tools(configured{definition{d}, s})
		if lint.Worst(got) != c.want || len(got) > 1 || c.want != "" && (got[0].Part != "argv" || got[0].Fix == "") {
			t.Errorf("%s with %q: %v, want %q", c.argv, c.pattern, got, c.want)
		}
		d.Effect, d.Name = event.Read, "query_probe"
		got = lint.Tools(configured{definition{d}, s})
		if c.want != "" && (len(got) != 2 || got[1].Part != "effect" || got[1].Level != lint.Warning) {
			t.Errorf("%s, which reads: %v", c.argv, got)
		}
	}
}

// A secret that was written out is found, in words that do not repeat it.
func TestSecrets(t *testing.T) {
	const key = "sk-" + "a1B2c3D4e5F6g7H8i9J0"
	for _, c := range []struct {
		setup tool.Setup
		found bool
	}{
		{tool.Setup{Header: map[string]string{"Authorization": "Bearer abc"}}, true},
		{tool.Setup{Header: map[string]string{"X-Api-Key": "0123456789"}}, true},
		{tool.Setup{Header: map[string]string{"X-Other": key}}, true},
		{tool.Setup{Header: map[string]string{"X-Other": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}}, true},
		{tool.Setup{Header: map[string]string{"Accept": "application/vnd.example.v3+json", "User-Agent": "desk/1.2 (+https://example.com)",
			"X-Tenant": "123e4567-e89b-12d3-a456-426614174000", "X-Token-Kind": "user"}}, false},
		{tool.Setup{Query: map[string]string{"api_key": "0123456789"}}, true},
		{tool.Setup{Query: map[string]string{"view": "full"}}, false},
		{tool.Setup{Env: map[string]string{"DB_PASSWORD": "correcthorse"}}, true},
		{tool.Setup{Env: map[string]string{"TOKEN_FILE": "/run/secrets/token", "MODE": "fast"}}, false},
		{tool.Setup{Argv: []string{"deploy", "--key=" + key}}, true},
		{tool.Setup{Argv: []string{"git", "show", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}}, false},
	} {
		// Two tools of one service share a header; it is told of once.
		a, b := good(), good()
		b.Name = "query_bills"
		got := lint.Tools(configured{definition{a}, &c.setup}, configured{definition{b}, &c.setup})
		if (len(got) == 1) != c.found || len(got) > 1 {
			t.Errorf("%+v: %v", c.setup, got)
			continue
		}
		for _, f := range got {
			if f.Level != lint.Error || !strings.Contains(f.Fix, "env") || strings.Contains(f.String(), key) || strings.Contains(f.String(), "0123456789") {
				t.Errorf("%v", f)
			}
		}
	}
}

// A request that usually changes something and is said to read is doubted.
func TestMethods(t *testing.T) {
	for method, want := range map[string]lint.Level{"": "", "GET": "", "HEAD": "", "POST": lint.Warning, "PUT": lint.Warning, "DELETE": lint.Warning} {
		got := lint.Tools(configured{definition{good()}, &tool.Setup{Method: method}})
		if lint.Worst(got) != want {
			t.Errorf("%s: %v", method, got)
		}
	}
}

// A tool with another definition is set up as the one that it was made of.
func TestSetupOf(t *testing.T) {
	s := &tool.Setup{Method: "POST"}
	made := tool.With(configured{definition{good()}, s}, func(d *tool.Definition) { d.Name = "x" })
	if tool.SetupOf(made) != s || tool.SetupOf(definition{good()}) != nil {
		t.Error("lost")
	}
}
