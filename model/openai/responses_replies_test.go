package openai

import (
	"fmt"
	"net/http"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// responsesFactory makes the clients that the recordings are played to.
func responsesFactory(hc *http.Client, base string) (model.Client, error) {
	return NewResponses(Options{Model: "test-model", BaseURL: base, Key: "sk-test-0123456789", Provider: "acme", HTTPClient: hc})
}

// What every wire has to get through.
func TestResponsesWire(t *testing.T) {
	w := modeltest.Wire{
		New: responsesFactory, Dir: "testdata/responses", Text: "text", Whole: "whole", Say: sayResponse,
		Empty: []string{
			`{"type":"response.output_text.delta","output_index":0}`, `{"type":"response.output_text.delta","output_index":0,"delta":null}`,
			`{"type":"response.output_item.added","output_index":0,"item":null}`, `{"type":"response.in_progress"}`,
			`{"type":"response.something_new","output_index":0,"delta":"x"}`, `{"type":"keepalive","sequence_number":3}`, `{}`,
		},
		Faults: map[string]string{
			"a failure in mid-stream is taken for what its status of 200 says": "error-event",
			"a failure that matches no event is passed over":                   "error-without-type",
			"a failure in another vendor's form is passed over":                "error-event-wrapped",
			"a failure after the end spoils the reply":                         "nothing is read after the end, which is one event",
			"an orderly end of the connection is taken for that of the reply":  "eof-before-end",
			"an end that does not say how it ended is taken for a good one":    "done-before-end",
			"a state that is no success is taken for one":                      "max-output-in-text",
			"a reason to end that is not known is taken for a good one":        "incomplete-otherwise",
			"a reason to end with a text behind it is taken for a good one":    "seen where Gemini stands behind the other wire only",
			"a call that the server could not read is taken for an answer":     "seen where Gemini stands behind the other wire only",
			"a cut after the reason makes clients ask again for ever":          "the reason and the end are one event",
			"a call that the length has cut off is mended and run":             "max-output",
			"two calls at one index become one":                                "colliding-index",
			"usage of null at first counts as 0":                               "text",
			"usage that is not given counts as 0":                              "no-usage",
			"usage that grows from event to event is added up":                 "usage comes once, at the end",
			"a prompt that was refused is an empty answer":                     "failed-prompt",
		},
	}
	for _, q := range []Quirks{{}, {SystemAnywhere: true, ToolImages: true}, {NoToolChoice: true}} {
		e, err := NewResponsesEncoder("acme", q)
		if err != nil {
			t.Fatal(err)
		}
		w.Encoders = append(w.Encoders, e)
	}
	w.Test(t)
}

// sayResponse is [modeltest.Wire].Say of Responses.
func sayResponse(kind message.Kind, pieces ...string) []string {
	item, name, object := `{"id":"i1","type":"message","content":[]}`, "response.output_text.delta", ""
	switch kind {
	case message.Reasoning:
		item, name = `{"id":"i1","type":"reasoning","summary":[]}`, "response.reasoning_summary_text.delta"
	case message.ToolCall:
		if pieces[0][0] == '{' {
			object = pieces[0]
			pieces = nil
		}
		item, name = `{"id":"i1","type":"function_call","call_id":"a","name":"f","arguments":""}`, "response.function_call_arguments.delta"
	}
	event := func(name, members string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}", name, name, members)
	}
	events := []string{event("response.created", `,"response":{"id":"r","object":"response","status":"in_progress"}`)}
	if len(pieces) > 0 || object != "" {
		events = append(events, event("response.output_item.added", `,"output_index":0,"item":`+item))
	}
	for _, p := range pieces {
		events = append(events, event(name, `,"output_index":0,"delta":`+p))
	}
	if object != "" {
		events = append(events, event("response.output_item.done", `,"output_index":0,"item":{"id":"i1","type":"function_call","call_id":"a","name":"f","arguments":`+object+`}`))
	}
	return append(events, event("response.completed", `,"response":{"id":"r","object":"response","status":"completed"}`))
}
