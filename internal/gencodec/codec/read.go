package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of what is read.
const (
	// MaxSize is the largest input of [Unmarshal], in bytes.
	MaxSize = 64 << 20
	// MaxDepth is the deepest nesting of a raw value.
	MaxDepth = 512
)

// ErrTooLarge: the input is larger than [MaxSize].
var ErrTooLarge = errors.New("larger than 64 MiB")

// A Decodable reads itself from a decoder.
type Decodable interface {
	DecodeJSON(dec *jsontext.Decoder) error
}

// pooled keeps a decoder's stacks from one input to the next; a fresh decoder
// costs ten allocations.
type pooled struct {
	dec jsontext.Decoder
	buf bytes.Buffer
}

var pool = sync.Pool{New: func() any { return new(pooled) }}

// Unmarshal reads raw, which must be exactly one JSON object of at most
// [MaxSize] bytes, into x. It is safe for concurrent use, and keeps no
// reference to raw unless x does.
func Unmarshal(raw []byte, x Decodable) error {
	if len(raw) > MaxSize {
		return fmt.Errorf("JSON of %d bytes: %w", len(raw), ErrTooLarge)
	}
	p := pool.Get().(*pooled)
	p.buf = *bytes.NewBuffer(raw)
	p.dec.Reset(&p.buf)
	err := readObject(&p.dec, x)
	if len(raw) > 64<<10 { // let go of it; a small one may stay until the next
		p.buf = bytes.Buffer{}
		p.dec.Reset(&p.buf)
	}
	pool.Put(p)
	return err
}

func readObject(dec *jsontext.Decoder, x Decodable) error {
	if k := dec.PeekKind(); k != '{' && k != jsontext.KindInvalid {
		return mismatch(dec, "an object", k)
	}
	if err := x.DecodeJSON(dec); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	_, err := dec.ReadToken()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("more than one JSON value, the second one before byte %d", dec.InputOffset())
	}
	return err
}

// Begin reads the start of an object or array, open being '{' or '['. It
// returns false without an error if there is a null instead.
func Begin(dec *jsontext.Decoder, open jsontext.Kind) (bool, error) {
	switch k := dec.PeekKind(); k {
	case open, 'n', jsontext.KindInvalid:
		tok, err := dec.ReadToken()
		return err == nil && tok.Kind() == open, err
	default:
		if open == '[' {
			return false, mismatch(dec, "an array", k)
		}
		return false, mismatch(dec, "an object", k)
	}
}

// Name reads the next member's name, in quotes, or nil at the object's end,
// which it reads too. The name is valid until the next use of dec.
func Name(dec *jsontext.Decoder) ([]byte, error) {
	if dec.PeekKind() == '}' {
		_, err := dec.ReadToken()
		return nil, err
	}
	name, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		return AppendString(nil, unquote(name)), nil
	}
	return name, nil
}

// More reports whether an array has another element; it reads the array's end.
func More(dec *jsontext.Decoder) (bool, error) {
	if dec.PeekKind() == ']' {
		_, err := dec.ReadToken()
		return false, err
	}
	return true, nil
}

// Quoted reads a string and returns it with its quotes and escapes, for
// comparing with known ones; it is valid until the next use of dec. A null is
// nil.
func Quoted(dec *jsontext.Decoder) ([]byte, error) {
	v, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	switch v[0] {
	case '"':
		return v, nil
	case 'n':
		return nil, nil
	}
	return nil, mismatch(dec, "a string", v.Kind())
}

// String reads a string; a null is empty.
func String(dec *jsontext.Decoder) (string, error) {
	v, err := Quoted(dec)
	if v == nil || err != nil {
		return "", err
	}
	return unquote(v), nil
}

// Unquote returns the text of what [Quoted] returned.
func Unquote(v []byte) string {
	if v == nil {
		return ""
	}
	return unquote(v)
}

// unquote returns the text of a string that a decoder has validated.
func unquote(v []byte) string {
	v = v[1 : len(v)-1]
	i := bytes.IndexByte(v, '\\')
	if i < 0 {
		return string(v)
	}
	var out strings.Builder
	out.Grow(len(v))
	for i >= 0 {
		out.Write(v[:i])
		c := v[i+1]
		v = v[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(v)
			v = v[4:]
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, hex4(v[2:]))
				v = v[6:]
			}
			out.WriteRune(r)
			i = bytes.IndexByte(v, '\\')
			continue
		}
		out.WriteByte(c)
		i = bytes.IndexByte(v, '\\')
	}
	out.Write(v)
	return out.String()
}

