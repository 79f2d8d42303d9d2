package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// version names the encoder's output; any change of a byte needs another.
const version = "openai-chat/2"

// Encoder writes request bodies. It implements [model.Encoder], [model.Joiner] and
// [model.Configured], is pure and safe for concurrent use. Text is written as
// UTF-8, never \u-escaped but for control characters, which JSON wants escaped;
// bytes that are not UTF-8 become U+FFFD.
type Encoder struct{ settings }

var (
	_ model.Encoder    = (*Encoder)(nil)
	_ model.Joiner     = (*Encoder)(nil)
	_ model.Configured = (*Encoder)(nil)
)

// NewEncoder returns the encoder for a server that is called provider and
// differs as quirks say. The error names the quirk that is none.
func NewEncoder(provider string, quirks Quirks) (*Encoder, error) {
	s, err := newSettings(provider, quirks, "openai")
	if err != nil {
		return nil, err
	}
	return &Encoder{s}, nil
}

// EncoderOf makes the encoder whose Options these are, as a journal keeps them.
func EncoderOf(options jsontext.Value) (*Encoder, error) {
	var o encoderOptions
	if err := wire.ReadOptions(options, version, &o); err != nil {
		return nil, err
	}
	return NewEncoder(o.Provider, o.Quirks)
}

// Version returns "openai-chat/2".
func (e *Encoder) Version() string { return version }

// Head appends everything before the conversation: settings, tools, and the
// system messages joined to one, since many chat templates take only one. Like
// every member before "messages" they are the same bytes for equal arguments. A
// schema that is not JSON is written as {}, which allows anything.
func (e *Encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	start := len(dst)
	if p.Model != "" {
		dst = wire.Quote(append(dst, `,"model":`...), p.Model)
	}
	if p.Stream {
		dst = append(dst, `,"stream":true`...)
		if !e.quirks.NoStreamOptions {
			dst = append(dst, `,"stream_options":{"include_usage":true}`...)
		}
	} else {
		dst = append(dst, `,"stream":false`...)
	}
	dst = e.tools(dst, p)
	dst = e.responseFormat(dst, p)
	if p.MaxOutput > 0 {
		name := e.quirks.MaxTokens
		if name == "" {
			name = "max_tokens"
		}
		dst = wire.Integer(append(append(append(dst, `,"`...), name...), `":`...), p.MaxOutput)
	}
	dst = wire.Number(dst, `,"temperature":`, p.Sampling.Temperature)
	dst = wire.Number(dst, `,"top_p":`, p.Sampling.TopP)
	dst = wire.Number(dst, `,"seed":`, p.Sampling.Seed)
	if p.Sampling.Reasoning != "" {
		dst = wire.Quote(append(dst, `,"reasoning_effort":`...), p.Sampling.Reasoning)
	}
	dst = wire.Strings(dst, `,"stop":`, p.Stop)
	dst = append(dst, `,"messages":[`...)
	dst[start] = '{' // in place of the first comma
	if len(system) > 0 {
		dst = append(dst, `{"role":"system","content":"`...)
		for i := range system {
			if i > 0 {
				dst = append(dst, `\n\n`...)
			}
			dst = texts(dst, &system[i])
		}
		dst = append(dst, `"},`...)
	}
	return dst
}

// tools appends the tools and what the model may do with them.
func (e *Encoder) tools(dst []byte, p *model.Params) []byte {
	if len(p.Tools) == 0 || p.NoTools && e.quirks.NoToolChoice {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = toolSpec(dst, &p.Tools[i], p.Strict && !e.quirks.NoStrict)
	}
	dst = append(dst, ']')
	switch {
	case p.NoTools: // the definitions stay, so that the cached prefix does
		dst = append(dst, `,"tool_choice":"none"`...)
	case e.quirks.NoParallelCalls:
		dst = append(dst, `,"parallel_tool_calls":false`...)
	}
	return dst
}

// toolSpec appends a tool, as a strict one if it is to be and can be. On this wire
// a tool is not strict unless it says so.
func toolSpec(dst []byte, t *event.ToolSpec, strict bool) []byte {
	dst = wire.Quote(append(dst, `{"type":"function","function":{"name":`...), t.Name)
	if t.Description != "" {
		dst = wire.Quote(append(dst, `,"description":`...), t.Description)
	}
	dst = append(dst, `,"parameters":`...)
	if strict {
		if schema, ok := strictly(t.Schema); ok {
			return append(wire.Value(dst, schema), `,"strict":true}}`...)
		}
	}
	if len(t.Schema) == 0 {
		return append(dst, `{"type":"object","properties":{}}}}`...)
	}
	return append(wire.Value(dst, t.Schema), `}}`...)
}

// responseFormat asks for an answer of the form of p.Schema.
func (e *Encoder) responseFormat(dst []byte, p *model.Params) []byte {
	if len(p.Schema) == 0 {
		return dst
	}
	switch e.quirks.Schema {
	case "none":
		return dst
	case "json_object":
		return append(dst, `,"response_format":{"type":"json_object"}`...)
	}
	name := p.SchemaName
	if name == "" {
		name = "answer"
	}
	dst = wire.Quote(append(dst, `,"response_format":{"type":"json_schema","json_schema":{"name":`...), name)
	if strictable(p.Schema) {
		dst = append(dst, `,"strict":true`...)
	}
	dst = wire.Value(append(dst, `,"schema":`...), p.Schema)
	return append(dst, `}}`...)
}

// Close appends everything after the last message. A body without any
// conversation gets an empty user message: the wire wants one, and the system
// message's comma waits for it.
func (e *Encoder) Close(dst []byte, _ *model.Params, last *message.Message) []byte {
	switch {
	case last == nil:
		dst = append(dst, `{"role":"user","content":""}`...)
	case e.openText(last):
		dst = append(dst, `"}`...)
	}
	return append(dst, `]}`...)
}
