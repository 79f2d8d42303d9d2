package gemini

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// tokens collects what a reply says of its usage. A stream repeats it in every
// chunk as a running total; of each figure the last counts. The wire leaves a
// figure of 0 out.
type tokens struct {
	prompt, cached, candidates, thoughts, tools, total message.Count
	invalid                                            bool // a figure was no number of tokens
}

// read reads one usageMetadata; null and other kinds say nothing.
func (t *tokens) read(d *jsontext.Decoder) error {
	return wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"promptTokenCount"`:
			return wire.ReadTokens(d, &t.prompt, &t.invalid)
		case `"cachedContentTokenCount"`:
			return wire.ReadTokens(d, &t.cached, &t.invalid)
		case `"candidatesTokenCount"`:
			return wire.ReadTokens(d, &t.candidates, &t.invalid)
		case `"thoughtsTokenCount"`:
			return wire.ReadTokens(d, &t.thoughts, &t.invalid)
		case `"toolUsePromptTokenCount"`:
			return wire.ReadTokens(d, &t.tools, &t.invalid)
		case `"totalTokenCount"`:
			return wire.ReadTokens(d, &t.total, &t.invalid)
		}
		return d.SkipValue() // details by modality
	})
}

// usage returns the figures in Rein's meaning. The wire's prompt includes what
// was cached; its candidates do not include the thoughts.
func (t *tokens) usage() message.Usage {
	prompt, counted := t.prompt.Get()
	if !counted || prompt == 0 {
		return message.Usage{Invalid: t.invalid} // a server that has not counted
	}
	u := message.Usage{Input: t.prompt, Cached: t.cached, Reasoning: t.thoughts, Invalid: t.invalid}
	if t.tools != 0 { // results of the server's own tools are input as well
		u.Input = t.prompt.Add(t.tools)
	}
	total, whole := t.total.Get()
	input, _ := u.Input.Get()
	switch {
	case t.candidates != 0:
		u.Output = t.candidates.Add(message.Known(t.thoughts.Or(0)))
	case whole && total >= input: // nothing was written, or only thoughts
		u.Output = message.Known(total - input)
	case t.thoughts != 0:
		u.Output = t.thoughts
	}
	return wire.Reconciled(u, t.total)
}
