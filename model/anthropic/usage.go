package anthropic

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// tokens collects what a reply says of its usage: first in message_start, then,
// cumulated, in message_delta. The last figure counts that says something:
// gateways repeat with 0 or null what they do not count.
type tokens struct {
	input, read, written, output, reasoning message.Count
	invalid                                 bool // a figure was no number of tokens
}

// add reads one usage object; null and other kinds say nothing. Of a message
// that only begins, the output is not what it will be.
func (t *tokens) add(d *jsontext.Decoder, begins bool) error {
	var got tokens
	err := wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"input_tokens"`:
			return wire.ReadTokens(d, &got.input, &got.invalid)
		case `"cache_read_input_tokens"`:
			return wire.ReadTokens(d, &got.read, &got.invalid)
		case `"cache_creation_input_tokens"`:
			return wire.ReadTokens(d, &got.written, &got.invalid)
		case `"output_tokens"`:
			return wire.ReadTokens(d, &got.output, &got.invalid)
		case `"output_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				if string(name) == `"thinking_tokens"` {
					return wire.ReadTokens(d, &got.reasoning, &got.invalid)
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue() // server tools, tiers: Rein has its own prices
	})
	if err != nil {
		return err
	}
	t.invalid = t.invalid || got.invalid
	if got.input.Or(0) == 0 && got.read.Or(0) == 0 && got.written.Or(0) == 0 && got.output.Or(0) == 0 {
		return nil // a server that has not counted: no request has 0 tokens
	}
	if begins {
		got.output, got.reasoning = 0, 0
	}
	for _, c := range []struct{ to, from *message.Count }{
		{&t.input, &got.input}, {&t.read, &got.read}, {&t.written, &got.written},
		{&t.output, &got.output}, {&t.reasoning, &got.reasoning},
	} {
		if c.from.Or(0) > 0 || *c.to == 0 && *c.from != 0 {
			*c.to = *c.from
		}
	}
	return nil
}

// usage returns the figures in Rein's meaning: the wire's input_tokens are only
// those that were neither read from the cache nor written to it.
func (t *tokens) usage() message.Usage {
	u := message.Usage{Cached: t.read, CacheWrite: t.written, Output: t.output, Reasoning: t.reasoning, Invalid: t.invalid}
	if n, ok := t.input.Get(); ok {
		u.Input = message.Known(n + t.read.Or(0) + t.written.Or(0))
	}
	return u
}