func hex4(v []byte) rune {
	var r rune
	for _, c := range v[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Bool reads true or false; a null is false.
func Bool(dec *jsontext.Decoder) (bool, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return false, err
	}
	switch k := tok.Kind(); k {
	case 't':
		return true, nil
	case 'f', 'n':
		return false, nil
	default:
		return false, mismatch(dec, "true or false", k)
	}
}

// Int reads a whole number that fits in so many bits, written without fraction
// or exponent; a null is 0.
func Int(dec *jsontext.Decoder, bits int) (int64, error) {
	v, err := number(dec)
	if v == nil || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(v), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40s is not a whole number of %d bits", Place(dec), v, bits)
	}
	return n, nil
}

// Uint reads a whole number as [Int] does, without a sign.
func Uint(dec *jsontext.Decoder, bits int) (uint64, error) {
	v, err := number(dec)
	if v == nil || err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(v), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40s is not a whole number of %d bits without a sign", Place(dec), v, bits)
	}
	return n, nil
}

func number(dec *jsontext.Decoder) ([]byte, error) {
	v, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	switch v.Kind() {
	case '0':
		return v, nil
	case 'n':
		return nil, nil
	}
	return nil, mismatch(dec, "a number", v.Kind())
}

// Null reports whether the next value is a null, and reads it if so.
func Null(dec *jsontext.Decoder) (bool, error) {
	if dec.PeekKind() != 'n' {
		return false, nil
	}
	_, err := dec.ReadToken()
	return true, err
}

// Hex reads a string of lower-case hexadecimal digits that fills dst exactly; a
// null leaves dst alone.
func Hex(dec *jsontext.Decoder, dst []byte) error {
	v, err := Quoted(dec)
	if v == nil || err != nil {
		return err
	}
	if len(v) == 2*len(dst)+2 && bytes.IndexFunc(v, isUpper) < 0 {
		if _, err := hex.Decode(dst, v[1:len(v)-1]); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %.80s is not %d lower-case hexadecimal digits", Place(dec), v, 2*len(dst))
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }

// Raw reads any value as it is written and returns a copy.
func Raw(dec *jsontext.Decoder) (jsontext.Value, error) {
	v, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if !shallow(v) {
		return nil, fmt.Errorf("%s: nested deeper than %d levels", Place(dec), MaxDepth)
	}
	return bytes.Clone(v), nil
}

func mismatch(dec *jsontext.Decoder, want string, got jsontext.Kind) error {
	return fmt.Errorf("%s: want %s, not %s", Place(dec), want, got)
}

// Place names what was read last, for errors.
func Place(dec *jsontext.Decoder) string {
	if p := dec.StackPointer(); p != "" {
		return "at " + string(p)
	}
	return "at the top"
}

// Slice reads an array; each element is read by read. A null and an empty array
// are nil.
func Slice[E any](dec *jsontext.Decoder, read func(*E, *jsontext.Decoder) error) ([]E, error) {
	if ok, err := Begin(dec, '['); !ok {
		return nil, err
	}
	var s []E
	for {
		more, err := More(dec)
		if !more || err != nil {
			return s, err
		}
		s = append(s, *new(E))
		if err := read(&s[len(s)-1], dec); err != nil {
			return nil, err
		}
	}
}

// Strings reads an array of strings.
func Strings(dec *jsontext.Decoder) ([]string, error) {
	return Slice(dec, func(s *string, dec *jsontext.Decoder) (err error) {
		*s, err = String(dec)
		return err
	})
}

// Pointer reads a value by read; a null is nil.
func Pointer[E any](dec *jsontext.Decoder, read func(*E, *jsontext.Decoder) error) (*E, error) {
	if null, err := Null(dec); null || err != nil {
		return nil, err
	}
	x := new(E)
	if err := read(x, dec); err != nil {
		return nil, err
	}
	return x, nil
}
