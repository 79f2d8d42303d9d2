package wire

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Fault is what a server says of an error, in whichever of many shapes: gateways
// send that of another wire, and of none.
type Fault struct {
	// Message, Kind, Code and Param are the error's words. Kind is its type, or
	// Gemini's status.
	Message, Kind, Code, Param string
	// Status is a code that is an HTTP status, as it comes in mid-stream.
	Status int
	// Wait is the pause that the body asks for.
	Wait message.Count
	// Excess is what llama.cpp says beside its words of a request that is too long.
	Excess Excess
	// Reasons are those of google.rpc.ErrorInfo: "API_KEY_INVALID"; Quotas the
	// violations of google.rpc.QuotaFailure.
	Reasons []string
	Quotas  []Quota
}

// Quota is a limit that was met: its id and value, as Gemini names them.
type Quota struct{ ID, Value string }

const (
	// faultDepth bounds how deep an error is looked for, and faultDetails what is
	// kept of its details.
	faultDepth   = 4
	faultDetails = 64
)

// ReadFault reads an error's body:
//
//	{"error":{"message":…,"type":…,"code":…,"param":…}}               OpenAI and most others
//	{"type":"error","error":{"type":…,"message":…},"request_id":…}    Anthropic
//	[{"error":{"code":…,"status":…,"details":[{"retryDelay":…}]}}]     Gemini, also alone
//	{"error":"…"}                                                      Ollama
//	{"object":"error","message":…,"type":…,"code":400}                 older vLLM, Mistral
//	{"detail":"…"}, {"detail":[{"loc":…,"msg":"…"}]}                   FastAPI
//
// and anything else as text. The message is UTF-8 and at most 2,000 bytes, kind
// and code at most 200.
func ReadFault(body []byte) *Fault {
	f := &Fault{}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), Lenient())
	var err error
	if d.PeekKind() == '[' {
		err = Elements(d, func() error { return f.read(d, 0) })
	} else {
		err = f.read(d, 0)
	}
	if err != nil || f.Message == "" && f.Kind == "" && f.Code == "" {
		f.Message = model.Excerpt(body)
	}
	f.Message = Limit(strings.ToValidUTF8(strings.TrimSpace(f.Message), "\ufffd"), 2000)
	f.Kind, f.Code = Limit(f.Kind, 200), Limit(f.Code, 200)
	return f
}

// read reads an object that is an error or holds one. What was found first stays.
func (f *Fault) read(d *jsontext.Decoder, depth int) error {
	if depth > faultDepth {
		return d.SkipValue()
	}
	return Members(d, func(name []byte) error {
		switch string(name) {
		case `"error"`, `"detail"`:
			switch d.PeekKind() {
			case '{':
				return f.read(d, depth+1)
			case '[':
				return Elements(d, func() error { return f.read(d, depth+1) })
			}
			return keep(&f.Message, d)
		case `"message"`, `"msg"`, `"error_message"`:
			return keep(&f.Message, d)
		case `"param"`:
			return keep(&f.Param, d)
		case `"type"`, `"error_type"`:
			s, err := ReadString(d)
			if f.Kind == "" && s != "error" { // which only says that it is one
				f.Kind = s
			}
			return err
		case `"code"`:
			return f.number(&f.Code, d)
		case `"status"`:
			return f.number(&f.Kind, d)
		case `"n_prompt_tokens"`:
			return readTokens(&f.Excess.Asked, d)
		case `"n_ctx"`:
			return readTokens(&f.Excess.Limit, d)
		case `"details"`:
			return Elements(d, func() error { return f.detail(d, depth+1) })
		case `"choices"`: // OpenRouter: the error of a choice
			return Elements(d, func() error { return f.read(d, depth+1) })
		case `"metadata"`: // OpenRouter: what the provider behind it said
			return Members(d, func(name []byte) error {
				if string(name) == `"raw"` && d.PeekKind() == '"' {
					raw, err := ReadString(d)
					if raw != "" {
						f.Message = strings.TrimSpace(f.Message + ": " + raw)
					}
					return err
				}
				return d.SkipValue()
			})
		}
		return d.SkipValue()
	})
}

