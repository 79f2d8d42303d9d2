package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"rein.example/rein/config"
	"rein.example/rein/model/script"
)

// An agent may have its model's server count tokens: then the figures are that
// server's, and exact.
func TestServerCounts(t *testing.T) {
	b := newBox(t)
	played := script.Handler(script.MustParse("turns:\n  - All is well.\n"), nil)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tokenize" {
			played.ServeHTTP(w, r)
			return
		}
		asked.Add(1)
		fmt.Fprint(w, `{"tokens":[1,2,3]}`)
	}))
	defer server.Close()
	url := server.URL
	file := b.file("agent.yaml", "model: llamacpp/any\nbase_url: "+url+"/v1\nwindow: {tokenizer: server, size: 32000}\n")
	b.ok("run", "-f", file, "Is all well?")
	events := b.ok("replay", "last", "--json")
	for _, want := range []string{`"tokenizer":"server"`, `"margin_ppm":900000`, `"method":"exact"`} {
		if !strings.Contains(strings.Join(strings.Fields(events), ""), want) {
			t.Errorf("%s is not in %s", want, events)
		}
	}
	if asked.Load() == 0 {
		t.Error("the server was not asked")
	}
	if p := b.rein("run", "-f", b.file("other.yaml", "model: ollama/any\nbase_url: "+url+"/v1\nwindow: {tokenizer: server}\n"), "Hm?"); p.code != 2 || !strings.Contains(p.err, "the server of ollama does not count tokens for others") {
		t.Errorf("%+v", p)
	}
}

// Which servers count, and whether every text is worth the way.
func TestCounters(t *testing.T) {
	for model, every := range map[string]bool{"vllm/m": true, "llama-cpp/m": true, "anthropic/claude-haiku-4-5": false, "gemini/gemini-3.7-flash": false} {
		cfg, err := config.Parse("agent.yaml", []byte("model: "+model))
		if err != nil {
			t.Fatal(err)
		}
		a := &app{env: func(string) string { return "a-key-of-some-length" }}
		tt, err := a.target(cfg, model, true)
		if err != nil {
			t.Fatal(err)
		}
		c, got, err := tt.counter()
		if err != nil || c == nil || got != every {
			t.Errorf("%s: %v, every text %t, %v", model, c, got, err)
		}
	}
}

// Lint counts as a run would, without asking anybody.
func TestLintCounts(t *testing.T) {
	for text, want := range map[string][2]any{
		"model: openai/gpt-5.1-mini":                                         {"o200k_base", int64(900_000)},
		"model: openai/gpt-5.1-mini\nfallback: [openai/gpt-4]":               {"o200k_base", int64(0)},
		"model: ollama/qwen3":                                                {"", int64(0)},
		"model: llamacpp/m\nwindow: {tokenizer: server}":                     {"estimate", int64(0)},
		"model: openai/gpt-5.1-mini\nwindow: {tokenizer: cl100k_base}":       {"cl100k_base", int64(0)},
		"model: anthropic/claude-haiku-4-5\nwindow: {tokenizer: o200k_base}": {"o200k_base", int64(0)},
	} {
		cfg, err := config.Parse("agent.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := cfg.Options()
		if err != nil {
			t.Fatal(err)
		}
		if countsAs(o, cfg); o.Window.Tokenizer != want[0] || o.Window.Margin != want[1] {
			t.Errorf("%s: %q, %d", text, o.Window.Tokenizer, o.Window.Margin)
		}
		if _, err := o.Lint(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
