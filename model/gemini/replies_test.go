package gemini

import (
	"net/http"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// factory makes the clients that the recordings are played to.
func factory(hc *http.Client, base string) (model.Client, error) {
	return New(Options{Model: "gemini-3-flash", BaseURL: base, Key: "test-0123456789", HTTPClient: hc})
}

// What every wire has to get through.
func TestWire(t *testing.T) {
	w := modeltest.Wire{
		New: factory, Dir: "testdata", Text: "text", Whole: "whole", Say: say,
		Empty: []string{
			`{"candidates":[]}`, `{"candidates":[{}]}`, `{"candidates":[{"content":{"role":"model"}}]}`, `{"candidates":[{"content":null,"finishReason":null}]}`,
			`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`, `{"usageMetadata":null}`, `{}`,
		},
		Faults: map[string]string{
			"a failure in mid-stream is taken for what its status of 200 says": "error-midstream",
			"a failure that matches no event is passed over":                   "error-unwrapped",
			"a failure in another vendor's form is passed over":                "error-of-gateway",
			"a failure after the end spoils the reply":                         "finish-then-error",
			"an orderly end of the connection is taken for that of the reply":  "eof-before-finish",
			"an end that does not say how it ended is taken for a good one":    "unspecified-only",
			"a state that is no success is taken for one":                      "there is no state beside the finishReason",
			"a reason to end that is not known is taken for a good one":        "unknown-finish",
			"a reason to end with a text behind it is taken for a good one":    "only its OpenAI endpoint writes it so",
			"a call that the server could not read is taken for an answer":     "malformed-call",
			"a cut after the reason makes clients ask again for ever":          "text",
			"a call that the length has cut off is mended and run":             "max-tokens",
			"two calls at one index become one":                                "calls have no index here",
			"usage of null at first counts as 0":                               "usage-null",
			"usage that is not given counts as 0":                              "no-usage",
			"usage that grows from event to event is added up":                 "text",
			"a prompt that was refused is an empty answer":                     "prompt-blocked",
		},
	}
	for _, q := range []Quirks{{}, QuirksOf("gemini-2.5-pro"), QuirksOf("gemini-2.0-flash")} {
		e, err := NewEncoder(q)
		if err != nil {
			t.Fatal(err)
		}
		w.Encoders = append(w.Encoders, e)
	}
	w.Test(t)
}

// say is [modeltest.Wire].Say. Calls come whole on this wire.
func say(kind message.Kind, pieces ...string) []string {
	var events []string
	for _, p := range pieces {
		switch {
		case kind == message.Reasoning:
			p = chunk(`{"text":` + p + `,"thought":true}`)
		case kind == message.ToolCall && p[0] != '{':
			return nil
		case kind == message.ToolCall:
			p = chunk(`{"functionCall":{"id":"a","name":"f","args":` + p + `}}`)
		default:
			p = chunk(`{"text":` + p + `}`)
		}
		events = append(events, "data: "+p)
	}
	return append(events, "data: "+stop)
}
