package gemini

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that keeps the order of its members. A nil node is no
// value; all methods take one.
type node struct {
	raw   jsontext.Value // in its plainest form
	text  string         // of a string
	names []string       // of an object's members
	items []*node        // an object's members or an array's items
}

const (
	// maxSchema bounds a schema's size, in bytes, and maxDepth its nesting.
	maxSchema = 1 << 20
	maxDepth  = 64
)

var errSchema = errors.New("too large, too deep, or more than one value")

// parse reads one JSON value.
func parse(v jsontext.Value) (*node, error) {
	if len(v) > maxSchema {
		return nil, errSchema
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	n, err := parseNode(d, 0)
	if err == nil {
		if _, more := d.ReadToken(); more != io.EOF {
			return nil, errSchema
		}
	}
	return n, err
}

func parseNode(d *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errSchema
	}
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		n := &node{}
		if kind == '"' {
			s, err := jsontext.AppendUnquote(nil, v)
			if err != nil {
				return nil, err
			}
			n.text = string(s)
		}
		n.raw, err = jsontext.AppendFormat(nil, v, jsontext.PreserveRawStrings(false))
		return n, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	n := &node{raw: jsontext.Value{byte(kind)}} // enough to know what it is
	for d.PeekKind() != kind+2 {                // the closing bracket
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		item, err := parseNode(d, depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := d.ReadToken()
	return n, err
}

func (n *node) kind() jsontext.Kind {
	if n == nil {
		return 0
	}
	return n.raw.Kind()
}

func (n *node) isObject() bool { return n.kind() == '{' }
func (n *node) isArray() bool  { return n.kind() == '[' }
func (n *node) isString() bool { return n.kind() == '"' }

// get returns a member of an object.
func (n *node) get(name string) *node {
	if n.isObject() {
		for i, s := range n.names {
			if s == name {
				return n.items[i]
			}
		}
	}
	return nil
}

// has reports whether an object has one of the members.
func (n *node) has(names ...string) bool {
	for _, name := range names {
		if n.get(name) != nil {
			return true
		}
	}
	return false
}

// list returns the items of an array.
func (n *node) list() []*node {
	if n.isArray() {
		return n.items
	}
	return nil
}

// strings returns the strings of an array.
func (n *node) strings() []string {
	var out []string
	for _, item := range n.list() {
		if item.isString() {
			out = append(out, item.text)
		}
	}
	return out
}

// str returns the text of a string, else "".
func (n *node) str() string {
	if n.isString() {
		return n.text
	}
	return ""
}

// int returns a whole number.
func (n *node) int() (int64, bool) {
	if n.kind() != '0' {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n.raw), 10, 64)
	return i, err == nil
}

// json returns the whole value as JSON.
func (n *node) json() string {
	switch {
	case n == nil:
		return ""
	case n.isObject(), n.isArray():
		var b strings.Builder
		b.WriteByte(byte(n.kind()))
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.isObject() {
				name, _ := jsontext.AppendQuote(nil, n.names[i])
				b.Write(name)
				b.WriteByte(':')
			}
			b.WriteString(item.json())
		}
		b.WriteByte(byte(n.kind()) + 2)
		return b.String()
	}
	return string(n.raw)
}

// with returns the object n with a member set to v, in its place or at the end.
func (n *node) with(name string, v *node) *node {
	out := &node{raw: jsontext.Value("{")}
	done := false
	for i, s := range n.names {
		item := n.items[i]
		if s == name {
			item, done = v, true
		}
		out.names, out.items = append(out.names, s), append(out.items, item)
	}
	if !done {
		out.names, out.items = append(out.names, name), append(out.items, v)
	}
	return out
}

// without returns the object n without the members.
func (n *node) without(names ...string) *node {
	out := &node{raw: jsontext.Value("{")}
next:
	for i, s := range n.names {
		for _, name := range names {
			if s == name {
				continue next
			}
		}
		out.names, out.items = append(out.names, s), append(out.items, n.items[i])
	}
	return out
}
