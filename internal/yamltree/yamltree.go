// Package yamltree answers: what does a YAML file that a person wrote say, and
// at which line and column?
//
// It reads one document into a small tree. What lets a small file grow or hides
// what it means (anchors, aliases, merges, tags, directives, keys that are not
// plain names, a key given twice) is refused, and so is a file that is too large
// or too deep for the parser.
package yamltree

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Kind says what a [Node] is.
type Kind string

// The kinds of nodes, in the words that are shown to people.
const (
	Null    Kind = "nothing"
	Bool    Kind = "true or false"
	Int     Kind = "a whole number"
	Float   Kind = "a number"
	Text    Kind = "text"
	List    Kind = "a list"
	Mapping Kind = "a mapping"
)

// Node is one value of the document. A mapping stands where its first key does.
type Node struct {
	Kind Kind
	Pos
	// Scalar is the value of text, and of the other scalars their JSON: "true",
	// "-12", "0.5". Written is how they stand in the file: "True", "-012", "0.50".
	Scalar, Written string
	// Items are those of a list, Entries those of a mapping, as written.
	Items   []*Node
	Entries []Entry
}

// Entry is a key of a mapping and its value.
type Entry struct {
	Key string
	// Pos is the key's.
	Pos
	Value *Node
}

// Pos is a place in the file: both count from 1; the column counts characters.
type Pos struct{ Line, Column int }

// Limits bound what is read.
type Limits struct {
	// Bytes is the size of the file; Depth how far values may be nested.
	Bytes, Depth int
}

// Error says what is wrong with a file. Line is 0 where it is the whole file.
type Error struct {
	Pos
	Message string
}

// Error returns the place and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Parse reads the one document in data. An empty document is a node of kind
// [Null]. The error is always an [*Error].
func Parse(data []byte, l Limits) (root *Node, err error) {
	if len(data) > l.Bytes {
		return nil, &Error{Message: fmt.Sprintf("the file has %d bytes, and at most %d are read", len(data), l.Bytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkText(data); err != nil {
		return nil, err
	}
	// The library meets raw text here, and odd input has made it panic before.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &Error{Message: fmt.Sprintf("the file cannot be read as YAML (%v)", p)}
		}
	}()
	tokens := joinPlain(lexer.Tokenize(string(data)), string(data))
	if err := checkTokens(tokens, l.Depth); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	return document(file, l.Depth)
}

// checkText refuses bytes that are not text, which a parser would pass on.
func checkText(data []byte) error {
	for i, line := range bytes.Split(data, []byte("\n")) {
		for col := 0; len(line) > 0; col++ {
			r, n := utf8.DecodeRune(line)
			if r == utf8.RuneError && n == 1 {
				return &Error{Pos{i + 1, col + 1}, "this is not UTF-8 text; save the file as UTF-8"}
			}
			if r < ' ' && r != '\t' && r != '\r' || r == 0x7f {
				return &Error{Pos{i + 1, col + 1}, fmt.Sprintf("the control character %#02x does not belong here", r)}
			}
			line = line[n:]
		}
	}
	return nil
}

// checkTokens refuses what this reader leaves out, and nesting that the
// library's recursive parser takes too long over: without indentation, which
// costs bytes, only brackets and "- - -" nest.
func checkTokens(tokens token.Tokens, depth int) error {
	flow, dashes, line := 0, 0, 0
	for _, t := range tokens {
		refuse := ""
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			refuse = "anchors, aliases and merges are not read; write the value out"
		case token.TagType:
			refuse = "tags are not read; take it out"
		case token.DirectiveType:
			refuse = "directives are not read; take it out"
		case token.MappingKeyType:
			refuse = "keys are plain names; take the ? out"
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		}
		if flow > depth || dashes > depth {
			refuse = tooDeep(depth)
		}
		if refuse != "" {
			return &Error{tokenPos(t), refuse}
		}
	}
	return nil
}

// joinPlain puts together what the library's lexer takes apart: inside braces it
// splits a:b into a key and a value, where YAML wants a space after the colon.
// "allow: [effect:read]" has to mean the same inside braces and outside.
func joinPlain(tokens token.Tokens, text string) token.Tokens {
	lines := strings.Split(text, "\n")
	var out token.Tokens
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if n := len(out); n > 0 && i+1 < len(tokens) && t.Type == token.MappingValueType &&
			plain(out[n-1]) && plain(tokens[i+1]) && inWord(lines, t.Position) {
			left, right := out[n-1], tokens[i+1]
			joined := token.New(left.Value+":"+right.Value, left.Origin+t.Origin+right.Origin, left.Position)
			out = out[:n-1]
			t, i = joined, i+1
		}
		out.Add(t)
	}
	return out
}

// plain reports whether the token is a scalar without quotes.
func plain(t *token.Token) bool {
	switch t.Type {
	case token.StringType, token.BoolType, token.NullType, token.IntegerType, token.BinaryIntegerType,
		token.OctetIntegerType, token.HexIntegerType, token.FloatType, token.InfinityType, token.NanType:
		return true
	}
	return false
}

// inWord reports whether the character after the colon at pos belongs to the
// same word.
func inWord(lines []string, pos *token.Position) bool {
	if pos.Line < 1 || pos.Line > len(lines) {
		return false
	}
	line := []rune(lines[pos.Line-1])
	if pos.Column < 1 || pos.Column >= len(line) || line[pos.Column-1] != ':' {
		return false
	}
	return !strings.ContainsRune(" \t\r,[]{}", line[pos.Column])
}

func tooDeep(depth int) string {
	return fmt.Sprintf("this is nested too deeply; at most %d levels are read", depth)
}

