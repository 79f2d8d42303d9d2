package openai

import (
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/catalog"
)

// Quirks say how a server differs in what it takes; see [catalog.Quirks].
type Quirks = catalog.Quirks

// QuirksOf returns what the catalogue knows of a provider, or, where the host is
// OpenAI's or Azure's, of these. A provider called "openai" at another host is a
// compatible server of which nothing is known.
func QuirksOf(provider, host string) Quirks {
	return catalog.QuirksOf(provider, host, catalog.Chat)
}

// ResponsesQuirksOf is what [QuirksOf] is, for the Responses API. Quirks that
// concern the other wire only have no meaning here.
func ResponsesQuirksOf(provider, host string) Quirks {
	return catalog.QuirksOf(provider, host, catalog.Responses)
}

// checkQuirks reports a word that is none of its set.
func checkQuirks(q *Quirks) error {
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
