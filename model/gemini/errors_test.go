package gemini

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model/modeltest"
)

func rpc(code, status, message, details string) string {
	return `{"error":{"code":` + code + `,"message":"` + message + `","status":"` + status + `","details":[` + details + `]}}`
}

func quotaFailure(id, value string) string {
	return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + id + `","quotaValue":"` + value + `"}]}`
}

const (
	exceeded   = "You exceeded your current quota, please check your plan and billing details."
	retryInfo  = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}`
	keyInvalid = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`
)

// What the API says, and what kind of failure it is.
func TestErrorClasses(t *testing.T) {
	modeltest.Classes(t, serverError, []modeltest.ErrorCase{
		{"requests per minute", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, quotaFailure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "10")+","+retryInfo), event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"tokens per minute", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, quotaFailure("GenerateContentPaidTierInputTokensPerModelPerMinute", "1000000")), event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"requests per day", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, quotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250")+","+retryInfo), event.ClassQuota, "RESOURCE_EXHAUSTED"},
		{"minute and day", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, quotaFailure("RequestsPerMinute", "10")+","+quotaFailure("RequestsPerDay", "250")), event.ClassQuota, "RESOURCE_EXHAUSTED"},
		{"a model that the plan has not", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, quotaFailure("RequestsPerMinute", "0")), event.ClassQuota, "RESOURCE_EXHAUSTED"},
		{"the same words, no details", 429, rpc("429", "RESOURCE_EXHAUSTED", exceeded, ``), event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"a capacity that is shared", 429, rpc("429", "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", ``), event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"no money", 429, rpc("429", "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.", ``), event.ClassQuota, "RESOURCE_EXHAUSTED"},
		{"too many tokens", 400, rpc("400", "INVALID_ARGUMENT", "The input token count (1348210) exceeds the maximum number of tokens allowed (1048576).", ``), event.ClassOverflow, "INVALID_ARGUMENT"},
		{"too many tokens, older words", 400, rpc("400", "INVALID_ARGUMENT", "The input token count exceeds the limit of 32768.", ``), event.ClassOverflow, "INVALID_ARGUMENT"},
		{"too many tokens, as a server fault", 500, rpc("500", "INTERNAL", "upstream: context window exceeded", ``), event.ClassOverflow, "INTERNAL"},
		{"too many tokens, as a server fault without a status", 502, `{"error":{"message":"context window exceeded"}}`, event.ClassOverflow, ""},
		{"too many bytes", 400, rpc("400", "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", ``), event.ClassOverflow, "INVALID_ARGUMENT"},
		{"a wrong key", 400, rpc("400", "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", keyInvalid), event.ClassAuth, "INVALID_ARGUMENT"},
		{"an expired key", 400, rpc("400", "INVALID_ARGUMENT", "API key expired. Please renew the API key.", ``), event.ClassAuth, "INVALID_ARGUMENT"},
		{"a wrong token", 401, rpc("401", "UNAUTHENTICATED", "Request had invalid authentication credentials.", ``), event.ClassAuth, "UNAUTHENTICATED"},
		{"no key", 403, rpc("403", "PERMISSION_DENIED", "Method doesn't allow unregistered callers.", ``), event.ClassAuth, "PERMISSION_DENIED"},
		{"billing", 403, rpc("403", "PERMISSION_DENIED", "This API method requires billing to be enabled.", `{"reason":"BILLING_DISABLED"}`), event.ClassQuota, "PERMISSION_DENIED"},
		{"a country", 400, rpc("400", "FAILED_PRECONDITION", "User location is not supported for the API use.", ``), event.ClassAuth, "FAILED_PRECONDITION"},
		{"a plan", 400, rpc("400", "FAILED_PRECONDITION", "The free tier is not available in your country. Please enable billing on your project.", ``), event.ClassQuota, "FAILED_PRECONDITION"},
		{"a precondition", 400, rpc("400", "FAILED_PRECONDITION", "The File is not in an ACTIVE state.", ``), event.ClassBadRequest, "FAILED_PRECONDITION"},
		{"a schema", 400, rpc("400", "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name \"const\" at 'tools[0]': Cannot find field.`, ``), event.ClassBadRequest, "INVALID_ARGUMENT"},
		{"an order", 400, rpc("400", "INVALID_ARGUMENT", "Please ensure that function call turn comes immediately after a user turn.", ``), event.ClassBadRequest, "INVALID_ARGUMENT"},
		{"a signature", 400, rpc("400", "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts.", ``), event.ClassBadRequest, "INVALID_ARGUMENT"},
		{"the name of a call", 400, rpc("400", "INVALID_ARGUMENT", "* GenerateContentRequest.contents[2].parts[0].function_call.name: Name cannot be empty.", ``), event.ClassMalformed, "INVALID_ARGUMENT"},
		{"the name of a tool", 400, rpc("400", "INVALID_ARGUMENT", "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.", ``), event.ClassBadRequest, "INVALID_ARGUMENT"},
		{"no such model", 404, rpc("404", "NOT_FOUND", "models/x is not found", ``), event.ClassNotFound, "NOT_FOUND"},
		{"overloaded", 503, rpc("503", "UNAVAILABLE", "The model is overloaded.", ``), event.ClassServer, "UNAVAILABLE"},
		{"broken", 500, rpc("500", "INTERNAL", "An internal error has occurred.", ``), event.ClassServer, "INTERNAL"},
		{"unknown to itself", 500, rpc("500", "UNKNOWN", "x", ``), event.ClassServer, "UNKNOWN"},
		{"too slow", 504, rpc("504", "DEADLINE_EXCEEDED", "The request timed out.", ``), event.ClassTimeout, "DEADLINE_EXCEEDED"},
		{"given up by the server", 499, rpc("499", "CANCELLED", "The operation was cancelled.", ``), event.ClassServer, "CANCELLED"},
		{"out of range", 400, rpc("400", "OUT_OF_RANGE", "x", ``), event.ClassBadRequest, "OUT_OF_RANGE"},
		{"not implemented", 501, rpc("501", "UNIMPLEMENTED", "x", ``), event.ClassBadRequest, "UNIMPLEMENTED"},
		{"in a list", 429, `[` + rpc("429", "RESOURCE_EXHAUSTED", "x", retryInfo) + `]`, event.ClassRate, "RESOURCE_EXHAUSTED"},

		{"mid-stream: overloaded", 0, rpc("503", "UNAVAILABLE", "x", ``), event.ClassServer, "UNAVAILABLE"},
		{"mid-stream: rate", 0, rpc("429", "RESOURCE_EXHAUSTED", "x", ``), event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"mid-stream: only a code", 0, `{"error":{"code":429,"message":"slow down"}}`, event.ClassRate, "429"},
		{"mid-stream: only words", 0, `{"error":{"message":"x"}}`, event.ClassServer, ""},
		{"mid-stream: text", 0, `boom`, event.ClassServer, ""},

		{"a proxy's text", 400, `{"error":"API key not valid"}`, event.ClassAuth, ""},
		{"a proxy's page", 502, "<html>\n<h1>502 Bad Gateway</h1></html>", event.ClassServer, ""},
		{"an unknown status", 409, rpc("409", "SOMETHING_NEW", "x", ``), event.ClassServer, "SOMETHING_NEW"},
		{"empty", 504, "", event.ClassTimeout, ""},
		{"broken JSON", 400, `{"error":{"message":"cut o`, event.ClassBadRequest, ""},
	})

}

