package parse

import (
	"strings"

	"rein.example/rein/dialect"
)

// read lets the grammar of a row read a block whose opener stands at s[start]
// and whose body begins at s[body]. It reports false where the body is not of
// the row's form, so that the next row may try; a body that is, but is broken
// or cut off, gives calls with problems.
func (r *reading) read(d *dialect.Dialect, start, body int) (block, bool) {
	switch d.Grammar {
	case dialect.JSON:
		if b, ok := r.readJSON(d, start, body); ok || !d.BuiltIns {
			return b, ok
		}
		return r.readBuiltIn(d, body)
	case dialect.Named:
		return r.readNamed(d, start, body)
	case dialect.XML:
		return r.readXML(d, start, body)
	case dialect.Pairs:
		return r.readPairs(d, start, body)
	case dialect.Tree:
		return r.readTree(d, start, body)
	case dialect.Sections:
		return r.readSections(d, start, body)
	case dialect.Messages:
		return r.readMessages(d, start, body)
	case dialect.Python:
		return r.readPython(d, start, body)
	case dialect.Braces:
		return r.readBraces(d, start, body)
	}
	return block{}, false
}

// mayBegin reports whether the body of a row's block can begin with what stands
// behind the opener, without white space. Hostile texts repeat openers, and most of
// what follows them is told apart by a byte or two.
func mayBegin(d *dialect.Dialect, opener, rest string) bool {
	var c, next byte
	if rest != "" {
		c = rest[0]
	}
	if len(rest) > 1 {
		next = rest[1]
	}
	switch d.Grammar {
	case dialect.JSON:
		return c == '{' || c == '[' || d.BuiltIns || strings.HasSuffix(opener, "[")
	case dialect.Tree:
		return !d.Bare || c == '<' && wordByte(next)
	case dialect.Pairs:
		return c == '{' || c == '[' || toolishByte(c) || strings.HasPrefix(rest, "<tool_call")
	}
	return true
}
