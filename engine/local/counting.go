package local

import (
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// count fills in the token counts of what the machine has decided, once, before it
// is recorded: the machine itself can only estimate.
func (a *actor) count(d event.Data) {
	switch d := d.(type) {
	case *event.ContextCompacted:
		a.e.guarded(func() { a.e.countCompacted(d, a.m.Spec(), a.m.History()) })
	case *event.ContextAssembled:
		a.e.guarded(func() { a.e.countTail(d) })
	default:
		a.e.count(d)
	}
}

// countCompacted counts the message that stands in the place of what leaves, and each
// message that is edited as it will be.
func (e *Engine) countCompacted(d *event.ContextCompacted, spec *event.Spec, said loop.History) {
	recount := func(c *message.Count, m *message.Message) {
		n := e.sizeOf(m)
		if old, known := c.Get(); known {
			d.After += n.Or(0) - old
		}
		*c = n
	}
	if d.Summary != "" || d.Snapshot != "" || d.Upto > 0 {
		m := window.DigestMessage(window.DigestText{Summary: d.Summary, Snapshot: d.Snapshot, Upto: d.Upto,
			Reach: window.Reach{Search: harnessTool(spec, tool.SearchHistory), Page: pages(spec)}})
		recount(&d.Tokens, &m)
	}
	for i := range d.Edits {
		x := &d.Edits[i]
		if x.Action == window.ActionDrop || x.Message < 0 || x.Message >= int64(said.Len()) {
			continue
		}
		m := window.Edited(said.At(int(x.Message)).Message, x.Text)
		recount(&x.Tokens, &m)
	}
}

// countTail counts the volatile block at the end of a request.
func (e *Engine) countTail(d *event.ContextAssembled) {
	if d.Tail == "" {
		return
	}
	m := message.NewText(message.System, d.Tail)
	n := e.sizeOf(&m).Or(0)
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.Name == window.BlockTail {
			d.Tokens += n - b.Tokens
			b.Tokens = n
		}
	}
}