func syntaxError(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return &Error{Message: firstLine(err.Error())}
	}
	return &Error{tokenPos(e.GetToken()), plainly(firstLine(e.GetMessage()))}
}

// plainly says in words of this file's writer what the library says in those of
// the YAML specification; what it does not know stays as it is.
func plainly(message string) string {
	for _, m := range []struct{ has, say string }{
		{"found character '\t'", "a tab stands here; indent with spaces, two for each level"},
		{"end token ']'", "the list in brackets that begins here is not closed; close it with ]"},
		{"end token '}'", "the mapping in braces that begins here is not closed; close it with }"},
		{"',' or ']' must be specified", "a list in brackets is not closed before this; close it with ], or put a comma between its entries"},
		{"',' or '}' must be specified", "a mapping in braces is not closed before this; close it with }, or put a comma between its entries"},
		{"could not find '[' character", "this ] closes nothing; open the list with [, or put the text in quotes"},
		{"could not find '{' character", "this } closes nothing; open the mapping with {, or put the text in quotes"},
		{"end character of double-quoted text", "the text in quotes that begins here does not end; close it with \""},
		{"end character of single-quoted text", "the text in quotes that begins here does not end; close it with '"},
		{"unexpected key name", "a setting is expected here, as name: value; is a colon and a space missing before this?"},
		{"non-map value is specified", "a setting is expected here, as name: value, with a colon and a space; or indent the line if it belongs to the one above"},
		{"mapping value is not allowed", "a second colon makes this a setting inside a value; put a text with a colon in quotes, begin the setting on a line of its own, or take the spaces before it out"},
		{"block sequence entries are not allowed", "an entry with a dash is expected on a line of its own, below the setting"},
		{"value is not allowed in this context", "this line is indented unlike those that it stands with; begin all settings, or all dashes, of one level in the same column"},
		{"is a reserved character", "a text cannot begin with this character; put it in quotes"},
		{"unknown escape character", `\ before this character means nothing in double quotes; write \\, or use single quotes`},
	} {
		if strings.Contains(message, m.has) {
			return m.say
		}
	}
	return message
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func tokenPos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

func document(file *ast.File, depth int) (*Node, error) {
	root := &Node{Kind: Null, Pos: Pos{1, 1}}
	seen := false
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		n, err := convert(doc.Body, depth)
		if err != nil {
			return nil, err
		}
		if seen {
			return nil, &Error{n.Pos, "a second document begins here; take out the --- before it"}
		}
		root, seen = n, true
	}
	return root, nil
}

// convert returns the tree below n, which may be depth levels deep.
func convert(n ast.Node, depth int) (*Node, error) {
	t := n.GetToken()
	pos := tokenPos(t)
	if depth < 0 {
		return nil, &Error{pos, "this is nested too deeply"}
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return &Node{Kind: Null, Pos: pos, Scalar: "null", Written: t.Value}, nil
	case *ast.BoolNode:
		return &Node{Kind: Bool, Pos: pos, Scalar: strconv.FormatBool(n.Value), Written: t.Value}, nil
	case *ast.IntegerNode:
		return &Node{Kind: Int, Pos: pos, Scalar: fmt.Sprint(n.Value), Written: t.Value}, nil
	case *ast.FloatNode:
		return floatNode(n, pos)
	case *ast.StringNode:
		return &Node{Kind: Text, Pos: pos, Scalar: n.Value, Written: n.Value}, nil
	case *ast.LiteralNode:
		return &Node{Kind: Text, Pos: pos, Scalar: n.Value.Value, Written: n.Value.Value}, nil
	case *ast.SequenceNode:
		return listNode(n, pos, depth)
	case *ast.MappingNode:
		return mappingNode(n.Values, pos, depth)
	case *ast.MappingValueNode:
		return mappingNode([]*ast.MappingValueNode{n}, pos, depth)
	case *ast.InfinityNode, *ast.NanNode:
		return nil, &Error{pos, "infinity and nan are not numbers that can be used here"}
	}
	return nil, &Error{pos, fmt.Sprintf("a YAML %s is not read here", n.Type())}
}

func floatNode(n *ast.FloatNode, pos Pos) (*Node, error) {
	if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
		return nil, &Error{pos, "this number is too large"}
	}
	text := strconv.FormatFloat(n.Value, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0" // so that it still looks like what was written
	}
	return &Node{Kind: Float, Pos: pos, Scalar: text, Written: n.GetToken().Value}, nil
}

func listNode(n *ast.SequenceNode, pos Pos, depth int) (*Node, error) {
	list := &Node{Kind: List, Pos: pos}
	for _, v := range n.Values {
		item, err := convert(v, depth-1)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

func mappingNode(values []*ast.MappingValueNode, pos Pos, depth int) (*Node, error) {
	m := &Node{Kind: Mapping, Pos: pos}
	seen := map[string]bool{}
	for i, v := range values {
		key, err := convert(v.Key, 0)
		if err != nil {
			return nil, err
		}
		if key.Kind == Null || key.Kind == List || key.Kind == Mapping {
			return nil, &Error{key.Pos, "a key is a plain name"}
		}
		if seen[key.Scalar] {
			return nil, &Error{key.Pos, fmt.Sprintf("the key %q is given twice", key.Scalar)}
		}
		seen[key.Scalar] = true
		value, err := convert(v.Value, depth-1)
		if err != nil {
			return nil, err
		}
		if value.Kind == Null || value.Line == 0 {
			value.Pos = key.Pos // "key:" with nothing after it stands nowhere
		}
		if i == 0 {
			m.Pos = key.Pos // the parser gives the place of a colon or brace
		}
		m.Entries = append(m.Entries, Entry{Key: key.Scalar, Pos: key.Pos, Value: value})
	}
	return m, nil
}
