package wire

import (
	"slices"
	"strings"
)

// Excess is what a server says of a request that is longer than it takes, in
// tokens; 0 where it does not say.
type Excess struct {
	// Asked is what the request came to, with the room for the reply where the
	// server counts that, and Limit what the server takes of the same.
	Asked, Limit int64
}

// Servers have a code for a request that is too long, or a sentence, or only two
// numbers. These tables are for the sentences of all wires, since gateways pass
// on what the server behind them has said. Everything is in lower case.

// excessWords tell that a request is longer than the server takes.
var excessWords = []string{
	"maximum context length",               // OpenAI, Azure, vLLM, SGLang, DeepSeek, OpenRouter, Mistral, Fireworks, Ollama
	"max context length",                   // Ollama, where nothing may be cut off
	"maximum prompt length",                // xAI
	"maximum model length",                 // vLLM
	"maximum allowed input length",         // SGLang
	"context length exceeded",              // gateways
	"context window exceeded",              // gateways
	"context_length_exceeded",              // gateways that make a text of a code
	"context_window_exceeded",              //
	"exceed max message tokens",            // Ark (Doubao)
	"request too long",                     // gateways
	"request is too long",                  //
	"exceeds the context window",           // OpenAI Responses
	"context window exceeds",               // MiniMax
	"exceed context window",                // llama-cpp-python
	"exceed context limit",                 // Anthropic: input and max_tokens together
	"exceeds the available context size",   // llama.cpp
	"exceeds context length",               // Ollama
	"exceeds the context length",           // Ollama
	"than the model's context length",      // SGLang, Together
	"than the context length",              // LM Studio
	"loaded with context length of",        // LM Studio
	"prompt is too long",                   // Anthropic, Fireworks
	"prompt too long",                      // Ollama
	"prompt exceeds max length",            // Zhipu
	"input is too long",                    // Bedrock
	"too many input tokens",                // Bedrock: Titan, Cohere
	"input tokens exceeds maximum length",  // Bedrock: Nova
	"exceeds the maximum number of tokens", // Gemini
	"reduce the input token count",         // Vertex
	"prompt token count of",                // GitHub Copilot
	"reduce the length of the messages",    // OpenAI, Groq, Cerebras
	"range of input length should be",      // DashScope
	"exceeded model token limit",           // Moonshot
	"max_new_tokens` must be <=",           // text-generation-inference, Together
	"max_new_tokens must be <=",            //
	"inputs` must have less than",          //
	"tokens in the prompt cannot exceed",   // Cohere
	"cannot exceed the total tokens limit", // watsonx
	"should not exceed max_num_tokens",     // TensorRT-LLM
	"body too large for",                   // GitHub Models
	"payload size exceeds",                 // Gemini: in bytes
	"exceeds the maximum allowed number",   // Anthropic: in bytes
}

// A cue is a text around a number. In it, # stands for the number that is looked
// for (several are added up), % for one that is not, and … for up to cueGap bytes
// of whatever.

// limitCues find what a server takes. The first that matches counts.
var limitCues = []string{
	"context limit: % + % > #", "tokens > # maximum", // Anthropic
	"maximum context length is #", "maximum context length of #", "maximum context length (#", // OpenAI and what follows it; SGLang; vLLM
	"maximum context length: #", "# maximum context length", // Fireworks; Mistral
	"max context length of #", "maximum model length of #", // Ollama; vLLM
	"maximum prompt length is #",                                                                              // xAI
	"maximum allowed input length of #", "maximum input length (#", "maximum length #", "maximum length of #", // SGLang; TensorRT-LLM; Ark
	"model's context length (#", "context length of only #", "context length of #", // SGLang; LM Studio
	"available context size (#", "context window of #", // llama.cpp; llama-cpp-python
	"number of tokens allowed (#", "only supports up to #", "exceeds the limit of #", // Gemini; Vertex; Copilot
	"input length should be [%, #]",                // DashScope
	"model token limit: #",                         // Moonshot
	"must be <= #", "must have less than # tokens", // text-generation-inference, Together
	"cannot exceed the total tokens limit #", "cannot exceed #", // watsonx; Cohere
	"while limit is #", "max input tokens: #", "max size: # tokens", "max_num_tokens (#", // Cerebras; Bedrock; GitHub Models; TensorRT-LLM
	"(tpm): limit #", // OpenAI, Groq: one request alone is over a minute's tokens
}

// askedCues find what a request came to. The first that matches counts.
var askedCues = []string{
	"context limit: # + # >", "prompt is too long: #", // Anthropic, Fireworks
	"too large: #…request has # input tokens",                                       // vLLM: max_tokens and what was sent
	"a total of # tokens", "total of at least # tokens", "requested about # tokens", // SGLang; vLLM; OpenRouter
	"requested # tokens", "resulted in # tokens", "contains # tokens", // OpenAI, vLLM, DeepSeek; Mistral, xAI
	"prompt contains at least # input tokens", "prompt (length #", "requested tokens (#", // vLLM; llama-cpp-python
	"token count (#", "token count is #", "token count of #", "token count: #", // Gemini; Vertex; Copilot; Bedrock
	"request (# tokens", "the input (# tokens", "keep the first # tokens", // llama.cpp; SGLang; LM Studio
	"prompt length (#", "input length (#", "input length #", // TensorRT-LLM; vLLM; SGLang, Ark
	"(requested: #", "current length is #", "received #", // Moonshot; Cerebras; Cohere
	"given: # `inputs` tokens and # `max_new_tokens`", "given: # inputs tokens and # max_new_tokens", "given: #", // text-generation-inference
	"number of input tokens #", // watsonx
	", requested #",            // OpenAI, Groq: tokens per minute
}

