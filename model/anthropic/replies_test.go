package anthropic

import (
	"net/http"
	"strings"
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
	all := map[string]modeltest.Recording{}
	for _, r := range modeltest.Load(t, "testdata/replies") {
		all[r.Name] = r
	}
	for _, c := range []struct{ fault, recording, want string }{
		{"an error in mid-stream is taken for what its status of 200 says", "error-midstream", "error server\nstatus 200\ncode overloaded_error\n"},
		{"an error event that matches no branch is swallowed", "error-unnamed", "error server\n"},
		{"an error under the name of another event is swallowed", "error-of-gateway", "error server\n"},
		{"an intermediary closes in order before message_stop", "eof", "error incomplete\n"},
		{"the end of a stream without its terminal event is a success", "eof-open-block", "error incomplete\n"},
		{"a stop_reason that is not known is taken for end_turn", "unknown-reason", "finish error (\"compaction\")\n"},
		{"the last frame is cut off after the stop_reason, and the call is repeated for ever", "eof-after-reason", "finish stop"},
		{"arguments that were cut off are completed and run", "length", "finish length"},
		{"two calls collide on one index", "other-vendor", "finish tool_calls"},
		{"the opening of the arguments is lost", "missing-opening", "finish tool_calls"},
		{"usage of null in early events counts as 0", "usage-null", "finish stop (\"end_turn\")\nmodel \"claude-sonnet-4-5-20250929\" id \"msg_01A\"\nusage input 42 cached 12 output 9\n"},
		{"usage that is absent counts as 0", "usage-missing", "finish stop (\"end_turn\")\nmodel \"claude-sonnet-4-5-20250929\" id \"msg_01A\"\nusage unknown\n"},
		{"comments that keep a connection alive break the JSON", "comments", "finish stop"},
		{"CRLF, CR, data without a space", "cr-only", "finish stop"},
		{"U+2028 within JSON ends a line", "thinking-call", "finish tool_calls"},
		{"a web page with status 200 is a reply", "html-200", "error bad_reply\n"},
		{"a web page that says it is JSON", "html-200-mislabelled", "error bad_reply\n"},
		{"Retry-After is not read", "status-429", "error rate_limit\n"},
		{"a refused turn's calls run", "refusal-call", "finish content_filter"},
	} {
		r, ok := all[c.recording]
		if !ok {
			t.Errorf("%s: there is no recording %q", c.fault, c.recording)
			continue
		}
		client, err := factory(modeltest.Play(&r, modeltest.Plan{}), "http://model.test/v1")
		if err != nil {
			t.Fatal(err)
		}
		reply, err := client.Call(t.Context(), &model.Request{Stream: r.Stream}, nil)
		if got := modeltest.Format(reply, err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got\n%s", c.fault, got)
		}
	}
}

func TestScript(t *testing.T) { modeltest.Script(t, factory, "testdata/script") }
