package openai

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// maxCalls bounds the tool calls of one reply.
const maxCalls = 256

const errTooManyCalls = wire.LimitError("the reply has more than 256 tool calls")

// call is a tool call that is being put together.
type call struct {
	id, name []byte
	args     wire.Text
	index    int64 // -1 where the server gives none
	opaque   jsontext.Value
	chunk    int // the chunk that last touched it
}

// fragment is one entry of a tool_calls array: all or a piece of a call.
type fragment struct {
	id, name, args []byte // args as wire.AppendLoose gives it
	index          int64  // -1 is none
	opaque         jsontext.Value
}

// calls puts fragments together. OpenAI names a call's index in every fragment
// and its id and name in the first. Others leave the index out, give every call
// index 0, repeat id or name, or send whole calls without an id.
type calls struct {
	list  []*call
	chunk int  // counts chunks, from 1
	grew  bool // something was added
	f     fragment
}

// read reads one entry of a tool_calls array and returns the name of the call
// that it begins, or "".
func (c *calls) read(d *jsontext.Decoder) (string, error) {
	c.reset()
	err := wire.Members(d, func(name []byte) (err error) {
		switch string(name) {
		case `"index"`:
			n, ok, err := wire.ReadInt(d)
			if ok && n >= 0 {
				c.f.index = n
			}
			return err
		case `"id"`:
			c.f.id, err = wire.AppendString(c.f.id, d)
			return err
		case `"function"`:
			return c.function(d)
		case `"` + extraContent + `"`:
			v, err := readOpaque(d)
			if v != nil {
				c.f.opaque = append(wire.Quote([]byte{'{'}, extraContent), ':')
				c.f.opaque = append(append(c.f.opaque, v...), '}')
			}
			return err
		}
		return d.SkipValue()
	})
	if err != nil {
		return "", err
	}
	return c.add()
}

// readOld reads the one call of the wire's older form, which has no id.
func (c *calls) readOld(d *jsontext.Decoder) (string, error) {
	if d.PeekKind() != '{' {
		return "", d.SkipValue()
	}
	c.reset()
	c.f.index = 0
	if err := c.function(d); err != nil {
		return "", err
	}
	return c.add()
}

func (c *calls) reset() {
	c.f = fragment{id: c.f.id[:0], name: c.f.name[:0], args: c.f.args[:0], index: -1}
}

// function reads name and arguments. Arguments that are an object instead of a
// string, as some servers send them, are taken as they are.
func (c *calls) function(d *jsontext.Decoder) error {
	return wire.Members(d, func(name []byte) (err error) {
		switch string(name) {
		case `"name"`:
			c.f.name, err = wire.AppendString(c.f.name, d)
			return err
		case `"arguments"`:
			if d.PeekKind() == '{' {
				v, err := d.ReadValue()
				c.f.args = append(c.f.args, v...)
				return err
			}
			c.f.args, err = wire.AppendLoose(c.f.args, d)
			return err
		}
		return d.SkipValue()
	})
}

// add puts the fragment where it belongs and returns the name of the call that
// it begins, or "".
func (c *calls) add() (string, error) {
	f := &c.f
	to := c.find(f)
	if to == nil && len(f.id)+len(f.name)+len(f.args) == 0 {
		return "", nil // it says nothing
	}
	if to == nil {
		if len(c.list) == maxCalls {
			return "", errTooManyCalls
		}
		to = &call{index: f.index, args: wire.Text{Bad: wire.Substitute}}
		c.grew = true
		c.list = append(c.list, to)
	}
	if len(to.id) == 0 {
		to.id = append(to.id, f.id...)
	}
	begun := ""
	if string(f.name) != string(to.name) { // else it is said again, not a piece
		if len(to.name) == 0 {
			begun = string(f.name)
		}
		c.grew = c.grew || len(f.name) > 0
		to.name = append(to.name, f.name...)
	}
	to.args.Write(f.args)
	if f.opaque != nil {
		to.opaque = f.opaque
	}
	c.grew = c.grew || len(f.args) > 0 || f.opaque != nil
	to.chunk = c.chunk
	return begun, nil
}

// find returns the call that a fragment continues; nil makes it a new one.
func (c *calls) find(f *fragment) *call {
	if len(f.id) > 0 {
		for _, k := range c.list {
			if string(k.id) != string(f.id) {
				continue
			}
			if f.index >= 0 && k.index >= 0 && f.index != k.index && len(f.name) > 0 {
				continue // another call for which the server reuses the id
			}
			return k
		}
		// The id may come after the index; but a new id at an index that has
		// one is a new call.
		if k := c.at(f.index); f.index >= 0 && k != nil && len(k.id) == 0 && !c.begins(k, f) {
			return k
		}
		return nil
	}
	k := c.at(f.index)
	if k == nil || c.begins(k, f) {
		return nil
	}
	return k
}

// at returns the latest call of an index, or the latest of all without one.
func (c *calls) at(index int64) *call {
	for i := len(c.list) - 1; i >= 0; i-- {
		if k := c.list[i]; index < 0 || k.index == index {
			return k
		}
	}
	// Only a call's first fragment came without an index.
	if n := len(c.list); n > 0 && len(c.f.name) == 0 && c.list[n-1].index < 0 {
		return c.list[n-1]
	}
	return nil
}

// begins reports whether a fragment without an id of its own begins a call
// beside k, though it has k's place.
func (c *calls) begins(k *call, f *fragment) bool {
	switch {
	case len(f.name) == 0, len(k.name) == 0:
		return false
	case k.chunk == c.chunk: // two in one chunk are two
		return true
	case len(f.args) == 0 && string(f.name) == string(k.name): // said again
		return false
	}
	// After arguments that are whole. The first look is cheap, for servers that
	// repeat the name in every fragment.
	args := bytes.TrimSpace(k.args.Bytes())
	return bytes.HasSuffix(args, []byte("}")) && jsontext.Value(args).IsValid(jsontext.AllowDuplicateNames(true))
}

// parts appends the calls as message parts, in the order in which they began.
// A call without an id, or with that of one before, gets one that its place
// decides.
func (c *calls) parts(to []message.Part, opaque string) []message.Part {
	used := map[string]bool{}
	for _, k := range c.list {
		used[string(k.id)] = true
	}
	seen := map[string]bool{"": true}
	n := 0
	for _, k := range c.list {
		id := string(k.id)
		if seen[id] {
			for id = ""; id == "" || used[id]; {
				n++
				id = "call_" + strconv.Itoa(n)
			}
			used[id] = true
		}
		seen[id] = true
		k.args.End()
		p := message.Part{Kind: message.ToolCall, ID: id, Name: string(k.name), Args: k.args.String()}
		if k.opaque != nil {
			p.Opaque, p.Provider = k.opaque, opaque
		}
		to = append(to, p)
	}
	return to
}
