package anthropic

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// fault is what a server says of an error.
type fault struct {
	message, kind, code string
	status              int // a code that is an HTTP status
}

// readFault reads an error's body:
//
//	{"type":"error","error":{"type":…,"message":…},"request_id":…}   Anthropic
//	{"error":{"message":…,"type":…,"code":…}}, {"error":"…"}          gateways
//	{"type":…,"message":…}, {"detail":…}                              others
//
// and anything else as text.
func readFault(body []byte) *fault {
	f := &fault{}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := f.read(d, 0)
	if err != nil || f.message == "" && f.kind == "" && f.code == "" {
		f.message = model.Excerpt(body)
	}
	f.message = wire.Limit(strings.ToValidUTF8(strings.TrimSpace(f.message), "\ufffd"), 2000)
	f.kind, f.code = wire.Limit(f.kind, 200), wire.Limit(f.code, 200)
	return f
}

// read reads an object that is an error or holds one. What was found first
// stays, but for the outer type, which only says that it is an error.
func (f *fault) read(d *jsontext.Decoder, depth int) error {
	const deepest = 4
	if depth > deepest {
		return d.SkipValue()
	}
	return wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"error"`, `"detail"`:
			switch d.PeekKind() {
			case '{':
				return f.read(d, depth+1)
			case '[':
				return wire.Elements(d, func() error { return f.read(d, depth+1) })
			}
			return keep(&f.message, d)
		case `"message"`, `"msg"`, `"error_message"`:
			return keep(&f.message, d)
		case `"type"`, `"error_type"`:
			s, err := wire.ReadString(d)
			if f.kind == "" && s != "error" {
				f.kind = s
			}
			return err
		case `"code"`, `"status"`:
			number := d.PeekKind() == '0'
			s, err := wire.ReadString(d)
			if n, bad := strconv.Atoi(s); bad == nil && number && n >= 300 && n < 600 {
				f.status = n
			} else if f.code == "" {
				f.code = s
			}
			return err
		}
		return d.SkipValue()
	})
}

// keep reads a string into to, unless there is one already.
func keep(to *string, d *jsontext.Decoder) error {
	s, err := wire.ReadString(d)
	if *to == "" {
		*to = s
	}
	return err
}

// serverError makes the error of what a server reported. status is 0 in
// mid-stream, where the HTTP status only says how the stream began; wait is
// what the headers ask for.
func serverError(status int, body []byte, wait message.Count) *model.Error {
	f := readFault(body)
	e := &model.Error{Status: status, Message: f.message, RetryAfter: wait, Code: f.kind}
	if e.Code == "" {
		e.Code = f.code
	}
	if status == 0 {
		status = f.status
	}
	e.Class = f.class(status, wait)
	if e.Message == "" {
		e.Message = "the server reported an error without a word"
	}
	return e
}

// replyName names what a server should have sent, for messages.
const replyName = "a message of this API"

// badReply makes the error of a payload that is not of this wire.
func badReply(data []byte, err error) *model.Error { return wire.BadReply(replyName, data, err) }
