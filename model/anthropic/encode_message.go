package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// Texts that stand where the wire wants one and there is none.
const (
	// nothing stands for a message or result without content.
	nothing = "(no content)"
	// earlier opens a conversation that begins with the model's words.
	earlier = "(the conversation so far is not shown)"
	// goOn follows the model's words where nobody else has spoken.
	goOn = "Go on."
)

// Message appends m. A fragment depends on m and on the role of prev, so whoever
// changes prev's role encodes m again.
//
// Messages of one wire role that follow each other become one message with the
// blocks of all: results come first, as [message.Pair] has put them right after
// their calls, then what the user said and notices, under a label. Only a notice
// after an assistant message opens a user message of its own. Blocks without
// text are left out, since the server refuses them; a message without any other
// gets a word that says so.
//
// The last block is left open, without its last brace: the fragment after it, or
// Close or Tail, closes it.
func (e *Encoder) Message(dst []byte, prev, m *message.Message) []byte {
	return e.next(dst, prev, m, false)
}

// next closes prev's last block, with a breakpoint if marked, and appends m.
func (e *Encoder) next(dst []byte, prev, m *message.Message, marked bool) []byte {
	if marked {
		dst = e.marked(dst, prev)
	}
	assistant := m.Role == message.Assistant
	switch {
	case prev != nil && (prev.Role == message.Assistant) == assistant:
		dst = append(dst, `},`...)
	case prev != nil && assistant:
		dst = append(dst, `}]},{"role":"assistant","content":[`...)
	case prev != nil:
		dst = append(dst, `}]},{"role":"user","content":[`...)
	case assistant: // the first must be the user's
		dst = append(dst, `{"role":"user","content":[{"type":"text","text":"`+earlier+`"}]},{"role":"assistant","content":[`...)
	default:
		dst = append(dst, `{"role":"user","content":[`...)
	}
	switch m.Role {
	case message.Assistant:
		dst = e.assistant(dst, m)
	case message.Tool:
		dst = result(dst, m)
	case message.System:
		dst = append(texts(wire.Inner(append(dst, `{"type":"text","text":"`...), wire.NoticeLabel), m), `"}`...)
	default:
		dst = blocks(dst, m)
	}
	return dst[:len(dst)-1]
}

// blocks appends the parts of m as blocks, at least one.
func blocks(dst []byte, m *message.Message) []byte {
	first := true
	for i := range m.Parts {
		at := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = media(dst, &m.Parts[i]); !ok {
			dst, ok = textBlock(dst, &m.Parts[i])
		}
		if !ok {
			dst = dst[:at]
			continue
		}
		first = false
	}
	if first {
		dst = append(dst, `{"type":"text","text":"`+nothing+`"}`...)
	}
	return dst
}

// textBlock appends a part as a text block, unless it has no text.
func textBlock(dst []byte, p *message.Part) ([]byte, bool) {
	s, ok := asText(p)
	if !ok || blank(s) {
		return dst, false
	}
	return append(wire.Quote(append(dst, `{"type":"text","text":`...), s), '}'), true
}

// result appends the result of a call.
func result(dst []byte, m *message.Message) []byte {
	dst = wire.Quote(append(dst, `{"type":"tool_result","tool_use_id":`...), wireID(m.ToolCallID))
	if m.Failed {
		dst = append(dst, `,"is_error":true`...)
	}
	switch {
	case hasMedia(m):
		dst = append(blocks(append(dst, `,"content":[`...), m), ']')
	case hasText(m):
		dst = append(texts(append(dst, `,"content":"`...), m), '"')
	default:
		dst = append(dst, `,"content":"`+nothing+`"`...)
	}
	return append(dst, '}')
}

// assistant appends what the model said, in the order in which it said it, which
// thinking must keep. A message that ends with thinking is refused and so gets a
// text.
func (e *Encoder) assistant(dst []byte, m *message.Message) []byte {
	first, open := true, true // nothing stands there; it would end with thinking
	for i := range m.Parts {
		p := &m.Parts[i]
		at := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		var ok bool
		thinks := false
		switch p.Kind {
		case message.ToolCall:
			dst, ok = e.call(dst, p), true
		case message.Reasoning:
			if v, kind := e.own(p); v != nil {
				dst, ok = append(dst, v...), true
				thinks = isThinking(kind)
			}
		default:
			dst, ok = textBlock(dst, p)
		}
		if !ok {
			dst = dst[:at]
			continue
		}
		first, open = false, thinks
	}
	if !open {
		return dst
	}
	if !first {
		dst = append(dst, ',')
	}
	return append(dst, `{"type":"text","text":"`+nothing+`"}`...)
}

