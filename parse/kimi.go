package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

const kimiArgs = "<|tool_call_argument_begin|>"

// readKimi reads ID<|tool_call_argument_begin|>{…}, where the id has the name in
// it. The marker before the id may be missing, or be that of the section.
func (r *reading) readKimi(d *dialect.Dialect, start, body int) (block, bool) {
	if !r.spend(0) {
		return block{}, false
	}
	var id string
	args, back := body, 0
	if r.s[start:body] == kimiArgs {
		word, at := r.wordBefore(start)
		id, back = word, start-at
		if id == "" {
			return block{}, false
		}
	} else {
		i := skip(r.s, body)
		end := nameEnd(r.s, i)
		id, args = r.s[i:end], skip(r.s, end)
		switch {
		case strings.HasPrefix(r.s[args:], kimiArgs):
			args += len(kimiArgs)
		case id == "":
			return block{}, false
		case args < len(r.s) && r.s[args] != '{' && args != r.nextMarker(d, args):
			return block{}, false
		}
	}
	c := event.ParsedCall{WireID: id}
	end := r.arguments(d, args, &c)
	if c.Name = r.kimiName(id); c.Name == "" && c.Problem == "" {
		c.Problem = ProblemNoName
	}
	b := r.namedBlock(d, []event.ParsedCall{c}, end)
	b.back = back
	return b, true
}

// kimiName returns the tool's name of an id, which is functions.NAME:INDEX; some
// write _ in place of . or :, or leave the namespace or the index out. A tool of
// the request decides; what could be an index as well as the end of a name is
// no name.
func (r *reading) kimiName(id string) string {
	if r.in.declared(id) {
		return id
	}
	long := id
	spaced := false
	for _, p := range [...]string{namespace, "functions_"} {
		if rest, ok := strings.CutPrefix(id, p); ok {
			long, spaced = rest, p != namespace
			break
		}
	}
	if r.in.declared(long) {
		return long
	}
	digits := len(long)
	for digits > 0 && '0' <= long[digits-1] && long[digits-1] <= '9' {
		digits--
	}
	if digits == len(long) {
		return long // no index
	}
	if digits < 2 || nameByte(long[digits-1]) && !strings.ContainsRune(":_-.", rune(long[digits-1])) {
		return kimiWord(long)
	}
	name := long[:digits-1]
	switch c := long[digits-1]; {
	case r.in.declared(name):
		return name
	case c == ':' || c == '_' && spaced:
		return kimiWord(name)
	}
	return kimiWord(long)
}

// kimiWord returns a name that may be no more than an index, or a word for calls
// in general; these are no names.
func kimiWord(s string) string {
	word := strings.TrimRight(s, "0123456789")
	switch strings.TrimRight(word, "_-.:") {
	case "", "call", "tool", "function", "functions":
		return ""
	}
	if word != s && (strings.HasSuffix(word, ".") || strings.HasSuffix(word, "-")) {
		return ""
	}
	return s
}
