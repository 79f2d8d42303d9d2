package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// tokens collects what a reply says of its usage. Servers send it in the last
// chunk, in every chunk as a running total, or as null until the end; of each
// figure the last that was given counts.
type tokens struct {
	input, output, total, cached, written, reasoning message.Count
	invalid                                          bool // a figure was no number of tokens
}

// read reads one usage object; null and other kinds say nothing.
func (t *tokens) read(d *jsontext.Decoder) error {
	var got tokens
	err := wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"prompt_tokens"`:
			return wire.ReadTokens(d, &got.input, &got.invalid)
		case `"completion_tokens"`:
			return wire.ReadTokens(d, &got.output, &got.invalid)
		case `"total_tokens"`:
			return wire.ReadTokens(d, &got.total, &got.invalid)
		case `"prompt_cache_hit_tokens"`, `"cached_tokens"`: // DeepSeek; Moonshot
			return wire.ReadTokens(d, &got.cached, &got.invalid)
		case `"prompt_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				switch string(name) {
				case `"cached_tokens"`:
					return wire.ReadTokens(d, &got.cached, &got.invalid)
				case `"cache_write_tokens"`: // OpenRouter
					return wire.ReadTokens(d, &got.written, &got.invalid)
				}
				return d.SkipValue()
			})
		case `"completion_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				if string(name) == `"reasoning_tokens"` {
					return wire.ReadTokens(d, &got.reasoning, &got.invalid)
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue() // cost and the like: Rein has its own prices
	})
	if err != nil {
		return err
	}
	t.invalid = t.invalid || got.invalid
	if got.input.Or(0) == 0 && got.output.Or(0) == 0 {
		return nil // a server that has not counted: no request has 0 tokens
	}
	for _, c := range []struct{ to, from *message.Count }{
		{&t.input, &got.input}, {&t.output, &got.output}, {&t.total, &got.total},
		{&t.cached, &got.cached}, {&t.written, &got.written}, {&t.reasoning, &got.reasoning},
	} {
		if *c.from != 0 {
			*c.to = *c.from
		}
	}
	return nil
}

// usage returns the figures in Rein's meaning, where output includes reasoning.
// Servers are known that leave reasoning out of completion_tokens, but not out of the
// total: xAI, which says how much it was, and Gemini, which doesn't. So what the total
// has more than input and output is output where it is the reasoning to the token, or
// where none is given and the reply shows that the model reasoned. Any other total is
// kept beside the figures that it contradicts.
func (t *tokens) usage(reasoned bool) message.Usage {
	u := message.Usage{Input: t.input, Cached: t.cached, CacheWrite: t.written, Output: t.output, Reasoning: t.reasoning, Invalid: t.invalid}
	total, ok := t.total.Get()
	sum, known := t.input.Add(t.output).Get()
	reasoning, given := t.reasoning.Get()
	if kept := t.cached.Or(0) + t.written.Or(0); kept > t.input.Or(0) && total-sum == kept {
		known = false // it is what was cached that the total has more, see wire.Inclusive
	}
	if apart := total - sum; ok && known && apart > 0 && (given && apart == reasoning || !given && reasoned) {
		u.Output = message.Known(t.output.Or(0) + apart)
	}
	return wire.Inclusive(u, t.total)
}
