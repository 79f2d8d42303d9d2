package gemini

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

// fault is what the server says of an error, in the form of google.rpc.Status:
//
//	{"error":{"code":429,"message":…,"status":"RESOURCE_EXHAUSTED","details":[…]}}
//
// alone or, where a stream of events was not asked for, in a list.
type fault struct {
	message, status string
	code            int // the HTTP status
	// reasons are those of google.rpc.ErrorInfo: "API_KEY_INVALID".
	reasons []string
	// wait is the delay of google.rpc.RetryInfo.
	wait message.Count
	// quotas are the ids and values of google.rpc.QuotaFailure.
	quotas []quota
}

type quota struct{ id, value string }

// maxDetails bounds the details that are looked at.
const maxDetails = 64

// readFault reads an error's body; what is not of this form is taken as text.
func readFault(body []byte) *fault {
	f := &fault{}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	one := func() error {
		return wire.Members(d, func(name []byte) error {
			if string(name) != `"error"` {
				return d.SkipValue()
			}
			if d.PeekKind() == '"' {
				return keep(&f.message, d)
			}
			return f.read(d)
		})
	}
	var err error
	if d.PeekKind() == '[' {
		err = wire.Elements(d, one)
	} else {
		err = one()
	}
	if err != nil || f.message == "" && f.status == "" {
		f.message = model.Excerpt(body)
	}
	f.message = wire.Limit(strings.ToValidUTF8(strings.TrimSpace(f.message), "\ufffd"), 2000)
	f.status = wire.Limit(f.status, 200)
	return f
}

// read reads a google.rpc.Status.
func (f *fault) read(d *jsontext.Decoder) error {
	return wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"message"`:
			return keep(&f.message, d)
		case `"status"`:
			return keep(&f.status, d)
		case `"code"`:
			n, ok, err := wire.ReadInt(d)
			if ok && n >= 300 && n < 600 {
				f.code = int(n)
			}
			return err
		case `"details"`:
			return wire.Elements(d, func() error { return f.detail(d) })
		}
		return d.SkipValue()
	})
}

// detail reads one of the details. Their members have names of their own, so
// that the type need not be looked at.
func (f *fault) detail(d *jsontext.Decoder) error {
	return wire.Members(d, func(name []byte) error {
		switch string(name) {
		case `"reason"`:
			s, err := wire.ReadString(d)
			if s != "" && len(f.reasons) < maxDetails {
				f.reasons = append(f.reasons, s)
			}
			return err
		case `"retryDelay"`:
			s, err := wire.ReadString(d)
			if w, bad := time.ParseDuration(s); bad == nil {
				f.wait = message.Known(int64((max(w, 0) + time.Millisecond - 1) / time.Millisecond))
			}
			return err
		case `"violations"`:
			return wire.Elements(d, func() error {
				var q quota
				err := wire.Members(d, func(name []byte) error {
					switch string(name) {
					case `"quotaId"`:
						return keep(&q.id, d)
					case `"quotaValue"`:
						return keep(&q.value, d)
					}
					return d.SkipValue()
				})
				if q != (quota{}) && len(f.quotas) < maxDetails {
					f.quotas = append(f.quotas, q)
				}
				return err
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

// serverError makes the error of what the server reported. status is 0 in
// mid-stream, where the HTTP status only says how the stream began; wait is what
// the headers ask for.
func serverError(status int, body []byte, wait message.Count) *model.Error {
	f := readFault(body)
	if wait != 0 {
		f.wait = wait
	}
	e := &model.Error{Status: status, Code: f.status, Message: f.message, RetryAfter: f.wait}
	if status == 0 {
		status = f.code
	}
	if e.Code == "" && f.code != 0 {
		e.Code = strconv.Itoa(f.code)
	}
	if e.Message == "" {
		e.Message = "the server reported an error without a word"
	}
	e.Class = f.class(status)
	return e
}

// class says what kind of failure f is: by its status and details, by its wording
// only where these say too little, and without any of them by the HTTP status.
func (f *fault) class(status int) event.ErrorClass {
	text := strings.ToLower(f.message)
	switch f.status {
	case "RESOURCE_EXHAUSTED":
		return f.exhausted(text)
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "UNIMPLEMENTED":
		return f.refused(text)
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		if f.because("BILLING_DISABLED") {
			return event.ClassQuota
		}
		return event.ClassAuth
	case "NOT_FOUND":
		return event.ClassNotFound
	case "DEADLINE_EXCEEDED":
		return event.ClassTimeout
	case "UNAVAILABLE", "INTERNAL", "UNKNOWN", "DATA_LOSS", "ABORTED",
		"CANCELLED": // by the server: when the caller gives up, nothing is read
		return event.ClassServer
	}
	switch {
	case status == 400:
		return f.refused(text)
	case status == 429:
		return f.exhausted(text)
	case status != 0:
		return model.StatusClass(status)
	}
	// In mid-stream and without a word that is known: the request was taken, so
	// it is the server that failed.
	return event.ClassServer
}

// exhausted tells a limit that passes from one that waiting does not lift. The
// wording does not: "check your plan and billing details" comes with both.
func (f *fault) exhausted(text string) event.ErrorClass {
	for _, q := range f.quotas {
		// A day's quota is no matter of seconds, whatever the delay beside it
		// says; and a quota of 0 is a model that the plan does not have.
		if strings.Contains(q.id, "PerDay") || q.value == "0" {
			return event.ClassQuota
		}
	}
	if strings.Contains(text, "credits are depleted") || strings.Contains(text, "spending cap") || strings.Contains(text, "limit: 0") {
		return event.ClassQuota
	}
	return event.ClassRate
}

// refused says why a request was found wrong.
func (f *fault) refused(text string) event.ErrorClass {
	switch {
	case f.because("API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"), strings.Contains(text, "api key not valid"), strings.Contains(text, "api key expired"):
		return event.ClassAuth // under INVALID_ARGUMENT, of all words
	case strings.Contains(text, "user location is not supported"):
		return event.ClassAuth
	case f.because("BILLING_DISABLED"), strings.Contains(text, "enable billing"):
		return event.ClassQuota
	case strings.Contains(text, "exceeds the maximum number of tokens"), // of the window
		strings.Contains(text, "token count") && strings.Contains(text, "exceeds"),
		strings.Contains(text, "payload size exceeds"): // of a request, in bytes
		return event.ClassOverflow
	case strings.Contains(text, "function_call.name"), strings.Contains(text, "functioncall.name"), strings.Contains(text, "function_response.name"):
		return event.ClassMalformed
	}
	return event.ClassBadRequest
}

// because reports whether the details give one of the reasons.
func (f *fault) because(reasons ...string) bool {
	for _, r := range f.reasons {
		for _, want := range reasons {
			if r == want {
				return true
			}
		}
	}
	return false
}
