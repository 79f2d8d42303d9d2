package wire

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// WordClass knows the words that servers of all wires use as error code, type or
// status, since gateways pass on what the server behind them has said; "" is a
// word that says too little. What only says that the request was bad
// (invalid_request_error, BadRequestError, invalid_argument) is left to wording
// and status.
func WordClass(word string) event.ErrorClass {
	switch strings.ToLower(word) {
	case "context_length_exceeded", "context_window_exceeded", "exceed_context_size_error", // OpenAI; proxies; llama.cpp
		"request_too_large", "max_prompt_tokens_exceeded", "model_max_prompt_tokens_exceeded", "prompt_too_long", "input_too_long", // Anthropic; Copilot; others
		"tokens_limit_reached", "1261": // GitHub Models; Zhipu
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
		"model_overloaded", "upstream_error", "provider_error", "conflict_error": // Anthropic
		return event.ClassServer
	case "timeout", "timeout_error", "request_timeout", "gateway_timeout", "deadline_exceeded":
		return event.ClassTimeout
	case "invalid_api_key", "authentication_error", "autherror", "invalid_authentication_error", "incorrect_api_key_error",
		"unauthorized", "unauthenticated", "permission_error", "permission_denied", "permission_denied_error", "forbidden", "oauth_error",
		"account_deactivated", "access_terminated", "unsupported_country_region_territory", "invalid_organization":
		return event.ClassAuth
	case "model_not_found", "not_found_error", "not_found", "notfounderror", "model_not_exist", "deploymentnotfound",
		"resource_not_found_error", "unknown_model", "model_not_available", "no_endpoints":
		return event.ClassNotFound
	case "tool_use_failed", "invalid_tool_call", "invalid_tool_arguments", "malformed_function_call": // Groq; others; Gemini
		return event.ClassMalformed
	}
	if isFilter(word) { // another try would fail as well
		return event.ClassBadRequest
	}
	return ""
}

// isFilter knows the codes with which servers say that a filter of theirs, and not
// the model, refuses the request or what came of it.
func isFilter(code string) bool {
	switch strings.ToLower(code) {
	case "content_filter", "content_policy_violation", "responsibleaipolicyviolation", // OpenAI, Azure
		"bio_policy", "cyber_policy", "misalignment_policy_violation", "image_content_policy_violation", // OpenAI Responses
		"data_inspection_failed", "datainspectionfailed": // DashScope
		return true
	}
	return false
}

// filtered reports whether an error is a filter's refusal.
func filtered(e *model.Error) bool {
	return e.Class == event.ClassBadRequest && (isFilter(e.Code) ||
		e.Code == "invalid_prompt" && strings.Contains(strings.ToLower(e.Message), "policy")) // OpenAI Responses, for more than one reason
}

// quotaWords are how servers without a code say that money is the matter, in lower
// case.
var quotaWords = []string{
	"insufficient balance", "insufficient credits", "insufficient quota", "exceeded your current quota", // DeepSeek; OpenRouter; OpenAI
	"requires more credits",                                                      // OpenRouter
	"credit balance is too low", "usage limits", "spend limit", "spending limit", // Anthropic
}

// SaysQuota reports whether the text of an error says that money is the matter.
func SaysQuota(text string) bool { return says(strings.ToLower(text), quotaWords) }

// callWords are how servers without a code complain about a past call's arguments,
// in lower case.
var callWords = []string{
	"failed to parse tool call arguments", // llama.cpp
	"invalid tool call arguments",         // Ollama
}

// SaysCall reports whether the text of an error complains about the name or the
// arguments of a past call. One about a call without its result is not such a
// complaint: it is nothing that the model can mend.
func SaysCall(text string) bool { return says(strings.ToLower(text), callWords) }
