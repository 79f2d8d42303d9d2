package parse

import (
	"strings"

	"rein.example/rein/schema"
)

// place is what a tool declares at a place of its arguments.
type place = schema.Node

const textOnly = schema.String

// textMark returns the mark of a text at s[i], or nothing.
func (b *braces) textMark() string {
	for _, t := range textMarks {
		if strings.HasPrefix(b.s[b.i:], t) {
			return t
		}
	}
	return ""
}

// text reads a text. owner declares the members of the object that it is in.
func (b *braces) text(owner place) (string, state) {
	if t := b.textMark(); t != "" {
		return b.marked(t, owner)
	}
	if n := b.rustString(); n > 0 {
		return b.rust(n)
	}
	read := pyMend
	if b.s[b.i] == '"' {
		if k, st := stringEnd(b.s, b.i); st == whole && b.loose && inMark(b.s, k-1) {
			// It ends with the dialect's mark.
			text := b.s[b.i+1 : k-3]
			b.i = k + 2
			return b.guessed(text)
		}
		read = mend
	}
	lit, end, st, repairs := read(b.s, b.i)
	if b.i = end; st != whole {
		return "", st
	}
	b.repair(RepairStringMarks, false)
	for _, r := range repairs {
		b.repairs = repaired(b.repairs, r)
	}
	return unquote(lit), whole
}

// inMark reports whether the quotation mark at s[i] is that in <|"|>.
func inMark(s string, i int) bool {
	return i >= 2 && i+3 <= len(s) && s[i-2:i+3] == textMarks[0]
}

// marked reads a text between two marks t. What stands in it is literal, also
// backslashes and the dialect's closer.
func (b *braces) marked(t string, owner place) (string, state) {
	from := b.i + len(t)
	n := strings.Index(b.s[from:], t)
	if n < 0 {
		return b.unmarked(from, owner)
	}
	text, after := b.s[from:from+n], from+n+len(t)
	if b.follows(after) {
		b.i = after
		return text, whole
	}
	if !b.loose {
		b.i = after
		return "", broken
	}
	if comma := memberBefore(text, len(text)); comma >= 0 {
		// The mark opens the text of the next member: this one lacks its own.
		b.i = from + comma
		return b.trimmed(text[:comma], owner)
	}
	b.i = after
	if memberAt(b.s, after, owner) {
		return text, whole // only the comma is missing
	}
	return "", broken
}

// follows reports whether what stands at s[i] can follow a value.
func (b *braces) follows(i int) bool {
	if i = skip(b.s, i); i >= len(b.s) {
		return true
	}
	for _, c := range b.close {
		if strings.HasPrefix(b.s[i:], c) {
			return true
		}
	}
	return b.s[i] == ',' || b.s[i] == '}' || b.s[i] == ']' || b.s[i] == ':'
}

// unmarked reads a text from s[from] that lacks its closing mark. It ends at a
// quotation mark that the next member or the end of the call follows; else at
// the end of the call.
func (b *braces) unmarked(from int, owner place) (string, state) {
	if !b.loose || !b.ended {
		b.i = len(b.s)
		return "", cut
	}
	end, ok := b.beforeClosers(from)
	if !ok {
		b.i = len(b.s)
		return "", cut
	}
	for i := from; i < end; i++ {
		if c := b.s[i]; c != '"' && c != '\'' {
			continue
		}
		if next := skip(b.s, i+1); next < end && b.s[next] == ',' && memberAt(b.s, next+1, owner) {
			b.i = next
			return b.guessed(b.s[from:i])
		}
	}
	b.i = end
	return b.trimmed(b.s[from:end], owner)
}

// beforeClosers returns where the brackets begin that close, at the end of s,
// all that is open. It reports false if they are not there.
func (b *braces) beforeClosers(from int) (int, bool) {
	end := len(b.s)
	for _, c := range b.open {
		for end > from && blank(b.s[end-1]) {
			end--
		}
		if end == from || b.s[end-1] != c+2 { // '}' is two after '{', ']' after '['
			return 0, false
		}
		end--
	}
	return end, true
}

// trimmed makes a text of what stands before a member or the end of the call. It
// is broken if there may be other members in it.
func (b *braces) trimmed(text string, owner place) (string, state) {
	for i := range len(text) {
		if text[i] == ',' && memberAt(text, i+1, owner) {
			return "", broken
		}
	}
	text = strings.TrimRight(text, " \t\r\n")
	if n := len(text); n > 0 && (text[n-1] == '"' || text[n-1] == '\'') && strings.Count(text, text[n-1:])%2 == 1 {
		text = text[:n-1] // it ends with a mark of another kind
	}
	return b.guessed(text)
}

// guessed makes a text of one whose end is only guessed, from what follows. It
// counts as cut off if there is anything in it that could have stood for the end
// of the call and was text, or the reverse.
func (b *braces) guessed(text string) (string, state) {
	if strings.ContainsAny(text, "{}\r\n") {
		return "", cut
	}
	for _, m := range partsOfMarks {
		if strings.Contains(text, m) {
			return "", cut
		}
	}
	b.repair(RepairUnclosedText, true)
	return text, whole
}

// partsOfMarks are in all markers and marks of the grammar.
var partsOfMarks = [...]string{"<|", "|>", "<escape>", "_function_call>"}

// memberAt reports whether a key that may be one of owner's, and a colon, stand
// at s[i].
func memberAt(s string, i int, owner place) bool {
	from := skip(s, i)
	end := bareKey(s, from)
	if at := skip(s, end); end == from || at >= len(s) || s[at] != ':' {
		return false
	}
	return owner.Declared(s[from:end]) || owner.Kinds() == 0
}

// memberBefore returns where the comma, key and colon begin that end at s[end];
// -1 for none.
func memberBefore(s string, end int) int {
	back := func(more func(byte) bool) {
		for end > 0 && more(s[end-1]) {
			end--
		}
	}
	back(blank)
	if end == 0 || s[end-1] != ':' {
		return -1
	}
	end--
	back(blank)
	key := end
	back(inKey)
	if end == key {
		return -1
	}
	back(blank)
	if end == 0 || s[end-1] != ',' {
		return -1
	}
	return end - 1
}

// rustString returns the length of the opening mark of a raw string as Rust has
// them, such as r#", at s[i]; 0 for none.
func (b *braces) rustString() int {
	if b.s[b.i] != 'r' {
		return 0
	}
	j := b.i + 1
	for j < len(b.s) && b.s[j] == '#' {
		j++
	}
	if j == len(b.s) || b.s[j] != '"' {
		return 0
	}
	return j + 1 - b.i
}

// rust reads a raw string whose opening mark has n bytes.
func (b *braces) rust(n int) (string, state) {
	from := b.i + n
	shut := `"` + strings.Repeat("#", n-2)
	k := strings.Index(b.s[from:], shut)
	if k < 0 {
		b.i = len(b.s)
		return "", cut
	}
	b.i = from + k + len(shut)
	b.repair(RepairStringMarks, false)
	return b.s[from : from+k], whole
}
