package openai

import (
	"net/http"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "test-model", BaseURL: base, Key: "sk-test-0123456789", Provider: "acme", HTTPClient: hc})
}

// What every wire has to get through.
func TestWire(t *testing.T) {
	w := modeltest.Wire{
		New: factory, Dir: "testdata", Text: "openai-text", Whole: "openai-whole", Say: say,
		Empty: []string{
			`{"choices":[]}`, `{"choices":[{"index":0}]}`, `{"choices":[{"index":0,"delta":null,"finish_reason":null}]}`,
			`{"choices":null,"usage":null}`, `{"type":"ping"}`, `{}`,
		},
		Faults: map[string]string{
			"a failure in mid-stream is taken for what its status of 200 says": "openrouter-error-midstream",
			"a failure that matches no event is passed over":                   "llamacpp-error-field",
			"a failure in another vendor's form is passed over":                "anthropic-error-midstream",
			"a failure after the end spoils the reply":                         "finish-then-error",
			"an orderly end of the connection is taken for that of the reply":  "eof-before-finish",
			"an end that does not say how it ended is taken for a good one":    "done-before-finish",
			"a state that is no success is taken for one":                      "there is no state beside the finish_reason",
			"a reason to end that is not known is taken for a good one":        "unknown-finish",
			"a reason to end with a text behind it is taken for a good one":    "call-filter",
			"a call that the server could not read is taken for an answer":     "gemini-malformed-call",
			"a cut after the reason makes clients ask again for ever":          "no-done",
			"a call that the length has cut off is mended and run":             "openai-length",
			"two calls at one index become one":                                "colliding-index",
			"usage of null at first counts as 0":                               "vllm-usage-null",
			"usage that is not given counts as 0":                              "line-separators",
			"usage that grows from event to event is added up":                 "vllm-usage-running",
			"a prompt that was refused is an empty answer":                     "azure-prompt-filter",
		},
	}
	for _, q := range []Quirks{{}, {SystemAnywhere: true, ToolImages: true, Reasoning: "reasoning_content"}, {NoToolChoice: true, NoStreamOptions: true}} {
		e, err := NewEncoder("acme", q)
		if err != nil {
			t.Fatal(err)
		}
		w.Encoders = append(w.Encoders, e)
	}
	w.Test(t)
}

// say is [modeltest.Wire].Say of Chat Completions.
func say(kind message.Kind, pieces ...string) []string {
	name, end := "content", "stop"
	if kind == message.Reasoning {
		name = "reasoning_content"
	}
	var events []string
	for _, p := range pieces {
		d := delta(`{"` + name + `":` + p + `}`)
		if kind == message.ToolCall {
			d, end = delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":`+p+`}}]}`), "tool_calls"
		}
		events = append(events, "data: "+d)
	}
	return append(events, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"`+end+`"}]}`, "data: [DONE]")
}
