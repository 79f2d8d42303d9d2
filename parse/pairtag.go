package parse

import "strings"

// pairTag is a tag of a dialect of pairs.
type pairTag struct {
	base   string // empty: none
	shut   bool
	end    int
	suffix bool // the model's own suffix, as in <arg_key:opensource>
}

// pairTagAt reads the tag at s[i], if it is one of a dialect of pairs.
func pairTagAt(s string, i int) (t pairTag) {
	if i >= len(s) || s[i] != '<' {
		return t
	}
	j := i + 1
	if j < len(s) && s[j] == '/' {
		t.shut, j = true, j+1
	}
	for _, base := range [...]string{"arg_key", "arg_value", "tool_calls", "tool_call", "tool_sep"} {
		rest, ok := strings.CutPrefix(s[j:], base)
		if !ok {
			continue
		}
		n := 0
		if rest != "" && rest[0] == ':' {
			n = word(rest, 1)
		}
		if n < len(rest) && rest[n] == '>' {
			t.base, t.suffix, t.end = base, n > 0, j+len(base)+n+1
			return t
		}
	}
	return pairTag{}
}

// tornTag reports whether the text ends in a tag that begins at s[i].
func tornTag(s string, i int) bool {
	return i < len(s) && s[i] == '<' && len(s)-i < maxTag && !strings.ContainsAny(s[i:], "> \n")
}
