package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// Message appends m as one or several items. A fragment depends on m and on what
// kind of message prev is, so whoever changes prev encodes m again.
//
// A system message in mid-conversation is treated as [Encoder.Message] treats it:
// sent as such with [Quirks.SystemAnywhere], else added under a label to the end
// of the result or user message before, or where there is none, or it holds
// images, sent as a user message. For that an item whose content is text is left
// open, inside its string: the fragment after it, or Close, closes it.
func (e *ResponsesEncoder) Message(dst []byte, prev, m *message.Message) []byte {
	if m.Role == message.System && !e.quirks.SystemAnywhere && prev != nil && e.openText(prev) {
		return texts(append(dst, noticeAfter...), m)
	}
	if prev != nil {
		if e.openText(prev) {
			dst = append(dst, `"}`...)
		}
		dst = append(dst, ',')
	}
	name := `"content":`
	switch m.Role {
	case message.Assistant:
		return e.items(dst, m)
	case message.Tool:
		dst = wire.Quote(append(dst, `{"type":"function_call_output","call_id":`...), m.ToolCallID)
		dst, name = append(dst, ','), `"output":`
	case message.System:
		if e.quirks.SystemAnywhere {
			dst = texts(append(dst, `{"type":"message","role":"system","content":"`...), m)
			return append(dst, `"}`...)
		}
		dst = append(dst, `{"type":"message","role":"user","content":"`...)
		return texts(wire.Inner(dst, noticeLabel), m)
	default:
		dst = append(dst, `{"type":"message","role":"user",`...)
	}
	dst = append(dst, name...)
	if e.openText(m) {
		return texts(append(dst, '"'), m)
	}
	return append(inputs(dst, m), '}')
}

// Join appends m to the text of prev; see [model.Joiner].
func (e *ResponsesEncoder) Join(dst []byte, prev, m *message.Message) ([]byte, bool) {
	if !e.openText(prev) || !e.openText(m) {
		return dst, false
	}
	return texts(append(dst, `\n`...), m), true
}

// openText reports whether m's fragment ends inside a string.
func (e *ResponsesEncoder) openText(m *message.Message) bool { return e.open(m, hasInput(m)) }

// inputs appends the parts of a message that holds images or files.
func inputs(dst []byte, m *message.Message) []byte {
	sep := byte('[')
	for i := range m.Parts {
		p := &m.Parts[i]
		s, isText := asText(m, p)
		switch {
		case p.Kind == message.Image && p.URL != "":
			dst = wire.Quote(append(append(dst, sep), `{"type":"input_image","detail":"auto","image_url":`...), p.URL)
		case p.Kind == message.File && isMedia(p):
			dst = wire.Quote(append(append(dst, sep), `{"type":"input_file","filename":`...), p.Name)
			dst = wire.Quote(append(dst, `,"file_data":`...), p.URL)
		case p.Kind == message.File && p.URL != "":
			dst = wire.Quote(append(append(dst, sep), `{"type":"input_file","file_url":`...), p.URL)
		case isText:
			dst = wire.Quote(append(append(dst, sep), `{"type":"input_text","text":`...), s)
		default:
			continue
		}
		dst, sep = append(dst, '}'), ','
	}
	return append(dst, ']')
}

// hasInput reports whether m holds more than text. It is the same before and
// after [model.Resolve], since a message before may be known either way.
func hasInput(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; (p.Kind == message.Image || p.Kind == message.File) && (p.URL != "" || p.Ref != nil) {
			return true
		}
	}
	return false
}

// items appends what the model said, one item after the other in its order.
func (e *ResponsesEncoder) items(dst []byte, m *message.Message) []byte {
	start := len(dst)
	last := -1 // the last part that is more than reasoning
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.ToolCall || e.says(m, p) {
			last = i
		}
	}
	// Ids name what was made together; they stay away where a part of that does.
	whole := true
	for i := range m.Parts[:last+1] {
		if p := &m.Parts[i]; p.Kind == message.Reasoning && p.Provider == e.opaque && !isItem(p.Opaque) {
			whole = false
		}
	}
	for i := range m.Parts[:last+1] { // reasoning that leads to nothing is refused
		p := &m.Parts[i]
		mine := p.Opaque
		if p.Provider != e.opaque {
			mine = nil // it means nothing to this server
		}
		switch {
		case p.Kind == message.Reasoning:
			if isItem(mine) {
				dst = append(append(dst, ','), mine...)
			}
		case p.Kind == message.ToolCall:
			dst = append(dst, `,{"type":"function_call"`...)
			dst = splice(identity(dst, mine, whole), mine, "namespace")
			dst = wire.Quote(append(dst, `,"call_id":`...), p.ID)
			dst = wire.Quote(append(dst, `,"name":`...), p.Name)
			dst = append(arguments(append(dst, `,"arguments":`...), p.Args, e.quirks.RawArguments), '}')
		case e.says(m, p):
			s, _ := asText(m, p)
			dst = append(dst, `,{"type":"message","role":"assistant"`...)
			dst = splice(identity(dst, mine, whole), mine, "phase")
			dst = wire.Quote(append(dst, `,"content":[{"type":"output_text","text":`...), s)
			dst = append(dst, `}]}`...)
		}
	}
	if len(dst) == start {
		return append(dst, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}`...)
	}
	return append(dst[:start], dst[start+1:]...) // without the first comma
}

// identity appends the id and status that an item came with.
func identity(dst []byte, opaque jsontext.Value, whole bool) []byte {
	if !whole {
		return dst
	}
	return splice(splice(dst, opaque, "id"), opaque, "status")
}

// says reports whether a part is one that becomes a message item.
func (e *ResponsesEncoder) says(m *message.Message, p *message.Part) bool {
	s, ok := asText(m, p)
	return ok && (s != "" || p.Opaque != nil && p.Provider == e.opaque)
}

// isItem reports whether opaque data is a whole item that can go back. Reasoning
// without its content, encrypted or plain, is a mere reference to what the server
// did not keep.
func isItem(v jsontext.Value) bool {
	if v.Kind() != '{' || !v.IsValid() {
		return false
	}
	kind := wire.Member(v, "type")
	if string(kind) != `"`+itemReasoning+`"` {
		return kind.Kind() == '"'
	}
	content := wire.Member(v, "content")
	return wire.Member(v, "encrypted_content").Kind() == '"' || content.Kind() == '[' && len(content) > len(`[]`)
}
