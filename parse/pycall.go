package parse

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// RepairSole: a value without a name is taken for the tool's only parameter, or,
// if it is an object of the tool's parameters, for all of them. Lossless.
const RepairSole = "sole_parameter"

// pyCall reads the arguments of one call, from behind the opening parenthesis.
type pyCall struct {
	s string
	i int // what is read next
	// node is what the tool declares of its arguments.
	node schema.Node

	args    string
	repairs []event.Repair
	out     []byte
	// lone is a value that has no name; named counts the others.
	lone  string
	named int
}

// read reads to the closing parenthesis. Only with whole are there args, a JSON
// object; otherwise c.i is the index of the fault.
func (c *pyCall) read() state {
	c.out = append(make([]byte, 0, 64), '{')
	for {
		c.i = pyGap(c.s, c.i)
		if c.i >= len(c.s) {
			return cut
		}
		if c.s[c.i] == ')' {
			c.i++
			return c.object()
		}
		if st := c.argument(); st != whole {
			return st
		}
		if c.i = pyGap(c.s, c.i); c.i >= len(c.s) {
			return cut
		}
		switch c.s[c.i] {
		case ',':
			c.i++
		case ')':
		default:
			return broken
		}
	}
}

// argument reads name=value, **{…}, or a value alone.
func (c *pyCall) argument() state {
	if strings.HasPrefix(c.s[c.i:], "**") {
		c.i += 2
		text, st := c.value()
		if st == whole && text[0] != '{' {
			return broken
		}
		if st == whole {
			c.members(text[1 : len(text)-1])
		}
		return st
	}
	if name, at := keyword(c.s, c.i); name != "" {
		if at == len(c.s) {
			c.i = at
			return cut
		}
		if c.s[at] == '=' {
			c.i = skip(c.s, at+1)
			text, st := c.value()
			if st == whole {
				c.comma()
				c.out = append(append(jsonString(c.out, name), ':'), text...)
			}
			return st
		}
	}
	text, st := c.value()
	if st == whole && c.lone != "" {
		return broken // which is which?
	}
	c.lone = text
	return st
}

// value reads one value.
func (c *pyCall) value() (string, state) {
	text, end, st, repairs := pyMend(c.s, c.i)
	c.i = end
	for _, r := range repairs {
		c.repairs = repaired(c.repairs, r)
	}
	return text, st
}

// repaired adds a repair, each kind once.
func repaired(list []event.Repair, r event.Repair) []event.Repair {
	for i := range list {
		if list[i].Kind == r.Kind {
			return list
		}
	}
	return append(list, r)
}

// members adds members to the object.
func (c *pyCall) members(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.comma()
	c.out = append(c.out, text...)
}

// comma begins another member.
func (c *pyCall) comma() {
	if c.named++; c.named > 1 {
		c.out = append(c.out, ',')
	}
}

// object closes the object. It is broken if a name stands twice, or if a value
// has none and nobody can say which it would be.
func (c *pyCall) object() state {
	c.out = append(c.out, '}')
	if c.lone != "" {
		if c.named > 0 {
			return broken
		}
		args, ok := sole(c.lone, c.node)
		if !ok {
			return broken
		}
		c.out = append(c.out[:0], args...)
		c.repairs = append(c.repairs, event.Repair{Kind: RepairSole})
	}
	if c.args = string(c.out); len(c.out) > len("{}") && !jsontext.Value(c.out).IsValid() {
		return broken // a name stands twice
	}
	return whole
}

// sole returns the arguments that one JSON value without a name stands for.
func sole(text string, node schema.Node) (args string, ok bool) {
	names := node.Names()
	if text[0] == '{' && (len(names) != 1 || !node.Member(names[0]).Kinds().Has(schema.Object)) {
		return text, allDeclared(text, node, len(names))
	}
	if len(names) != 1 {
		return "", false
	}
	return "{" + string(jsonString(nil, names[0])) + ":" + text + "}", true
}

// allDeclared reports whether an object has only members that are declared
// there; n is how many are. Any will do where none is.
func allDeclared(text string, node schema.Node, n int) bool {
	for m := newMembers(text); n > 0; {
		name, _, ok := m.next()
		if !ok {
			break
		}
		if !node.Declared(name) {
			return false
		}
	}
	return true
}

// jsonString appends s as a JSON string.
func jsonString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only tells of U+FFFD
	return dst
}

// keyword returns the name at s[i] that can be that of an argument, and the
// index of what follows it and blanks.
func keyword(s string, i int) (name string, at int) {
	from := i
	for i < len(s) && (letter(s[i]) || i > from && (s[i] == '-' || s[i] == '.') || s[i] >= 0x80) {
		i++
	}
	if i == from || '0' <= s[from] && s[from] <= '9' {
		return "", from
	}
	if at = skip(s, i); at+1 < len(s) && s[at] == '=' && s[at+1] == '=' {
		return "", from
	}
	return s[from:i], at
}

// maxToolName is the longest name of a tool that is looked for, in bytes: names
// on the wires have at most 128.
const maxToolName = 256

// pyName returns the name of a tool at s[i], and the index after it.
func pyName(s string, i int) (name string, end int) {
	from, number := i, true
	for ; i < len(s) && i-from <= maxToolName && (letter(s[i]) || i > from && strings.IndexByte("-.:/", s[i]) >= 0); i++ {
		number = number && s[i] <= '9'
	}
	if number || i-from > maxToolName {
		return "", from
	}
	return s[from:i], i
}

// pyArgued reports whether what stands behind a parenthesis reads as arguments:
// whether it is the end, a named argument or the end of the text; and whether it
// is a value.
func pyArgued(s string, i int) (named, value bool) {
	i = pyGap(s, i)
	if i == len(s) || s[i] == ')' || strings.HasPrefix(s[i:], "**{") {
		return i < len(s), true
	}
	if name, at := keyword(s, i); name != "" && at < len(s) && s[at] == '=' {
		return true, true
	}
	c := s[i]
	return false, c == '"' || c == '\'' || c == '{' || c == '[' || '0' <= c && c <= '9'
}

// pySkip returns the index after the parenthesis that closes the one before
// s[i]. It reports false where a quote leaves a doubt: then what looks like
// the next call may be part of a text.
func pySkip(s string, i int) (end int, ok bool) {
	depth := 0
	before := byte('(')
	for i = skip(s, i); i < len(s); i = skip(s, i) {
		c := s[i]
		switch {
		case c == '\'' || c == '"':
			if strings.IndexByte("=([{,:", before) < 0 {
				return 0, false
			}
			_, next, st, _ := pyMend(s, i)
			if st != whole {
				return 0, false
			}
			if i = skip(s, next); i < len(s) && strings.IndexByte(",:)]}", s[i]) < 0 {
				return 0, false
			}
			before = '"'
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' && depth == 0:
			return i + 1, true
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		before = c
		i++
	}
	return 0, false
}
