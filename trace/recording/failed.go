package recording

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// SaysFailed reports whether a tool's result says of itself that the call has failed:
// lists of messages have no other place for it. A JSON object does by its members
// ("ok": false, a non-empty "error" and their like), a text by how it begins, as
// errors are printed; prose that begins with the word does not. It looks at the
// beginning of the result only, and takes time in proportion to that.
func SaysFailed(result string) bool {
	s := strings.TrimSpace(result[:min(len(result), maxLooked)])
	if strings.HasPrefix(s, "{") {
		return objectFailed(s)
	}
	line, _, _ := strings.Cut(s, "\n")
	for _, begin := range []string{"error:", "traceback (most recent call last)", "fatal:", "fatal error:", "command failed", "uncaught "} {
		if hasPrefixFold(line, begin) {
			return true
		}
	}
	word, rest, _ := strings.Cut(line, " ")
	if name, ok := strings.CutSuffix(word, ":"); ok {
		return named(name)
	}
	return strings.EqualFold(word, "error") && errorForm(rest)
}

// maxLooked is how much of a result is looked at: enough for the members that an object
// says it with, which come before its data or in the place of them.
const maxLooked = 4096

// named reports whether a text before a colon is the name of an exception, as Python,
// Java and JavaScript write them, with or without what it is a part of.
func named(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	for i := range len(name) {
		if c := name[i] | 0x20; (c < 'a' || c > 'z') && name[i] != '_' && (name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")
}

// errorForms are the words that follow "Error" where something has failed. Prose goes on
// otherwise: error handling, error codes, error rates.
var errorForms = []string{"executing", "calling", "running", "invoking", "reading", "writing", "opening", "parsing", "fetching", "loading", "processing",
	"creating", "connecting", "while", "during", "when", "code", "occurred", "-", "–", "—"}

// errorForm reports whether what follows the word is typical of an error: one of
// errorForms, or a number.
func errorForm(rest string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	word = strings.ToLower(strings.TrimRight(word, ":."))
	if word == "" {
		return rest == ""
	}
	if c := strings.TrimLeft(word, "([#"); c != "" && '0' <= c[0] && c[0] <= '9' {
		return true // a status
	}
	for _, form := range errorForms {
		if word == form {
			return true
		}
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// objectFailed looks at the members of an object, until it ends or is no JSON any more.
func objectFailed(s string) bool {
	d := jsontext.NewDecoder(strings.NewReader(s), lenient, jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return false
		}
		name := t.String()
		kind := d.PeekKind()
		switch name {
		case "ok", "success":
			if kind == 'f' {
				return true
			}
		case "is_error", "isError":
			if kind == 't' {
				return true
			}
		case "error", "error_type":
			if full, err := filled(d); full || err != nil {
				return full
			}
			continue
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}

// filled reads a value and reports whether it says anything: it is true, a text that is
// not empty, or an object or list with anything in it. A number may be a count of errors.
func filled(d *jsontext.Decoder) (bool, error) {
	switch d.PeekKind() {
	case 't':
		return true, nil
	case '"':
		t, err := d.ReadToken()
		return err != nil || t.String() != "", nil // one that is cut off is not empty
	case '{', '[':
		if _, err := d.ReadToken(); err != nil {
			return false, err
		}
		if k := d.PeekKind(); k != '}' && k != ']' {
			return true, nil
		}
		_, err := d.ReadToken()
		return false, err
	}
	return false, d.SkipValue()
}
