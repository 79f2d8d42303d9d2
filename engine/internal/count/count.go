// Package count answers: how many tokens does the model pay for what an event says?
//
// Whoever appends events to a journal fills in their counts first, once: a machine
// itself can only estimate, and a count in the journal stays what it was, whatever is
// counted with later. A run and its rehearsal count by the same rules.
package count

import (
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// Event fills in the counts of what comes from outside: what a run begins with, what
// was said, answered, found, noticed. Other events stay as they are. The slices of a
// spec are changed in place.
func Event(c tokens.Counter, d event.Data) {
	switch d := d.(type) {
	case *event.RunStarted:
		begin(c, &d.Spec)
	case *event.InputReceived:
		d.Tokens = size(c, &message.Message{Role: message.User, Parts: d.Parts})
	case *event.ModelAnswered:
		d.Tokens = size(c, &d.Message)
	case *event.ToolFinished:
		d.Tokens = size(c, &message.Message{Role: message.Tool, ToolCallID: d.Call, ToolName: d.Tool, Parts: d.Parts})
	case *event.NoticeAdded:
		m := message.NewText(message.System, d.Text)
		d.Tokens = size(c, &m)
	case *event.MaterialRetrieved:
		if len(d.Parts) > 0 {
			m := window.MaterialMessage(d.Parts, d.Shaped)
			d.Tokens = size(c, &m)
		}
	}
}

// begin counts what stands before a conversation.
func begin(c tokens.Counter, s *event.Spec) {
	for i := range s.System {
		b := &s.System[i]
		b.Tokens = message.Known(int64(c.Count(b.Text)))
	}
	for i := range s.Calling {
		how := &s.Calling[i]
		if text := window.Calling(how.Dialect, s.Tools); text != "" {
			how.Tokens = message.Known(int64(c.Count(text)))
		}
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		t.Tokens = message.Known(int64(tokens.Tool(c, t.Name, t.Description, string(t.Schema))))
	}
}

// Decided fills in the counts of what the machine has decided and has not folded
// yet, where it could only estimate; everything else as [Event] does.
func Decided(c tokens.Counter, m *loop.Machine, d event.Data) {
	switch d := d.(type) {
	case *event.ContextCompacted:
		rewrite(c, m, d)
	case *event.ContextAssembled:
		tail(c, d)
	default:
		Event(c, d)
	}
}

// rewrite counts the message that stands in the place of what leaves, and each message
// that is edited as it will be.
func rewrite(c tokens.Counter, m *loop.Machine, d *event.ContextCompacted) {
	recount := func(at *message.Count, msg *message.Message) {
		n := size(c, msg)
		if old, known := at.Get(); known {
			d.After += n.Or(0) - old
		}
		*at = n
	}
	if d.Summary != "" || d.Snapshot != "" || d.Upto > 0 {
		msg := window.DigestMessage(window.DigestText{Summary: d.Summary, Snapshot: d.Snapshot, Upto: d.Upto, Reach: m.Reach()})
		recount(&d.Tokens, &msg)
	}
	said := m.History()
	for i := range d.Edits {
		x := &d.Edits[i]
		if x.Action == window.ActionDrop || x.Message < 0 || x.Message >= int64(said.Len()) {
			continue
		}
		msg := window.Edited(said.At(int(x.Message)).Message, x.Text)
		recount(&x.Tokens, &msg)
	}
}

// tail counts the volatile block at the end of a request.
func tail(c tokens.Counter, d *event.ContextAssembled) {
	if d.Tail == "" {
		return
	}
	m := message.NewText(message.System, d.Tail)
	n := size(c, &m).Or(0)
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.Name == window.BlockTail {
			d.Tokens += n - b.Tokens
			b.Tokens = n
		}
	}
}

func size(c tokens.Counter, m *message.Message) message.Count {
	return message.Known(int64(tokens.Message(c, m)))
}
