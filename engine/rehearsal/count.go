package rehearsal

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
)

// count fills in the token counts of an event, as engines do before it is recorded.
func (p *player) count(d event.Data) {
	c := p.cfg.Counter
	size := func(m *message.Message) message.Count { return message.Known(int64(tokens.Message(c, m))) }
	switch d := d.(type) {
	case *event.RunStarted:
		for i := range d.Spec.System {
			b := &d.Spec.System[i]
			b.Tokens = message.Known(int64(c.Count(b.Text)))
		}
		for i := range d.Spec.Tools {
			t := &d.Spec.Tools[i]
			t.Tokens = message.Known(int64(tokens.Tool(c, t.Name, t.Description, string(t.Schema))))
		}
	case *event.InputReceived:
		d.Tokens = size(&message.Message{Role: message.User, Parts: d.Parts})
	case *event.ModelAnswered:
		d.Tokens = size(&d.Message)
	case *event.ToolFinished:
		d.Tokens = size(&message.Message{Role: message.Tool, ToolCallID: d.Call, ToolName: d.Tool, Parts: d.Parts})
	case *event.NoticeAdded:
		t := message.NewText(message.System, d.Text)
		d.Tokens = size(&t)
	}
}
