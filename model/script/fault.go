package script

import (
	"math/big"
	"time"

	"rein.example/rein/internal/yamltree"
	"rein.example/rein/message"
	"rein.example/rein/model"
	common "rein.example/rein/model/internal/wire"
)

// A fault is what goes wrong at one try. Exactly one of status, cut, stall,
// html, event, close and empty makes its kind; a stall may also come before a
// cut.
type fault struct {
	status              int
	retryAfter          time.Duration // -1: not said
	kind, code, message string        // of the error object
	body                string        // instead of the error object
	// cutBytes, or else cutPPM millionths of the whole, arrive before the cut.
	cutBytes, cutPPM int64
	stall            time.Duration
	html             bool
	event            *apiError
	close, empty     bool
}

// apiError is the error object of the wire.
type apiError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param,omitempty"`
	Code    string `json:"code,omitempty"`
}

func faults(dst *[]fault) field {
	return func(n *yamltree.Node) error {
		if n.Kind != yamltree.List {
			return errAt(n.Pos, "faults are a list, one for each try")
		}
		for _, v := range n.Items {
			f, err := parseFault(v)
			if err != nil {
				return err
			}
			*dst = append(*dst, *f)
		}
		return nil
	}
}

func parseFault(n *yamltree.Node) (*fault, error) {
	m, err := readMapping(n, "a fault")
	if err != nil {
		return nil, err
	}
	f := &fault{retryAfter: -1}
	var status int64
	err = m.readFields("a fault",
		"status (with retry_after, type, code, message, body), close, cut (with stall), stall, html, error_event, empty",
		map[string]field{
			"status":      integer(&status, 400, 599),
			"retry_after": duration(&f.retryAfter),
			"type":        text(&f.kind),
			"code":        text(&f.code),
			"message":     text(&f.message),
			"body":        text(&f.body),
			"cut":         f.readCut,
			"stall":       duration(&f.stall),
			"html":        isTrue(&f.html),
			"close":       isTrue(&f.close),
			"empty":       isTrue(&f.empty),
			"error_event": func(n *yamltree.Node) error {
				m, err := readMapping(n, "error_event")
				if err != nil {
					return err
				}
				f.event = &apiError{Type: "server_error", Message: "the server failed while it was answering"}
				return m.readFields("error_event", "type, code, message", map[string]field{
					"type": text(&f.event.Type), "code": text(&f.event.Code), "message": text(&f.event.Message),
				})
			},
		})
	if err != nil {
		return nil, err
	}
	f.status = int(status)
	kinds := 0
	for _, is := range []bool{f.status != 0, f.cut() || f.stall > 0, f.html, f.event != nil, f.close, f.empty} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return nil, errAt(n.Pos, "a fault is exactly one of status, close, cut, stall, html, error_event and empty; only stall and cut go together")
	}
	for _, key := range []string{"retry_after", "type", "code", "message", "body"} {
		if at := m.has(key); at != nil && f.status == 0 {
			return nil, errAt(at.Pos, "%s belongs to a fault with a status", key)
		}
	}
	if at := m.has("body"); at != nil && f.kind+f.code+f.message != "" {
		return nil, errAt(at.Pos, "body takes the place of type, code and message; give one or the others")
	}
	return f, nil
}

// readCut reads whole bytes or a fraction.
func (f *fault) readCut(n *yamltree.Node) error {
	s := n.Written
	switch n.Kind {
	case yamltree.Int:
		if b, err := parseInt(s); err == nil && b > 0 && b <= maxBytes {
			f.cutBytes = b
			return nil
		}
	case yamltree.Float:
		if r, ok := new(big.Rat).SetString(s); ok && len(s) < 20 {
			r.Mul(r, big.NewRat(1_000_000, 1))
			ppm := new(big.Int).Quo(r.Num(), r.Denom())
			if ppm.Sign() > 0 && ppm.Cmp(big.NewInt(1_000_000)) < 0 {
				f.cutPPM = ppm.Int64()
				return nil
			}
		}
	}
	return errAt(n.Pos, "cut is a number of bytes, at least 1, or a fraction between 0 and 1 such as 0.5")
}

func (f *fault) cut() bool { return f.cutBytes > 0 || f.cutPPM > 0 }

// arrives returns how many of total bytes arrive: all but one at most. A stall
// without a cut lets none through.
func (f *fault) arrives(total int) int {
	n := f.cutBytes
	if f.cutPPM > 0 {
		n = int64(total) * f.cutPPM / 1_000_000
	}
	return int(max(0, min(n, int64(total)-1)))
}

// apiError returns the error object of a status, with the words that go with it
// on the wire where the script says nothing.
func (f *fault) apiError() apiError {
	e := apiError{Type: "invalid_request_error", Message: "the script refuses this request"}
	switch {
	case f.status == 429:
		e = apiError{Type: "requests", Code: "rate_limit_exceeded", Message: "rate limit reached; try again later"}
	case f.status == 401:
		e.Code, e.Message = "invalid_api_key", "the API key is not valid"
	case f.status == 404:
		e.Code, e.Message = "model_not_found", "the model does not exist"
	case f.status >= 500:
		e = apiError{Type: "server_error", Message: "the server had an error; try again later"}
	}
	if f.kind != "" {
		e.Type = f.kind
	}
	if f.code != "" {
		e.Code = f.code
	}
	if f.message != "" {
		e.Message = f.message
	}
	return e
}

// modelError returns what a client makes of a fault with a status.
func (f *fault) modelError() *model.Error {
	body := []byte(f.body)
	if f.body == "" {
		body = errorBody(f.apiError())
	}
	var wait message.Count
	if f.retryAfter >= 0 {
		wait = message.Known(f.retryAfter.Milliseconds())
	}
	return classified(f.status, body, wait)
}

// classified returns the error that a body makes: what a client of the wire makes
// of it. status is 0 in mid-stream.
func classified(status int, body []byte, wait message.Count) *model.Error {
	f := common.ReadFault(body)
	return f.Error(status, wait, f.Class, f.Code, f.Kind)
}