// cueGap is how far apart the halves of a cue may stand, in bytes.
const cueGap = 120

// Overflows reports whether a server says with an error that the request is longer
// than it takes. status is that of the reply, or 0 in mid-stream. Where no wording
// is known, a status that refuses a request says so together with two numbers, of
// which the one is too much, and a word of what is counted.
func Overflows(status int, text string) bool {
	text = strings.ToLower(text)
	if says(text, excessWords) {
		return true
	}
	switch status {
	case 413:
		return true
	case 400, 422:
		_, ok := unknownExcess(text)
		return ok
	}
	return false
}

// SaysExcess reports whether the text of an error has a known wording for a request
// that is longer than the server takes, which counts under any status: some
// gateways make a server fault of every error.
func SaysExcess(text string) bool { return says(strings.ToLower(text), excessWords) }

// leastLongText is the least bound of a text's length that is one of a message: those
// of names, ids and descriptions are far below it, OpenAI's and Azure's of a message
// are 2^20 characters and more.
const leastLongText = 100_000

// LongText reports whether an error with this code says that a text of the request
// has more characters than OpenAI's servers take. The same code is used for names and
// the like, which no shorter request mends.
func LongText(code, text string) bool {
	return strings.EqualFold(code, "string_above_max_length") && find(strings.ToLower(text), "maximum length #") >= leastLongText
}

// Measure finds the numbers in the text of an error that says that a request is
// too long. A number that contradicts the other is left out: a request that was
// refused came to more than the server takes.
func Measure(text string) Excess {
	text = strings.ToLower(text)
	e := Excess{Asked: first(text, askedCues), Limit: first(text, limitCues)}
	if e.Limit == 0 {
		e, _ = unknownExcess(text)
	}
	if e.Asked <= e.Limit {
		e.Asked = 0
	}
	return e
}

// leastExcess is the smallest number that is taken for one of a window: no model
// that can use tools has a smaller one, while indexes, lengths of names and bounds
// of parameters are below it.
const leastExcess = 512

var (
	// countedWords say what numbers count.
	countedWords = []string{"token", "length", "context"}
	// otherWords are of errors about something else that is counted: the reply alone,
	// a name, a list, a picture, a rate.
	otherWords = []string{
		"output token", "completion token", "max_tokens", "max_completion_tokens", "max_output_tokens", "budget_tokens",
		"max_new_tokens", "expected a string", "string too long", "array too long", "image", "pixel", "per minute", "per day",
	}
)

// unknownExcess finds two numbers of a window in a wording that is not known.
func unknownExcess(text string) (Excess, bool) {
	if !says(text, countedWords) || says(text, otherWords) {
		return Excess{}, false
	}
	var found []int64
	for i := 0; i < len(text); {
		n, end := number(text, i)
		if end == i {
			i++
			continue
		}
		if n >= leastExcess && !slices.Contains(found, n) {
			found = append(found, n)
		}
		i = end
	}
	if len(found) != 2 {
		return Excess{}, false // one number is no comparison, and of three any two may be meant
	}
	return Excess{Asked: max(found[0], found[1]), Limit: min(found[0], found[1])}, true
}

// first returns what the first of the cues that match find, or 0.
func first(text string, cues []string) int64 {
	for _, c := range cues {
		if n := find(text, c); n > 0 {
			return n
		}
	}
	return 0
}

// find returns what a cue finds in text, or 0. Texts are short, and cues have no
// more than one gap.
func find(text, cue string) int64 {
	head := cue[:strings.IndexAny(cue+"#", "#%…")] // what it begins with, to look for
	for at := 0; ; {
		next := strings.Index(text[at:], head)
		if next < 0 {
			return 0
		}
		at += next
		if n, ok := match(text, at, cue); ok {
			return n
		}
		if at++; at > len(text) {
			return 0
		}
	}
}

// match reads a cue at one place of text.
func match(text string, at int, cue string) (sum int64, ok bool) {
	for i, c := range cue {
		switch c {
		case '#', '%':
			n, end := number(text, at)
			if end == at {
				return 0, false
			}
			if at = end; c == '#' {
				sum += n
			}
		case '…':
			rest := cue[i+len("…"):]
			for far := at; far < min(at+cueGap, len(text)); far++ {
				if n, ok := match(text, far, rest); ok {
					return sum + n, true
				}
			}
			return 0, false
		default:
			if at >= len(text) || text[at] != byte(c) {
				return 0, false
			}
			at++
		}
	}
	return sum, true
}

// number reads a whole number that stands by itself, with or without commas or
// underscores between its thousands, and returns it and its end; the end is at if
// there is none.
func number(text string, at int) (n int64, end int) {
	if at > 0 && inWord(text[at-1]) {
		return 0, at
	}
	end = at
	for end < len(text) && isDigit(text[end]) {
		if n = n*10 + int64(text[end]-'0'); n >= maxTokens {
			return 0, at
		}
		if end++; end+3 < len(text) && (text[end] == ',' || text[end] == '_') &&
			isDigit(text[end+1]) && isDigit(text[end+2]) && isDigit(text[end+3]) {
			end++
		}
	}
	if end < len(text) && inWord(text[end]) && !(text[end] == '.' || text[end] == '-') ||
		end+1 < len(text) && (text[end] == '.' || text[end] == '-') && isDigit(text[end+1]) {
		return 0, at // part of a name, a date, a version or a fraction
	}
	return n, end
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// inWord reports whether a number beside c is a part of something else.
func inWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c == '_' || c == '-' || c == '.' || c >= 0x80
}

// says reports whether the text has one of the words.
func says(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
