package wire

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// The functions here read JSON that a server wrote, member by member, without
// reflection. A value of an unexpected kind is skipped where that does no harm:
// servers differ. What is not JSON, has a name twice or, unless the decoder is
// [Lenient], is not UTF-8 is an error. Nesting is bounded by jsontext, at 10,000.

// Members calls f with each member's name, still quoted and only valid until f
// reads on; f must read exactly one value. Anything but an object is skipped.
func Members(d *jsontext.Decoder, f func(name []byte) error) error {
	return each(d, '{', '}', func() error {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		return f(name)
	})
}

// Elements calls f for each element of an array, which f must read. Anything but
// an array is skipped.
func Elements(d *jsontext.Decoder, f func() error) error { return each(d, '[', ']', f) }

func each(d *jsontext.Decoder, open, end jsontext.Kind, f func() error) error {
	if d.PeekKind() != open {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != end {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// AppendString appends a string value; anything else is skipped. What is not
// text in it becomes U+FFFD, where the decoder lets it through.
func AppendString(dst []byte, d *jsontext.Decoder) ([]byte, error) {
	if d.PeekKind() != '"' {
		return dst, d.SkipValue()
	}
	v, err := d.ReadValue()
	if err != nil {
		return dst, err
	}
	dst, _ = jsontext.AppendUnquote(dst, v) // the error only tells of U+FFFD
	return dst, nil
}

// ReadString returns a string value, a number's text, or "".
func ReadString(d *jsontext.Decoder) (string, error) {
	if d.PeekKind() == '0' {
		v, err := d.ReadValue()
		return string(v), err
	}
	b, err := AppendString(nil, d)
	return string(b), err
}

// ReadInt returns a whole number; ok is false for anything else.
func ReadInt(d *jsontext.Decoder) (n int64, ok bool, err error) {
	if d.PeekKind() != '0' {
		return 0, false, d.SkipValue()
	}
	v, err := d.ReadValue()
	if err != nil {
		return 0, false, err
	}
	n, bad := strconv.ParseInt(string(v), 10, 64)
	return n, bad == nil, nil
}

// ReadRaw returns a copy of the next value as it is, nil for null.
func ReadRaw(d *jsontext.Decoder) (jsontext.Value, error) {
	v, err := d.ReadValue()
	if err != nil || v.Kind() == 'n' {
		return nil, err
	}
	return v.Clone(), nil
}

// maxTokens: no call has a quadrillion tokens; sums of larger numbers could
// overflow.
const maxTokens = 1e15

// ReadCount reads a number of tokens; null, and what is no number that tokens
// can have, leave c as it is.
func ReadCount(d *jsontext.Decoder, c *message.Count) error {
	var invalid bool
	return ReadTokens(d, c, &invalid)
}

// ReadTokens is ReadCount that also notes a number that tokens cannot have: one below
// 0, a fraction, or a quadrillion and more.
func ReadTokens(d *jsontext.Decoder, c *message.Count, invalid *bool) error {
	number := d.PeekKind() == '0'
	n, ok, err := ReadInt(d)
	if ok && n >= 0 && n < maxTokens {
		*c = message.Known(n)
	} else if number && err == nil {
		*invalid = true
	}
	return err
}

// Reconciled returns the usage with the total that the server gives, if its input and
// output are known and that is not their sum.
func Reconciled(u message.Usage, total message.Count) message.Usage {
	sum := u.Input.Add(u.Output)
	if total != 0 && sum != 0 && total != sum {
		u.Total = total
	}
	return u
}

// Inclusive returns the usage of a wire whose input includes what was cached, as
// [message.Usage] wants it, with the total that the server gives. Where more is said to
// have been cached than there was input, a gateway counts these apart, as the wire
// behind it does, and they are added, unless the total speaks against it: that is the
// sum of all, or of input and output as the gateway gives them, or not given.
func Inclusive(u message.Usage, total message.Count) message.Usage {
	given := u.Input.Add(u.Output)
	kept := u.Cached.Or(0) + u.CacheWrite.Or(0)
	if input, ok := u.Input.Get(); ok && kept > input {
		apart := u
		apart.Input = message.Known(input + kept)
		if sum := apart.Input.Add(apart.Output); total == 0 || given == 0 || total == given || total == sum {
			return apart
		}
	}
	return Reconciled(u, total)
}

// Member returns the value of one member of the object v; nil if there is none,
// if it is null, or if v is no valid object.
func Member(v jsontext.Value, name string) jsontext.Value {
	if len(v) == 0 {
		return nil
	}
	var found jsontext.Value
	d := jsontext.NewDecoder(bytes.NewReader(v))
	quoted := string(Quote(nil, name))
	err := Members(d, func(n []byte) (err error) {
		if string(n) == quoted {
			found, err = ReadRaw(d)
			return err
		}
		return d.SkipValue()
	})
	if err != nil {
		return nil
	}
	return found
}
