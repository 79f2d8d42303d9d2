package schema

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the JSON text in the form of RFC 8785: members in the order
// of their names as UTF-16, no white space, strings with the fewest escapes,
// numbers as ECMAScript writes them. Equal values have equal canonical texts.
//
// As the RFC demands, a number becomes the nearest double; one outside the
// range of doubles is an error. Duplicate names, invalid UTF-8 and texts beyond
// [MaxBytes] and [MaxDepth] are errors. An error is a [*TextError].
func Canonical(raw []byte) ([]byte, error) {
	var t tree
	root, err := t.parse(raw)
	if err != nil {
		return nil, err
	}
	return t.canonical(make([]byte, 0, len(raw)), root), nil
}

// canonical appends the canonical form of a node.
func (t *tree) canonical(dst []byte, at int32) []byte {
	n := &t.nodes[at]
	switch n.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindBool:
		return strconv.AppendBool(dst, n.isTrue())
	case kindNumber:
		return t.canonicalNumber(dst, n)
	case kindString:
		return t.quote(dst, n.text, n.raw)
	case kindArray:
		dst = append(dst, '[')
		for i := n.first; i != none; i = t.nodes[i].next {
			if i != n.first {
				dst = append(dst, ',')
			}
			dst = t.canonical(dst, i)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i := n.first; i != none; i = t.nodes[i].next {
			if i != n.first {
				dst = append(dst, ',')
			}
			m := &t.nodes[i]
			dst = append(t.quote(dst, m.name, m.rawName), ':')
			dst = t.canonical(dst, i)
		}
		return append(dst, '}')
	}
}

func (t *tree) canonicalNumber(dst []byte, n *node) []byte {
	v := t.bytes(n.text)
	if n.raw {
		return append(dst, v...)
	}
	f, _ := strconv.ParseFloat(string(v), 64) // checked when it was parsed
	if f == 0 {
		f = 0 // no -0
	}
	return jsontext.AppendFloat(dst, f, 64)
}

func (t *tree) quote(dst []byte, s span, raw bool) []byte {
	if raw {
		dst = append(dst, '"')
		dst = append(dst, t.bytes(s)...)
		return append(dst, '"')
	}
	dst, _ = jsontext.AppendQuote(dst, t.bytes(s)) // valid UTF-8, or it would not have been parsed
	return dst
}

// inexact reports whether the number's canonical form stands for another
// number than the text does.
func (t *tree) inexact(n *node) bool {
	if n.raw {
		return false
	}
	return parseNum(t.bytes(n.text)).compare(parseNum(t.canonicalNumber(nil, n))) != 0
}

// exact appends a text that is equal for two values if, and only if, the values
// are equal, without rounding numbers. It is not JSON.
func (t *tree) exact(dst []byte, at int32) []byte {
	n := &t.nodes[at]
	switch n.kind {
	case kindNumber:
		return parseNum(t.bytes(n.text)).exact(dst)
	case kindArray, kindObject:
		dst = append(dst, "[{"[n.kind>>5])
		for i := n.first; i != none; i = t.nodes[i].next {
			m := &t.nodes[i]
			if n.kind == kindObject {
				dst = append(t.quote(dst, m.name, m.rawName), ':')
			}
			dst = append(t.exact(dst, i), ',')
		}
		return append(dst, "]}"[n.kind>>5])
	default:
		return t.canonical(dst, at)
	}
}

func (n num) exact(dst []byte) []byte {
	if n.neg {
		dst = append(dst, '-')
	}
	dst = append(append(dst, n.a...), n.b...)
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, n.top, 10)
}
