package gemini

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

const (
	// nothing stands where the wire wants a part and there is none.
	nothing = `{"text":"[empty]"}`
	// foreign is the signature of calls that another model made, or that were
	// found in text. The API's documentation gives it for this case.
	foreign = `"skip_thought_signature_validator"`
	// idMark begins the ids of calls that the API gave one. Only those have an
	// id on the wire: older models and some endpoints know none, and match
	// results by name and order.
	idMark = "gemini-"
)

// Message appends m. The wire has two roles, "user" and "model", and messages of
// one role that follow each other become one content with the parts of all: so
// the results of parallel calls stand together, as the wire wants them, and a
// notice or what the user says next stands at the end of the turn before.
//
// For that every content is left open, inside the list of its parts: the
// fragment after it, or Close, closes it. A fragment depends on m and on prev's
// role.
func (e *Encoder) Message(dst []byte, prev, m *message.Message) []byte {
	model := m.Role == message.Assistant
	switch {
	case prev != nil && (prev.Role == message.Assistant) == model:
		dst = append(dst, ',')
	case model:
		dst = append(closing(dst, prev), `{"role":"model","parts":[`...)
	default:
		dst = append(closing(dst, prev), `{"role":"user","parts":[`...)
	}
	start := len(dst)
	switch m.Role {
	case message.Assistant:
		dst = e.assistant(dst, m)
	case message.Tool:
		dst = result(dst, m)
	case message.System:
		dst = wire.Inner(append(dst, `,{"text":"`...), wire.NoticeLabel)
		dst = append(texts(dst, m), `"}`...)
	default:
		dst = content(dst, m)
	}
	if len(dst) == start {
		return append(dst, nothing...)
	}
	return append(dst[:start], dst[start+1:]...) // without the first comma
}

func closing(dst []byte, prev *message.Message) []byte {
	if prev == nil {
		return dst
	}
	return append(dst, `]},`...)
}

// assistant appends what the model said, part by part in its order, each after a
// comma.
func (e *Encoder) assistant(dst []byte, m *message.Message) []byte {
	called := false
	for i := range m.Parts {
		p := &m.Parts[i]
		signature := signatureOf(p)
		switch p.Kind {
		case message.Reasoning:
			// Thoughts of other models mean nothing here.
			if p.Provider == opaqueName && (p.Text != "" || signature != nil) {
				dst = wire.Quote(append(dst, `,{"text":`...), p.Text)
				dst = append(signed(append(dst, `,"thought":true`...), signature), '}')
			}
		case message.ToolCall:
			if !called && signature == nil && !e.quirks.Unsigned {
				signature = jsontext.Value(foreign)
			}
			called = true
			dst = append(dst, `,{"functionCall":{`...)
			if id := wireID(p.ID); id != "" {
				dst = append(wire.Quote(append(dst, `"id":`...), id), ',')
			}
			dst = wire.Quote(append(dst, `"name":`...), named(p.Name))
			dst = append(arguments(append(dst, `,"args":`...), p.Args), '}')
			dst = append(signed(dst, signature), '}')
		default:
			if s, ok := asText(p, m.Role); ok && (s != "" || signature != nil) {
				dst = wire.Quote(append(dst, `,{"text":`...), s)
				dst = append(signed(dst, signature), '}')
			}
		}
	}
	return dst
}

// signatureOf returns the thought signature that came with a part, as it came.
func signatureOf(p *message.Part) jsontext.Value {
	if p.Provider != opaqueName {
		return nil
	}
	if v := wire.Member(p.Opaque, signatureName); v.Kind() == '"' {
		return v
	}
	return nil
}

// signatureName is the member that holds a signature, on the wire and in opaque
// data.
const signatureName = "thoughtSignature"

func signed(dst []byte, signature jsontext.Value) []byte {
	if signature == nil {
		return dst
	}
	return append(append(dst, `,"`+signatureName+`":`...), signature...)
}

