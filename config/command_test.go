package config

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// A file's template is a tool that runs, and the run says that nothing confines it.
func TestCommands(t *testing.T) {
	o := options(t, `model: openai/x
sandbox: none
tools:
  - command:
      templates:
        - name: go_env
          effect: read
          argv: [go, env, "{names}"]
          doc: {what: Tells Go's settings.}
          env: {GOOS: plan9}
          params: {names: {pattern: "GO[A-Z]+", list: true}}
`, nil)
	if o.Sandbox != "none" || len(o.Tools) != 1 || o.Tools[0].Definition().Effect != event.Read {
		t.Fatalf("%+v", o)
	}
	r, err := o.Tools[0].Run(t.Context(), &tool.Call{Args: jsontext.Value(`{"names":["GOOS"]}`)})
	if err != nil || !strings.HasPrefix(r.Parts[0].Text, "plan9\n") {
		t.Errorf("%+v, %v", r, err)
	}
}

// What is wrong with templates is found before a run, all of it at once.
func TestCommandMistakes(t *testing.T) {
	a, err := load(t, `sandbox: none
tools:
  - command:
      templates:
        - {name: one, argv: [no-such-program], doc: {what: a}}
        - {name: two, argv: [go, "{x}"], doc: {what: a}, params: {x: {pattern: "[a-z]+", match: [UP]}}}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = a.Options()
	if err == nil || !strings.Contains(err.Error(), `command one: there is no program "no-such-program" in PATH`) || !strings.Contains(err.Error(), `command two: parameter "x": "UP" ought to be taken`) {
		t.Errorf("error %v", err)
	}
}

// What a secret variable holds is the program's, and nobody else's.
func TestCommandSecret(t *testing.T) {
	a, err := load(t, `sandbox: none
tools:
  - command:
      templates:
        - {name: show, effect: read, argv: [go, env, GOFLAGS], doc: {what: Shows.}, secret_env: [GOFLAGS]}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GOFLAGS": "-ldflags=very-secret"}
	h := Host{Env: func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return os.Getenv(name)
	}}
	o, done, err := a.OptionsOn(h)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	r, err := o.Tools[0].Run(t.Context(), &tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || !strings.HasPrefix(r.Parts[0].Text, "-ldflags=very-secret\n") || o.Secrets.Redact(r.Parts[0].Text) == r.Parts[0].Text {
		t.Errorf("%+v, %v", r, err)
	}
	delete(env, "GOFLAGS")
	t.Setenv("GOFLAGS", "")
	if _, _, err := a.OptionsOn(h); err == nil || !strings.Contains(err.Error(), "command show: the environment variable GOFLAGS is not set") {
		t.Errorf("error %v", err)
	}
}

// What is doubtful about how tools were set up is found from the file: a parameter
// in a shell's code, a secret that was written out, a read that deletes.
func TestSetupsAreChecked(t *testing.T) {
	t.Setenv("DESK_TOKEN", "token-12345678")
	o := options(t, `model: openai/x
sandbox: none
tools:
  - command:
      templates:
        - name: run_text
          effect: once
          argv: [go, run, "{m}"]
          doc: {what: Runs a text.}
          params: {m: {pattern: ".*"}}
        - name: query_text
          effect: read
          argv: [sh, -c, "echo {m}"]
          doc: {what: Echoes a text.}
          params: {m: {pattern: ".*"}}
  - http: {name: drop_order, doc: {what: Drops an order.}, method: DELETE, effect: read, url: "https://desk.example/orders/{id}", headers: {Authorization: Bearer abc}}
  - http: {name: query_order, doc: {what: Finds an order.}, url: "https://desk.example/orders/{id}", auth: {bearer_env: DESK_TOKEN}}
permissions: {allow: ["*"]}
`, nil)
	report, err := o.Lint()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Findings {
		if f.Part == "argv" || f.Part == "secret" || f.Part == "effect" {
			got = append(got, f.String())
		}
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{
		"error: tool query_text, argv: {m} stands in code that sh runs: its pattern takes anything",
		"warning: tool query_text, effect: it declares that it reads, and {m} is part of code",
		"error: tool drop_order, secret: the header Authorization looks like a secret",
		"warning: tool drop_order, effect: its request is a DELETE, and it declares that it reads",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d findings:\n%s", len(got), text)
	}
}
