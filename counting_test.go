package rein_test

import (
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/model/script"
	"rein.example/rein/tokens"
)

// called returns a client of that name, "provider/model", with a window of 128,000.
func called(name string) model.Client {
	provider, m, _ := strings.Cut(name, "/")
	return script.New(script.MustParse(`{turns: [done]}`), &script.Options{Info: model.Info{Provider: provider, Model: m, Window: 128_000}})
}

// exactly is a counter of the model's own.
type exactly struct{ tokens.Estimate }

func (exactly) Method() tokens.Method { return tokens.Exact }

// What counts, and what margin its figures need: the models' own tokenizer where it
// is known to be that, else an estimate that servers correct.
func TestCounting(t *testing.T) {
	for _, c := range []struct {
		models    string
		tokenizer string // asked for
		counter   tokens.Counter
		want      string
		margin    int64
		method    string // of the first request
	}{
		{"openai/gpt-5.1-mini", "", nil, "o200k_base", 900_000, "exact"},
		{"openai/gpt-4", "", nil, "cl100k_base", 900_000, "exact"},
		{"anthropic/claude-haiku-4-5", "", nil, "", 650_000, "estimated"},
		{"openai/gpt-5.1-mini openai/gpt-4o", "", nil, "o200k_base", 900_000, "exact"},
		{"openai/gpt-5.1-mini anthropic/claude-haiku-4-5", "", nil, "o200k_base", 650_000, "exact"},
		{"anthropic/claude-haiku-4-5 openai/gpt-4o", "", nil, "", 650_000, "estimated"},
		{"openai/gpt-5.1-mini", "estimate", nil, "", 650_000, "estimated"},
		{"openai/gpt-5.1-mini", "cl100k_base", nil, "", 650_000, "estimated"},
		{"ollama/qwen3", "o200k_base", nil, "", 650_000, "estimated"},
		{"ollama/qwen3", "sha256:12ab", exactly{}, "sha256:12ab", 900_000, "exact"},
		{"ollama/qwen3", "", exactly{}, "the program's", 900_000, "exact"},
		{"ollama/qwen3 openai/gpt-4o", "server", exactly{}, "server", 650_000, "exact"},
		{"openai/gpt-5.1-mini", "", tokens.Estimate{}, "", 650_000, "estimated"},
	} {
		var models []model.Client
		for _, name := range strings.Fields(c.models) {
			models = append(models, called(name))
		}
		a, err := rein.New(models[0], &rein.Options{Fallback: models[1:], Counter: c.counter, Window: event.WindowSpec{Tokenizer: c.tokenizer}})
		if err != nil {
			t.Fatalf("%s: %v", c.models, err)
		}
		for e, err := range a.Start(t.Context(), "go").Events() {
			if err != nil {
				t.Fatal(err)
			}
			switch d := e.Data.(type) {
			case *event.RunStarted:
				if w := d.Spec.Window; w.Tokenizer != c.want || w.Margin != c.margin || w.Size != 128_000 || w.Strategy != "layered" {
					t.Errorf("%s, %q: %+v", c.models, c.tokenizer, w)
				}
			case *event.ContextAssembled:
				if d.Method != c.method {
					t.Errorf("%s, %q: the method is %s, not %s", c.models, c.tokenizer, d.Method, c.method)
				}
			}
		}
		_ = a.Close()
	}
	if _, err := rein.New(called("a/b"), &rein.Options{Window: event.WindowSpec{Tokenizer: "tokenizer.json"}}); err == nil || !strings.Contains(err.Error(), "does not come with Rein") {
		t.Error(err)
	}
}
