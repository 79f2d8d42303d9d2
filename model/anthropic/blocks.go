package anthropic

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// maxBlocks bounds the content blocks of one reply.
const maxBlocks = 1024

var errTooManyBlocks = errors.New("more than 1024 content blocks in one reply")

// The kinds of blocks that are more than the server's own.
const (
	kindText     = "text"
	kindThinking = "thinking"
	kindCall     = "tool_use"
)

// block is a content block that is being put together.
type block struct {
	index     int64 // -1 where the server gives none
	kind      string
	members   []rawMember // as it began, and what deltas added to the server's own
	text      []byte      // a text's or thinking's
	signature []byte
	input     []byte // arguments that came in pieces
	closed    bool
}

// rawMember is a member of an object as the server wrote it. The name is quoted.
type rawMember struct {
	name  string
	value jsontext.Value
}

// plain returns a quoted name in its plainest form, so that it can be compared.
func plain(name []byte) string {
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name)
	}
	s, _ := jsontext.AppendUnquote(nil, name) // it was read as valid
	return string(wire.Quote(nil, string(s)))
}

// contents puts a reply's blocks together, in the order in which they begin. The
// server names a block's index in each event.
type contents struct {
	list []*block
	open int // how many blocks are not closed
}

// begin reads a block as it begins; in a reply in one piece, as it is.
func (c *contents) begin(d *jsontext.Decoder, index int64) (*block, error) {
	b := &block{index: index}
	err := wire.Members(d, func(name []byte) error {
		m := rawMember{name: plain(name)}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		m.value = v.Clone()
		b.members = append(b.members, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.kind = b.str(`"type"`)
	if b.kind == kindThinking {
		b.text = []byte(b.str(`"thinking"`))
	} else {
		b.text = []byte(b.str(`"text"`))
	}
	b.signature = []byte(b.str(`"signature"`))
	return b, c.add(b)
}

func (c *contents) add(b *block) error {
	if len(c.list) == maxBlocks {
		return errTooManyBlocks
	}
	c.list = append(c.list, b)
	c.open++
	return nil
}

// at returns the latest block of an index, or the latest of all without one; nil
// if there is none.
func (c *contents) at(index int64) *block {
	for i := len(c.list) - 1; i >= 0; i-- {
		if b := c.list[i]; index < 0 || b.index == index {
			return b
		}
	}
	return nil
}

// end closes a block.
func (c *contents) end(b *block) {
	if b != nil && !b.closed {
		b.closed = true
		c.open--
	}
}

// piece reads a delta and adds it to the block of that index. A block whose
// beginning was lost begins here: no text is dropped, and a call without a name
// is told to the model. It returns what was added for showing.
func (c *contents) piece(d *jsontext.Decoder, index int64) (text, thinking string, err error) {
	b := c.at(index)
	lost := b == nil
	if lost {
		b = &block{index: index}
	}
	from, kind := len(b.text), b.kind
	err = wire.Members(d, func(quoted []byte) (err error) {
		switch name := plain(quoted); name {
		case `"type"`:
			return d.SkipValue()
		case `"text"`:
			b.text, err = wire.AppendString(b.text, d)
			kind = orElse(kind, kindText)
		case `"thinking"`:
			b.text, err = wire.AppendString(b.text, d)
			kind = orElse(kind, kindThinking)
		case `"signature"`: // whole, in one delta
			b.signature, err = wire.AppendString(b.signature[:0], d)
			kind = orElse(kind, kindThinking)
		case `"partial_json"`:
			kind = orElse(kind, kindCall)
			if d.PeekKind() == '"' {
				b.input, err = wire.AppendString(b.input, d)
				return err
			}
			v, err := d.ReadValue() // an object instead of a string
			b.input = append(b.input, v...)
			return err
		default:
			if lost || b.known() || name == `"citation"` {
				return d.SkipValue()
			}
			return b.join(name, d)
		}
		return err
	})
	if err != nil {
		return "", "", err
	}
	if lost {
		if b.kind = kind; kind == "" {
			return "", "", nil // it says nothing
		}
		if err := c.add(b); err != nil {
			return "", "", err
		}
	}
	switch b.kind {
	case kindText:
		text = string(b.text[from:])
	case kindThinking:
		thinking = string(b.text[from:])
	}
	return text, thinking, nil
}

func orElse(kind, other string) string {
	if kind == "" {
		return other
	}
	return kind
}

// known reports whether the block is of a kind whose deltas are all known, so
// that others say nothing that would have to go back.
func (b *block) known() bool {
	return b.kind == kindText || b.kind == kindThinking || b.kind == kindCall
}

// join adds a piece of a member that only the server knows: texts are appended,
// of other values the last counts.
func (b *block) join(name string, d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	for i := range b.members {
		m := &b.members[i]
		if m.name != name {
			continue
		}
		if m.value.Kind() == '"' && v.Kind() == '"' {
			m.value = append(m.value[:len(m.value)-1], v[1:]...)
		} else {
			m.value = v.Clone()
		}
		return nil
	}
	b.members = append(b.members, rawMember{name, v.Clone()})
	return nil
}

// str returns a member that is a string, or "".
func (b *block) str(name string) string {
	if v := b.raw(name); v.Kind() == '"' {
		s, _ := jsontext.AppendUnquote(nil, v) // it was read as valid
		return string(s)
	}
	return ""
}

// raw returns a member, or nil.
func (b *block) raw(name string) jsontext.Value {
	for i := range b.members {
		if b.members[i].name == name {
			return b.members[i].value
		}
	}
	return nil
}

// part returns the block as a message part, whose opaque data belongs to
// provider; false if it holds nothing.
func (b *block) part(provider string) (message.Part, bool) {
	switch b.kind {
	case kindText, "":
		return message.Part{Kind: message.Text, Text: string(b.text)}, len(b.text) > 0
	case kindThinking:
		if len(b.text) == 0 && len(b.signature) == 0 {
			return message.Part{}, false
		}
		return message.Part{Kind: message.Reasoning, Text: string(b.text), Opaque: b.object(), Provider: provider}, true
	case kindCall:
		p := message.Part{Kind: message.ToolCall, ID: b.str(`"id"`), Name: b.str(`"name"`), Args: b.args()}
		if p.Opaque = b.rest(); p.Opaque != nil {
			p.Provider = provider
		}
		return p, true
	}
	return message.Part{Kind: message.Reasoning, Opaque: b.object(), Provider: provider}, true
}

// args returns a call's arguments exactly as they came: in pieces, or with the
// block, where Anthropic only puts {} as a start.
func (b *block) args() string {
	if len(b.input) > 0 {
		return string(b.input)
	}
	if v := b.raw(`"input"`); v.Kind() != 'n' {
		return string(v)
	}
	return ""
}

// rest returns what the server said of a call besides what every call has, as an
// object, or nil.
func (b *block) rest() jsontext.Value {
	var out jsontext.Value
	for _, m := range b.members {
		if ofCall(m.name) || m.value.Kind() == 'n' {
			continue
		}
		if out == nil {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}

// object returns the block as the server would send it whole.
func (b *block) object() jsontext.Value {
	out := jsontext.Value{'{'}
	add := func(name string, value jsontext.Value) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	joined := map[string]bool{}
	put := func(name string) bool { // a member that came in pieces
		var v jsontext.Value
		switch {
		case name == `"thinking"` && b.kind == kindThinking, name == `"text"` && b.kind != kindThinking && len(b.text) > 0:
			v = wire.Quote(nil, string(b.text))
		case name == `"signature"` && (b.kind == kindThinking || len(b.signature) > 0):
			v = wire.Quote(nil, string(b.signature))
		case name == `"input"` && len(b.input) > 0 && jsontext.Value(b.input).IsValid():
			v = b.input
		default:
			return false
		}
		add(name, v)
		joined[name] = true
		return true
	}
	if b.raw(`"type"`) == nil { // its beginning was lost
		add(`"type"`, wire.Quote(nil, b.kind))
	}
	for _, m := range b.members {
		if !put(m.name) {
			add(m.name, m.value)
		}
	}
	for _, name := range []string{`"thinking"`, `"text"`, `"signature"`, `"input"`} {
		if !joined[name] {
			put(name)
		}
	}
	return append(out, '}')
}
