package ask

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tool"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"question":"Which one?","options":["red","blue"]}`, "Which one?\n- red\n- blue"},
		{`{"question":"Why?"}`, "Why?"},
		{`{"other":1}`, `{"other":1}`},
		{`no JSON`, `no JSON`},
	} {
		if got := Text([]byte(c.args)); got != c.want {
			t.Errorf("%s gives %q, want %q", c.args, got, c.want)
		}
	}
}

// Whoever runs it all the same has nobody to ask.
func TestUnasked(t *testing.T) {
	_, err := Tool().Run(t.Context(), &tool.Call{Args: jsontext.Value(`{"question":"?"}`)})
	var e *tool.Error
	if !errors.As(err, &e) || e.Type != "nobody_to_ask" || !e.NoEffect {
		t.Errorf("error %v", err)
	}
}
