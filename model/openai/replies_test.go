package openai

import (
	"net/http"
	"testing"

	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "test-model", BaseURL: base, Key: "sk-test-0123456789", Provider: "acme", HTTPClient: hc})
}

// testdata/replies holds recordings in the shape of real servers, each with the
// reply or error that it makes.
func TestReplies(t *testing.T) {
	modeltest.Replies(t, factory, modeltest.Load(t, "testdata/replies"))
}

func TestCutEverywhere(t *testing.T) {
	for _, r := range modeltest.Load(t, "testdata/replies") {
		t.Run(r.Name, func(t *testing.T) { modeltest.CutEverywhere(t, factory, &r) })
	}
}

func TestSplitEverywhere(t *testing.T) {
	for _, r := range modeltest.Load(t, "testdata/replies") {
		t.Run(r.Name, func(t *testing.T) { modeltest.SplitEverywhere(t, factory, &r) })
	}
}

func TestOverHTTP(t *testing.T) {
	for _, r := range modeltest.Load(t, "testdata/replies") {
		t.Run(r.Name, func(t *testing.T) { modeltest.OverHTTP(t, factory, &r) })
	}
}

func TestCancel(t *testing.T) {
	for _, r := range modeltest.Load(t, "testdata/replies") {
		if r.Name == "openai-text" {
			modeltest.Cancel(t, factory, &r)
		}
	}
}

// What every wire has to get through.
func TestScript(t *testing.T) { modeltest.Script(t, factory, "testdata/script") }

// What users of other clients reported, as far as it concerns this wire.
func TestReportedFaults(t *testing.T) {
	modeltest.Reported(t, factory, "testdata/replies", []modeltest.Fault{
		{What: "an error in mid-stream is taken for what its status of 200 says", Recording: "openrouter-error-midstream", Want: "error server"},
		{What: "an error event that matches no branch is swallowed", Recording: "llamacpp-error-field", Want: "error server"},
		{What: "an error without its usual wrapping is swallowed", Recording: "unwrapped-error-midstream", Want: "error context_overflow"},
		{What: "an error in another vendor's form is swallowed", Recording: "anthropic-error-midstream", Want: "error server"},
		{What: "the end of a stream without its terminal event is a success", Recording: "eof-before-finish", Want: "error incomplete"},
		{What: "[DONE] without a finish_reason is a success", Recording: "done-before-finish", Want: "error incomplete"},
		{What: "a finish_reason that is not known is taken for stop", Recording: "unknown-finish", Want: `finish error ("cosmic_rays")`},
		{What: "a connection that ends after the finish_reason makes clients ask again for ever", Recording: "no-done", Want: "finish stop"},
		{What: "arguments that were cut off are completed and run", Recording: "openai-length", Want: "finish length"},
		{What: "two calls collide on index 0", Recording: "colliding-index", Want: "finish tool_calls"},
		{What: "calls without an index", Recording: "missing-index", Want: "finish tool_calls"},
		{What: "calls without ids", Recording: "no-ids", Want: "finish tool_calls"},
		{What: "broken arguments are mended", Recording: "vllm-broken-arguments", Want: "finish tool_calls"},
		{What: "usage of null in early chunks counts as 0", Recording: "vllm-usage-null", Want: "finish stop", Also: "usage input"},
		{What: "usage in every chunk is summed", Recording: "vllm-usage-running", Want: "finish stop", Also: "usage input"},
		{What: "usage that is absent counts as 0", Recording: "llamacpp-text", Want: "finish stop"},
		{What: "comments that keep a connection alive break the JSON", Recording: "openrouter-reasoning", Want: "finish stop"},
		{What: "CRLF, and data: without a space", Recording: "crlf-no-space", Want: "finish stop"},
		{What: "CR alone", Recording: "cr-only", Want: "finish stop"},
		{What: "U+2028 within JSON ends a line", Recording: "line-separators", Want: "finish stop"},
		{What: "MALFORMED_FUNCTION_CALL with no content is an answer", Recording: "gemini-malformed-call", Want: "finish error", Also: "MALFORMED_FUNCTION_CALL"},
		{What: "a web page with status 200 is a reply", Recording: "html-200", Want: "error bad_reply"},
		{What: "other text with status 200 is a reply", Recording: "text-200", Want: "error bad_reply"},
		{What: "Retry-After is not read", Recording: "status-429", Want: "error rate_limit", Also: "retry"},
		{What: "a filter's stop is an answer", Recording: "azure-filter", Want: "finish content_filter"},
	})
}
