package guard

import (
	"errors"
	"fmt"
	"strings"
)

// pattern matches tool names: literal pieces with any run of characters between
// them. Matching is linear in the name for any pattern, since each piece is
// looked for once, at the first place where it fits.
type pattern struct {
	// text is the pattern as written, with runs of * as one.
	text string
	// pieces are the literal parts; the first begins the name and the last ends
	// it, so either may be empty. One piece means that there is no *.
	pieces []string
}

// cutEffect returns what follows "effect:".
func cutEffect(match string) (string, bool) { return strings.CutPrefix(match, "effect:") }

func newPattern(s string) (pattern, error) {
	switch {
	case s == "":
		return pattern{}, errors.New(`nothing to match: write a tool name such as read_file, a pattern such as write_*, or effect:read`)
	case len(s) > MaxPattern:
		return pattern{}, fmt.Errorf("the pattern has %d bytes, and no tool name more than 64", len(s))
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '*' && c != '_' && c != '-' &&
			(c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return pattern{}, fmt.Errorf("no tool name holds what stands at position %d: write letters, digits, _ and -, with * for any run of them, or effect:CLASS", i+1)
		}
	}
	for strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "*")
	}
	return pattern{text: s, pieces: strings.Split(s, "*")}, nil
}

// match reports whether the name is of the pattern.
func (p *pattern) match(name string) bool {
	last := len(p.pieces) - 1
	if last == 0 {
		return name == p.text
	}
	rest, ok := strings.CutPrefix(name, p.pieces[0])
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, p.pieces[last]); !ok {
		return false
	}
	for _, piece := range p.pieces[1:last] {
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
	}
	return true
}

// covers reports whether the pattern matches every name that q matches. A * in
// q stands for what only a * can match, so matching q's text as if it were a
// name decides it. The answer is never wrongly yes.
func (p *pattern) covers(q *pattern) bool { return p.match(q.text) }
