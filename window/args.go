package window

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// shortArg is how large a value in the arguments of a call is that stays as it is,
	// in bytes of JSON; argHead how much of a longer string stays.
	shortArg, argHead = 240, 80
)

// ShortArgs returns the arguments of a call with a note in the place of each member's
// value that is longer than 240 bytes, after the beginning of it if that is a string.
// They are still an object; what is none, and what would not be shorter, is returned
// as it is. The time is linear.
func ShortArgs(args string) string {
	dec := jsontext.NewDecoder(bytes.NewReader([]byte(args)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return args
	}
	out := []byte{'{'}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return args
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, name...), ':')
		value, err := dec.ReadValue()
		if err != nil {
			return args
		}
		out = appendShort(out, value)
	}
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '}' || len(out) >= len(args) {
		return args
	}
	return string(append(out, '}'))
}

// appendShort appends a value, or what stands for one that is too long.
func appendShort(out []byte, value jsontext.Value) []byte {
	if len(value) <= shortArg {
		return append(out, value...)
	}
	head := ""
	if value.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil && len(text) == 0 {
			text = nil
		}
		head = oneLine(string(text[:min(len(text), 2*argHead)]), argHead) + " "
	}
	return appendString(out, head+"[rein: "+strconv.Itoa(len(value))+" bytes are not shown any more]")
}
