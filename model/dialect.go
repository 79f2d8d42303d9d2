package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/message"
)

// Joiner is what an [Encoder] also implements if it can go on with a message. On
// the other wires what one side says in several messages is one message anyhow.
type Joiner interface {
	// Join appends m, a user message, to the text of prev, a line below it, so that
	// both are one message of the user's. prev is a user message, or a system
	// message in mid-conversation; ok is false, and nothing appended, where it is
	// closed or m holds more than text.
	Join(dst []byte, prev, m *message.Message) (out []byte, ok bool)
}

// InDialect returns an encoder for a model that has no tool calls of its own on
// e's wire: nothing that e gets to see has any. What the model called stands in
// the text of its messages, in the dialect of that id, and what came back is said
// by the user, labelled as a result. Results and what the user says after them
// become one message, since many chat templates want roles to alternate.
//
// [Params].Tools and Strict have no meaning on such a wire and are left out: how
// to call, and what, is said in the system text (package window). The dialect's
// own [Params].Stop are added.
//
// The error says that nobody can be asked for that dialect.
func InDialect(e Encoder, id string) (Encoder, error) {
	w, ok := dialect.WriterFor(id)
	if !ok {
		return nil, fmt.Errorf("no model can be asked to call in the dialect %q: use one of %s", id, strings.Join(dialect.Promptable(), ", "))
	}
	d := &inDialect{Encoder: e, writer: w}
	if c, ok := e.(Configured); ok {
		return &inDialectConfigured{d, c}, nil
	}
	return d, nil
}

// WireVersion returns the version of the encoder within: what [InDialect] was
// given for a version that it names, else version itself.
func WireVersion(version string) string {
	wire, _, _ := strings.Cut(version, " ")
	return wire
}

type inDialect struct {
	Encoder
	writer *dialect.Writer
}

// inDialectConfigured is one whose encoder has settings.
type inDialectConfigured struct {
	*inDialect
	configured Configured
}

func (e *inDialectConfigured) Options() jsontext.Value { return e.configured.Options() }

// Version names both, such as "openai-chat/2 hermes_tool_call/1".
func (e *inDialect) Version() string { return e.Encoder.Version() + " " + e.writer.Version() }

// params are p without what the wire does not get to see.
func (e *inDialect) params(p *Params) *Params {
	q := *p
	q.Tools, q.NoTools, q.Strict = nil, false, false
	if stop := e.writer.Stop(); len(stop) > 0 {
		q.Stop = slices.Concat(p.Stop, stop)
	}
	return &q
}

func (e *inDialect) Head(dst []byte, p *Params, system []message.Message) []byte {
	return e.Encoder.Head(dst, e.params(p), system)
}

func (e *inDialect) Message(dst []byte, prev, m *message.Message) []byte {
	before, m := outline(prev), e.plain(prev, m)
	if saidToModel(before) && m.Role == message.User {
		if j, ok := e.Encoder.(Joiner); ok {
			if out, ok := j.Join(dst, before, m); ok {
				return out
			}
		}
	}
	return e.Encoder.Message(dst, before, m)
}

func (e *inDialect) Close(dst []byte, p *Params, last *message.Message) []byte {
	return e.Encoder.Close(dst, e.params(p), outline(last))
}

// Tail ends a body as [End] does.
func (e *inDialect) Tail(dst []byte, p *Params, last, tail *message.Message) []byte {
	return End(dst, e.Encoder, e.params(p), outline(last), e.plain(last, tail))
}

// saidToModel reports whether a message is one that the model did not write.
func saidToModel(m *message.Message) bool { return m != nil && m.Role != message.Assistant }

// plain returns m, which stands after prev, without calls and results.
func (e *inDialect) plain(prev, m *message.Message) *message.Message {
	switch {
	case m.Role == message.Tool:
		return e.result(prev, m)
	case m.Role == message.Assistant && m.Calls() > 0:
		return e.calls(m)
	}
	return m
}

// result returns a result as the user says it, a line apart from what was said
// before; images and files stand after it.
func (e *inDialect) result(prev, m *message.Message) *message.Message {
	var text []byte
	out := &message.Message{Role: message.User, Parts: make([]message.Part, 1, len(m.Parts)+1)}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != message.Text {
			out.Parts = append(out.Parts, *p)
		} else if p.Text != "" {
			if text != nil {
				text = append(text, '\n')
			}
			text = append(text, p.Text...)
		}
	}
	var said []byte
	if saidToModel(prev) {
		said = append(said, '\n')
	}
	out.Parts[0] = message.Part{Kind: message.Text, Text: string(e.writer.Result(said, m.ToolName, string(text), m.Failed))}
	return out
}

// calls returns what the model said with its calls in the text. Texts and calls
// that follow each other become one text, and one that reasoning parts from another
// begins with a line break, since some wires put nothing between two; reasoning
// stays where it was.
func (e *inDialect) calls(m *message.Message) *message.Message {
	out := &message.Message{Role: message.Assistant, Parts: make([]message.Part, 0, len(m.Parts))}
	var text []byte
	for i := 0; i < len(m.Parts); {
		end := i
		for end < len(m.Parts) && isSaid(&m.Parts[end]) {
			end++
		}
		if end == i {
			out.Parts = append(out.Parts, m.Parts[i])
			i++
			continue
		}
		from := len(text)
		if text = e.said(text, m.Parts[i:end]); len(text) > from {
			out.Parts = append(out.Parts, message.Part{Kind: message.Text, Text: string(text[from:])})
		}
		i = end
	}
	return out
}

func isSaid(p *message.Part) bool { return p.Kind == message.Text || p.Kind == message.ToolCall }

// said appends texts and calls to what was said before, each below the other.
func (e *inDialect) said(text []byte, parts []message.Part) []byte {
	for i := 0; i < len(parts); {
		if parts[i].Kind == message.Text {
			if s := strings.TrimRight(parts[i].Text, "\n"); s != "" {
				text = append(below(text), s...)
			}
			i++
			continue
		}
		var calls []dialect.Call
		for ; i < len(parts) && parts[i].Kind == message.ToolCall; i++ {
			calls = append(calls, dialect.Call{Name: parts[i].Name, Args: parts[i].Args})
		}
		text = e.writer.Calls(below(text), calls)
	}
	return text
}

// below begins another line of a text that has one.
func below(text []byte) []byte {
	if len(text) > 0 {
		text = append(text, '\n')
	}
	return text
}

// outline returns what [inDialect.plain] makes of a message as far as encoders
// look at a message that they have written: who says it, in parts of which kinds.
// Nil stays nil.
func outline(m *message.Message) *message.Message {
	if m == nil || m.Role != message.Tool && (m.Role != message.Assistant || m.Calls() == 0) {
		return m
	}
	out := &message.Message{Role: m.Role, Parts: make([]message.Part, 0, len(m.Parts)+1)}
	said := message.Part{Kind: message.Text, Text: "."}
	if m.Role == message.Tool {
		out.Role, out.Parts = message.User, append(out.Parts, said)
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == message.ToolCall:
			out.Parts = append(out.Parts, said)
		case p.Kind != message.Text:
			out.Parts = append(out.Parts, *p)
		}
	}
	return out
}
