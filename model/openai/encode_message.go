package openai

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// noticeLabel opens a system message that stands in mid-conversation where the
// server takes none there.
const noticeLabel = wire.NoticeLabel

// noticeAfter is the label of one that is added to a text, inside a JSON string.
const noticeAfter = `\n\n` + message.NoticeLabel + `\n`

// Message appends m. A fragment depends on m and on what kind of message prev
// is, so whoever changes prev encodes m again.
//
// A system message in mid-conversation (a notice, the state block, a summary)
// is sent as such with [Quirks.SystemAnywhere]. Otherwise its text, under a
// label, is added to the end of the tool result or user message before; only
// where there is none, or it holds images, it becomes a user message. To add is
// better than a user message of its own: chat templates that want roles to
// alternate refuse one after a tool result, and those of reasoning models take
// it for a new turn and drop the reasoning of the steps before.
//
// For that a message whose content is text is left open, inside its string: the
// fragment after it, or Close, closes it.
func (e *Encoder) Message(dst []byte, prev, m *message.Message) []byte {
	if m.Role == message.System && !e.quirks.SystemAnywhere && prev != nil && e.openText(prev) {
		return texts(append(dst, noticeAfter...), m)
	}
	if prev != nil {
		if e.openText(prev) {
			dst = append(dst, `"}`...)
		}
		dst = append(dst, ',')
	}
	switch m.Role {
	case message.Assistant:
		return e.assistant(dst, m)
	case message.Tool:
		dst = wire.Quote(append(dst, `{"role":"tool","tool_call_id":`...), m.ToolCallID)
		dst = append(dst, ',')
	case message.System:
		if e.quirks.SystemAnywhere {
			dst = texts(append(dst, `{"role":"system","content":"`...), m)
			return append(dst, `"}`...)
		}
		dst = append(dst, `{"role":"user","content":"`...)
		return texts(wire.Inner(dst, noticeLabel), m)
	default:
		dst = append(dst, `{"role":"user",`...)
	}
	if e.openText(m) {
		return texts(append(dst, `"content":"`...), m)
	}
	return append(content(append(dst, `"content":`...), m), '}')
}

// Join appends m to the text of prev; see [model.Joiner].
func (e *Encoder) Join(dst []byte, prev, m *message.Message) ([]byte, bool) {
	if !e.openText(prev) || !e.openText(m) {
		return dst, false
	}
	return texts(append(dst, `\n`...), m), true
}

// openText reports whether m's fragment ends inside the string of its content.
func (e *Encoder) openText(m *message.Message) bool { return e.open(m, hasMedia(m)) }

// assistant appends what the model said, in whole.
func (e *Encoder) assistant(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"role":"assistant"`...)
	var reasoning strings.Builder
	var opaque jsontext.Value
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == message.Reasoning {
			reasoning.WriteString(p.Text)
			if p.Provider == e.opaque && opaque == nil {
				opaque = p.Opaque
			}
		}
	}
	if e.quirks.Reasoning != "" && reasoning.Len() > 0 {
		dst = append(append(append(dst, `,"`...), e.quirks.Reasoning...), `":`...)
		dst = wire.Quote(dst, reasoning.String())
	}
	dst = splice(dst, opaque, reasoningDetails)
	// An empty string where there is no text: some templates print a null.
	dst = append(texts(append(dst, `,"content":"`...), m), '"')
	first := true
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != message.ToolCall {
			continue
		}
		if first {
			dst = append(dst, `,"tool_calls":[`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = wire.Quote(append(dst, `{"id":`...), p.ID)
		dst = wire.Quote(append(dst, `,"type":"function","function":{"name":`...), p.Name)
		dst = append(arguments(append(dst, `,"arguments":`...), p.Args, e.quirks.RawArguments), '}')
		if p.Provider == e.opaque {
			dst = splice(dst, p.Opaque, extraContent)
		}
		dst = append(dst, '}')
	}
	if !first {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// arguments appends a call's arguments, which are a string on these wires; raw
// is [Quirks.RawArguments].
func arguments(dst []byte, args string, raw bool) []byte {
	if strings.TrimSpace(args) == "" {
		return append(dst, `"{}"`...) // how a call without arguments is written
	}
	if v := jsontext.Value(args); !raw && (v.Kind() != '{' || !v.IsValid(jsontext.AllowDuplicateNames(true))) {
		args = string(append(wire.Quote([]byte(`{"invalid_arguments":`), args), '}'))
	}
	return wire.Quote(dst, args)
}

// The members that hold data of the server's own, which go back unchanged:
// OpenRouter's signed or encrypted reasoning on a message, and Gemini's thought
// signature on a call.
const (
	reasoningDetails = "reasoning_details"
	extraContent     = "extra_content"
)

// splice appends the member name of the object opaque, as it is.
func splice(dst []byte, opaque jsontext.Value, name string) []byte {
	if v := wire.Member(opaque, name); v != nil {
		dst = append(wire.Quote(append(dst, ','), name), ':')
		dst = append(dst, v...)
	}
	return dst
}

// texts appends the text of m as it stands inside a JSON string: its text parts
// and a line for each image or file that cannot be sent, one below the other.
func texts(dst []byte, m *message.Message) []byte {
	return wire.Texts(dst, m, func(p *message.Part) (string, bool) { return asText(m, p) })
}

// content appends the parts of a message that holds images or files.
func content(dst []byte, m *message.Message) []byte {
	sep := byte('[')
	for i := range m.Parts {
		p := &m.Parts[i]
		s, isText := asText(m, p)
		switch {
		case isMedia(p) && p.Kind == message.Image:
			dst = wire.Quote(append(append(dst, sep), `{"type":"image_url","image_url":{"url":`...), p.URL)
			dst = append(dst, `}}`...)
		case isMedia(p):
			dst = wire.Quote(append(append(dst, sep), `{"type":"file","file":{"filename":`...), p.Name)
			dst = append(wire.Quote(append(dst, `,"file_data":`...), p.URL), `}}`...)
		case isText:
			dst = wire.Quote(append(append(dst, sep), `{"type":"text","text":`...), s)
			dst = append(dst, '}')
		default:
			continue
		}
		sep = ','
	}
	return append(dst, ']')
}

// isMedia reports whether a part can be sent as more than text: an image with a
// URL, or a file whose body is in its URL, as the wire takes no other.
func isMedia(p *message.Part) bool {
	return p.Kind == message.Image && p.URL != "" || p.Kind == message.File && strings.HasPrefix(p.URL, "data:")
}

// hasMedia reports whether m's content is a list of parts. It is the same before
// and after [model.Resolve], since a message before may be known either way.
func hasMedia(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; isMedia(p) || p.Ref != nil && (p.Kind == message.Image || p.Kind == message.File) {
			return true
		}
	}
	return false
}

// asText returns a part as text, if it is to be written as text in a message
// that is text throughout.
func asText(m *message.Message, p *message.Part) (string, bool) {
	switch p.Kind {
	case message.Text:
		return p.Text, true
	case message.Image, message.File:
		what := "[" + string(p.Kind)
		if p.Name != "" {
			what += " " + p.Name
		}
		switch {
		case isMedia(p):
			return what + " not shown: this server takes none here]", true
		case p.URL != "":
			return what + " at " + p.URL + "]", true
		}
		return what + " not available]", true
	}
	return "", false
}
