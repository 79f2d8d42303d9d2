package tokens_test

import (
	"strings"
	"testing"

	"rein.example/rein/tokens"
)

func TestFor(t *testing.T) {
	for want, models := range map[tokens.Tokenizer]string{
		tokens.O200k: `openai/gpt-4o openai/gpt-4o-mini gpt-4o-2024-11-20 openai/chatgpt-4o-latest openai/gpt-4.1-nano openai/gpt-4.5-preview
			openai/gpt-5 openai/gpt-5.6-terra openrouter/openai/gpt-5-codex openai-responses/gpt-5.2 openai/o1 openai/o1-pro o3 openai/o3-mini
			openai/o4-mini openai/codex-mini-latest groq/openai/gpt-oss-120b ollama/gpt-oss:20b openrouter/openai/gpt-oss-20b:free
			ft:gpt-4o-mini-2024-07-18:acme::abc OpenAI/GPT-4o azure/gpt-4.1 openai/gpt-5@2026-01-01`,
		tokens.CL100k: `openai/gpt-4 openai/gpt-4-turbo gpt-4-0613 openai/gpt-4-32k openai/gpt-3.5-turbo gpt-3.5-turbo-16k azure/gpt-35-turbo
			ft:gpt-3.5-turbo-0125:acme::abc`,
		"": `anthropic/claude-sonnet-5 gemini/gemini-3.7-flash ollama/qwen3:8b deepseek/deepseek-v4-flash openai/gpt-6 openai/gpt-4x
			openai/gpt-40 local/o1x local/marco-o1 openai/ o openrouter/meta-llama/llama-4-scout gpt-50 vllm/o200k`,
	} {
		for _, model := range strings.Fields(models) {
			if got := tokens.For(model); got != want {
				t.Errorf("%s: %q, want %q", model, got, want)
			}
		}
	}
	if got := tokens.For(""); got != "" {
		t.Errorf("no name: %q", got)
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct{ a, b, want tokens.Method }{
		{tokens.Exact, tokens.Exact, tokens.Exact},
		{tokens.Exact, tokens.Calibrated, tokens.Calibrated},
		{tokens.Calibrated, tokens.Calibrated, tokens.Calibrated},
		{tokens.Exact, tokens.Estimated, tokens.Estimated},
		{tokens.Calibrated, tokens.Estimated, tokens.Estimated},
		{tokens.Exact, "", tokens.Estimated},
	} {
		if got := tokens.Worst(c.a, c.b); got != c.want || got != tokens.Worst(c.b, c.a) {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// halves counts as a server might that is not always there.
type halves struct{ byteCounter }

func (halves) Measure(s string) (int, tokens.Method) { return len(s) / 2, tokens.Calibrated }

func TestMeasure(t *testing.T) {
	if n, m := tokens.Measure(byteCounter{}, "four"); n != 4 || m != tokens.Exact {
		t.Errorf("%d (%s)", n, m)
	}
	if n, m := tokens.Measure(halves{}, "four"); n != 2 || m != tokens.Calibrated {
		t.Errorf("%d (%s)", n, m)
	}
}
