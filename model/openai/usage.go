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
}

// read reads one usage object; null and other kinds say nothing.
func (t *tokens) read(d *jsontext.Decoder) error {
	var got tokens
	err := wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"prompt_tokens"`:
			return wire.ReadCount(d, &got.input)
		case `"completion_tokens"`:
			return wire.ReadCount(d, &got.output)
		case `"total_tokens"`:
			return wire.ReadCount(d, &got.total)
		case `"prompt_cache_hit_tokens"`, `"cached_tokens"`: // DeepSeek; Moonshot
			return wire.ReadCount(d, &got.cached)
		case `"prompt_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				switch string(name) {
				case `"cached_tokens"`:
					return wire.ReadCount(d, &got.cached)
				case `"cache_write_tokens"`: // OpenRouter
					return wire.ReadCount(d, &got.written)
				}
				return d.SkipValue()
			})
		case `"completion_tokens_details"`:
			return wire.Members(d, func(name []byte) error {
				if string(name) == `"reasoning_tokens"` {
					return wire.ReadCount(d, &got.reasoning)
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue() // cost and the like: Rein has its own prices
	})
	if err != nil {
		return err
	}
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
// xAI and Gemini leave reasoning out of completion_tokens, but not out of the
// total.
func (t *tokens) usage() message.Usage {
	u := message.Usage{Input: t.input, Cached: t.cached, CacheWrite: t.written, Output: t.output, Reasoning: t.reasoning}
	total, ok1 := t.total.Get()
	input, ok2 := t.input.Get()
	output, ok3 := t.output.Get()
	if ok1 && ok2 && ok3 && total-input > output {
		u.Output = message.Known(total - input)
	}
	return wire.Inclusive(u)
}
