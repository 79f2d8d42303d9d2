package openai

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// fault is what a server says of an error, in whichever of many shapes.
type fault struct {
	message, kind, code, param string
	// status is a code that is an HTTP status, as OpenRouter and vLLM send it
	// in mid-stream.
	status int
	// wait is the pause that the body asks for.
	wait message.Count
}

// readFault reads an error's body:
//
//	{"error":{"message":…,"type":…,"code":…,"param":…}}   OpenAI and most others
//	[{"error":{…,"details":[{"retryDelay":"34s"}]}}]       Gemini
//	{"error":"…"}                                          Ollama
//	{"object":"error","message":…,"type":…,"code":400}     older vLLM, Mistral
//	{"detail":"…"} or {"detail":[{"loc":…,"msg":"…"}]}     FastAPI
//
// and anything else as text.
func readFault(body []byte) *fault {
	f := &fault{}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var err error
	if d.PeekKind() == '[' {
		err = elements(d, func() error { return f.read(d, 0) })
	} else {
		err = f.read(d, 0)
	}
	if err != nil || f.message == "" && f.kind == "" && f.code == "" {
		f.message = model.Excerpt(body)
	}
	f.message = limit(strings.ToValidUTF8(strings.TrimSpace(f.message), "\ufffd"), 2000)
	f.kind, f.code = limit(f.kind, 200), limit(f.code, 200)
	return f
}

// read reads an object that is an error or holds one. What was found first
// stays.
func (f *fault) read(d *jsontext.Decoder, depth int) error {
	const deepest = 4
	if depth > deepest {
		return d.SkipValue()
	}
	return members(d, func(name []byte) error {
		switch string(name) {
		case `"error"`:
			if d.PeekKind() == '{' {
				return f.read(d, depth+1)
			}
			return keep(&f.message, d)
		case `"message"`, `"msg"`, `"error_message"`:
			return keep(&f.message, d)
		case `"type"`, `"error_type"`, `"status"`: // status: Gemini's word
			s, err := readString(d)
			if f.kind == "" && s != "error" { // which some use to say that it is one
				f.kind = s
			}
			return err
		case `"param"`:
			return keep(&f.param, d)
		case `"code"`:
			number := d.PeekKind() == '0'
			s, err := readString(d)
			if n, bad := strconv.Atoi(s); bad == nil && number && n >= 300 && n < 600 {
				f.status = n
			} else if f.code == "" {
				f.code = s
			}
			return err
		case `"detail"`:
			switch d.PeekKind() {
			case '[':
				return elements(d, func() error { return f.read(d, depth+1) })
			case '{':
				return f.read(d, depth+1)
			}
			return keep(&f.message, d)
		case `"details"`, `"choices"`: // OpenRouter: the error of a choice
			return elements(d, func() error { return f.read(d, depth+1) })
		case `"retryDelay"`:
			s, err := readString(d)
			if w, bad := time.ParseDuration(s); bad == nil {
				f.wait = milliseconds(w)
			}
			return err
		case `"metadata"`: // OpenRouter: what the provider behind it said
			return members(d, func(name []byte) error {
				if string(name) == `"raw"` && d.PeekKind() == '"' {
					raw, err := readString(d)
					if raw != "" {
						f.message = strings.TrimSpace(f.message + ": " + raw)
					}
					return err
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue()
	})
}

// keep reads a string into to, unless there is one already.
func keep(to *string, d *jsontext.Decoder) error {
	s, err := readString(d)
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
	if wait != 0 {
		f.wait = wait
	}
	e := &model.Error{Status: status, Message: f.message, RetryAfter: f.wait, Code: f.code}
	if e.Code == "" {
		e.Code = f.kind
	}
	if status == 0 {
		status = f.status
	}
	e.Class = f.class(status)
	if e.RetryAfter == 0 && e.Class == event.ClassRate {
		e.RetryAfter = tryAgainIn(f.message)
	}
	if e.Message == "" {
		e.Message = "the server reported an error without a word"
	}
	return e
}

// badReply makes the error of a payload that is not of this wire.
func badReply(data []byte, err error) *model.Error {
	return &model.Error{
		Class:   event.ClassBadReply,
		Message: fmt.Sprintf("the server sent something that is not a chat completion: %s", model.Excerpt(data)),
		Err:     err,
	}
}

// asError returns err as a model error; what is none is a fault of this package.
func asError(err error) *model.Error {
	var e *model.Error
	if errors.As(err, &e) {
		return e
	}
	return &model.Error{Class: event.ClassInternal, Message: err.Error(), Err: err}
}

// advise adds to what the server said what the reader can do.
func (c *Client) advise(e *model.Error) {
	var do string
	switch e.Class {
	case event.ClassAuth:
		switch {
		case c.keyless: // Check has said it
		case c.header.Get("Authorization") == "" && len(c.secrets) == 0:
			do = "no key was sent: set " + orKey(c.keyName)
		default:
			do = "check " + orKey(c.keyName)
		}
	case event.ClassNotFound:
		do = fmt.Sprintf("check that %s is the base URL of a compatible server and that it has the model %q", c.base, c.info.Model)
	case event.ClassQuota:
		do = "waiting does not lift this: check plan and billing"
	case event.ClassBadReply:
		do = fmt.Sprintf("check that %s is the base URL of a compatible server", c.base)
	}
	switch {
	case do == "":
	case e.Message == "":
		e.Message = do
	default:
		e.Message = strings.TrimRight(e.Message, ". ") + "; " + do
	}
}

// tryAgainIn finds the wait in "Please try again in 1.2s." (OpenAI).
func tryAgainIn(s string) message.Count {
	_, rest, ok := strings.Cut(s, "try again in ")
	if !ok {
		return 0
	}
	word, _, _ := strings.Cut(rest, " ")
	d, err := time.ParseDuration(strings.TrimRight(word, ".,"))
	if err != nil {
		return 0
	}
	return milliseconds(d)
}

// milliseconds rounds up; a negative wait is none.
func milliseconds(d time.Duration) message.Count {
	return message.Known(int64((max(d, 0) + time.Millisecond - 1) / time.Millisecond))
}

// limit cuts s to at most n bytes, at the end of a character.
func limit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
