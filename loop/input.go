package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// queued is a message that waits for the next boundary.
type queued struct {
	msg message.Message
	item
}

// input folds input.received. As the outcome of a command it answers just that
// question.
func (m *Machine) input(d *event.InputReceived, command string) {
	switch d.Kind {
	case event.InputPause:
		m.pause = m.paused == ""
	case event.InputStop, event.InputCancel:
		if m.paused == "" || d.Kind == event.InputCancel {
			m.paused = ""
			m.halt, m.haltWhy = d.Kind, d.Why
		}
	default:
		in := queued{message.Message{Role: message.User, Parts: d.Parts}, item{kind: window.Input, full: d.Full}}
		known := false
		if in.tokens, known = d.Tokens.Get(); !known {
			in.tokens = estimate(&in.msg) // another process posted it: no engine has counted it
		}
		begins := m.idle
		m.idle = false
		m.spoken = len(m.calls)
		m.progress.forget()
		if m.replied(d, command) {
			return
		}
		m.ending = nil // first what has been said
		if m.verdict != nil && revocable(m.verdict) {
			m.verdict, begins = nil, true
		}
		if m.phase == phaseBoundary {
			m.put(in.msg, in.item)
			if begins {
				m.inquire(inlineText(d.Parts), m.id(0))
			}
		} else {
			m.queue = append(m.queue, in)
		}
		if m.paused == event.CauseTurnDone {
			m.wake()
		}
	}
}
