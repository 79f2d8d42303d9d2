package script

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML returns the root of the one document in data. The node tree is read
// by hand rather than decoded into structs, so that every error has a place.
func parseYAML(data []byte) (root ast.Node, err error) {
	if len(data) > maxBytes {
		return nil, &ParseError{Message: fmt.Sprintf("the file has %d bytes; at most %d are read", len(data), maxBytes)}
	}
	if !utf8.Valid(data) {
		return nil, &ParseError{Message: "the file is not UTF-8"}
	}
	// The YAML library is the one thing here that meets raw text, and it has
	// panicked on odd input before: its panic is a file that cannot be read.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &ParseError{Message: fmt.Sprintf("this is not YAML that can be read (%v)", p)}
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, errAt(doc.Body, "a script is one document; remove the --- before this line")
		}
		root = doc.Body
	}
	if root == nil {
		return nil, &ParseError{Message: "the file is empty; begin with turns:"}
	}
	return root, nil
}

// checkTokens refuses what would let a small file grow (aliases, merges), what a
// script has no use for (tags, directives, complex keys), and nesting so deep
// that the recursive parser could run out of stack.
func checkTokens(tokens token.Tokens) error {
	flow, dashes, line := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return errAtToken(t, "anchors, aliases and merges are not used in scripts; write the value out")
		case token.TagType:
			return errAtToken(t, "tags are not used in scripts")
		case token.DirectiveType:
			return errAtToken(t, "directives are not used in scripts")
		case token.MappingKeyType:
			return errAtToken(t, "keys are plain names in scripts; remove the ?")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			// Only "- - -" on one line nests without indentation, which costs bytes.
			if t.Position != nil && t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		}
		if flow > maxDepth || dashes > maxDepth {
			return errAtToken(t, "this is nested too deeply; at most %d levels", maxDepth)
		}
	}
	return nil
}

func syntaxError(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return &ParseError{Message: firstLine(err.Error())}
	}
	if t := e.GetToken(); t != nil {
		return errAtToken(t, "%s", firstLine(e.GetMessage()))
	}
	return &ParseError{Message: firstLine(e.GetMessage())}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func errAt(n ast.Node, format string, args ...any) error {
	// A block mapping's own token is its first colon; people look at the key.
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return errAtToken(n.GetToken(), format, args...)
}

func errAtToken(t *token.Token, format string, args ...any) error {
	e := &ParseError{Message: fmt.Sprintf(format, args...)}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// A mapping is a YAML mapping whose keys are names.
type mapping struct {
	node    ast.Node
	entries []entry
}

type entry struct {
	key       string
	node      ast.Node // the key's
	value     ast.Node
	isNothing bool // "key:" with nothing behind it
}

// readMapping returns the entries of n; what says what n is meant to be.
func readMapping(n ast.Node, what string) (*mapping, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, errAt(n, "%s is a mapping of names to values, not %s", what, kindOf(n))
	}
	m := &mapping{node: n, entries: make([]entry, 0, len(values))}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		key, ok := scalarText(v.Key)
		if !ok {
			return nil, errAt(v.Key, "a key is a plain name, not %s", kindOf(v.Key))
		}
		if seen[key] {
			return nil, errAt(v.Key, "%s is given twice", key)
		}
		seen[key] = true
		_, isNull := v.Value.(*ast.NullNode)
		m.entries = append(m.entries, entry{key, v.Key, v.Value, v.Value == nil || isNull})
	}
	return m, nil
}

// A field reads the value of one key.
type field func(n ast.Node) error

// readFields reads every entry of m by the field of its name. allowed lists the
// names for people, in the order of the documentation.
func (m *mapping) readFields(what, allowed string, fields map[string]field) error {
	for _, e := range m.entries {
		read, ok := fields[e.key]
		if !ok {
			return errAt(e.node, "%s has no %q; it takes %s", what, e.key, allowed)
		}
		if e.isNothing {
			return errAt(e.node, "%s has no value", e.key)
		}
		if err := read(e.value); err != nil {
			return err
		}
	}
	return nil
}

func (m *mapping) has(key string) ast.Node {
	for _, e := range m.entries {
		if e.key == key {
			return e.node
		}
	}
	return nil
}

// scalarText returns a scalar as it was written.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	}
	return "this"
}

// text reads a text; numbers and the like count as the text they are written as.
func text(dst *string) field {
	return func(n ast.Node) error {
		s, ok := scalarText(n)
		if !ok {
			return errAt(n, "this is a text, not %s", kindOf(n))
		}
		*dst = s
		return nil
	}
}

// texts reads one text or a list of texts.
func texts(dst *[]string) field {
	return func(n ast.Node) error {
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			*dst = make([]string, 1)
			return text(&(*dst)[0])(n)
		}
		for _, v := range list.Values {
			var s string
			if err := text(&s)(v); err != nil {
				return err
			}
			*dst = append(*dst, s)
		}
		return nil
	}
}

func templated(dst *template) field {
	return func(n ast.Node) error {
		var s string
		if err := text(&s)(n); err != nil {
			return err
		}
		t, err := parseTemplate(s)
		if err != nil {
			return errAt(n, "%v", err)
		}
		*dst = t
		return nil
	}
}

func integer(dst *int64, low, high int64) field {
	return func(n ast.Node) error {
		s, _ := scalarText(n)
		_, isInt := n.(*ast.IntegerNode)
		i, err := parseInt(s)
		if !isInt || err != nil || i < low || i > high {
			return errAt(n, "this is a whole number from %d to %d", low, high)
		}
		*dst = i
		return nil
	}
}

func duration(dst *time.Duration) field {
	return func(n ast.Node) error {
		s, _ := scalarText(n)
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || d > maxDuration {
			return errAt(n, "this is a duration such as 20ms or 1.5s, at most %s", maxDuration)
		}
		*dst = d
		return nil
	}
}

func isTrue(dst *bool) field {
	return func(n ast.Node) error {
		b, ok := n.(*ast.BoolNode)
		if !ok || !b.Value {
			return errAt(n, "this is true, or left out")
		}
		*dst = true
		return nil
	}
}
