package openai

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// class says what kind of failure f is: by its code or type where the tables
// below know it, by its wording where servers have none, else by the status.
func (f *fault) class(status int) event.ErrorClass {
	code, kind := codeClass(f.code), codeClass(f.kind)
	text := strings.ToLower(f.message)
	switch {
	case code == event.ClassQuota || kind == event.ClassQuota:
		return event.ClassQuota
	case code == event.ClassOverflow || kind == event.ClassOverflow || saysAny(text, overflowWords):
		return event.ClassOverflow
	case status == 413, status == 429 && strings.Contains(text, "request too large"):
		// Groq and OpenAI: one request alone is over the tokens per minute.
		return event.ClassOverflow
	case f.malformed(status, text):
		return event.ClassMalformed
	case code != "" && !vague(code, status):
		return code
	case kind != "" && !vague(kind, status):
		return kind
	case status == 402 && f.wait != 0: // OpenRouter: it passes with time
		return event.ClassRate
	case (status == 400 || status == 402 || status == 403 || status == 429) && saysAny(text, quotaWords):
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

// codeClass knows the words that vendors use as error code, type or status.
// Words that only say that the request was bad (invalid_request_error,
// BadRequestError, invalid_argument) are left to wording and status.
func codeClass(word string) event.ErrorClass {
	switch strings.ToLower(word) {
	case "context_length_exceeded", "context_window_exceeded", "exceed_context_size_error", // OpenAI; proxies; llama.cpp
		"request_too_large", "max_prompt_tokens_exceeded", "prompt_too_long", "input_too_long":
		return event.ClassOverflow
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", // OpenAI; Anthropic
		"insufficient_balance", "insufficient_credits", "payment_required", "exceeded_current_quota_error", // DeepSeek; OpenRouter; Moonshot
		"arrearage", "quota_exceeded", "credit_balance_too_low": // DashScope; others
		return event.ClassQuota
	case "rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error", "ratelimiterror", "rate_limited",
		"too_many_requests", "toomanyrequests", "requests", "tokens", // OpenAI's types of rate limit
		"resource_exhausted", "throttling", "throttling_error", "throttlingexception", "limit_requests": // Gemini; DashScope, Bedrock
		return event.ClassRate
	case "server_error", "internal_error", "internal_server_error", "internalservererror", "internal", "api_error",
		"overloaded_error", "overloaded", "engine_overloaded", "engine_overloaded_error", "service_unavailable",
		"serviceunavailable", "service_unavailable_error", "unavailable", "unavailable_error", "bad_gateway", // llama.cpp while it loads
		"model_overloaded", "upstream_error", "provider_error":
		return event.ClassServer
	case "timeout", "timeout_error", "request_timeout", "gateway_timeout", "deadline_exceeded":
		return event.ClassTimeout
	case "invalid_api_key", "authentication_error", "autherror", "invalid_authentication_error", "incorrect_api_key_error",
		"unauthorized", "unauthenticated", "permission_error", "permission_denied", "permission_denied_error", "forbidden",
		"account_deactivated", "access_terminated", "unsupported_country_region_territory", "invalid_organization":
		return event.ClassAuth
	case "model_not_found", "not_found_error", "not_found", "notfounderror", "model_not_exist", "deploymentnotfound",
		"resource_not_found_error", "unknown_model", "model_not_available", "no_endpoints":
		return event.ClassNotFound
	case "tool_use_failed", "invalid_tool_call", "invalid_tool_arguments", "malformed_function_call": // Groq; others; Gemini
		return event.ClassMalformed
	case "content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed":
		// The request as it stands is refused; the code is kept.
		return event.ClassBadRequest
	}
	return ""
}

// overflowWords are how servers without a code say that a request is longer
// than the window, in lower case.
var overflowWords = []string{
	"maximum context length",               // OpenAI, vLLM, DeepSeek, OpenRouter, Mistral
	"context length exceeded",              //
	"exceeds the context window",           // OpenAI
	"context window exceeds",               // MiniMax
	"exceeds the available context size",   // llama.cpp
	"exceed context window",                // llama-cpp-python
	"exceeds context length",               // Ollama
	"than the model's context length",      // SGLang
	"longer than the maximum model length", // vLLM
	"than the context length",              // LM Studio
	"maximum prompt length",                // xAI
	"prompt is too long",                   // Anthropic behind proxies
	"input is too long",                    // Bedrock behind proxies
	"exceeds the maximum number of tokens", // Gemini
	"reduce the length of the messages",    // OpenAI, Groq
	"range of input length should be",      // DashScope
	"exceeded model token limit",           // Moonshot
	"max_new_tokens` must be <=",           // text-generation-inference, Together
}

// quotaWords are how servers without a code say that money is the matter.
var quotaWords = []string{
	"insufficient balance", "insufficient credits", "requires more credits", "credit balance is too low",
	"insufficient quota", "exceeded your current quota", "billing",
}

func saysAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// malformed reports a complaint about a past call's name or arguments. One about
// a call without its result is not: nothing that the model can mend.
func (f *fault) malformed(status int, text string) bool {
	if codeClass(f.code) == event.ClassMalformed || codeClass(f.kind) == event.ClassMalformed {
		return true
	}
	if status != 0 && status != 400 && status != 422 && status != 500 {
		return false
	}
	param := strings.ToLower(f.param)
	return strings.Contains(param, "tool_calls[") && strings.Contains(param, "function") ||
		strings.Contains(text, "failed to parse tool call arguments") || // llama.cpp
		strings.Contains(text, "invalid tool call arguments") || // Ollama
		strings.Contains(text, "was not in request.tools") || // Groq
		strings.Contains(text, "tool_calls[") && (strings.Contains(text, "function.arguments") || strings.Contains(text, "function.name"))
}
