// Package jsontree answers: what are the parts of a JSON document that somebody
// else wrote, in its own order?
//
// [Parse] reads a document into a small tree, within limits of size, depth and
// number of values. It keeps the order of members and the text of numbers, and
// takes what strict readers refuse but servers send: names that come twice, and
// halves of surrogate pairs.
package jsontree

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What Parse reads at most.
const (
	// MaxBytes is the longest text.
	MaxBytes = 4 << 20
	// MaxDepth is the deepest nesting of objects and lists.
	MaxDepth = 64
	// MaxValues is the most values, each of which costs about 100 bytes.
	MaxValues = 1 << 18
)

// Kind says what a value is.
type Kind uint8

// The kinds of values. Literals are numbers, true, false and null.
const (
	Literal Kind = iota
	String
	List
	Object
)

// Node is one value of a document.
type Node struct {
	Kind Kind
	// Name is the value's name in the object that it is a member of.
	Name string
	// Text is a string's text without quotes and escapes, or a literal as it was
	// written.
	Text string
	// Kids are the items of a list or the members of an object, in order.
	Kids []Node
}

// Parse returns the document that a valid UTF-8 text is, if it is one object or
// list within the limits and nothing else. bad is how many characters of strings
// were given by escapes that stand for no character; each is U+FFFD in the tree.
func Parse(text string) (root *Node, bad int, ok bool) {
	begin := strings.TrimLeft(text, " \t\r\n")
	if begin == "" || begin[0] != '{' && begin[0] != '[' || len(text) > MaxBytes {
		return nil, 0, false
	}
	p := parser{dec: jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), left: MaxValues}
	n, err := p.value(0)
	if err != nil {
		return nil, 0, false
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return nil, 0, false
	}
	if p.bad > 0 {
		p.bad -= strings.Count(text, "\uFFFD") + strings.Count(text, `\uFFFD`) + strings.Count(text, `\ufffd`)
	}
	return &n, max(p.bad, 0), true
}

type parser struct {
	dec  *jsontext.Decoder
	left int
	bad  int // replacement characters in strings
}

var errLimit = fmt.Errorf("the document is too large or too deep")

func (p *parser) value(depth int) (Node, error) {
	if p.left--; p.left < 0 || depth > MaxDepth {
		return Node{}, errLimit
	}
	t, err := p.dec.ReadToken()
	if err != nil {
		return Node{}, err
	}
	switch t.Kind() {
	case '"':
		return Node{Kind: String, Text: p.text(&t)}, nil
	case '[', '{':
		return p.kids(depth, t.Kind() == '{')
	}
	return Node{Kind: Literal, Text: t.String()}, nil
}

func (p *parser) kids(depth int, object bool) (Node, error) {
	n, end := Node{Kind: List}, jsontext.Kind(']')
	if object {
		n.Kind, end = Object, '}'
	}
	for {
		switch p.dec.PeekKind() {
		case end:
			_, err := p.dec.ReadToken()
			return n, err
		case 0:
			_, err := p.dec.ReadToken()
			return n, err
		}
		name := ""
		if object {
			t, err := p.dec.ReadToken()
			if err != nil {
				return n, err
			}
			name = p.text(&t)
		}
		kid, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		kid.Name = name
		n.Kids = append(n.Kids, kid)
	}
}

// text returns the text of a string token.
func (p *parser) text(t *jsontext.Token) string {
	s := strings.ToValidUTF8(t.String(), "\uFFFD")
	p.bad += strings.Count(s, "\uFFFD")
	return s
}

// AppendJSON appends the value as compact JSON, in plain UTF-8.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case String:
		return AppendString(dst, n.Text)
	case List:
		dst = append(dst, '[')
		for i := range n.Kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.Kids[i].AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range n.Kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, n.Kids[i].Name)
			dst = append(dst, ':')
			dst = n.Kids[i].AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, n.Text...)
}

// AppendString appends a string with quotes, and only those escapes that JSON
// demands.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // fails only over text that is no UTF-8, and quotes it nevertheless
	return dst
}

// Member returns the first member of an object with that name, nil if there is
// none.
func (n *Node) Member(name string) *Node {
	if n.Kind == Object {
		for i := range n.Kids {
			if n.Kids[i].Name == name {
				return &n.Kids[i]
			}
		}
	}
	return nil
}

// At returns the value that a JSON pointer (RFC 6901) names, "" being the
// document itself. Where there is none, it returns the last value on the way and
// that value's own pointer, with ok false.
func (n *Node) At(pointer string) (at *Node, reached string, ok bool) {
	if pointer == "" {
		return n, "", true
	}
	if pointer[0] != '/' {
		return n, "", false
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		name := strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next := n.Member(name)
		if n.Kind == List {
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Kids) && name == strconv.Itoa(i) {
				next = &n.Kids[i]
			}
		}
		if next == nil {
			return n, reached, false
		}
		n, reached = next, reached+"/"+step
	}
	return n, reached, true
}

// Step appends a name to a JSON pointer.
func Step(pointer, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return pointer + "/" + name
}
