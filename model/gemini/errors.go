package gemini

import (
	"strconv"
	"strings"

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
type fault struct{ *wire.Fault }

// serverError makes the error of what the server reported; see [wire.Fault.Error].
func serverError(status int, body []byte, wait message.Count) *model.Error {
	f := fault{wire.ReadFault(body)}
	code := ""
	if f.Status != 0 {
		code = strconv.Itoa(f.Status)
	}
	return f.Error(status, wait, f.class, f.Kind, f.Code, code)
}

// class says what kind of failure f is: by its status and details, by its wording
// only where these say too little, and without any of them by the HTTP status.
func (f fault) class(status int) event.ErrorClass {
	text := strings.ToLower(f.Message)
	switch f.Kind {
	case "RESOURCE_EXHAUSTED":
		return f.exhausted(text)
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "UNIMPLEMENTED":
		return f.refused(text)
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		if f.Because("BILLING_DISABLED") {
			return event.ClassQuota
		}
		return event.ClassAuth
	case "NOT_FOUND":
		return event.ClassNotFound
	case "DEADLINE_EXCEEDED":
		return event.ClassTimeout
	case "UNAVAILABLE", "INTERNAL", "UNKNOWN", "DATA_LOSS", "ABORTED",
		"CANCELLED": // by the server: when the caller gives up, nothing is read
		if wire.SaysExcess(text) { // a gateway's, for whatever happened
			return event.ClassOverflow
		}
		return event.ClassServer
	}
	for _, word := range []string{f.Code, f.Kind} { // of whoever stands before it
		if c := wire.WordClass(word); c != "" {
			return c
		}
	}
	switch {
	case status == 402 && f.Wait != 0: // a gateway's: it passes with time
		return event.ClassRate
	case status == 400:
		return f.refused(text)
	case status == 429:
		return f.exhausted(text)
	case wire.SaysExcess(text):
		return event.ClassOverflow
	case status != 0:
		return model.StatusClass(status)
	}
	// In mid-stream and without a word that is known: the request was taken, so
	// it is the server that failed.
	return event.ClassServer
}

// exhausted tells a limit that passes from one that waiting does not lift. The
// wording does not: "check your plan and billing details" comes with both.
func (f fault) exhausted(text string) event.ErrorClass {
	for _, q := range f.Quotas {
		// A day's quota is no matter of seconds, whatever the delay beside it
		// says; and a quota of 0 is a model that the plan does not have.
		if strings.Contains(q.ID, "PerDay") || q.Value == "0" {
			return event.ClassQuota
		}
	}
	if strings.Contains(text, "credits are depleted") || strings.Contains(text, "spending cap") || strings.Contains(text, "limit: 0") {
		return event.ClassQuota
	}
	return event.ClassRate
}

// refused says why a request was found wrong.
func (f fault) refused(text string) event.ErrorClass {
	switch {
	case f.Because("API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"), strings.Contains(text, "api key not valid"), strings.Contains(text, "api key expired"):
		return event.ClassAuth // under INVALID_ARGUMENT, of all words
	case strings.Contains(text, "user location is not supported"):
		return event.ClassAuth
	case f.Because("BILLING_DISABLED"), strings.Contains(text, "enable billing"):
		return event.ClassQuota
	case wire.Overflows(400, text), strings.Contains(text, "token count") && strings.Contains(text, "exceeds"):
		return event.ClassOverflow
	case strings.Contains(text, "function_call.name"), strings.Contains(text, "functioncall.name"), strings.Contains(text, "function_response.name"):
		return event.ClassMalformed
	}
	return event.ClassBadRequest
}
