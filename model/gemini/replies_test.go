package gemini

import (
	"net/http"
	"testing"

	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "gemini-3-flash", BaseURL: base, Key: "test-0123456789", HTTPClient: hc})
}

// testdata/replies holds recordings in the shape of the API, each with the reply
// or error that it makes.
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
		if r.Name == "text" {
			modeltest.Cancel(t, factory, &r)
		}
	}
}

// What every wire has to get through.
func TestScript(t *testing.T) { modeltest.Script(t, factory, "testdata/script") }

// What users of other clients reported, as far as it concerns this wire.
func TestReportedFaults(t *testing.T) {
	modeltest.Reported(t, factory, "testdata/replies", []modeltest.Fault{
		{What: "MALFORMED_FUNCTION_CALL is taken for a stop", Recording: "malformed-call", Want: `finish error ("MALFORMED_FUNCTION_CALL")`},
		{What: "UNEXPECTED_TOOL_CALL is taken for a stop", Recording: "unexpected-call", Want: "finish error"},
		{What: "a finish reason that is not known is taken for a stop", Recording: "unknown-finish", Want: "finish error"},
		{What: "the end of a stream without its terminal event is a success", Recording: "eof-before-finish", Want: "error incomplete"},
		{What: "an error in mid-stream is taken for what its status of 200 says", Recording: "error-midstream", Want: "error server"},
		{What: "a safety stop is an answer", Recording: "safety", Want: "finish content_filter"},
		{What: "a blocked prompt is an empty answer", Recording: "prompt-blocked", Want: "finish content_filter"},
		{What: "usage that is absent counts as 0", Recording: "no-usage", Want: "finish stop", Also: "usage unknown"},
		{What: "a spent daily quota is tried again for minutes", Recording: "429-day", Want: "error quota"},
		{What: "the wait that the server names is not read", Recording: "429-minute", Want: "error rate_limit", Also: "retry"},
		{What: "a web page with status 200 is a reply", Recording: "html-200", Want: "error bad_reply"},
		{What: "data: without a space", Recording: "no-space", Want: "finish stop"},
		{What: "U+2028 within JSON ends a line", Recording: "line-separators", Want: "finish stop"},
	})
}
