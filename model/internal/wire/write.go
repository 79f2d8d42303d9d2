package wire

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// Quote appends s as a JSON string. Nothing but control characters is \u-escaped;
// bytes that are not UTF-8 become U+FFFD.
func Quote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only tells of U+FFFD
	return dst
}

// Inner appends s as it stands inside a JSON string.
func Inner(dst []byte, s string) []byte {
	at := len(dst)
	dst = Quote(dst, s)
	copy(dst[at:], dst[at+1:])
	return dst[:len(dst)-2]
}

// Texts appends the text of a message as it stands inside a JSON string: what asText
// says of each of its parts that it has a text for, one below the other.
func Texts(dst []byte, m *message.Message, asText func(*message.Part) (string, bool)) []byte {
	first := true
	for i := range m.Parts {
		s, ok := asText(&m.Parts[i])
		if !ok {
			continue
		}
		if !first {
			dst = append(dst, `\n`...)
		}
		first = false
		dst = Inner(dst, s)
	}
	return dst
}

// Value appends a JSON value in its plainest form, or {} if it is none.
func Value(dst []byte, v jsontext.Value) []byte {
	out, err := jsontext.AppendFormat(dst, v, jsontext.PreserveRawStrings(false))
	if err != nil {
		return append(dst, `{}`...)
	}
	return out
}

// Number appends name and the number s, if it is one.
func Number(dst []byte, name, s string) []byte {
	v := jsontext.Value(s)
	if s == "" || !v.IsValid() || v.Kind() != '0' {
		return dst
	}
	return append(append(dst, name...), bytes.TrimSpace(v)...)
}

// Strings appends name and a list of strings, unless the list is empty.
func Strings(dst []byte, name string, list []string) []byte {
	for i, s := range list {
		sep := byte(',')
		if i == 0 {
			dst, sep = append(dst, name...), '['
		}
		dst = Quote(append(dst, sep), s)
	}
	if len(list) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// Integer appends n.
func Integer(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// Limit cuts s to at most n bytes, at the end of a character.
func Limit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// NoticeLabel opens a system message that stands in mid-conversation where the
// wire takes none there.
const NoticeLabel = message.NoticeLabel + "\n"

// SplitDataURL takes a "data:" URL in base64 (RFC 2397) apart. ok is false for
// any other URL. The media type is without parameters, and empty where there is
// none; the body is not decoded.
func SplitDataURL(url string) (media, body string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, body, ok := strings.Cut(rest, ",")
	head, is64 := strings.CutSuffix(head, ";base64")
	if !ok || !is64 {
		return "", "", false
	}
	media, _, _ = strings.Cut(head, ";")
	return media, body, true
}
