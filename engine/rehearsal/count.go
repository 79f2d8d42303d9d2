package rehearsal

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// count fills in the token counts of an event, as engines do before it is recorded:
// the machine itself can only estimate.
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
	case *event.ContextCompacted:
		p.countRewrite(d, size)
	case *event.ContextAssembled:
		countTail(d, size)
	}
}

// countRewrite counts the message that stands in the place of what leaves, and each
// message that is edited as it will be.
func (p *player) countRewrite(d *event.ContextCompacted, size func(*message.Message) message.Count) {
	recount := func(c *message.Count, m *message.Message) {
		n := size(m)
		if old, known := c.Get(); known {
			d.After += n.Or(0) - old
		}
		*c = n
	}
	if d.Summary != "" || d.Snapshot != "" || d.Upto > 0 {
		m := window.DigestMessage(window.DigestText{Summary: d.Summary, Snapshot: d.Snapshot, Upto: d.Upto, Reach: p.reach()})
		recount(&d.Tokens, &m)
	}
	said := p.m.History()
	for i := range d.Edits {
		x := &d.Edits[i]
		if x.Action == window.ActionDrop || x.Message < 0 || x.Message >= int64(said.Len()) {
			continue
		}
		m := window.Edited(said.At(int(x.Message)).Message, x.Text)
		recount(&x.Tokens, &m)
	}
}

// reach says which of the harness's tools for reading back the run has: a recording
// may have tools of its own under these names.
func (p *player) reach() window.Reach {
	var r window.Reach
	for i := range p.m.Spec().Tools {
		switch t := &p.m.Spec().Tools[i]; {
		case !t.Harness:
		case t.Name == tool.SearchHistory:
			r.Search = true
		case t.Name == tool.ReadArtifact:
			r.Page = true
		}
	}
	return r
}

// countTail counts the volatile block at the end of a request.
func countTail(d *event.ContextAssembled, size func(*message.Message) message.Count) {
	if d.Tail == "" {
		return
	}
	m := message.NewText(message.System, d.Tail)
	n := size(&m).Or(0)
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.Name == window.BlockTail {
			d.Tokens += n - b.Tokens
			b.Tokens = n
		}
	}
}
