package portable

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ref is what a reference to a body becomes whose text was redacted.
type ref struct {
	sha256 string
	bytes  int64
}

// frame is an object or list that the walk is in.
type frame struct {
	object bool
	// wants says that a name comes next; name is that of the member whose value comes,
	// of a list that of the member that the list is.
	wants bool
	name  string
	// part: it has said of which kind it is, as parts of messages do. skip: nothing in
	// it is looked at.
	part, skip bool
	// before is the item before in a list, if it is an option of a command line; pair
	// is the kind of the variable that an object names beside its value.
	before, pair string
	// bytes, if not negative, is the size that belongs to the hash that was replaced.
	bytes int64
}

// walk returns valid JSON without secrets: raw itself if there are none. refs are the
// bodies that have become others; in a journal's own JSON, which is not nested, the
// opaque data of parts is skipped. It takes time in proportion to raw.
func (r *Redactor) walk(raw []byte, nested int, refs map[string]ref) []byte {
	var out []byte
	kept := 0 // raw[:kept] is in out
	replace := func(from, to int, by []byte) {
		out = append(append(out, raw[kept:from]...), by...)
		kept = to
	}
	stack := []frame{{bytes: -1}}
	for i := 0; i < len(raw); i++ {
		top := &stack[len(stack)-1]
		switch c := raw[i]; {
		case c == '{':
			stack = append(stack, frame{object: true, wants: true, skip: top.skips(nested), bytes: -1})
		case c == '[':
			stack = append(stack, frame{name: top.name, skip: top.skips(nested), bytes: -1})
		case c == '}' || c == ']':
			stack = stack[:len(stack)-1]
		case c == ',':
			top.wants = top.object
		case c == ':':
			top.wants = false
		case c == '"':
			end := stringEnd(raw, i)
			if s := unquoted(raw[i:end]); top.wants {
				top.name = s
				top.part = top.part || s == "kind"
			} else if !top.skips(nested) {
				if top.object && pairNames[strings.ToLower(top.name)] {
					top.pair = secretName(s)
				}
				by := r.member(top, s, raw[end:], nested, refs)
				top.before = flagName(s)
				if by != s {
					quoted, _ := jsontext.AppendQuote(nil, by) // of bad UTF-8 it makes U+FFFD
					replace(i, end, quoted)
				}
			}
			i = end - 1
		case c == '-' || '0' <= c && c <= '9':
			end := numberEnd(raw, i)
			if top.bytes >= 0 && top.name == "bytes" {
				replace(i, end, strconv.AppendInt(nil, top.bytes, 10))
			} else if kind := secretName(top.name); nested > 0 && isSecretNumber(kind, raw[i:end]) {
				replace(i, end, []byte(`"`+r.named(kind, string(raw[i:end]))+`"`))
			}
			i = end - 1
		}
	}
	if kept == 0 {
		return raw
	}
	return append(out, raw[kept:]...)
}

// skips reports whether the value that comes is not looked at.
func (f *frame) skips(nested int) bool {
	return f.skip || nested == 0 && f.part && f.name == "opaque"
}

// member returns a string value of the innermost object or list without secrets.
// rest is what follows.
func (r *Redactor) member(f *frame, s string, rest []byte, nested int, refs map[string]ref) string {
	if f.name == "sha256" && len(refs) > 0 {
		if to, ok := refs[s]; ok {
			f.bytes = to.bytes
			return to.sha256
		}
	}
	if f.name == "sha256" && nested == 0 {
		return s // the journal's own, whatever somebody calls a password
	}
	name := f.name
	switch {
	case !f.object && f.before != "" && !strings.HasPrefix(s, "-"):
		name = f.before
	case f.object && valueNames[strings.ToLower(name)]:
		if name = f.pair; name == "" {
			name = pairAfter(rest)
		}
		if strings.EqualFold(name, s) {
			name = "" // a form, or an example
		}
	}
	return r.value(name, s, nested)
}

// pairAfter returns the kind of the variable that the next member of an object names.
func pairAfter(rest []byte) string {
	const most = 2*maxName + 32
	head := string(rest[:min(len(rest), most)])
	head, ok := strings.CutPrefix(strings.TrimLeft(head, " \t\r\n"), ",")
	if !ok {
		return ""
	}
	member, after, ok := strings.Cut(strings.TrimLeft(head, " \t\r\n"), ":")
	if !ok || !pairNames[strings.ToLower(strings.Trim(member, "\" \t\r\n"))] {
		return ""
	}
	if after, ok = strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), `"`); !ok {
		return ""
	}
	name, _, ok := strings.Cut(after, `"`)
	if !ok {
		return ""
	}
	return secretName(name)
}

// isSecretNumber reports whether a number is a secret of that kind: what a token is called
// may also be its place in a vocabulary, and small numbers count something.
func isSecretNumber(kind string, number []byte) bool {
	const least = 6
	return kind != "" && kind != "token" && len(number) >= least && strings.Trim(string(number), "0123456789") == ""
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func numberEnd(raw []byte, i int) int {
	for i < len(raw) {
		switch c := raw[i]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			i++
		default:
			return i
		}
	}
	return i
}

// unquoted returns the text of a JSON string.
func unquoted(quoted []byte) string {
	for _, c := range quoted {
		if c == '\\' {
			s, _ := jsontext.AppendUnquote(nil, quoted)
			return string(s)
		}
	}
	return string(quoted[1 : len(quoted)-1])
}
