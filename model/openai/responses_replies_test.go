package openai

import (
	"net/http"
	"testing"

	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

const responsesReplies = "testdata/responses/replies"

// responsesFactory makes the clients that the recordings are played to.
func responsesFactory(hc *http.Client, base string) (model.Client, error) {
	return NewResponses(Options{Model: "test-model", BaseURL: base, Key: "sk-test-0123456789", Provider: "acme", HTTPClient: hc})
}

// testdata/responses/replies holds recordings in the shape of real servers, each
// with the reply or error that it makes.
func TestResponsesReplies(t *testing.T) {
	modeltest.Replies(t, responsesFactory, modeltest.Load(t, responsesReplies))
}

func TestResponsesCutEverywhere(t *testing.T) {
	for _, r := range modeltest.Load(t, responsesReplies) {
		t.Run(r.Name, func(t *testing.T) { modeltest.CutEverywhere(t, responsesFactory, &r) })
	}
}

func TestResponsesSplitEverywhere(t *testing.T) {
	for _, r := range modeltest.Load(t, responsesReplies) {
		t.Run(r.Name, func(t *testing.T) { modeltest.SplitEverywhere(t, responsesFactory, &r) })
	}
}

func TestResponsesOverHTTP(t *testing.T) {
	for _, r := range modeltest.Load(t, responsesReplies) {
		t.Run(r.Name, func(t *testing.T) { modeltest.OverHTTP(t, responsesFactory, &r) })
	}
}

func TestResponsesCancel(t *testing.T) {
	for _, r := range modeltest.Load(t, responsesReplies) {
		if r.Name == "text" {
			modeltest.Cancel(t, responsesFactory, &r)
		}
	}
}

// What every wire has to get through.
func TestResponsesScript(t *testing.T) {
	modeltest.Script(t, responsesFactory, "testdata/responses/script")
}

// What users of other clients reported, as far as it concerns this wire.
func TestResponsesReportedFaults(t *testing.T) {
	modeltest.Reported(t, responsesFactory, "testdata/responses/replies", []modeltest.Fault{
		{What: "response.incomplete is taken for a stop", Recording: "max-output", Want: "finish length"},
		{What: "response.incomplete without its reason is taken for a stop", Recording: "incomplete-without-reason", Want: "finish error"},
		{What: "the end of a stream without its terminal event is a success", Recording: "eof-before-end", Want: "error incomplete"},
		{What: "[DONE] without a terminal event is a success", Recording: "done-before-end", Want: "error incomplete"},
		{What: "an error in mid-stream is taken for what its status of 200 says", Recording: "error-event", Want: "error server"},
		{What: "an error event of another form is swallowed", Recording: "error-event-wrapped", Want: "error quota"},
		{What: "an error event without a type is swallowed", Recording: "error-without-type", Want: "error server"},
		{What: "response.failed is swallowed", Recording: "failed", Want: "error server"},
		{What: "a limit within the stream is not told from a failure", Recording: "failed-rate", Want: "error rate_limit"},
		{What: "usage that is absent counts as 0", Recording: "no-usage", Want: "finish stop", Also: "usage unknown"},
		{What: "an insufficient quota is tried again for minutes", Recording: "429-quota", Want: "error quota"},
		{What: "a web page with status 200 is a reply", Recording: "html-200", Want: "error bad_reply"},
		{What: "CRLF", Recording: "crlf", Want: "finish stop"},
		{What: "U+2028 within JSON ends a line", Recording: "line-separators", Want: "finish stop"},
	})
}
