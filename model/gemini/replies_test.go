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
