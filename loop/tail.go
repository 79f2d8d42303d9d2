package loop

import (
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// tail is the volatile block at the end of requests: where the work stands. It is
// never part of the conversation.
type tail struct {
	stale  bool // something that it says has changed since it was made
	text   string
	tokens int64
	// files are those that the run has written, in the order in which it first did;
	// the last maxFiles of them. made are the other acts whose results are not in the
	// context any more; the last maxMade.
	files, made []string
}

// maxFiles bounds the files that are remembered as written, and maxMade the other
// acts that are named when their results have left the context.
const (
	maxFiles = 64
	maxMade  = 16
)

// tailBlock returns the text of the tail and its size; both are zero if there is
// nothing to say. It is made again only when something has changed.
func (m *Machine) tailBlock() (string, int64) {
	if !m.tail.stale {
		return m.tail.text, m.tail.tokens
	}
	m.tail.stale = false
	in := window.StateIn{State: m.state, Files: m.tail.files, Artifacts: m.tail.made, Unknown: m.doubtful()}
	for i := range m.errors {
		if e := &m.errors[i]; e.By != "" && !e.gone {
			in.Resolved = append(in.Resolved, window.ResolvedError(e.Resolved))
		}
	}
	m.tail.text, m.tail.tokens = window.StateBlock(&in), 0
	if m.tail.text != "" {
		msg := stateTail(m.tail.text)
		m.tail.tokens = estimate(&msg)
	}
	return m.tail.text, m.tail.tokens
}

// stateTail returns the message at the end of a step's request.
func stateTail(text string) message.Message { return message.NewText(message.System, text) }

// wrote takes note of files that a call has written or removed.
func (m *Machine) wrote(seen []event.Seen) {
	for i := range seen {
		s := &seen[i]
		at := slices.Index(m.tail.files, s.Resource)
		switch {
		case s.Gone && at >= 0:
			m.tail.files = slices.Delete(slices.Clone(m.tail.files), at, at+1)
		case s.Wrote && !s.Gone && at < 0:
			m.tail.files = append(m.tail.files, s.Resource)
			if len(m.tail.files) > maxFiles {
				m.tail.files = append([]string(nil), m.tail.files[1:]...)
			}
		default:
			continue
		}
		m.tail.stale = true
	}
}

// left folds what the tail says of results that a rewrite has removed: acts, apart
// from files written, are named from here on, since what was done must not depend on
// a summary; errors that are resolved need no word any more.
func (m *Machine) left() {
	m.tail.stale = true
	here := map[string]bool{} // looked up only
	for i := range m.items {
		if it := &m.items[i]; it.rec != nil && !it.stubbed {
			here[it.rec.id] = true
		}
	}
	for i := range m.errors {
		m.errors[i].gone = m.errors[i].gone || !here[m.errors[i].Call]
	}
	var out []string
	for i := len(m.calls) - 1; i >= 0 && len(out) < maxMade; i-- {
		r := m.calls[i]
		if t := m.tool(r.tool); r.ran && r.done != nil && r.done.Status == event.StatusSuccess && len(r.done.Seen) == 0 &&
			t != nil && t.Effect.Writes() && !t.Harness && !here[r.id] {
			out = append(out, r.tool+" (call "+r.id+")")
		}
	}
	slices.Reverse(out)
	m.tail.made = out
}

// doubtful names the calls that must not be done twice and of which nobody knows
// whether they took effect.
func (m *Machine) doubtful() []string {
	var out []string
	for _, e := range m.entries {
		if e.unknown && m.ledger[e.key] == e {
			out = append(out, e.rec.tool+" (call "+e.rec.id+")")
		}
	}
	return out
}

// fault is an error of a tool. gone: it stands in the context no more.
type fault struct {
	Resolved
	gone bool
}
