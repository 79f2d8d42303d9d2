package anthropic

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model/modeltest"
)

// What servers say, and what kind of failure it is.
func TestErrorClasses(t *testing.T) {
	of := func(kind, text string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + `"},"request_id":"req_011"}`
	}
	modeltest.Classes(t, serverError, []modeltest.ErrorCase{
		{"overloaded", 529, of("overloaded_error", "Overloaded"), event.ClassServer, "overloaded_error"},
		{"overloaded in mid-stream", 0, of("overloaded_error", "Overloaded"), event.ClassServer, "overloaded_error"},
		{"server", 500, of("api_error", "Internal server error"), event.ClassServer, "api_error"},
		{"server in mid-stream", 0, of("api_error", "Internal server error"), event.ClassServer, "api_error"},
		{"rate", 429, of("rate_limit_error", "This request would exceed your account's rate limit."), event.ClassRate, "rate_limit_error"},
		{"rate in mid-stream", 0, of("rate_limit_error", "Too fast"), event.ClassRate, "rate_limit_error"},
		{"timeout", 504, of("timeout_error", "Request timed out"), event.ClassTimeout, "timeout_error"},
		{"timeout in mid-stream", 0, of("timeout_error", "Request timed out"), event.ClassTimeout, "timeout_error"},
		{"key", 401, of("authentication_error", "invalid x-api-key"), event.ClassAuth, "authentication_error"},
		{"permission", 403, of("permission_error", "Your API key does not have permission to use the specified resource."), event.ClassAuth, "permission_error"},
		{"permission in mid-stream", 0, of("permission_error", "No"), event.ClassAuth, "permission_error"},
		{"model", 404, of("not_found_error", "model: claude-9"), event.ClassNotFound, "not_found_error"},
		{"conflict", 409, of("conflict_error", "Try again"), event.ClassServer, "conflict_error"},
		{"billing", 402, of("billing_error", "Check your payment details."), event.ClassQuota, "billing_error"},
		{"credit", 400, of("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), event.ClassQuota, "invalid_request_error"},
		{"spend limit", 400, of("invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-04-01."), event.ClassQuota, "invalid_request_error"},
		{"size", 413, of("request_too_large", "Request exceeds the maximum size"), event.ClassOverflow, "request_too_large"},
		{"size in mid-stream", 0, of("request_too_large", "Request exceeds the maximum size"), event.ClassOverflow, "request_too_large"},
		{"prompt", 400, of("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), event.ClassOverflow, "invalid_request_error"},
		{"prompt in mid-stream", 0, of("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), event.ClassOverflow, "invalid_request_error"},
		{"prompt and reply", 400, of("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again"), event.ClassOverflow, "invalid_request_error"},
		{"name of a call", 400, of("invalid_request_error", "messages.3.content.1.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"), event.ClassMalformed, "invalid_request_error"},
		{"arguments of a call", 400, of("invalid_request_error", "messages.3.content.1.tool_use.input: Input should be a valid dictionary"), event.ClassMalformed, "invalid_request_error"},
		{"call without result", 400, of("invalid_request_error", "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01."), event.ClassBadRequest, "invalid_request_error"},
		{"thinking", 400, of("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"), event.ClassBadRequest, "invalid_request_error"},
		{"schema of a tool", 400, of("invalid_request_error", "tools.0.custom.input_schema: JSON schema is invalid"), event.ClassBadRequest, "invalid_request_error"},
		{"bad request in mid-stream", 0, of("invalid_request_error", "no"), event.ClassBadRequest, "invalid_request_error"},
		{"bad request under another status", 404, of("invalid_request_error", "no such path"), event.ClassNotFound, "invalid_request_error"},
		{"a type that is not known", 418, of("teapot_error", "short and stout"), event.ClassBadRequest, "teapot_error"},
		{"a type that is not known in mid-stream", 0, of("teapot_error", "short and stout"), event.ClassServer, "teapot_error"},
		{"a vague type", 404, of("api_error", "no such model"), event.ClassNotFound, "api_error"},
		{"gateway: OpenAI's form", 429, `{"error":{"message":"Rate limited","type":"rate_limit_exceeded","code":null}}`, event.ClassRate, "rate_limit_exceeded"},
		{"gateway: quota as a code", 429, `{"error":{"message":"You exceeded your current quota","type":null,"code":"insufficient_quota"}}`, event.ClassQuota, "insufficient_quota"},
		{"gateway: status as a code", 0, `{"error":{"message":"Provider returned error","code":429}}`, event.ClassRate, ""},
		{"gateway: text", 502, `{"error":"bad gateway"}`, event.ClassServer, ""},
		{"vLLM: context", 400, `{"type":"error","error":{"type":"BadRequestError","message":"This model's maximum context length is 4096 tokens."}}`, event.ClassOverflow, "BadRequestError"},
		{"gateway: context, as a server fault", 500, of("api_error", "upstream: prompt is too long: 9000 tokens > 8192 maximum"), event.ClassOverflow, "api_error"},
		{"gateway: context, by code", 400, `{"error":{"type":"invalid_request_error","code":"context_window_exceeded","message":"no"}}`, event.ClassOverflow, "invalid_request_error"},
		{"MiniMax: context", 400, of("invalid_request_error", "invalid params, context window exceeds limit (2013)"), event.ClassOverflow, "invalid_request_error"},
		{"DeepSeek: balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error"}}`, event.ClassQuota, "unknown_error"},
		{"FastAPI", 422, `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}`, event.ClassBadRequest, "missing"},
		{"HTML", 502, "<html>\n<h1>502 Bad Gateway</h1></html>", event.ClassServer, ""},
		{"empty", 504, "", event.ClassTimeout, ""},
		{"text in mid-stream", 0, "boom", event.ClassServer, ""},
		{"broken JSON", 400, `{"error":{"message":"cut o`, event.ClassBadRequest, ""},
	})

	if e := serverError(402, []byte(`{}`), message.Known(1000)); e.Class != event.ClassRate || e.RetryAfter != message.Known(1000) {
		t.Errorf("402 with a time to wait is %s", e.Class)
	}
	if e := serverError(402, []byte(of("billing_error", "pay")), message.Known(1000)); e.Class != event.ClassQuota {
		t.Errorf("a billing error with a time to wait is %s", e.Class)
	}
}

func FuzzServerError(f *testing.F) {
	modeltest.FuzzFault(f, serverError, `{"type":"error","error":{"type":"t","message":"m"}}`, `{"error":"x"}`, `{"detail":[{"msg":"x"}]}`)
}
