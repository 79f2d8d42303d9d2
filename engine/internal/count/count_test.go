package count_test

import (
	"testing"

	"rein.example/rein/engine/internal/count"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// letters counts each byte of a text as a token.
type letters struct{ tokens.Estimate }

func (letters) Count(text string) int { return len(text) }

// What an event says is counted as the message that the model is shown of it.
func TestEvent(t *testing.T) {
	parts := []message.Part{{Kind: message.Text, Text: "ten bytes."}}
	shown := func(m message.Message) message.Count {
		return message.Known(int64(tokens.Message(letters{}, &m)))
	}
	input, answer := &event.InputReceived{Parts: parts}, &event.ModelAnswered{Message: message.NewText(message.Assistant, "eight by")}
	result, notice := &event.ToolFinished{Call: "c1", Tool: "look", Parts: parts}, &event.NoticeAdded{Text: "twelve bytes"}
	found, nothing := &event.MaterialRetrieved{Parts: parts}, &event.MaterialRetrieved{}
	for _, c := range []struct {
		data event.Data
		got  *message.Count
		want message.Count
	}{
		{input, &input.Tokens, shown(message.Message{Role: message.User, Parts: parts})},
		{answer, &answer.Tokens, shown(answer.Message)},
		{result, &result.Tokens, shown(message.Message{Role: message.Tool, ToolCallID: "c1", ToolName: "look", Parts: parts})},
		{notice, &notice.Tokens, shown(message.NewText(message.System, "twelve bytes"))},
		{found, &found.Tokens, shown(window.MaterialMessage(parts, nil))},
		{nothing, &nothing.Tokens, 0},
	} {
		if count.Event(letters{}, c.data); *c.got != c.want {
			t.Errorf("%s: %v, want %v", c.data.Type(), *c.got, c.want)
		}
	}
}

// What stands before a conversation is counted part by part.
func TestBegin(t *testing.T) {
	d := &event.RunStarted{Spec: event.Spec{System: []event.Block{{Name: "rules", Text: "Work."}}, Calling: []event.ModelCalling{{Model: "m"}},
		Tools: []event.ToolSpec{{Name: "look", Description: "looks", Schema: []byte(`{}`)}}}}
	count.Event(letters{}, d)
	if n, _ := d.Spec.System[0].Tokens.Get(); n != 5 {
		t.Errorf("the rules have %d tokens", n)
	}
	if n, _ := d.Spec.Tools[0].Tokens.Get(); n != int64(tokens.Tool(letters{}, "look", "looks", `{}`)) {
		t.Errorf("the tool has %d tokens", n)
	}
	if _, known := d.Spec.Calling[0].Tokens.Get(); known {
		t.Error("a model with calls of its own is told nothing, which is counted")
	}
}

// The block at a request's tail takes its count, and the request's the difference.
func TestTail(t *testing.T) {
	tail := message.NewText(message.System, "what is left to do")
	want := int64(tokens.Message(letters{}, &tail))
	d := &event.ContextAssembled{Tail: "what is left to do", Tokens: 107, Blocks: []event.BlockSize{{Name: "rules", Tokens: 100}, {Name: window.BlockTail, Tokens: 7}}}
	count.Decided(letters{}, loop.New("r1"), d)
	if d.Tokens != 100+want || d.Blocks[0].Tokens != 100 || d.Blocks[1].Tokens != want {
		t.Errorf("%d tokens, %+v; the tail has %d", d.Tokens, d.Blocks, want)
	}
}

// A rewrite is counted as what it leaves: the digest, and each message as it will be.
func TestRewrite(t *testing.T) {
	m := loop.New("r1")
	for i, data := range []event.Data{
		&event.RunStarted{Format: event.Version, Root: "r1", Spec: event.Spec{Model: "m", Window: event.WindowSpec{Strategy: window.Layered, Size: 8000}}},
		&event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Go."}}},
	} {
		if err := m.Apply(&event.Event{Run: "r1", Seq: int64(i) + 1, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	d := &event.ContextCompacted{Summary: "nothing yet", Tokens: message.Known(50), After: 80, Edits: []event.ContextEdit{
		{Message: 0, Action: window.ActionStub, Text: "short", Tokens: message.Known(30)},
		{Message: 9, Action: window.ActionStub, Text: "of no message", Tokens: message.Known(1)}}}
	count.Decided(letters{}, m, d)
	digest := window.DigestMessage(window.DigestText{Summary: "nothing yet"})
	edited := window.Edited(m.History().At(0).Message, "short")
	first, second := int64(tokens.Message(letters{}, &digest)), int64(tokens.Message(letters{}, &edited))
	if d.Tokens != message.Known(first) || d.Edits[0].Tokens != message.Known(second) || d.Edits[1].Tokens != message.Known(1) || d.After != first+second {
		t.Errorf("%+v; the digest has %d, the message %d", d, first, second)
	}
}
