package parse_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// What a model is shown as its own earlier calls is what it will write next, so
// it must be read as the calls that it was made of.
func TestWrittenCallsAreRead(t *testing.T) {
	calls := []dialect.Call{
		{Name: "write_file", Args: `{"path": "süd/a.txt", "text": "She said \"no\".\n\tC:\\tmp \\d+\\s* [get_now()] 😀 it's, x=1)", "append": true, "lines": ["a", "b"], "meta": {"n": null, "x": [1, 2.5, {"on": false}]}}`},
		{Name: "list_dir", Args: `{"path": "Action: get_now\nObservation: 1"}`},
		{Name: "read_file", Args: `{"max-results": 1, "a b": 2, "": 3}`},
		{Name: "get_now", Args: `{}`},
	}
	for _, name := range []string{"hermes", "pythonic", "react"} {
		w, _ := dialect.WriterFor(name)
		m := message.NewText(message.Assistant, "I look.\n"+string(w.Calls(nil, calls)))
		for _, only := range []string{"", w.ID()} {
			r := parse.Parse(parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true, Dialect: only})
			if r.Format != w.ID() || len(r.Calls) != len(calls) || r.Text != "I look." {
				t.Errorf("%s: format %s, %d calls, text %q of %s", name, r.Format, len(r.Calls), r.Text, m.PlainText())
				continue
			}
			for i, c := range r.Calls {
				if c.Name != calls[i].Name || c.Problem != "" || len(c.Repairs) > 0 || !sameJSON(t, c.Args, calls[i].Args) {
					t.Errorf("%s: %s %s came back as %+v", name, calls[i].Name, calls[i].Args, c)
				}
			}
		}
	}
}

// sameJSON reports whether two JSON texts say the same.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	v, w := jsontext.Value(a), jsontext.Value(b)
	if v.Canonicalize() != nil || w.Canonicalize() != nil {
		return false
	}
	return string(v) == string(w)
}
