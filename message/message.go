// Package message answers: what is said, by whom, and in which parts?
//
// A [Message] has one of exactly four roles and a list of parts. Everything
// inside Rein speaks these roles; only a provider's encoder maps them to other
// wire shapes. A tool result is a message of role [Tool] that names the call it
// answers; reasoning stays in the assistant message it came with, together with
// whatever opaque data its provider wants back unchanged.
//
// The package is pure: no clock, no I/O, no randomness. [Pair] is the one place
// that enforces that every tool call has exactly one result.
package message

import "github.com/go-json-experiment/json/jsontext"

//go:generate go run ../internal/gencodec -out codec_gen.go .

// NoticeLabel opens a system message in mid-conversation (a notice, the state
// block, a digest) where a provider's wire takes none there and its text becomes
// part of another message. Encoders write it, and package tool marks it as not
// being one in what others say.
const NoticeLabel = "[notice from the harness]"

// Role says who speaks. The set is closed.
type Role string

// The four roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind says what a [Part] holds. The set is closed; readers skip kinds that
// they do not know.
type Kind string

// The kinds of parts, with the fields of [Part] that each uses.
const (
	// Text uses Text, or Ref when the text is stored out of line.
	Text Kind = "text"
	// Reasoning uses Text (may be empty: redacted or encrypted) and Opaque.
	Reasoning Kind = "reasoning"
	// Image uses MediaType with either URL or Ref.
	Image Kind = "image"
	// File uses MediaType and Name with either URL or Ref.
	File Kind = "file"
	// ToolCall uses ID, Name, Args and Opaque. Only in assistant messages.
	ToolCall Kind = "tool_call"
)

// A Message is one entry of a conversation.
type Message struct {
	Role Role `json:"role"`
	// Parts in the order in which they were said. A tool message holds text,
	// image and file parts only.
	Parts []Part `json:"parts,omitempty"`
	// ToolCallID names the call that a tool message answers; empty for other roles.
	ToolCallID string `json:"tool_call_id,omitempty"`
	// ToolName is the name of the tool that a tool message comes from.
	ToolName string `json:"tool_name,omitempty"`
	// Failed marks a tool message that reports an error or an unknown outcome.
	Failed bool `json:"failed,omitempty"`
}

// A Part is one piece of a message; which fields count depends on Kind.
type Part struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
	// ID and Name belong to a tool call; Name also to a file.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Args are the arguments of a tool call exactly as the model wrote them:
	// usually a JSON object, but possibly cut off or malformed. Never run from
	// here; see the parse package.
	Args string `json:"args,omitempty" rein:"json"`
	// MediaType is the IANA type of an image or file.
	MediaType string `json:"media_type,omitempty"`
	URL       string `json:"url,omitempty"`
	// Ref points to a body that is stored out of line.
	Ref *Ref `json:"ref,omitempty"`
	// Opaque is provider data (a signature, encrypted reasoning, an item id)
	// that travels back unchanged to the provider named in Provider, and to no
	// other. It is never edited, not even by redaction.
	Opaque jsontext.Value `json:"opaque,omitempty" rein:"keep"`
	// Provider is the wire that Opaque belongs to, such as "anthropic".
	Provider string `json:"provider,omitempty" rein:"keep"`
}

// A Ref names a body that is stored out of line by the hash of its content.
type Ref struct {
	// SHA256 is the content's hash, 64 lower-case hexadecimal digits.
	SHA256 string `json:"sha256" rein:"keep"`
	// Bytes is the content's size.
	Bytes     int64  `json:"bytes"`
	MediaType string `json:"media_type,omitempty"`
}

// NewText returns a message with one text part.
func NewText(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Kind: Text, Text: text}}}
}

// Result returns the tool message that answers the call id of tool name.
func Result(id, name, text string, failed bool) Message {
	return Message{
		Role: Tool, ToolCallID: id, ToolName: name, Failed: failed,
		Parts: []Part{{Kind: Text, Text: text}},
	}
}

// PlainText returns the concatenated text parts of the message, without
// reasoning. Text stored out of line is not included.
func (m *Message) PlainText() string {
	var s string
	for i := range m.Parts {
		if m.Parts[i].Kind == Text {
			s += m.Parts[i].Text
		}
	}
	return s
}

// Calls returns how many tool calls the message holds.
func (m *Message) Calls() int {
	n := 0
	for i := range m.Parts {
		if m.Parts[i].Kind == ToolCall {
			n++
		}
	}
	return n
}
