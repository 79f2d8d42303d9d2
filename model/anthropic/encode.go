package anthropic

import (
	"strconv"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// version names the encoder's output; any change of a byte needs another.
const version = "anthropic-messages/1"

// Encoder writes request bodies. It implements [model.Encoder], [model.Tailed]
// and [model.Configured], is pure and safe for concurrent use. Text is written
// as UTF-8, never \u-escaped but for control characters, which JSON wants
// escaped; bytes that are not UTF-8 become U+FFFD.
//
// The server caches a request up to a breakpoint, and finds that again from a
// breakpoint of a later request if it is at most 20 blocks further on. One
// stands on the last system block (without system text: on the last tool), one
// on the last block of what stays: since it moves from request to request, the
// end of a block is written by whatever comes after it. A step of more than some
// 10 calls is beyond the 20 blocks: only its system part is then found.
type Encoder struct {
	provider string
	quirks   Quirks
	opaque   string // the message.Part.Provider of this server's opaque data
	mark     string // a cache breakpoint, as a member
}

var (
	_ model.Encoder    = (*Encoder)(nil)
	_ model.Tailed     = (*Encoder)(nil)
	_ model.Configured = (*Encoder)(nil)
)

// NewEncoder returns the encoder for a server that is called provider, with a
// model that differs as quirks say. The error names the quirk that is none.
func NewEncoder(provider string, quirks Quirks) (*Encoder, error) {
	if err := quirks.check(); err != nil {
		return nil, err
	}
	e := &Encoder{provider: provider, quirks: quirks, opaque: opaqueName(provider)}
	switch {
	case quirks.NoCache:
	case quirks.CacheTTL == "1h":
		e.mark = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	default:
		e.mark = `,"cache_control":{"type":"ephemeral"}`
	}
	return e, nil
}

// opaqueName is the name under which a provider's opaque data travels: what one
// vendor signed means nothing to another server of the same wire.
func opaqueName(provider string) string {
	if provider == "anthropic" {
		return "anthropic"
	}
	return "anthropic:" + provider
}

// Version returns "anthropic-messages/1".
func (e *Encoder) Version() string { return version }

// Head appends everything before the conversation: settings, tools and the
// system messages, a block each. A seed is left out, as the wire has none, and so
// are temperature and top_p while the model thinks, and top_p beside a
// temperature, since these are refused. A schema of an answer that the server
// would refuse is left out, too.
func (e *Encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	start := len(dst)
	if p.Model != "" {
		dst = wire.Quote(append(dst, `,"model":`...), p.Model)
	}
	most := e.maxTokens(p)
	dst = strconv.AppendInt(append(dst, `,"max_tokens":`...), most, 10)
	dst = strconv.AppendBool(append(dst, `,"stream":`...), p.Stream)
	dst, thinks := e.thinking(dst, p.Sampling.Reasoning, most)
	dst = e.outputConfig(dst, p)
	if !thinks && !e.quirks.NoSampling {
		at := len(dst)
		dst = wire.Number(dst, `,"temperature":`, p.Sampling.Temperature)
		if len(dst) == at {
			dst = wire.Number(dst, `,"top_p":`, p.Sampling.TopP)
		}
	}
	dst = wire.Strings(dst, `,"stop_sequences":`, p.Stop)
	dst = e.tools(dst, p, !anyText(system))
	dst = e.system(dst, system)
	dst = append(dst, `,"messages":[`...)
	dst[start] = '{' // in place of the first comma
	return dst
}

// maxTokens returns the bound of the reply, which the wire always wants.
func (e *Encoder) maxTokens(p *model.Params) int64 {
	n, most := p.MaxOutput, e.quirks.MaxTokens
	switch {
	case n > 0 && (most == 0 || n <= most):
		return n
	case most > 0:
		return most
	}
	return DefaultMaxTokens
}

// minBudget is the smallest thinking budget that the server takes, in tokens.
const minBudget = 1024

// thinking appends how the model is to think, and reports whether it does so by
// this request. The budget of an effort is a share of the reply, 20, 50 or 80%,
// at most 32,000 tokens and so that as much as the smallest budget is left for
// the answer; a reply that is too short for both has none.
func (e *Encoder) thinking(dst []byte, effort string, most int64) ([]byte, bool) {
	switch {
	case e.quirks.Thinking == "none", effort == "" && !e.quirks.BoundThinking:
		return dst, false
	case e.quirks.Thinking == "adaptive":
		dst = append(dst, `,"thinking":{"type":"adaptive","display":"summarized"`...)
		if e.quirks.BoundThinking {
			dst = append(dst, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`...)
		}
		return append(dst, '}'), true
	}
	const largest = 32_000
	var budget int64
	switch effort {
	case "low":
		budget = most / 5
	case "high":
		budget = most - most/5
	default:
		budget = most / 2
	}
	budget = min(max(budget, minBudget), largest, most-minBudget)
	if budget < minBudget {
		return dst, false
	}
	dst = append(dst, `,"thinking":{"type":"enabled","budget_tokens":`...)
	return append(strconv.AppendInt(dst, budget, 10), '}'), true
}

// outputConfig appends the effort of adaptive thinking and the form of the answer.
func (e *Encoder) outputConfig(dst []byte, p *model.Params) []byte {
	effort := e.quirks.Thinking == "adaptive" && p.Sampling.Reasoning != ""
	format := len(p.Schema) > 0 && e.quirks.Schema != "none" && formattable(p.Schema)
	if !effort && !format {
		return dst
	}
	dst = append(dst, `,"output_config":{`...)
	if effort {
		dst = wire.Quote(append(dst, `"effort":`...), p.Sampling.Reasoning)
	}
	if effort && format {
		dst = append(dst, ',')
	}
	if format {
		dst = append(wire.Value(append(dst, `"format":{"type":"json_schema","schema":`...), p.Schema), '}')
	}
	return append(dst, '}')
}

// tools appends the tools and whether the model may use them. marked puts a
// breakpoint on the last.
func (e *Encoder) tools(dst []byte, p *model.Params, marked bool) []byte {
	if len(p.Tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	strict := strictTools{off: !p.Strict || e.quirks.Schema == "none"}
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		t := p.Tools[i]
		var held bool
		t.Schema, held = strict.take(t.Schema)
		dst = toolSpec(dst, &t, held)
		if marked && i == len(p.Tools)-1 {
			dst = append(dst, e.mark...)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if p.NoTools { // the definitions stay: the history may hold calls of them
		dst = append(dst, `,"tool_choice":{"type":"none"}`...)
	}
	return dst
}

// toolSpec appends a tool but for its last brace.
func toolSpec(dst []byte, t *event.ToolSpec, strict bool) []byte {
	dst = wire.Quote(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = wire.Quote(append(dst, `,"description":`...), t.Description)
	}
	if strict {
		dst = append(dst, `,"strict":true`...)
	}
	dst = append(dst, `,"input_schema":`...)
	if len(t.Schema) == 0 {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return wire.Value(dst, t.Schema)
}

// system appends the leading system messages, with a breakpoint on the last.
func (e *Encoder) system(dst []byte, system []message.Message) []byte {
	first := true
	for i := range system {
		if !hasText(&system[i]) {
			continue
		}
		if first {
			dst = append(dst, `,"system":[`...)
		} else {
			dst = append(dst, `},`...)
		}
		first = false
		dst = append(texts(append(dst, `{"type":"text","text":"`...), &system[i]), '"')
	}
	if first {
		return dst
	}
	return append(append(dst, e.mark...), `}]`...)
}

// anyText reports whether one of the messages has a text that can be sent.
func anyText(msgs []message.Message) bool {
	for i := range msgs {
		if hasText(&msgs[i]) {
			return true
		}
	}
	return false
}

// Close appends everything after the last message, with a breakpoint on its last
// block. The wire wants the user to speak last, so a body without a conversation
// gets a user message, and so does one that ends with what the model said:
// servers take that for the beginning of the next reply, or refuse it. Only where
// it ends within the server's own work (stop_reason pause_turn) is it left so, as
// the server goes on from there.
func (e *Encoder) Close(dst []byte, _ *model.Params, last *message.Message) []byte {
	return e.finish(dst, last, true)
}

// Tail appends tail and the end of the body, with the breakpoint on the last
// block before it; see [model.Tailed].
func (e *Encoder) Tail(dst []byte, _ *model.Params, last, tail *message.Message) []byte {
	return e.finish(e.next(dst, last, tail, last != nil), tail, false)
}

// finish ends the body after last, whose last block is open.
func (e *Encoder) finish(dst []byte, last *message.Message, marked bool) []byte {
	if last == nil {
		return append(dst, `{"role":"user","content":[{"type":"text","text":"`+nothing+`"}]}]}`...)
	}
	if marked {
		dst = e.marked(dst, last)
	}
	if last.Role == message.Assistant && !e.endsOpaque(last) {
		dst = append(dst, `}]},{"role":"user","content":[{"type":"text","text":"`+goOn+`"`...)
	}
	return append(dst, `}]}]}`...)
}

// marked appends a breakpoint to m's last block, if it can have one.
func (e *Encoder) marked(dst []byte, m *message.Message) []byte {
	if m.Role == message.Assistant && e.endsOpaque(m) {
		return dst // not every block of the server's own takes one
	}
	return append(dst, e.mark...)
}