func TestErrorWait(t *testing.T) {
	body := []byte(rpc("429", "RESOURCE_EXHAUSTED", "x", retryInfo))
	if e := serverError(429, body, 0); e.RetryAfter != message.Known(34070) {
		t.Errorf("the delay of the details: %v", e.RetryAfter)
	}
	if e := serverError(429, body, message.Known(5)); e.RetryAfter != message.Known(5) {
		t.Errorf("the header goes first: %v", e.RetryAfter)
	}
	for _, delay := range []string{`"soon"`, `7`, `{"seconds":3}`, `null`} {
		if e := serverError(429, []byte(rpc("429", "RESOURCE_EXHAUSTED", "x", `{"retryDelay":`+delay+`}`)), 0); e.RetryAfter != 0 {
			t.Errorf("a delay of %s: %v", delay, e.RetryAfter)
		}
	}
	if e := serverError(429, []byte(rpc("429", "RESOURCE_EXHAUSTED", "x", `{"retryDelay":"-3s"}`)), 0); e.RetryAfter != message.Known(0) {
		t.Errorf("a delay that is over: %v", e.RetryAfter)
	}
}

func FuzzServerError(f *testing.F) {
	modeltest.FuzzFault(f, serverError, rpc("429", "RESOURCE_EXHAUSTED", "m", quotaFailure("PerDay", "0")+","+retryInfo), `[{"error":"x"}]`, rpc("400", "INVALID_ARGUMENT", "m", keyInvalid))
}
