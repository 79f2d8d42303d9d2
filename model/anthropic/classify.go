package anthropic

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// fault is what a server says of an error.
type fault struct{ *wire.Fault }

// class says what kind of failure f is: by its type, except that the wire's one
// word for a bad request, invalid_request_error, is told apart by its wording;
// else by the status.
func (f fault) class(status int) event.ErrorClass {
	class := kindClass(f.Kind)
	if class == "" {
		class = kindClass(f.Code)
	}
	text := strings.ToLower(f.Message)
	switch {
	case (class == event.ClassBadRequest || class == event.ClassServer) && // a gateway's, for whatever happened
		(kindClass(f.Code) == event.ClassOverflow || wire.SaysExcess(text)):
		return event.ClassOverflow
	case class == "" || class == event.ClassBadRequest || class == event.ClassServer && status >= 400 && status < 500:
		switch {
		case wire.Overflows(status, text):
			return event.ClassOverflow
		case wire.SaysQuota(text):
			return event.ClassQuota
		case wire.SaysCall(text), strings.Contains(text, "tool_use.name"), strings.Contains(text, "tool_use.input"):
			return event.ClassMalformed // messages.3.content.1.tool_use.input: Input should be …
		}
	default:
		return class
	}
	switch {
	case status == 402 && f.Wait != 0: // a gateway's: it passes with time
		return event.ClassRate
	case class == event.ClassBadRequest && (status == 0 || status == 400):
		return class
	case status != 0: // says more than a vague type
		return model.StatusClass(status)
	}
	// In mid-stream and without a word that is known: the request was taken, so
	// it is the server that failed.
	return event.ClassServer
}

// kindClass is [wire.WordClass], and knows the wire's own word for a bad request.
func kindClass(word string) event.ErrorClass {
	switch strings.ToLower(word) {
	case "invalid_request_error", "invalid_request":
		return event.ClassBadRequest
	}
	return wire.WordClass(word)
}
