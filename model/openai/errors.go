package openai

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
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
		err = wire.Elements(d, func() error { return f.read(d, 0) })
	} else {
		err = f.read(d, 0)
	}
	if err != nil || f.message == "" && f.kind == "" && f.code == "" {
		f.message = model.Excerpt(body)
	}
	f.message = wire.Limit(strings.ToValidUTF8(strings.TrimSpace(f.message), "\ufffd"), 2000)
	f.kind, f.code = wire.Limit(f.kind, 200), wire.Limit(f.code, 200)
	return f
}

// read reads an object that is an error or holds one. What was found first
// stays.
func (f *fault) read(d *jsontext.Decoder, depth int) error {
	const deepest = 4
	if depth > deepest {
		return d.SkipValue()
	}
	return wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"error"`:
			if d.PeekKind() == '{' {
				return f.read(d, depth+1)
			}
			return keep(&f.message, d)
		case `"message"`, `"msg"`, `"error_message"`:
			return keep(&f.message, d)
		case `"type"`, `"error_type"`, `"status"`: // status: Gemini's word
			s, err := wire.ReadString(d)
			if f.kind == "" && s != "error" { // which some use to say that it is one
				f.kind = s
			}
			return err
		case `"param"`:
			return keep(&f.param, d)
		case `"code"`:
			number := d.PeekKind() == '0'
			s, err := wire.ReadString(d)
			if n, bad := strconv.Atoi(s); bad == nil && number && n >= 300 && n < 600 {
				f.status = n
			} else if f.code == "" {
				f.code = s
			}
			return err
		case `"detail"`:
			switch d.PeekKind() {
			case '[':
				return wire.Elements(d, func() error { return f.read(d, depth+1) })
			case '{':
				return f.read(d, depth+1)
			}
			return keep(&f.message, d)
		case `"details"`, `"choices"`: // OpenRouter: the error of a choice
			return wire.Elements(d, func() error { return f.read(d, depth+1) })
		case `"retryDelay"`:
			s, err := wire.ReadString(d)
			if w, bad := time.ParseDuration(s); bad == nil {
				f.wait = milliseconds(w)
			}
			return err
		case `"metadata"`: // OpenRouter: what the provider behind it said
			return wire.Members(d, func(name []byte) error {
				if string(name) == `"raw"` && d.PeekKind() == '"' {
					raw, err := wire.ReadString(d)
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
