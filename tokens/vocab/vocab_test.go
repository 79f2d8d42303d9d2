package vocab_test

import (
	"testing"

	"rein.example/rein/tokens"
	"rein.example/rein/tokens/vocab"
)

// A text that each vocabulary makes something else of, and the estimate too.
func TestFor(t *testing.T) {
	const text = "Überraschungsgäste 你好，世界"
	for model, want := range map[string]struct {
		n      int
		method tokens.Method
	}{
		"openai/gpt-5":        {10, tokens.Exact},
		"azure/gpt-35-turbo":  {15, tokens.Exact},
		"anthropic/claude-x":  {tokens.Estimate{}.Count(text), tokens.Estimated},
		"":                    {tokens.Estimate{}.Count(text), tokens.Estimated},
		"ollama/gpt-oss:120b": {10, tokens.Exact},
	} {
		c := vocab.For(model)
		if got := c.Count(text); got != want.n || c.Method() != want.method {
			t.Errorf("%s: %d tokens (%s), want %d (%s)", model, got, c.Method(), want.n, want.method)
		}
	}
}