// wireID returns the id that a call has on the wire; empty if it has none.
func wireID(id string) string {
	own, ok := strings.CutPrefix(id, idMark)
	if !ok {
		return ""
	}
	return own
}

// named returns the name of a tool for the wire, which refuses a conversation
// with an empty one, as a confused model may have written it.
func named(name string) string {
	if name == "" {
		return "unnamed"
	}
	return name
}

// arguments appends a call's arguments, which are an object on this wire.
func arguments(dst []byte, args string) []byte {
	if strings.TrimSpace(args) == "" {
		return append(dst, `{}`...)
	}
	v := jsontext.Value(args)
	if v.Kind() == '{' && v.IsValid() {
		return wire.Value(dst, v)
	}
	return append(wire.Quote(append(dst, `{"invalid_arguments":`...), args), '}')
}

// result appends the result of a call, labelled as what it is, and after it what
// it holds of images and files: the object takes none on most models.
func result(dst []byte, m *message.Message) []byte {
	dst = append(dst, `,{"functionResponse":{`...)
	if id := wireID(m.ToolCallID); id != "" {
		dst = append(wire.Quote(append(dst, `"id":`...), id), ',')
	}
	dst = wire.Quote(append(dst, `"name":`...), named(m.ToolName))
	label := `,"response":{"output":"`
	if m.Failed {
		label = `,"response":{"error":"`
	}
	dst = append(texts(append(dst, label...), m), `"}}}`...)
	for i := range m.Parts {
		dst = media(dst, &m.Parts[i])
	}
	return dst
}

// content appends the parts of what a user says.
func content(dst []byte, m *message.Message) []byte {
	for i := range m.Parts {
		p := &m.Parts[i]
		if isMedia(p) {
			dst = media(dst, p)
		} else if s, ok := asText(p, m.Role); ok && s != "" {
			dst = append(wire.Quote(append(dst, `,{"text":`...), s), '}')
		}
	}
	return dst
}

// media appends an image or file, if the part is one that can be sent.
func media(dst []byte, p *message.Part) []byte {
	if !isMedia(p) {
		return dst
	}
	if kind, body, ok := wire.SplitDataURL(p.URL); ok {
		if kind == "" {
			kind = p.MediaType
		}
		if kind == "" {
			kind = "application/octet-stream"
		}
		dst = wire.Quote(append(dst, `,{"inlineData":{"mimeType":`...), kind)
		return append(wire.Quote(append(dst, `,"data":`...), body), `}}`...)
	}
	dst = append(dst, `,{"fileData":{`...)
	if p.MediaType != "" {
		dst = append(wire.Quote(append(dst, `"mimeType":`...), p.MediaType), ',')
	}
	return append(wire.Quote(append(dst, `"fileUri":`...), p.URL), `}}`...)
}

// isMedia reports whether a part can be sent as more than text.
func isMedia(p *message.Part) bool {
	if p.Kind != message.Image && p.Kind != message.File || p.URL == "" {
		return false
	}
	_, _, inline := wire.SplitDataURL(p.URL)
	return inline || !strings.HasPrefix(p.URL, "data:")
}

// texts appends the text of m as it stands inside a JSON string: its text parts
// and a line for each image or file, one below the other.
func texts(dst []byte, m *message.Message) []byte {
	return wire.Texts(dst, m, func(p *message.Part) (string, bool) { return asText(p, m.Role) })
}

// asText returns a part of a message of that role as text, if it is one or a
// line of text stands for it.
func asText(p *message.Part, in message.Role) (string, bool) {
	switch p.Kind {
	case message.Text:
		return p.Text, true
	case message.Image, message.File:
		what := "[" + string(p.Kind)
		if p.Name != "" {
			what += " " + p.Name
		}
		switch {
		case !isMedia(p):
			return what + " not available]", true
		case in == message.Tool:
			return what + " follows]", true
		}
		return what + " not shown]", true
	}
	return "", false
}
