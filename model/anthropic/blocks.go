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

var (
	errTooManyBlocks = errors.New("more than 1024 content blocks in one reply")
	errOpaque        = errors.New("a block that has to go back as it is is not valid JSON in UTF-8")
)

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
	text      wire.Text   // a text's or thinking's
	signature wire.Text
	input     wire.Text // arguments that came in pieces
	closed    bool
	mended    int64 // see [model.Reply]; known once the block is a part
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
	list  []*block
	open  int    // how many blocks are not closed
	loose []byte // a piece of text
}

// begin reads a block as it begins; in a reply in one piece, as it is.
func (c *contents) begin(d *jsontext.Decoder, index int64) (*block, error) {
	b := newBlock(index)
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
		b.text.Write(wire.Loose(nil, b.raw(`"thinking"`)))
	} else {
		b.text.Write(wire.Loose(nil, b.raw(`"text"`)))
	}
	b.signature.Write(wire.Loose(nil, b.raw(`"signature"`)))
	if !b.known() && !valid(b.members) {
		return nil, errOpaque
	}
	return b, c.add(b)
}

func newBlock(index int64) *block {
	return &block{index: index, input: wire.Text{Bad: wire.Substitute}}
}

// valid reports whether members can go back as they are.
func valid(members []rawMember) bool {
	for _, m := range members {
		if !jsontext.Value(m.name).IsValid() || !m.value.IsValid() {
			return false
		}
	}
	return true
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
		b.text.End()
		b.signature.End()
		b.input.End()
		b.closed = true
		c.open--
	}
}

// piece reads a delta and adds it to the block of that index. A block whose
// beginning was lost begins here: no text is dropped, and a call without a name
// is told to the model. It returns the block, nil if the delta says nothing, and
// how long its text was before.
func (c *contents) piece(d *jsontext.Decoder, index int64) (b *block, from int, err error) {
	b = c.at(index)
	lost := b == nil
	if lost {
		b = newBlock(index)
	}
	from, kind := b.text.Len(), b.kind
	err = wire.Members(d, func(quoted []byte) (err error) {
		switch name := plain(quoted); name {
		case `"type"`:
			return d.SkipValue()
		case `"text"`:
			kind = orElse(kind, kindText)
			return c.write(&b.text, d)
		case `"thinking"`:
			kind = orElse(kind, kindThinking)
			return c.write(&b.text, d)
		case `"signature"`: // whole, in one delta
			kind = orElse(kind, kindThinking)
			b.signature = wire.Text{}
			return c.write(&b.signature, d)
		case `"partial_json"`:
			kind = orElse(kind, kindCall)
			if d.PeekKind() == '"' {
				return c.write(&b.input, d)
			}
			v, err := d.ReadValue() // an object instead of a string
			b.input.Write(v)
			return err
		default:
			if lost || b.known() || name == `"citation"` {
				return d.SkipValue()
			}
			return b.join(name, d)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	if lost {
		if b.kind = kind; kind == "" {
			return nil, 0, nil // it says nothing
		}
		if err := c.add(b); err != nil {
			return nil, 0, err
		}
	}
	return b, from, nil
}

// write adds a piece to a text.
func (c *contents) write(to *wire.Text, d *jsontext.Decoder) (err error) {
	c.loose, err = wire.AppendLoose(c.loose[:0], d)
	to.Write(c.loose)
	return err
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
	if !valid([]rawMember{{name, v}}) {
		return errOpaque
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
	b.mended = b.text.Mended() + b.signature.Mended()
	switch b.kind {
	case kindText, "":
		return message.Part{Kind: message.Text, Text: b.text.String()}, b.text.Len() > 0
	case kindThinking:
		if b.text.Len() == 0 && b.signature.Len() == 0 {
			return message.Part{}, false
		}
		p := message.Part{Kind: message.Reasoning, Text: b.text.String(), Provider: provider}
		// What was signed is not what it was; the server would refuse it.
		if own := b.object(); b.mended == 0 && own.IsValid() {
			p.Opaque = own
		}
		return p, true
	case kindCall:
		p := message.Part{Kind: message.ToolCall, ID: b.str(`"id"`), Name: b.str(`"name"`)}
		p.Args, b.mended = b.args()
		if p.Opaque = b.rest(); p.Opaque != nil {
			p.Provider = provider
		}
		return p, true
	}
	own := b.object()
	return message.Part{Kind: message.Reasoning, Opaque: own, Provider: provider}, b.mended == 0 && own.IsValid()
}

// args returns a call's arguments exactly as they came, and how much in them is no
// text: in pieces, or with the block, where Anthropic only puts {} as a start.
func (b *block) args() (string, int64) {
	if b.input.Len() > 0 {
		return b.input.String(), b.input.Mended()
	}
	if v := b.raw(`"input"`); v.Kind() != 'n' {
		return wire.Arguments(v)
	}
	return "", 0
}

// rest returns what the server said of a call besides what every call has, as an
// object, or nil.
func (b *block) rest() jsontext.Value {
	var out jsontext.Value
	for _, m := range b.members {
		if ofCall(m.name) || m.value.Kind() == 'n' || !valid([]rawMember{m}) {
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
		case name == `"thinking"` && b.kind == kindThinking, name == `"text"` && b.kind != kindThinking && b.text.Len() > 0:
			v = wire.Quote(nil, b.text.String())
		case name == `"signature"` && (b.kind == kindThinking || b.signature.Len() > 0):
			v = wire.Quote(nil, b.signature.String())
		case name == `"input"` && b.input.Len() > 0 && jsontext.Value(b.input.Bytes()).IsValid():
			v = b.input.Bytes()
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
