package parse_test

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// What the model said, as it stands in later requests.
func TestAssistant(t *testing.T) {
	reasoning := message.Part{Kind: message.Reasoning, Text: "hm", Provider: "anthropic", Opaque: []byte(`{"signature":"x"}`)}
	text := func(s string) message.Part { return message.Part{Kind: message.Text, Text: s} }
	call := func(id, name, args string) message.Part {
		return message.Part{Kind: message.ToolCall, ID: id, Name: name, Args: args}
	}
	signed := call("0", "get_now", "")
	signed.Opaque, signed.Provider = []byte(`"sig"`), "gemini"
	signedNew := signed
	signedNew.ID, signedNew.Args = "c7_1", "{}"

	for _, c := range []struct {
		name     string
		in, want []message.Part
	}{
		{
			name: "an answer stays as it is",
			in:   []message.Part{reasoning, text("Done.")},
			want: []message.Part{reasoning, text("Done.")},
		},
		{
			name: "native calls stay as they are",
			in:   []message.Part{reasoning, text("I'll look."), call("a", "read_file", `{"path":"x"}`)},
			want: []message.Part{reasoning, text("I'll look."), call("a", "read_file", `{"path":"x"}`)},
		},
		{
			name: "ids become unique, opaque data stays with its call",
			in:   []message.Part{call("", "read_file", `{}`), signed},
			want: []message.Part{call("c7_0", "read_file", `{}`), signedNew},
		},
		{
			name: "arguments that servers would refuse do not go back",
			in:   []message.Part{call("a", "read_file", `{"path":"x`), call("b", "read_file", `"{\"path\":\"x\"}"`)},
			want: []message.Part{call("a", "read_file", `{}`), call("b", "read_file", `{"path":"x"}`)},
		},
		{
			name: "a call in text becomes a call",
			in:   []message.Part{reasoning, text("I'll look.\n```json\n"), text(`{"name":"get_now","args":{}}` + "\n```")},
			want: []message.Part{reasoning, text("I'll look."), call("c7_0", "get_now", `{}`)},
		},
		{
			name: "nothing is left of a text that is all call",
			in:   []message.Part{text(`{"name":"get_now","args":{}}`)},
			want: []message.Part{call("c7_0", "get_now", `{}`)},
		},
	} {
		m := message.Message{Role: message.Assistant, Parts: c.in}
		r := parse.Parse(parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true,
			Used: func(id string) bool { return id == "0" }})
		got := parse.Assistant(&m, r.Event("c6.0", &m))
		if got.Role != message.Assistant || !same(got.Parts, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got.Parts, c.want)
		}
	}
}

func same(a, b []message.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if string(x.Opaque) != string(y.Opaque) {
			return false
		}
		if x.Kind != y.Kind || x.Text != y.Text || x.ID != y.ID || x.Name != y.Name || x.Args != y.Args || x.Provider != y.Provider {
			return false
		}
	}
	return true
}
