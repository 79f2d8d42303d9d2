package rehearsal

import (
	"strings"
	"testing"

	"rein.example/rein/loop"
	"rein.example/rein/message"
)

func TestExtract(t *testing.T) {
	ask := message.NewText(message.User, "Summarise.")
	c := &loop.CallModel{Tail: &ask, Messages: []message.Message{
		message.NewText(message.User, "Open the sluice. It is stuck.\nPlease."),
		message.NewText(message.System, "[rein: what was said before]\nThe mill was closed."),
		{Role: message.Assistant, Parts: []message.Part{{Kind: message.Text, Text: "I look. Then I open it."}, {Kind: message.ToolCall, ID: "a", Name: "look", Args: "{}"}}},
		message.Result("a", "look", "one\ntwo\nthree\n", false),
		{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "b", Name: "look", Args: "{}"}}},
		message.Result("b", "look", "", false),
	}}
	text := func() string {
		r, err := Extract(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return r.Message.PlainText()
	}
	if got, want := text(), "The mill was closed.\nasked: Open the sluice.\nI look.\nlook: three"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 100 {
		c.Messages = append(c.Messages, message.NewText(message.User, strings.Repeat("水车转动。", 40)))
	}
	got := text()
	if len(got) > extractBytes+extractLine+len("asked: ") || !strings.HasPrefix(got, "The mill was closed.\nasked: 水") || strings.Contains(got, "three") {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
	if strings.ToValidUTF8(got, "?") != got {
		t.Error("characters were cut")
	}
}
