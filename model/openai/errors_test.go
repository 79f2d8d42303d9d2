package openai

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model/modeltest"
)

// What real servers say, and what kind of failure it is.
func TestErrorClasses(t *testing.T) {
	modeltest.Classes(t, serverError, []modeltest.ErrorCase{
		{"OpenAI: context", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, event.ClassOverflow, "context_length_exceeded"},
		{"OpenAI: quota is no rate limit", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, event.ClassQuota, "insufficient_quota"},
		{"OpenAI: rate", 429, `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, event.ClassRate, "rate_limit_exceeded"},
		{"OpenAI: one request over the rate", 429, `{"error":{"message":"Request too large for gpt-4 in organization org-1 on tokens per min (TPM): Limit 10000, Requested 12000.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, event.ClassOverflow, "rate_limit_exceeded"},
		{"OpenAI: key", 401, `{"error":{"message":"Incorrect API key provided: sk-abc.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, event.ClassAuth, "invalid_api_key"},
		{"OpenAI: country", 403, `{"error":{"code":"unsupported_country_region_territory","message":"Country not supported","param":null,"type":"request_forbidden"}}`, event.ClassAuth, "unsupported_country_region_territory"},
		{"OpenAI: model", 404, `{"error":{"message":"The model 'gpt-9' does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, event.ClassNotFound, "model_not_found"},
		{"OpenAI: call without result", 400, `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.","type":"invalid_request_error","param":"messages.[3].role","code":null}}`, event.ClassBadRequest, "invalid_request_error"},
		{"OpenAI: name of a call", 400, `{"error":{"message":"Invalid 'messages[2].tool_calls[0].function.name': string does not match pattern.","type":"invalid_request_error","param":"messages[2].tool_calls[0].function.name","code":"invalid_value"}}`, event.ClassMalformed, "invalid_value"},
		{"OpenAI: schema of a tool", 400, `{"error":{"message":"Invalid schema for function 'f'","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`, event.ClassBadRequest, "invalid_function_parameters"},
		{"OpenAI: in mid-stream", 0, `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`, event.ClassServer, "server_error"},
		{"Azure: filter", 400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, event.ClassBadRequest, "content_filter"},
		{"Azure: deployment", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, event.ClassNotFound, "DeploymentNotFound"},
		{"Ollama: model, with a vague type", 404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, event.ClassNotFound, "api_error"},
		{"Ollama: text only", 500, `{"error":"llama runner process has terminated"}`, event.ClassServer, ""},
		{"Ollama: arguments", 400, `{"error":{"message":"invalid tool call arguments","type":"invalid_request_error","param":null,"code":null}}`, event.ClassMalformed, "invalid_request_error"},
		{"llama.cpp: context", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, event.ClassOverflow, "exceed_context_size_error"},
		{"llama.cpp: loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, event.ClassServer, "unavailable_error"},
		{"llama.cpp: arguments", 500, `{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]","type":"server_error"}}`, event.ClassMalformed, "server_error"},
		{"llama.cpp: in mid-stream, bare", 0, `{"code":500,"message":"context shift is disabled","type":"server_error"}`, event.ClassServer, "server_error"},
		{"vLLM: context, old shape", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`, event.ClassOverflow, "BadRequestError"},
		{"vLLM: longer prompt", 400, `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","param":null,"code":400}}`, event.ClassOverflow, "BadRequestError"},
		{"vLLM: other bad request in mid-stream", 0, `{"error":{"message":"bad grammar","type":"BadRequestError","param":null,"code":400}}`, event.ClassBadRequest, "BadRequestError"},
		{"vLLM: model", 404, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":null,"code":404}`, event.ClassNotFound, "NotFoundError"},
		{"SGLang: context", 400, `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequest","code":400}`, event.ClassOverflow, "BadRequest"},
		{"LM Studio: context", 400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. The number of tokens to keep from the initial prompt is greater than the context length."}`, event.ClassOverflow, ""},
		{"TGI: context", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000\",\"error_type\":\"validation\"}", event.ClassOverflow, "validation"},
		{"FastAPI", 422, `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}`, event.ClassBadRequest, "missing"},
		{"FastAPI: text", 404, `{"detail":"Not Found"}`, event.ClassNotFound, ""},
		{"DeepSeek: balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, event.ClassQuota, "invalid_request_error"},
		{"OpenRouter: credits", 402, `{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."}}`, event.ClassQuota, ""},
		{"OpenRouter: upstream in mid-stream", 0, `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down"}}}`, event.ClassRate, ""},
		{"OpenRouter: code as text", 0, `{"error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, event.ClassServer, "server_error"},
		{"Groq: call that it could not read", 400, `{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x>"}}`, event.ClassMalformed, "tool_use_failed"},
		{"OpenAI: long text", 400, `{"error":{"message":"Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1100000 instead.","type":"invalid_request_error","param":"messages[1].content","code":"string_above_max_length"}}`, event.ClassOverflow, "string_above_max_length"},
		{"OpenAI: long name", 400, `{"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 1070 instead.","type":"invalid_request_error","param":"tools[0].function.name","code":"string_above_max_length"}}`, event.ClassBadRequest, "string_above_max_length"},
		{"Ark: context", 400, `{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. Request id: 0217","param":"","type":"BadRequest"}}`, event.ClassOverflow, "InvalidParameter"},
		{"gateway: context, as a server fault", 500, `{"error":{"message":"Context window exceeded","type":"internal_server_error","code":"500"}}`, event.ClassOverflow, "500"},
		{"gateway: context, by code", 503, `{"error":{"message":"upstream failed","type":"server_error","code":"context_window_exceeded"}}`, event.ClassOverflow, "context_window_exceeded"},
		{"gateway: context, in mid-stream", 0, `{"error":{"message":"request too long","type":"server_error"}}`, event.ClassOverflow, "server_error"},
		{"OpenAI: tokens per minute", 429, `{"error":{"message":"Rate limit reached on tokens per minute (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.","type":"tokens","code":"rate_limit_exceeded"}}`, event.ClassRate, "rate_limit_exceeded"},
		{"Groq: one request over the rate", 413, `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}`, event.ClassOverflow, "rate_limit_exceeded"},
		{"Gemini: array", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}]`, event.ClassRate, "RESOURCE_EXHAUSTED"},
		{"Gemini: context", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, event.ClassOverflow, "INVALID_ARGUMENT"},
		{"Mistral: context", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}`, event.ClassOverflow, "3051"},
		{"Moonshot: overloaded", 429, `{"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}`, event.ClassRate, "engine_overloaded_error"},
		{"Moonshot: quota", 429, `{"error":{"message":"Your account is suspended","type":"exceeded_current_quota_error"}}`, event.ClassQuota, "exceeded_current_quota_error"},
		{"xAI: context", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, event.ClassOverflow, "Client specified an invalid argument"},
		{"Anthropic behind a gateway", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, event.ClassServer, "overloaded_error"},
		{"Anthropic: 529", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, event.ClassServer, "overloaded_error"},
		{"Anthropic: credit", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, event.ClassQuota, "invalid_request_error"},
		{"a gateway's HTML", 502, "<html>\n<h1>502 Bad Gateway</h1></html>", event.ClassServer, ""},
		{"empty", 504, "", event.ClassTimeout, ""},
		{"conflict", 409, `{}`, event.ClassServer, ""},
		{"request timeout", 408, `null`, event.ClassTimeout, ""},
		{"plain text in mid-stream", 0, "boom", event.ClassServer, ""},
		{"broken JSON", 400, `{"error":{"message":"cut o`, event.ClassBadRequest, ""},
	})

}

func TestErrorDetails(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		header  message.Count
		class   event.ErrorClass
		message string
		wait    message.Count
	}{
		{"wait in the body", 429, `[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.07s"}]}}]`, 0, event.ClassRate, "m", message.Known(34070)},
		{"the header goes first", 429, `[{"error":{"message":"m","details":[{"retryDelay":"34s"}]}}]`, message.Known(1), event.ClassRate, "m", message.Known(1)},
		{"wait in the text", 429, `{"error":{"message":"Limit reached. Please try again in 1m0.2004s. Visit x."}}`, 0, event.ClassRate, "Limit reached. Please try again in 1m0.2004s. Visit x.", message.Known(60201)},
		{"no wait", 429, `{"error":{"message":"later"}}`, 0, event.ClassRate, "later", 0},
		{"402 that passes", 402, `{"error":{"code":402,"message":"Insufficient credits right now"}}`, message.Known(5000), event.ClassRate, "Insufficient credits right now", message.Known(5000)},
		{"the provider behind", 0, `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"model crashed"}}}`, 0, event.ClassServer, "Provider returned error: model crashed", 0},
		{"a long text is cut", 400, `{"error":{"message":"` + strings.Repeat("é", 2000) + `"}}`, 0, event.ClassBadRequest, strings.Repeat("é", 1000) + "…", 0},
		{"odd kinds", 400, `{"error":{"message":["x"],"type":7,"code":{"a":1},"details":"none"}}`, 0, event.ClassBadRequest, `{"error":{"message":["x"],"type":7,"code":{"a":1},"details":"none"}}`, 0},
		{"deep nesting is not followed", 400, strings.Repeat(`{"error":`, 50) + `{"message":"deep"}` + strings.Repeat(`}`, 50), 0, event.ClassBadRequest, strings.Repeat(`{"error":`, 22) + `{"…`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := serverError(c.status, []byte(c.body), c.header)
			if c.name == "odd kinds" {
				c.message = e.Message // a number is taken as a type; the rest is skipped
				if e.Code != "7" {
					t.Errorf("code %q", e.Code)
				}
			}
			if e.Class != c.class || e.Message != c.message || e.RetryAfter != c.wait {
				t.Errorf("got %s, wait %d: %s", e.Class, e.RetryAfter-1, e.Message)
			}
		})
	}
}

func FuzzServerError(f *testing.F) {
	modeltest.FuzzFault(f, serverError, `{"error":{"message":"m","type":"t","code":429,"details":[{"retryDelay":"1s"}]}}`, `[{"error":"x"}]`, `{"detail":[{"msg":"x"}]}`, `{"error":{"metadata":{"raw":"r"}}}`)
}
