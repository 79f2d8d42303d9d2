package parse

import "strings"

// maxTag is how long a tag can be, in bytes. Longer ones are text.
const maxTag = 1024

// tag is the tag of an element as models write it: in any namespace, with
// DeepSeek's bars, with a name behind an equals sign, with attributes in quotes
// of either kind or in none, fused with them, or without its '>'.
type tag struct {
	from, end int
	// shut: it closes an element. empty: it closes its own.
	shut, empty bool
	// space is its namespace, which DeepSeek's bars stand for too; base is its
	// name without it.
	space, base string
	// assigned: name stands behind an equals sign, as in <function=read_file>.
	assigned bool
	// named: name is the value behind the equals sign or of the attribute name.
	named bool
	name  string
	// text is the attribute string, "true" or "false".
	text string
	// marks: white space in it is written in a tokenizer's letters.
	marks bool
	// torn: the text ends in it. bare: its '>' is missing.
	torn, bare bool
}

// dsmlSpace is the namespace of tags in DeepSeek's bars.
const dsmlSpace = "DSML"

// spaceAt returns the length of the white space at s[i], which in tags may be
// written in the letters that some tokenizers have for it.
func spaceAt(s string, i int) (n int, letter bool) {
	if i < len(s) && blank(s[i]) {
		return 1, false
	}
	if strings.HasPrefix(s[min(i, len(s)):], "Ġ") || strings.HasPrefix(s[min(i, len(s)):], "Ċ") {
		return len("Ġ"), true
	}
	return 0, false
}

// over steps over white space in the tag.
func (t *tag) over(s string, i int) int {
	for {
		n, letter := spaceAt(s, i)
		if n == 0 {
			return i
		}
		t.marks = t.marks || letter
		i += n
	}
}

// word returns the index after the name at s[i].
func word(s string, i int) int {
	for i < len(s) && (wordByte(s[i]) || s[i] == '.' || s[i] == '-') {
		i++
	}
	return i
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// tagAt reads the tag at s[i], which is '<', and says false where none stands. It
// looks at no more than maxTag bytes.
func tagAt(s string, i int) (t tag, ok bool) {
	rest := s
	if len(s)-i > maxTag {
		rest = s[:i+maxTag]
	}
	if !tagBegins(s, i) {
		return tag{}, false
	}
	t.from = i
	j := i + 1
	if rest[j] == '/' {
		t.shut, j = true, j+1
	}
	j = t.bars(rest, j)
	start := j
	j = word(rest, j)
	if j == start || '0' <= rest[start] && rest[start] <= '9' {
		return tag{}, false
	}
	t.base = rest[start:j]
	if j+1 < len(rest) && rest[j] == ':' && wordByte(rest[j+1]) && t.space == "" {
		t.space = t.base
		start, j = j+1, word(rest, j+1)
		t.base = rest[start:j]
	}
	t.fused()
	if t.attributes(rest, j) {
		return t, true
	}
	return t, t.torn && len(rest) == len(s)
}

// tagBegins reports whether the '<' at s[i] may begin a tag, by what follows it.
func tagBegins(s string, i int) bool {
	if i++; i < len(s) && s[i] == '/' {
		i++
	}
	return i < len(s) && (wordByte(s[i]) || s[i] == '|' || s[i] == "｜"[0])
}

// tagAt is tagAt of the text, for readers that look at the same place in turn.
func (r *reading) tagAt(i int) (tag, bool) {
	if !tagBegins(r.s, i) {
		return tag{}, false
	}
	if l := &r.lastTag; l.from != i || !l.looked {
		l.tag, l.ok = tagAt(r.s, i)
		l.from, l.looked = i, true
	}
	return r.lastTag.tag, r.lastTag.ok
}

// bars reads DeepSeek's name for its markup, in bars of either kind, any number
// of them or none, with white space around, and returns the index after it, or i.
func (t *tag) bars(s string, i int) int {
	j := i
	bar := func() {
		for j < len(s) {
			switch {
			case s[j] == '|' || s[j] == ' ':
				j++
			case strings.HasPrefix(s[j:], "｜"):
				j += len("｜")
			default:
				return
			}
		}
	}
	bar()
	if !strings.HasPrefix(s[j:], dsmlSpace) {
		return i
	}
	j += len(dsmlSpace)
	if j < len(s) && (s[j] == ':' || s[j] == '_') {
		j++
	}
	bar()
	if j < len(s) && s[j] == '/' {
		t.shut, j = true, j+1
	}
	t.space = dsmlSpace
	return j
}

// fused takes apart the name of a tag whose space was lost: <functionname="f">.
func (t *tag) fused() {
	if base, ok := strings.CutSuffix(t.base, "name"); ok && (callTag(base) || paramTag(base)) {
		t.base, t.marks = base, true
		t.named = true
	}
}

// attributes reads what stands behind the tag's name.
func (t *tag) attributes(s string, i int) bool {
	fused := t.named
	t.named = false
	if k := t.over(s, i); k < len(s) && s[k] == '=' {
		if !fused {
			return t.assignment(s, k+1)
		}
		if t.name, i, t.named = t.value(s, t.over(s, k+1)); !t.named {
			return false
		}
	}
	for {
		j := t.over(s, i)
		switch rest := s[j:]; {
		case rest == "" || rest == "/":
			t.end, t.torn = len(s), true
			return false
		case rest[0] == '>':
			t.end = j + 1
			return true
		case strings.HasPrefix(rest, "/>"):
			t.end, t.empty = j+2, !t.shut
			return true
		}
		if i = word(s, j); i == j {
			return false
		}
		key := s[j:i]
		k := t.over(s, i)
		if k == len(s) || s[k] != '=' {
			continue // an attribute without a value
		}
		value, end, ok := t.value(s, t.over(s, k+1))
		if !ok {
			return false
		}
		i = end
		switch key {
		case "name":
			t.name, t.named = value, true
		case "string":
			t.text = value
		}
	}
}

// value reads the value of an attribute, and returns the index after it. One
// that lacks its closing quote ends with the tag.
func (t *tag) value(s string, i int) (value string, end int, ok bool) {
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		if k := strings.IndexByte(s[i+1:], s[i]); k >= 0 {
			if value, ok := withoutTokens(s[i+1 : i+1+k]); ok {
				return value, i + k + 2, true
			}
		}
		i++
	}
	for end = i; end < len(s) && s[end] != '<'; end++ {
		if n, _ := spaceAt(s, end); n > 0 || s[end] == '>' || strings.HasPrefix(s[end:], "/>") {
			return s[i:end], end, true
		}
	}
	t.end, t.torn = len(s), end == len(s)
	return "", end, false
}

