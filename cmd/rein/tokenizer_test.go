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
