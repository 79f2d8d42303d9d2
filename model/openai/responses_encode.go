package openai

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/catalog"
	"rein.example/rein/model/internal/wire"
)

// responsesVersion names the encoder's output; any change of a byte needs
// another.
const responsesVersion = "openai-responses/1"

// ResponsesEncoder writes request bodies of the Responses API. It implements
// [model.Encoder], [model.Joiner] and [model.Configured], is pure and safe for concurrent use.
// Text is written as [Encoder] writes it.
type ResponsesEncoder struct{ settings }

var (
	_ model.Encoder    = (*ResponsesEncoder)(nil)
	_ model.Joiner     = (*ResponsesEncoder)(nil)
	_ model.Configured = (*ResponsesEncoder)(nil)
)

// NewResponsesEncoder returns the encoder for a server that is called provider
// and differs as quirks say. The error names the quirk that is none.
func NewResponsesEncoder(provider string, quirks Quirks) (*ResponsesEncoder, error) {
	s, err := newSettings(provider, quirks, "openai-responses")
	if err != nil {
		return nil, err
	}
	return &ResponsesEncoder{s}, nil
}

// ResponsesEncoderOf makes the encoder whose Options these are, as a journal keeps
// them.
func ResponsesEncoderOf(options jsontext.Value) (*ResponsesEncoder, error) {
	var o encoderOptions
	if err := wire.ReadOptions(options, responsesVersion, &o); err != nil {
		return nil, err
	}
	return NewResponsesEncoder(o.Provider, o.Quirks)
}

// Version returns "openai-responses/1".
func (e *ResponsesEncoder) Version() string { return responsesVersion }

// Head appends everything before the conversation: settings, the system messages
// as instructions, and tools. The wire has no seed and no texts that end a reply.
func (e *ResponsesEncoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	start := len(dst)
	if p.Model != "" {
		dst = wire.Quote(append(dst, `,"model":`...), p.Model)
	}
	if p.Stream {
		dst = append(dst, `,"stream":true`...)
	} else {
		dst = append(dst, `,"stream":false`...)
	}
	// The server keeps nothing, so what the model thought comes encrypted.
	dst = append(dst, `,"store":false`...)
	if !e.quirks.NoEncryptedReasoning && catalog.OpenAIReasons(p.Model) {
		dst = append(dst, `,"include":["reasoning.encrypted_content"]`...)
	}
	if len(system) > 0 {
		dst = append(dst, `,"instructions":"`...)
		for i := range system {
			if i > 0 {
				dst = append(dst, `\n\n`...)
			}
			dst = texts(dst, &system[i])
		}
		dst = append(dst, '"')
	}
	dst = e.tools(dst, p)
	dst = e.format(dst, p)
	if p.MaxOutput > 0 {
		dst = wire.Integer(append(dst, `,"max_output_tokens":`...), p.MaxOutput)
	}
	dst = wire.Number(dst, `,"temperature":`, p.Sampling.Temperature)
	dst = wire.Number(dst, `,"top_p":`, p.Sampling.TopP)
	if p.Sampling.Reasoning != "" {
		dst = wire.Quote(append(dst, `,"reasoning":{"effort":`...), p.Sampling.Reasoning)
		if e.quirks.Summaries {
			dst = append(dst, `,"summary":"auto"`...)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `,"input":[`...)
	dst[start] = '{' // in place of the first comma
	return dst
}

// tools appends the tools and what the model may do with them.
func (e *ResponsesEncoder) tools(dst []byte, p *model.Params) []byte {
	if len(p.Tools) == 0 || p.NoTools && e.quirks.NoToolChoice {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = flatTool(dst, &p.Tools[i], p.Strict)
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

// flatTool appends a tool. On this wire a tool is strict unless it says
// otherwise, and its schema would be changed for it, so each says which it is. One
// that can be strict as it is always is so; with strict also one that can be without
// words that it can do without.
func flatTool(dst []byte, t *event.ToolSpec, strict bool) []byte {
	dst = wire.Quote(append(dst, `{"type":"function","name":`...), t.Name)
	if t.Description != "" {
		dst = wire.Quote(append(dst, `,"description":`...), t.Description)
	}
	schema, ok := t.Schema, false
	if strict || len(schema) == 0 {
		if schema, ok = strictly(schema); !ok {
			schema = t.Schema
		}
	} else {
		ok = strictable(schema)
	}
	dst = wire.Value(append(dst, `,"parameters":`...), schema)
	return append(strconv.AppendBool(append(dst, `,"strict":`...), ok), '}')
}

// format asks for an answer of the form of p.Schema.
func (e *ResponsesEncoder) format(dst []byte, p *model.Params) []byte {
	if len(p.Schema) == 0 {
		return dst
	}
	switch e.quirks.Schema {
	case "none":
		return dst
	case "json_object":
		return append(dst, `,"text":{"format":{"type":"json_object"}}`...)
	}
	name := p.SchemaName
	if name == "" {
		name = "answer"
	}
	dst = wire.Quote(append(dst, `,"text":{"format":{"type":"json_schema","name":`...), name)
	if strictable(p.Schema) {
		dst = append(dst, `,"strict":true`...)
	}
	dst = wire.Value(append(dst, `,"schema":`...), p.Schema)
	return append(dst, `}}`...)
}

// Close appends everything after the last message. A body without any
// conversation gets an empty user message, as [Encoder.Close] does.
func (e *ResponsesEncoder) Close(dst []byte, _ *model.Params, last *message.Message) []byte {
	switch {
	case last == nil:
		dst = append(dst, `{"type":"message","role":"user","content":""}`...)
	case e.openText(last):
		dst = append(dst, `"}`...)
	}
	return append(dst, `]}`...)
}