// withoutTokens returns the value of an attribute without tokens such as
// <|channel|> in it, and false if other tags or line breaks stand there: then
// its closing quote is missing.
func withoutTokens(s string) (string, bool) {
	for {
		k := strings.IndexAny(s, "<\n")
		if k < 0 {
			return s, true
		}
		n := strings.Index(s[k:], "|>")
		if n < 0 || !strings.HasPrefix(s[k:], "<|") {
			return "", false
		}
		s = s[:k] + s[k+n+len("|>"):]
	}
}

// assignment reads the name behind an equals sign. One that lacks the tag's '>'
// ends with its line or the next tag.
func (t *tag) assignment(s string, i int) bool {
	t.assigned = true
	k := strings.IndexAny(s[i:], "><\n")
	if k < 0 {
		t.end, t.torn = len(s), true
		return false
	}
	t.name, t.end = trim(s[i:i+k]), i+k
	t.named = true
	if t.bare = s[t.end] != '>'; !t.bare {
		t.end++
	}
	if name, ok := strings.CutSuffix(t.name, "/"); ok {
		t.name, t.empty = trim(name), true
	}
	if n := len(t.name); n > 1 && (t.name[0] == '"' || t.name[0] == '\'') && t.name[n-1] == t.name[0] {
		t.name = t.name[1 : n-1]
	}
	return true
}

// callTag, paramTag and wrapTag report whether elements of a name stand for a
// call, for a parameter, or around calls.
func callTag(base string) bool { return base == "invoke" || base == "function" }

func paramTag(base string) bool {
	return base == "parameter" || base == "param" || base == "argument" || base == "arg"
}

func wrapTag(base string) bool {
	switch base {
	case "function_calls", "tool_calls", "tool_call", "function_call", "dots_function_call", "zyphra_tool_call", "longcat_tool_call":
		return true
	}
	return false
}
