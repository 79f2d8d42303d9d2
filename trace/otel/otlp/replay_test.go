package otlp_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/otel/otlp"
)

// Model calls hold their whole requests as content, so that many of them together would
// be more than a receiver takes: a span of a large request has a line of its own.
func TestWriteLarge(t *testing.T) {
	unset(t)
	store := memory.New()
	look := tool.New("look", tool.Doc{What: "Looks.", When: "Always.", Returns: "What is there."},
		func(context.Context, struct{}) (string, error) { return "a heron", nil }, &tool.Options{Effect: event.Read})
	agent := newAgent(t, `turns: [{call: {name: look}}, {say: Hello.}, {say: Hello.}]`, rein.Options{Store: store, Tools: []tool.Tool{look}})
	run := agent.Start(t.Context(), "Look.")
	if _, err := run.Result(); err != nil {
		t.Fatal(err)
	}
	const size = 1_500_000
	calls := 0
	o := otel.Options{Content: otel.ContentSpans, Requests: func(context.Context, string, int64) (*otel.Request, error) {
		calls++
		return &otel.Request{Messages: []message.Message{message.NewText(message.User, strings.Repeat("x", size))}}, nil
	}}
	var out bytes.Buffer
	if err := otlp.Write(t.Context(), &out, store, run.ID(), o); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(out.Bytes(), []byte("\n"))
	if calls < 2 || lines < calls || out.Len() < calls*size {
		t.Fatalf("%d bytes of %d calls in %d lines", out.Len(), calls, lines)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if len(line) > 2*size {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}
