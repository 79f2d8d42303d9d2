package anthropic

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// class says what kind of failure f is: by its type, except that the wire's one
// word for a bad request, invalid_request_error, is told apart by its wording;
// else by the status. wait is what the headers ask for.
func (f *fault) class(status int, wait message.Count) event.ErrorClass {
	class := kindClass(f.kind)
	if class == "" {
		class = kindClass(f.code)
	}
	text := strings.ToLower(f.message)
	switch {
	case class == "" || class == event.ClassBadRequest || class == event.ClassServer && status >= 400 && status < 500:
		switch {
		case status == 413, saysAny(text, overflowWords):
			return event.ClassOverflow
		case saysAny(text, quotaWords):
			return event.ClassQuota
		case saysAny(text, callWords):
			return event.ClassMalformed
		}
	default:
		return class
	}
	switch {
	case status == 402 && wait != 0: // a gateway's: it passes with time
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

// kindClass knows the wire's error types, and those that gateways and other
// vendors' endpoints use beside them. The empty class is a type that says too
// little.
func kindClass(word string) event.ErrorClass {
	switch strings.ToLower(word) {
	case "invalid_request_error", "invalid_request":
		return event.ClassBadRequest
	case "authentication_error", "permission_error", "invalid_api_key", "unauthorized", "forbidden", "oauth_error":
		return event.ClassAuth
	case "billing_error", "insufficient_quota", "insufficient_balance", "payment_required", "exceeded_current_quota_error":
		return event.ClassQuota
	case "not_found_error", "model_not_found", "not_found":
		return event.ClassNotFound
	case "request_too_large", "context_length_exceeded", "context_window_exceeded", "exceed_context_size_error":
		return event.ClassOverflow
	case "rate_limit_error", "rate_limit_exceeded", "too_many_requests":
		return event.ClassRate
	case "timeout_error", "timeout":
		return event.ClassTimeout
	case "api_error", "overloaded_error", "conflict_error", "internal_server_error", "server_error", "service_unavailable", "overloaded":
		return event.ClassServer
	}
	return ""
}

// overflowWords are how servers say that a request is longer than the window, in
// lower case.
var overflowWords = []string{
	"prompt is too long",                 // Anthropic
	"exceed context limit",               // Anthropic: input and max_tokens together
	"exceeds the maximum allowed number", // Anthropic: bytes
	"input is too long",                  // Bedrock
	"maximum context length",             // vLLM, DeepSeek and others
	"than the model's context length",    // SGLang
	"context window exceeds",             // MiniMax
	"exceeds the context window",         //
	"exceeded model token limit",         // Moonshot
	"exceeds the available context size", // llama.cpp
	"range of input length should be",    // DashScope
}

// quotaWords are how servers say that money is the matter.
var quotaWords = []string{
	"credit balance is too low", "usage limits", "spend limit", "spending limit", // Anthropic
	"insufficient balance", "insufficient credits", "exceeded your current quota",
}

// callWords are how servers complain about a past call's name or arguments. One
// about a call without its result is not among them: nothing that the model can
// mend.
var callWords = []string{
	"tool_use.name", "tool_use.input", // Anthropic: messages.3.content.1.tool_use.input: Input should be …
	"failed to parse tool call arguments", "invalid tool call arguments", // servers behind a gateway
}

func saysAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
