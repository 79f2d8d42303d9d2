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
