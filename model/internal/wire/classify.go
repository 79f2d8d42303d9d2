package wire

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// Class says what kind of failure f is: by its code or type where these are known,
// by its wording where servers have none, else by the status. It is for servers of
// OpenAI's wires, and whatever speaks like them.
func (f *Fault) Class(status int) event.ErrorClass {
	code, kind := WordClass(f.Code), WordClass(f.Kind)
	text := strings.ToLower(f.Message)
	switch {
	case code == event.ClassQuota || kind == event.ClassQuota:
		return event.ClassQuota
	case code == event.ClassOverflow || kind == event.ClassOverflow || Overflows(status, text) || LongText(f.Code, text):
		return event.ClassOverflow
	case status == 429 && strings.Contains(text, "request too large"):
		// Groq and OpenAI: one request alone is over the tokens per minute.
		return event.ClassOverflow
	case f.malformed(status, text):
		return event.ClassMalformed
	case code != "" && !vague(code, status):
		return code
	case kind != "" && !vague(kind, status):
		return kind
	case status == 402 && f.Wait != 0: // OpenRouter: it passes with time
		return event.ClassRate
	case (status == 400 || status == 402 || status == 403 || status == 429) && (says(text, quotaWords) || strings.Contains(text, "billing")):
		return event.ClassQuota
	case status != 0:
		return model.StatusClass(status)
	}
	// In mid-stream and without a word that is known: the request was taken, so
	// it is the server that failed.
	return event.ClassServer
}

// vague reports a word for "the server failed" under a status that says better:
// Ollama's type is api_error whatever happened.
func vague(class event.ErrorClass, status int) bool {
	return class == event.ClassServer && status >= 400 && status < 500
}

// malformed reports a complaint about a past call's name or arguments. One about
// a call without its result is not: nothing that the model can mend.
func (f *Fault) malformed(status int, text string) bool {
	if WordClass(f.Code) == event.ClassMalformed || WordClass(f.Kind) == event.ClassMalformed {
		return true
	}
	if status != 0 && status != 400 && status != 422 && status != 500 {
		return false
	}
	param := strings.ToLower(f.Param)
	return strings.Contains(param, "tool_calls[") && strings.Contains(param, "function") ||
		says(text, callWords) ||
		strings.Contains(text, "was not in request.tools") || // Groq
		strings.Contains(text, "tool_calls[") && (strings.Contains(text, "function.arguments") || strings.Contains(text, "function.name"))
}