// endsOpaque reports whether the last block of an assistant message is one that
// only the server understands. Like all that is asked of a message before, it
// does not depend on whether the message is resolved.
func (e *Encoder) endsOpaque(m *message.Message) bool {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		p := &m.Parts[i]
		switch p.Kind {
		case message.ToolCall:
			return false
		case message.Reasoning:
			if v, kind := e.own(p); v != nil {
				return !isThinking(kind)
			}
		default:
			if s, ok := asText(p); ok && (p.Ref != nil || !blank(s)) {
				return false
			}
		}
	}
	return false
}

// own returns the block that a part keeps for this server, and its type; nil if
// it keeps none.
func (e *Encoder) own(p *message.Part) (jsontext.Value, string) {
	if p.Provider != e.opaque || !validObject(p.Opaque) {
		return nil, ""
	}
	d := jsontext.NewDecoder(bytes.NewReader(wire.Member(p.Opaque, "type")))
	kind, err := wire.ReadString(d)
	if err != nil || kind == "" {
		return nil, ""
	}
	return bytes.TrimSpace(p.Opaque), kind
}

func isThinking(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// call appends a tool call, with whatever else the server had said of it.
func (e *Encoder) call(dst []byte, p *message.Part) []byte {
	dst = wire.Quote(append(dst, `{"type":"tool_use","id":`...), wireID(p.ID))
	dst = wire.Quote(append(dst, `,"name":`...), wireName(p.Name))
	dst = input(append(dst, `,"input":`...), p.Args)
	if p.Provider == e.opaque && validObject(p.Opaque) {
		d := jsontext.NewDecoder(bytes.NewReader(p.Opaque))
		_ = wire.Members(d, func(name []byte) error { // it is valid
			n := plain(name)
			v, err := d.ReadValue()
			if !ofCall(n) && n != `"cache_control"` {
				dst = append(append(append(append(dst, ','), n...), ':'), v...)
			}
			return err
		})
	}
	return append(dst, '}')
}

// ofCall reports whether a member of a call has a field of [message.Part].
func ofCall(name string) bool {
	switch name {
	case `"type"`, `"id"`, `"name"`, `"input"`:
		return true
	}
	return false
}

// input appends a call's arguments, which are an object on this wire. The parse
// package has seen to that; what comes by another way is wrapped into one.
func input(dst []byte, args string) []byte {
	v := jsontext.Value(args)
	switch {
	case blank(args):
		return append(dst, `{}`...) // how a call without arguments is written
	case validObject(v):
		return wire.Value(dst, v)
	}
	return append(wire.Quote(append(dst, `{"invalid_arguments":`...), args), '}')
}

// validObject reports whether v is a JSON object that can stand in a body.
func validObject(v jsontext.Value) bool { return v.Kind() == '{' && v.IsValid() }

// maxName is the longest name or id of a call that the server takes, in bytes.
const maxName = 128

// wireID returns a call's id as the server takes it: letters, digits, "_" and
// "-". An id that it made itself is such a one. Another, of a run that began
// with another provider, is made into one, the same for the call and its result.
func wireID(id string) string {
	if id != "" && len(id) <= maxName && clean(id) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + clean(id[:min(len(id), 64)]) + "_" + hex.EncodeToString(sum[:8])
}

// wireName returns the name of a past call as the server takes it. A model may
// have called a tool that does not exist, by whatever name.
func wireName(name string) string {
	if name == "" {
		return "unnamed"
	}
	return clean(name[:min(len(name), maxName)])
}

// clean puts "_" for every byte that names may not have.
func clean(s string) string {
	var b []byte
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			continue
		}
		if b == nil {
			b = []byte(s)
		}
		b[i] = '_'
	}
	if b == nil {
		return s
	}
	return string(b)
}

// texts appends the text of m as it stands inside a JSON string: its text parts
// and a line for each image or file, one below the other.
func texts(dst []byte, m *message.Message) []byte { return wire.Texts(dst, m, asText) }

// hasText reports whether texts gives more than white space.
func hasText(m *message.Message) bool {
	for i := range m.Parts {
		if s, ok := asText(&m.Parts[i]); ok && !blank(s) {
			return true
		}
	}
	return false
}

// blank reports whether the server would refuse s as a text.
func blank(s string) bool {
	for len(s) > 0 { // faster than to trim a long text
		r, n := utf8.DecodeRuneInString(s)
		if !strings.ContainsRune(" \t\r\n\v\f\u0085\u00a0\u2028\u2029\ufeff", r) {
			return false
		}
		s = s[n:]
	}
	return true
}
