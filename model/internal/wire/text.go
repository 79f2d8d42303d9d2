package wire

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Lenient are the options of a decoder for what a server wrote where text need
// not be valid: servers cut a character in two and put each half into a JSON
// string of its own, as half of a UTF-16 pair or as bytes that are not UTF-8.
// [AppendLoose] and [Text] put the halves together again. Duplicate names are
// refused all the same.
func Lenient() jsontext.Options { return jsontext.AllowInvalidUTF8(true) }

// AppendLoose appends what a string value stands for, however invalid: bytes
// stay as they are, and half of a UTF-16 pair becomes the three bytes that UTF-8
// would have for it (WTF-8). It is for [Text.Write]. Anything but a string is
// skipped.
func AppendLoose(dst []byte, d *jsontext.Decoder) ([]byte, error) {
	if d.PeekKind() != '"' {
		return dst, d.SkipValue()
	}
	v, err := d.ReadValue()
	if err != nil {
		return dst, err
	}
	return Loose(dst, v), nil
}

// Loose is [AppendLoose] of a value that a decoder has read.
func Loose(dst []byte, v jsontext.Value) []byte {
	if v.Kind() != '"' {
		return dst
	}
	for v = v[1 : len(v)-1]; ; {
		i := bytes.IndexByte(v, '\\')
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		if c := v[i+1]; c != 'u' {
			dst = append(dst, unescape(c))
			v = v[i+2:]
			continue
		}
		n, _ := strconv.ParseUint(string(v[i+2:i+6]), 16, 16) // the decoder has checked it
		dst = appendUnit(dst, rune(n))
		v = v[i+6:]
	}
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // ", \ and /
}

// appendUnit appends one unit of UTF-16.
func appendUnit(dst []byte, u rune) []byte {
	if utf16.IsSurrogate(u) {
		return append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
	}
	return utf8.AppendRune(dst, u)
}

// Substitute stands in tool arguments for what is not text: a control character
// that JSON has nowhere, so that arguments that hold it are invalid to every
// reader, before and after they are journalled.
const Substitute = "\x1a"

// Arguments returns arguments that came as an object instead of a text that holds
// one: as they are, with the [Substitute] for bytes that are no text, and how many
// of these there were.
func Arguments(v jsontext.Value) (args string, mended int64) {
	t := Text{Bad: Substitute}
	t.Write(v)
	t.End()
	return t.String(), t.Mended()
}

// A Text puts a text together that comes in pieces. What it holds is always
// UTF-8, and the same however the text was cut. The zero value is an empty text.
type Text struct {
	// Bad takes the place of what is not text; empty means U+FFFD.
	Bad string

	text   []byte
	held   []byte // perhaps the beginning of a character
	mended int64
}

// Write adds a piece, as [AppendLoose] gives it. What may be the beginning of a
// character at its end, at most five bytes, is held back for the next one.
func (t *Text) Write(piece []byte) {
	if len(t.held) == 0 && utf8.Valid(piece) {
		t.text = append(t.text, piece...)
		return
	}
	t.held = append(t.held, piece...)
	t.held = append(t.held[:0], t.take(t.held, false)...)
}

// End says that the text has ended, or that something else begins: what was
// held back is no text.
func (t *Text) End() {
	t.take(t.held, true)
	t.held = t.held[:0]
}

// Bytes returns the text so far, without what is held back. They are valid until
// the next call.
func (t *Text) Bytes() []byte { return t.text }

// String returns the text so far, without what is held back.
func (t *Text) String() string { return string(t.text) }

// Mended returns how many places of the text so far were no text.
func (t *Text) Mended() int64 { return t.mended }

// Len returns the length of the text so far, in bytes, without what is held back.
func (t *Text) Len() int { return len(t.text) }

// take adds b and returns its end that has to wait, nothing if final.
func (t *Text) take(b []byte, final bool) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r != utf8.RuneError || n > 1:
			t.text = append(t.text, b[:n]...)
		case !final && open(b):
			return b
		default:
			r, n = half(b)
			low, m := half(b[n:])
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				t.text, n = utf8.AppendRune(t.text, r), n+m
				break
			}
			t.mended++
			if t.Bad != "" {
				t.text = append(t.text, t.Bad...)
			} else {
				t.text = utf8.AppendRune(t.text, utf8.RuneError)
			}
		}
		b = b[n:]
	}
	return nil
}

// open reports whether b may be the beginning of a character, or of half a UTF-16
// pair or a whole one in WTF-8, that goes on after it.
func open(b []byte) bool {
	if !utf8.FullRune(b) {
		return true
	}
	if b[0] != 0xed || len(b) >= 6 { // a pair has six bytes
		return false
	}
	// The ranges of a first half and the second one after it. Two bytes may also
	// begin a second half that stands alone.
	ranges := [...][2]byte{{0xed, 0xed}, {0xa0, 0xaf}, {0x80, 0xbf}, {0xed, 0xed}, {0xb0, 0xbf}, {0x80, 0xbf}}
	if len(b) == 2 {
		ranges[1][1] = 0xbf
	}
	for i, c := range b {
		if c < ranges[i][0] || c > ranges[i][1] {
			return false
		}
	}
	return true
}

// half returns the half of a UTF-16 pair that b begins with, in WTF-8, and its
// length; U+FFFD and 1 if there is none.
func half(b []byte) (rune, int) {
	if len(b) < 3 || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || b[2] < 0x80 || b[2] > 0xbf {
		return utf8.RuneError, 1
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
}
