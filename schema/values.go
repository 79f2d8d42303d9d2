package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The readers of keywords' values: each reports a value of the wrong form.

func (c *compiler) list(r *rule, name string, at int32, f func(int, int32)) {
	if c.tree.nodes[at].kind != kindArray {
		c.fail(r, name, "must be a list")
		return
	}
	i := 0
	for item := c.tree.nodes[at].first; item != none; item = c.tree.nodes[item].next {
		f(i, item)
		i++
	}
}

func (c *compiler) members(r *rule, name string, at int32, f func(name []byte, at int32, pointer string)) {
	if c.tree.nodes[at].kind != kindObject {
		c.fail(r, name, "must be an object")
		return
	}
	for i := c.tree.nodes[at].first; i != none; i = c.tree.nodes[i].next {
		key := slices.Clone(c.tree.bytes(c.tree.nodes[i].name))
		p := jsontext.Pointer(r.pointer + "/" + name).AppendToken(string(key))
		f(key, i, string(p))
	}
}

func (c *compiler) strings(r *rule, name string, at int32) [][]byte {
	var out [][]byte
	c.list(r, name, at, func(_ int, i int32) {
		if s, ok := c.str(r, name, i); ok {
			out = append(out, []byte(s))
		}
	})
	return out
}

func (c *compiler) str(r *rule, name string, at int32) (string, bool) {
	if c.tree.nodes[at].kind != kindString {
		c.fail(r, name, "must be a string")
		return "", false
	}
	return string(c.tree.bytes(c.tree.nodes[at].text)), true
}

func (c *compiler) boolean(r *rule, name string, at int32) bool {
	n := &c.tree.nodes[at]
	if n.kind != kindBool {
		c.fail(r, name, "must be true or false")
	}
	return n.isTrue()
}

func (c *compiler) num(r *rule, name string, at int32) *num {
	n := &c.tree.nodes[at]
	if n.kind != kindNumber {
		c.fail(r, name, "must be a number")
		return nil
	}
	v := parseNum(c.tree.bytes(n.text)).clone()
	if v.digits() > maxDigits {
		c.fail(r, name, "has more than %d digits", maxDigits)
	}
	return &v
}

// size reads a count; ones beyond 2^53 are as good as none.
func (c *compiler) size(r *rule, name string, at int32) int64 {
	v := c.num(r, name, at)
	if v == nil {
		return -1
	}
	if v.neg || !v.integer() {
		c.fail(r, name, "must be an integer of at least 0")
		return -1
	}
	if v.top > 15 {
		return 1 << 53
	}
	digits := make([]byte, 0, 16)
	for i := range int(v.top) {
		if i < v.digits() {
			digits = append(digits, v.digit(i))
		} else {
			digits = append(digits, '0')
		}
	}
	size, _ := strconv.ParseInt("0"+string(digits), 10, 64)
	return size
}

func (c *compiler) types(r *rule, at int32) kind {
	one := func(i int32) kind {
		s, _ := c.str(r, "type", i)
		k, ok := kindNames[s]
		if !ok {
			c.fail(r, "type", "%q is not a type: use null, boolean, integer, number, string, array or object", s)
		}
		return k
	}
	if c.tree.nodes[at].kind != kindArray {
		return one(at)
	}
	var set kind
	c.list(r, "type", at, func(_ int, i int32) { set |= one(i) })
	if set == 0 {
		c.fail(r, "type", "must not be empty")
	}
	return set
}

var kindNames = map[string]kind{
	"null": kindNull, "boolean": kindBool, "number": kindNumber, "integer": kindInteger,
	"string": kindString, "array": kindArray, "object": kindObject,
}

func (c *compiler) constant(at int32) constant {
	n := &c.tree.nodes[at]
	text := c.tree.canonical(nil, at)
	k := constant{kind: n.kind, bool: n.isTrue(), show: excerpt(text), value: short(text)}
	switch n.kind {
	case kindString:
		k.text = slices.Clone(c.tree.bytes(n.text))
	case kindNumber:
		k.num = parseNum(c.tree.bytes(n.text)).clone()
	case kindArray, kindObject:
		k.exact = c.tree.exact(nil, at)
	}
	return k
}

// sample returns the first of the values that examples lists. It is an
// annotation: one of another form is no fault of the schema.
func (c *compiler) sample(at int32) []byte {
	n := &c.tree.nodes[at]
	if n.kind != kindArray || n.first == none {
		return nil
	}
	return short(c.tree.canonical(nil, n.first))
}

// short returns a text that fits into an example, or nil.
func short(text []byte) []byte {
	if len(text) > maxExample {
		return nil
	}
	return text
}

// regexp compiles a pattern, which JSON Schema takes from ECMAScript. Go reads
// the common part of the two; \uXXXX is the one difference that is bridged.
func (c *compiler) regexp(r *rule, name, s string) *regexp.Regexp {
	if len(s) > maxPattern {
		c.fail(r, name, "pattern has %d bytes; at most %d are taken", len(s), maxPattern)
		return nil
	}
	re, err := regexp.Compile(goPattern(s))
	if err != nil {
		c.fail(r, name, "pattern %q: %s: %w", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "), ErrUnsupported)
		return nil
	}
	return re
}

// goPattern writes \uXXXX as \x{XXXX}.
func goPattern(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case s[i+1] == 'u' && i+6 <= len(s) && isHex(s[i+2:i+6]):
			b.WriteString(`\x{` + s[i+2:i+6] + `}`)
			i += 5
		default:
			b.WriteString(s[i : i+2])
			i++
		}
	}
	return b.String()
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
