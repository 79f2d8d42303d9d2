package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// responsesTokens is what a response says of its usage. While it goes on its
// usage is null.
type responsesTokens struct {
	input, output, total, cached, written, reasoning message.Count
	invalid                                          bool // a figure was no number of tokens
}

// read reads one usage object; null and other kinds say nothing.
func (t *responsesTokens) read(d *jsontext.Decoder) error {
	var got responsesTokens
	err := wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"input_tokens"`:
			return wire.ReadTokens(d, &got.input, &got.invalid)
		case `"output_tokens"`:
			return wire.ReadTokens(d, &got.output, &got.invalid)
		case `"total_tokens"`:
			return wire.ReadTokens(d, &got.total, &got.invalid)
		case `"input_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				switch string(name) {
				case `"cached_tokens"`:
					return wire.ReadTokens(d, &got.cached, &got.invalid)
				case `"cache_write_tokens"`:
					return wire.ReadTokens(d, &got.written, &got.invalid)
				}
				return d.SkipValue()
			})
		case `"output_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				if string(name) == `"reasoning_tokens"` {
					return wire.ReadTokens(d, &got.reasoning, &got.invalid)
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue()
	})
	if err == nil && (got.input.Or(0) != 0 || got.output.Or(0) != 0) { // else the server has not counted
		*t = got
	} else if err == nil && got.invalid {
		t.invalid = true
	}
	return err
}

// usage returns the figures, which mean on this wire what they mean to Rein.
func (t *responsesTokens) usage() message.Usage {
	return wire.Inclusive(message.Usage{Input: t.input, Cached: t.cached, CacheWrite: t.written, Output: t.output, Reasoning: t.reasoning, Invalid: t.invalid}, t.total)
}
