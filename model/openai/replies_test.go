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
