package dialect

import "strings"

// turnMarks begin or end a result or a turn of some chat template: a server that
// fills its template with the text of a message, and only then looks for tokens,
// takes them for the real ones wherever they stand.
var turnMarks = []string{
	"<tool_response>", "</tool_response>", "<start_of_turn>", "<end_of_turn>", "</s>", "[INST]", "[/INST]",
	"[TOOL_RESULTS]", "[/TOOL_RESULTS]",
}

// lineLabels begin a part of a turn at the beginning of a line.
var lineLabels = []string{"Observation:", "Thought:", "Action:", "Action Input:", "Final Answer:"}

// inertTokens returns s with a backslash after the first character of every mark
// of a turn or result in it, and one more in those that have some there already.
func inertTokens(s string) string {
	var out []byte
	from, at := 0, 0
	for {
		i := strings.IndexAny(s[at:], "<[")
		if i < 0 {
			break
		}
		at += i + 1
		rest := at
		for rest < len(s) && s[rest] == '\\' {
			rest++
		}
		if token(s[at-1], s[rest:]) {
			out = append(append(out, s[from:at]...), '\\')
			from = at
		}
		at = rest
	}
	if out == nil {
		return s
	}
	return string(append(out, s[from:]...))
}

// token reports whether the byte first, followed by rest, is a mark.
func token(first byte, rest string) bool {
	for _, m := range turnMarks {
		if m[0] == first && strings.HasPrefix(rest, m[1:]) {
			return true
		}
	}
	return first == '<' && (special(rest, "|") || special(rest, "｜"))
}

// maxToken bounds the name of a special token, in characters; the longest that is
// known has some 30.
const maxToken = 48

// special reports whether rest is that of a special token, such as "|im_end|>",
// with the given bar.
func special(rest, bar string) bool {
	name, ok := strings.CutPrefix(rest, bar)
	if !ok {
		return false
	}
	n := 0
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '▁':
			if n++; n > maxToken {
				return false
			}
		default:
			return n > 0 && strings.HasPrefix(name[i:], bar) && strings.HasPrefix(name[i+len(bar):], ">")
		}
	}
	return false
}

// inertLabels returns s with a backslash before every label at the beginning of a
// line, and one more before those that have some.
func inertLabels(s string) string {
	var out []byte
	from := 0
	for line := 0; ; {
		at := line
		for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
			at++
		}
		rest := at
		for rest < len(s) && s[rest] == '\\' {
			rest++
		}
		for _, l := range lineLabels {
			if strings.HasPrefix(s[rest:], l) {
				out = append(append(out, s[from:at]...), '\\')
				from = at
				break
			}
		}
		next := strings.IndexAny(s[rest:], "\n\r")
		if next < 0 {
			break
		}
		line = rest + next + 1
	}
	if out == nil {
		return s
	}
	return string(append(out, s[from:]...))
}