// detail reads one of the details: Google's, whose members have names of their
// own, so that the type need not be looked at, or any other's.
func (f *Fault) detail(d *jsontext.Decoder, depth int) error {
	return Members(d, func(name []byte) error {
		switch string(name) {
		case `"reason"`:
			s, err := ReadString(d)
			if s != "" && len(f.Reasons) < faultDetails {
				f.Reasons = append(f.Reasons, s)
			}
			return err
		case `"retryDelay"`:
			s, err := ReadString(d)
			if w, bad := time.ParseDuration(s); bad == nil {
				f.Wait = Milliseconds(w)
			}
			return err
		case `"violations"`:
			return Elements(d, func() error { return f.violation(d) })
		case `"error"`:
			return f.read(d, depth)
		case `"message"`, `"msg"`:
			return keep(&f.Message, d)
		}
		return d.SkipValue()
	})
}

// violation reads one violation of a quota.
func (f *Fault) violation(d *jsontext.Decoder) error {
	var q Quota
	err := Members(d, func(name []byte) error {
		switch string(name) {
		case `"quotaId"`:
			return keep(&q.ID, d)
		case `"quotaValue"`:
			return keep(&q.Value, d)
		}
		return d.SkipValue()
	})
	if q != (Quota{}) && len(f.Quotas) < faultDetails {
		f.Quotas = append(f.Quotas, q)
	}
	return err
}

// number reads a word, or the number of an HTTP status.
func (f *Fault) number(to *string, d *jsontext.Decoder) error {
	number := d.PeekKind() == '0'
	s, err := ReadString(d)
	if n, bad := strconv.Atoi(s); bad == nil && number && n >= 300 && n < 600 {
		f.Status = n
	} else if *to == "" {
		*to = s
	}
	return err
}

// keep reads a string into to, unless there is one already.
func keep(to *string, d *jsontext.Decoder) error {
	s, err := ReadString(d)
	if *to == "" {
		*to = s
	}
	return err
}

// readTokens reads a number of tokens; what is none says nothing.
func readTokens(to *int64, d *jsontext.Decoder) error {
	n, ok, err := ReadInt(d)
	if ok && n > 0 && n < maxTokens {
		*to = n
	}
	return err
}

// Because reports whether the details give one of the reasons.
func (f *Fault) Because(reasons ...string) bool {
	for _, r := range f.Reasons {
		for _, want := range reasons {
			if r == want {
				return true
			}
		}
	}
	return false
}

// Error makes the error of a fault that came with an HTTP status, or in mid-stream,
// where status is 0: there the HTTP status only says how the stream began. wait is
// what the headers ask for. classify says what kind of failure it is, from what
// status there is; words are the error's own words for it, the first of which that
// is not empty is its code.
func (f *Fault) Error(status int, wait message.Count, classify func(status int) event.ErrorClass, words ...string) *model.Error {
	if wait != 0 {
		f.Wait = wait
	}
	e := &model.Error{Status: status, Message: f.Message, RetryAfter: f.Wait}
	for _, w := range words {
		if e.Code == "" {
			e.Code = w
		}
	}
	if status == 0 {
		status = f.Status
	}
	e.Class = classify(status)
	switch e.Class {
	case event.ClassRate:
		if e.RetryAfter == 0 {
			e.RetryAfter = tryAgainIn(f.Message)
		}
	case event.ClassOverflow:
		x := f.Excess
		if x.Limit == 0 && !LongText(f.Code, f.Message) { // which are characters
			x = Measure(f.Message)
		}
		e.Asked, e.Limit = x.Asked, x.Limit
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
	return Milliseconds(d)
}

// Milliseconds rounds up; a negative wait is none.
func Milliseconds(d time.Duration) message.Count {
	return message.Known(int64((max(d, 0) + time.Millisecond - 1) / time.Millisecond))
}
