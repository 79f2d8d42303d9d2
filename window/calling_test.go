package window_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/window"
)

// The tools stand in the prompt with all that a wire with calls of its own would
// have said of them; what the dialects look like is in dialect/testdata/write.
func TestCalling(t *testing.T) {
	tools := []event.ToolSpec{
		{Name: "get_stock", Description: "How many of an article there are.", Schema: jsontext.Value(`{"type":"object","properties":{"sku":{"type":"string"}}}`)},
		{Name: "ping"},
	}
	for _, id := range dialect.Promptable() {
		got := window.Calling(id, tools)
		for _, says := range []string{"get_stock", "How many of an article there are.", `"sku": {"type": "string"}`, "ping", "example_note", "answer in plain text"} {
			if !strings.Contains(got, says) {
				t.Errorf("%s does not say %q:\n%s", id, says, got)
			}
		}
		if window.Calling(id, tools) != got {
			t.Errorf("%s says it another way each time", id)
		}
		if window.Calling(id, nil) != "" {
			t.Errorf("%s has something to say about no tools", id)
		}
		if form := window.CallForm(id); !strings.Contains(form, "TOOL") {
			t.Errorf("%s: the form of a call is %q", id, form)
		}
	}
	for _, id := range []string{"", "llama3_json", "unknown"} {
		if window.Calling(id, tools)+window.CallForm(id) != "" {
			t.Errorf("a model can be asked for %q", id)
		}
	}
}
