// Package codec answers: how does one JSON value get written and read, for the
// encoders and decoders that gencodec generates?
//
// The append functions write compact UTF-8 JSON and allocate nothing when dst
// has room. The read functions take a [jsontext.Decoder] with its default
// options, which refuse duplicate names and invalid UTF-8; they add the limits
// of this package and errors that name the place. Nothing here reflects.
package codec

import (
	"bytes"
	"encoding/hex"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// End closes an object or array whose members were each followed by a comma:
// the last comma becomes the closing delimiter.
func End(dst []byte, closing byte) []byte {
	if n := len(dst) - 1; dst[n] == ',' {
		dst[n] = closing
		return dst
	}
	return append(dst, closing)
}

const hexDigits = "0123456789abcdef"

// plain returns the length of the longest prefix of s whose bytes stand for
// themselves in a JSON string and are ASCII.
func plain(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		b := s[i : i+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		// A byte's top bit gets set if it is set already, or if the byte is less
		// than a space, or a quote or backslash. A borrow can set it wrongly only
		// in bytes after one that is rightly set.
		special := x | (x - 0x20*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones)
		if special &= tops; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// AppendString appends s as a JSON string: plain UTF-8, with only the escapes
// that JSON demands. Bytes that are not UTF-8 are written as U+FFFD.
func AppendString[T ~string](dst []byte, s T) []byte { return appendString(dst, string(s)) }

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := plain(s); i < len(s); i += plain(s[i:]) {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		for i < len(s) && s[i] >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendHex appends b as a JSON string of lower-case hexadecimal digits.
func AppendHex(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = hex.AppendEncode(dst, b)
	return append(dst, '"')
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// AppendRaw appends a JSON value that somebody else wrote. A valid value is
// copied byte for byte, without surrounding white space; one with line breaks
// between its tokens also loses the white space there, so that the result is
// one line. An empty value becomes null. Whatever [Raw] would refuse (not JSON,
// duplicate names, bad UTF-8, nested deeper than [MaxDepth]) becomes a JSON
// string with its text, so that it neither breaks the line nor gets lost.
func AppendRaw(dst, raw []byte) []byte {
	raw = trimSpace(raw)
	switch {
	case len(raw) == 0:
		return append(dst, "null"...)
	case !shallow(raw) || !jsontext.Value(raw).IsValid():
		return AppendString(dst, string(raw))
	case bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0:
		return append(dst, raw...)
	}
	// Line breaks in valid JSON stand between tokens only.
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\':
			dst = append(dst, c)
			i++
			c = raw[i]
		case c == '"':
			inString = !inString
		case !inString && isSpace(c):
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// shallow reports whether raw is nested no deeper than MaxDepth. It does not
// validate anything else.
func shallow(raw []byte) bool {
	if len(raw) <= MaxDepth {
		return true // cannot nest deeper than it is long
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return false
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return true
}
