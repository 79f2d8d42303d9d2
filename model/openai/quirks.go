package openai

import (
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Quirks say how a server differs in what it takes. The zero value is what
// nearly all take. They decide bytes, so they are part of [Encoder.Options].
type Quirks struct {
	// MaxTokens names the member that bounds the reply: "max_tokens" (empty
	// means this) or "max_completion_tokens" (OpenAI: its reasoning models
	// refuse the older one).
	MaxTokens string `json:"max_tokens,omitempty"`
	// Reasoning names the member in which an assistant message's reasoning is
	// sent back: "reasoning_content" (DeepSeek and Moonshot, which need it
	// while tools run) or "reasoning". Empty sends none back. Opaque data goes
	// back in any case.
	Reasoning string `json:"reasoning,omitempty"`
	// SystemAnywhere: system messages may stand in mid-conversation. Otherwise
	// they become labelled blocks, see [Encoder.Message].
	SystemAnywhere bool `json:"system_anywhere,omitempty"`
	// NoParallelCalls: the server refuses more than one call in a reply, and is
	// told so.
	NoParallelCalls bool `json:"no_parallel_calls,omitempty"`
	// NoStreamOptions: the server refuses the member that asks for usage in a
	// stream. Usage is then unknown.
	NoStreamOptions bool `json:"no_stream_options,omitempty"`
	// NoToolChoice: the server ignores tool_choice (Ollama), so that a request
	// without tools must leave them out, whatever that does to its cache.
	NoToolChoice bool `json:"no_tool_choice,omitempty"`
	// RawArguments: arguments of past calls are sent as the model wrote them
	// even if they are not a JSON object. Most servers other than OpenAI parse
	// them to fill a chat template and refuse the whole conversation if one is
	// broken, so that otherwise these are sent as {"invalid_arguments":"…"}.
	RawArguments bool `json:"raw_arguments,omitempty"`
	// ToolImages: a tool result may hold images. Otherwise a line of text says
	// that there was one.
	ToolImages bool `json:"tool_images,omitempty"`
	// Schema says how an answer's form is asked for: "json_schema" (empty means
	// this), "json_object" (DeepSeek: valid JSON only, so the prompt must hold
	// the schema) or "none".
	Schema string `json:"schema,omitempty"`
	// NoEncryptedReasoning: the model or server refuses to be asked for its
	// reasoning in encrypted form. For the Responses API only, which otherwise
	// asks, but for OpenAI's models that are known not to reason.
	NoEncryptedReasoning bool `json:"no_encrypted_reasoning,omitempty"`
	// Summaries asks for summaries of the reasoning, for showing, wherever an
	// effort is asked for. For the Responses API only; OpenAI refuses it to
	// organisations that it has not verified.
	Summaries bool `json:"summaries,omitempty"`
}

// QuirksOf returns what is known of a provider, or, where the host is OpenAI's
// or Azure's, of these. A provider called "openai" at another host is a
// compatible server of which nothing is known.
func QuirksOf(provider, host string) Quirks {
	if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return Quirks{MaxTokens: "max_completion_tokens", SystemAnywhere: true, RawArguments: true}
	}
	switch provider {
	case "deepseek":
		return Quirks{Reasoning: "reasoning_content", Schema: "json_object"}
	case "moonshot", "kimi":
		return Quirks{Reasoning: "reasoning_content"}
	case "ollama":
		return Quirks{NoToolChoice: true}
	}
	return Quirks{}
}

// check reports a word that is none of its set.
func (q *Quirks) check() error {
	for _, c := range []struct {
		name, value string
		known       []string
	}{
		{"max_tokens", q.MaxTokens, []string{"", "max_tokens", "max_completion_tokens"}},
		{"reasoning", q.Reasoning, []string{"", "reasoning_content", "reasoning"}},
		{"schema", q.Schema, []string{"", "json_schema", "json_object", "none"}},
	} {
		ok := false
		for _, k := range c.known {
			ok = ok || k == c.value
		}
		if !ok {
			return fmt.Errorf("quirk %s is %q: use one of %s", c.name, c.value, strings.Join(c.known[1:], ", "))
		}
	}
	return nil
}

// encoderOptions is the form of [Encoder.Options].
type encoderOptions struct {
	Provider string `json:"provider"`
	Quirks   Quirks `json:"quirks,omitzero"`
}

// EncoderOf makes the encoder whose [Encoder.Options] these are, as a journal
// keeps them.
func EncoderOf(options jsontext.Value) (*Encoder, error) {
	var o encoderOptions
	if err := json.Unmarshal(options, &o); err != nil {
		return nil, fmt.Errorf("read the options of an %s encoder: %w", version, err)
	}
	return NewEncoder(o.Provider, o.Quirks)
}

// Options returns the encoder's settings; see [model.Configured].
func (e *Encoder) Options() jsontext.Value {
	b, err := json.Marshal(encoderOptions{Provider: e.provider, Quirks: e.quirks}, json.Deterministic(true))
	if err != nil {
		panic(err) // strings and booleans always marshal
	}
	return b
}
