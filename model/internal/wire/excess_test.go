package wire

import (
	"strings"
	"testing"
)

// How servers say that a request is too long, and what they say of how long.
func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		vendor       string
		status       int
		text         string
		asked, limit int64
	}{
		{"OpenAI", 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.", 130512, 128000},
		{"OpenAI, older", 400, "This model's maximum context length is 8192 tokens. However, you requested 9500 tokens (5500 in the messages, 4000 in the completion).", 9500, 8192},
		{"OpenAI, tools counted", 400, "This model's maximum context length is 16385 tokens. However, your messages resulted in 17000 tokens (16000 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.", 17000, 16385},
		{"OpenAI Responses", 400, "Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0},
		{"OpenAI Responses, in mid-stream", 0, "Your input exceeds the context window of this model.", 0, 0},
		{"Azure", 400, "This model's maximum context length is 128,000 tokens, however you requested 130,512 tokens.", 130512, 128000},
		{"Anthropic", 400, "prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000},
		{"Anthropic, with the reply", 400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again", 211333, 200000},
		{"Anthropic, bytes", 413, "Request exceeds the maximum size", 0, 0},
		{"Gemini", 400, "The input token count (1348210) exceeds the maximum number of tokens allowed (1048576).", 1348210, 1048576},
		{"Gemini, without parentheses", 400, "The input token count exceeds the maximum number of tokens allowed 1048576.", 0, 0},
		{"Gemini, bytes", 400, "Request payload size exceeds the limit: 20971520 bytes.", 0, 0},
		{"Vertex", 400, "Unable to submit request because the input token count is 40000 but the model only supports up to 32768. Reduce the input token count and try again.", 40000, 32768},
		{"vLLM", 400, "This model's maximum context length is 32768 tokens. However, you requested 0 output tokens and your prompt contains at least 32769 input tokens, for a total of at least 32769 tokens.", 32769, 32768},
		{"vLLM, reply too long beside the prompt", 400, "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (5000 > 4096 - 1000).", 6000, 4096},
		{"vLLM, engine", 400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 5000, 4096},
		{"llama.cpp", 400, "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 9000, 4096},
		{"llama.cpp, older", 400, "the request exceeds the available context size, try increasing it", 0, 0},
		{"llama-cpp-python", 400, "Requested tokens (9000) exceed context window of 4096", 9000, 4096},
		{"Ollama", 400, "the input length exceeds the context length", 0, 0},
		{"Ollama, nothing may be cut off", 400, "prompt too long; exceeded max context length by 904 tokens", 0, 0},
		{"Mistral", 400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 40000, 32768},
		{"DeepSeek", 400, "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).", 70000, 65536},
		{"Together", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`", 9100, 8193},
		{"text-generation-inference", 422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", 5000, 4096},
		{"Groq", 400, "Please reduce the length of the messages or completion.", 0, 0},
		{"Groq, over a minute's tokens", 413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000", 9000, 6000},
		{"Cerebras", 400, "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 9000, 8192},
		{"Bedrock", 400, "Input is too long for requested model.", 0, 0},
		{"Bedrock, Titan", 400, "Too many input tokens. Max input tokens: 8192, request input token count: 9001", 9001, 8192},
		{"Bedrock, Nova", 400, "Input Tokens Exceeded: Number of input tokens exceeds maximum length.", 0, 0},
		{"OpenRouter", 400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 of text input, 10000 in the output).", 140000, 131072},
		{"SGLang", 400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096},
		{"SGLang, with the reply", 400, "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 39000 tokens from the input messages and 1000 tokens for the completion.", 40000, 32768},
		{"SGLang, input alone", 400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", 131393, 131040},
		{"LM Studio", 400, "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.", 9000, 4096},
		{"LM Studio, newer", 400, "The number of tokens to keep from the initial prompt is greater than the context length.", 0, 0},
		{"xAI", 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 140000, 131072},
		{"Moonshot", 400, "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", 140000, 131072},
		{"MiniMax, with a code that is no number of tokens", 400, "invalid params, context window exceeds limit (2013)", 0, 0},
		{"DashScope", 400, "Range of input length should be [1, 129024]", 0, 129024},
		{"Zhipu", 400, "Prompt exceeds max length", 0, 0},
		{"Fireworks", 400, "The prompt is too long: 140000, model maximum context length: 131071", 140000, 131071},
		{"Cohere", 400, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.", 5000, 4081},
		{"Copilot", 400, "prompt token count of 70000 exceeds the limit of 64000", 70000, 64000},
		{"GitHub Models", 413, "Request body too large for this model. Max size: 8000 tokens.", 0, 8000},
		{"watsonx", 400, "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", 5000, 4096},
		{"TensorRT-LLM", 400, "Prompt length (5000) exceeds maximum input length (4096)", 5000, 4096},
		{"a gateway", 400, "Context window exceeded: shorten the conversation", 0, 0},
		{"a gateway, the code as text", 500, "upstream: context_window_exceeded", 0, 0},
		{"a gateway, a server fault", 500, "Error: This model's maximum context length is 8192 tokens. However, you requested 9500 tokens.", 9500, 8192},
		{"a gateway, another server fault", 502, "Request too long for this model", 0, 0},
		{"Ark", 400, "Total tokens of image and text exceed max message tokens. Request id: 0217", 0, 0},
		{"nobody that is known, more before less", 400, "sorry: 9000 tokens are more than the 8192 that fit", 9000, 8192},
		{"nobody that is known, less before more", 413, "context holds 8,192 but got 9,000", 9000, 8192},
		{"nobody that is known, as a bad value", 422, "input of length 9000 is above 8_192.", 9000, 8192},
		{"a proxy's page", 413, "<html><h1>413 Request Entity Too Large</h1></html>", 0, 0},
	} {
		t.Run(c.vendor, func(t *testing.T) {
			if !Overflows(c.status, c.text) {
				t.Error("it is not seen that the request is too long")
			}
			if got := Measure(c.text); got != (Excess{c.asked, c.limit}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What has numbers and words like these, and is something else.
func TestNoOverflow(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		text   string
	}{
		{"the reply alone", 400, "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for this model"},
		{"the reply alone, OpenAI's words", 400, "max_tokens is too large: 5000. This model supports at most 4096 completion tokens, whereas you provided 5000."},
		{"thinking", 400, "`thinking.budget_tokens` 900 must be at least 1024 tokens"},
		{"a name", 400, "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got length 1070 instead."},
		{"a list", 400, "Invalid 'tools': array too long. Expected an array with maximum length 600, but got an array with length 700 instead."},
		{"a picture", 400, "At least one image has a length of 9000 pixels, more than 8000"},
		{"small numbers", 400, "messages.3.content.1: length 300 exceeds 255"},
		{"one number", 400, "invalid token at position 4096"},
		{"the same number twice", 400, "token 5000 is not a token: 5000"},
		{"three numbers", 400, "context 1000, 2000, 3000"},
		{"no word of what is counted", 400, "9000 is more than 8192"},
		{"parts of names, dates and versions", 400, "context of req_9000 and gpt-4096 at 2026-03-01T12:00:00, version 1024.5"},
		{"a rate", 429, "Rate limit reached: limit 30000 tokens, used 29000, requested 2000"},
		{"a rate, tokens a minute", 429, "This request would exceed your limit of 40,000 input tokens per minute; reduce the prompt length"},
		{"a rate, of a failing gateway", 500, "upstream: limit of 40000 tokens per minute reached, 41000 used"},
		{"a server that failed", 500, "context of 9000 tokens, 8192 done"},
		{"in mid-stream", 0, "lost 9000 of 8192 tokens"},
		{"a call without its result", 400, "messages.2: `tool_use` ids were found without `tool_result` blocks"},
	} {
		if Overflows(c.status, c.text) {
			t.Errorf("%s: %s", c.name, c.text)
		}
	}
}

// A number counts only where it can be one: a server that contradicts itself is
// not believed about what was asked.
func TestMeasureContradiction(t *testing.T) {
	if got := Measure("maximum context length is 8192 tokens. However, you requested 100 tokens"); got != (Excess{Limit: 8192}) {
		t.Errorf("got %+v", got)
	}
	if got := Measure("maximum context length is 99999999999999999999 tokens"); got != (Excess{}) {
		t.Errorf("got %+v", got)
	}
}

// FuzzMeasure holds that whatever a server says, it is read, and that the numbers
// are such as can be.
func FuzzMeasure(f *testing.F) {
	f.Add("prompt is too long: 208310 tokens > 200000 maximum", 400)
	f.Add("too large: 5000. … request has 1,000 input tokens; maximum context length is 4096", 0)
	f.Add("Context 9_000 tokens, 8,192.", 413)
	f.Add(strings.Repeat("too large: 1 ", 50), 422)
	f.Fuzz(func(t *testing.T, text string, status int) {
		Overflows(status, text)
		if e := Measure(text); e.Limit < 0 || e.Asked < 0 || e.Limit >= 2*maxTokens || e.Asked >= 3*maxTokens || e.Asked != 0 && e.Asked <= e.Limit {
			t.Errorf("%q: %+v", text, e)
		}
	})
}
