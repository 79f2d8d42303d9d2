package anthropic

import (
	"net/http"
	"testing"

	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "claude-test", BaseURL: base, Key: "sk-ant-test-0123456789", HTTPClient: hc})
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
		if r.Name == "text" {
			modeltest.Cancel(t, factory, &r)
		}
	}
}

// Faults that were reported of real servers, gateways and clients of this wire,
// each with the recording of it and the beginning of what must come of it.
func TestReportedFaults(t *testing.T) {
	modeltest.Reported(t, factory, "testdata/replies", []modeltest.Fault{
		{What: "an error in mid-stream is taken for what its status of 200 says", Recording: "error-midstream", Want: "error server\nstatus 200\ncode overloaded_error\n"},
		{What: "an error event that matches no branch is swallowed", Recording: "error-unnamed", Want: "error server\n"},
		{What: "an error under the name of another event is swallowed", Recording: "error-of-gateway", Want: "error server\n"},
		{What: "an intermediary closes in order before message_stop", Recording: "eof", Want: "error incomplete\n"},
		{What: "the end of a stream without its terminal event is a success", Recording: "eof-open-block", Want: "error incomplete\n"},
		{What: "a stop_reason that is not known is taken for end_turn", Recording: "unknown-reason", Want: "finish error (\"compaction\")\n"},
		{What: "the last frame is cut off after the stop_reason, and the call is repeated for ever", Recording: "eof-after-reason", Want: "finish stop"},
		{What: "arguments that were cut off are completed and run", Recording: "length", Want: "finish length"},
		{What: "two calls collide on one index", Recording: "other-vendor", Want: "finish tool_calls"},
		{What: "the opening of the arguments is lost", Recording: "missing-opening", Want: "finish tool_calls"},
		{What: "usage of null in early events counts as 0", Recording: "usage-null", Want: "finish stop (\"end_turn\")\nmodel \"claude-sonnet-4-5-20250929\" id \"msg_01A\"\nusage input 42 cached 12 output 9\n"},
		{What: "usage that is absent counts as 0", Recording: "usage-missing", Want: "finish stop (\"end_turn\")\nmodel \"claude-sonnet-4-5-20250929\" id \"msg_01A\"\nusage unknown\n"},
		{What: "comments that keep a connection alive break the JSON", Recording: "comments", Want: "finish stop"},
		{What: "CRLF, CR, data without a space", Recording: "cr-only", Want: "finish stop"},
		{What: "U+2028 within JSON ends a line", Recording: "thinking-call", Want: "finish tool_calls"},
		{What: "a web page with status 200 is a reply", Recording: "html-200", Want: "error bad_reply\n"},
		{What: "a web page that says it is JSON", Recording: "html-200-mislabelled", Want: "error bad_reply\n"},
		{What: "Retry-After is not read", Recording: "status-429", Want: "error rate_limit\n"},
		{What: "a refused turn's calls run", Recording: "refusal-call", Want: "finish content_filter"},
	})
}

func TestScript(t *testing.T) { modeltest.Script(t, factory, "testdata/script") }
