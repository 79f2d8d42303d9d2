package anthropic

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "claude-test", BaseURL: base, Key: "sk-ant-test-0123456789", HTTPClient: hc})
}

// What every wire has to get through.
func TestWire(t *testing.T) {
	w := modeltest.Wire{
		New: factory, Dir: "testdata", Text: "text", Whole: "whole", Say: say, Aside: withoutMarks,
		Empty: []string{
			`{"type":"ping"}`, `{"type":"content_block_delta","index":0}`, `{"type":"content_block_delta","index":0,"delta":null}`,
			`{"type":"message_delta","delta":{},"usage":null}`, `{"type":"something_new","index":0,"delta":{"text":"x"}}`, `{}`,
		},
		Faults: map[string]string{
			"a failure in mid-stream is taken for what its status of 200 says": "error-midstream",
			"a failure that matches no event is passed over":                   "error-unnamed",
			"a failure in another vendor's form is passed over":                "error-of-gateway",
			"a failure after the end spoils the reply":                         "error-after-end",
			"an orderly end of the connection is taken for that of the reply":  "eof",
			"an end that does not say how it ended is taken for a good one":    "no-reason",
			"a state that is no success is taken for one":                      "there is no state beside the stop_reason",
			"a reason to end that is not known is taken for a good one":        "unknown-reason",
			"a reason to end with a text behind it is taken for a good one":    "seen where Gemini stands behind another wire only",
			"a call that the server could not read is taken for an answer":     "seen where Gemini stands behind another wire only",
			"a cut after the reason makes clients ask again for ever":          "eof-after-reason",
			"a call that the length has cut off is mended and run":             "length",
			"two calls at one index become one":                                "colliding-index",
			"usage of null at first counts as 0":                               "usage-null",
			"usage that is not given counts as 0":                              "usage-missing",
			"usage that grows from event to event is added up":                 "usage-running",
			"a prompt that was refused is an empty answer":                     "refusal-empty",
		},
	}
	for _, q := range []Quirks{{}, {CacheTTL: "1h", Thinking: "adaptive"}, {NoCache: true, Schema: "none"}} {
		e, err := NewEncoder("anthropic", q)
		if err != nil {
			t.Fatal(err)
		}
		w.Encoders = append(w.Encoders, e)
	}
	w.Test(t)
}

// withoutMarks leaves the cache breakpoints out: the server does not count them to
// what it keeps.
func withoutMarks(body []byte) []byte {
	for _, mark := range []string{`,"cache_control":{"type":"ephemeral","ttl":"1h"}`, `,"cache_control":{"type":"ephemeral"}`} {
		body = bytes.ReplaceAll(body, []byte(mark), nil)
	}
	return body
}

// say is [modeltest.Wire].Say.
func say(kind message.Kind, pieces ...string) []string {
	block, piece, reason := `{"type":"text","text":""}`, `{"type":"text_delta","text":%s}`, "end_turn"
	switch kind {
	case message.Reasoning:
		block, piece = `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":%s}`
	case message.ToolCall:
		block, piece, reason = `{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":%s}`, "tool_use"
		if pieces[0][0] == '{' { // as other vendors' endpoints send it
			block = `{"type":"tool_use","id":"a","name":"f","input":` + pieces[0] + `}`
			pieces = nil
		}
	}
	event := func(name, payload string) string { return "event: " + name + "\ndata: " + payload }
	events := []string{event("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[]}}`)}
	if len(pieces) > 0 || kind == message.ToolCall {
		events = append(events, event("content_block_start", begin(0, block)))
		for _, p := range pieces {
			events = append(events, event("content_block_delta", delta(0, fmt.Sprintf(piece, p))))
		}
		if kind == message.Reasoning {
			events = append(events, event("content_block_delta", delta(0, `{"type":"signature_delta","signature":"c2ln"}`)))
		}
		events = append(events, event("content_block_stop", end(0)))
	}
	return append(events, event("message_delta", because(reason)), event("message_stop", `{"type":"message_stop"}`))
}
