package tokens_test

import (
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/tokens"
)

// byteCounter makes sums visible: a token a byte.
type byteCounter struct{}

func (byteCounter) Count(s string) int    { return len(s) }
func (byteCounter) Method() tokens.Method { return tokens.Exact }

func TestMessage(t *testing.T) {
	ref := func(n int64) *message.Ref { return &message.Ref{Bytes: n} }
	for _, c := range []struct {
		name string
		m    message.Message
		want int
	}{
		{"framing alone", message.Message{Role: message.User}, 4},
		{"text", message.NewText(message.User, "hello"), 4 + 5},
		{"two texts", message.Message{Parts: []message.Part{{Kind: message.Text, Text: "ab"}, {Kind: message.Text, Text: "cd"}}}, 4 + 4},
		{"text out of line", message.Message{Parts: []message.Part{{Kind: message.Text, Ref: ref(3000)}}}, 4 + 1001},
		{"text at hand and out of line", message.Message{Parts: []message.Part{{Kind: message.Text, Text: "ab", Ref: ref(3000)}}}, 4 + 2},
		{"a call: its id, name and arguments as written", message.Message{Role: message.Assistant, Parts: []message.Part{
			{Kind: message.ToolCall, ID: "c1", Name: "read", Args: `{"a":1}`}}}, 4 + 8 + 2 + 4 + 7},
		{"a result: the call's id and the tool's name", message.Result("c1", "read", "ok", false), 4 + 8 + 2 + 4 + 2},
		{"reasoning with a signature", message.Message{Parts: []message.Part{
			{Kind: message.Reasoning, Text: "hmm", Opaque: []byte(`"sig"`)}}}, 4 + 3},
		{"reasoning that only the provider can read", message.Message{Parts: []message.Part{
			{Kind: message.Reasoning, Opaque: []byte(`"0123456"`)}}}, 4 + 3},
		{"an image", message.Message{Parts: []message.Part{{Kind: message.Image, URL: "https://example.com/a.png"}}}, 4 + tokens.Image},
		{"a text file", message.Message{Parts: []message.Part{
			{Kind: message.File, Name: "a.md", MediaType: "text/markdown", Ref: ref(300)}}}, 4 + 4 + 101},
		{"another file", message.Message{Parts: []message.Part{
			{Kind: message.File, Name: "a.pdf", MediaType: "application/pdf", Ref: ref(70_000)}}}, 4 + 5 + 2*1600},
		{"a file of unknown size", message.Message{Parts: []message.Part{
			{Kind: message.File, Name: "a.pdf", URL: "https://example.com/a.pdf"}}}, 4 + 5 + 1600},
		{"a kind from the future", message.Message{Parts: []message.Part{{Kind: "smell", Text: "roses"}}}, 4},
	} {
		if got := tokens.Message(byteCounter{}, &c.m); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestAbsurdSizes(t *testing.T) {
	for _, n := range []int64{-1, 1 << 62, -1 << 62} {
		m := message.Message{Parts: []message.Part{
			{Kind: message.Text, Ref: &message.Ref{Bytes: n}}, {Kind: message.File, Ref: &message.Ref{Bytes: n}}}}
		if got := tokens.Message(byteCounter{}, &m); got <= 0 {
			t.Errorf("%d bytes: %d tokens", n, got)
		}
	}
}

func TestTool(t *testing.T) {
	if got := tokens.Tool(byteCounter{}, "read", "Reads.", `{"type":"object"}`); got != 12+4+6+17 {
		t.Errorf("got %d", got)
	}
}
