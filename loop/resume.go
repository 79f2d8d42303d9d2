package loop

import "rein.example/rein/event"

// resumed folds run.resumed: whatever was in flight has lost its engine. Since
// the event before, nobody has worked on the run.
func (m *Machine) resumed(d *event.RunResumed, before int64) error {
	if m.paused == "" {
		m.pausedAt = before
	}
	m.away += m.now - m.pausedAt
	m.paused = ""
	m.halt, m.pause = "", false
	m.wallID = m.id(0)
	m.call.elapsed, m.call.worked = m.elapsed(), m.worked
	if !m.summaryLost() {
		m.call.lost(m.id(1))
	}
	m.inquireAgain(m.id(1))
	m.tail.stale = true
	if d.Models != nil && d.Models.Agent != nil {
		if err := m.takenOver(d.Models); err != nil {
			return err
		}
	}
	if d.Models != nil {
		m.change(d.Models)
	}
	moved := m.pins(d.Changed)
	for i := range m.turn {
		c := &m.turn[i]
		m.lost(c, 2+i)
		if c.tool != nil && moved[c.tool] {
			m.doubt(c, m.id(2+i))
		}
	}
	if d.Fork != "" {
		m.began = m.now
		m.forked()
	}
	return nil
}

// wake ends a pause.
func (m *Machine) wake() {
	if m.paused != "" {
		m.away += m.now - m.pausedAt
		m.paused = ""
	}
}
