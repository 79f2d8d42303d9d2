package loop

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// inquire asks for material for a turn that begins with what a user has said, if
// the run is to have some. Until it comes, nothing else happens; whatever comes of
// it, the run goes on.
func (m *Machine) inquire(query string, id string) {
	if query = strings.TrimSpace(query); !m.spec.Retrieve || query == "" || m.wallPassed {
		return
	}
	m.inquiry = &Retrieve{ID: id, Query: query}
	m.phase = phaseRetrieve
}

// inquireAgain asks anew what a process that is dead was asking for.
func (m *Machine) inquireAgain(id string) {
	if m.phase == phaseRetrieve {
		m.inquiry = &Retrieve{ID: id, Query: m.inquiry.Query}
	}
}

// retrieved folds material.retrieved. An error, or nothing found, leaves the turn
// without.
func (m *Machine) retrieved(d *event.MaterialRetrieved) {
	if m.phase != phaseRetrieve || d.ID != m.inquiry.ID {
		return
	}
	if d.Error == "" && len(d.Parts) > 0 {
		msg := window.MaterialMessage(d.Parts, d.Shaped)
		m.say(window.Material, msg, d.Tokens.Or(estimate(&msg)))
	}
	m.unasked()
}

// unasked ends the asking for material.
func (m *Machine) unasked() {
	if m.phase == phaseRetrieve {
		m.phase, m.inquiry = phaseBoundary, nil
		m.flush()
	}
}

// inlineText returns the text of parts that stands in them, a paragraph for each.
func inlineText(parts []message.Part) string {
	var b strings.Builder
	for i := range parts {
		if parts[i].Kind != message.Text || parts[i].Text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(parts[i].Text)
	}
	return b.String()
}
