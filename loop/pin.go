package loop

import "rein.example/rein/event"

// pins folds which tools have another definition now than when the run began,
// and returns those for which that has changed.
func (m *Machine) pins(changed []event.ToolPin) map[*toolInfo]bool {
	var moved map[*toolInfo]bool // looked up only
	for i := range m.tools {
		t := &m.tools[i]
		pin := t.began.Pin
		for _, c := range changed {
			if c.Tool == t.Name {
				pin = c.Pin
			}
		}
		if pin == t.Pin {
			continue
		}
		if moved == nil {
			moved = map[*toolInfo]bool{}
		}
		now := *t.began
		now.Pin = pin
		t.ToolSpec, t.changed, moved[t] = &now, pin != t.began.Pin, true
	}
	return moved
}

// doubt asks about a call that was allowed, or is asked about, under another
// definition of its tool.
func (m *Machine) doubt(c *call, id string) {
	switch c.state {
	case callReady:
		m.ready(c, id)
	case callAsking:
		c.id, c.ask, c.askedFor = id, nil, false
	}
}

// changedWhy says why a person has to look at a call.
func changedWhy(t *toolInfo) string {
	if !t.changed {
		return "the definition of " + t.Name + " is not the one with which the call was allowed: look at what it does now"
	}
	return "the definition of " + t.Name + " is not the one that the run began with: look at what it does now"
}
