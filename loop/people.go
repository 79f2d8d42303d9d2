package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// asksUser reports whether a call is a question of the model's to a person, which
// is not executed: the next input is its result.
func (t *toolInfo) asksUser() bool { return t.Harness && t.Name == tool.AskUser }

// replied folds an input that answers a question in words, and reports whether
// there was one: that of the command whose outcome it is; what comes without a
// command answers the first one that was asked.
func (m *Machine) replied(d *event.InputReceived, command string) bool {
	if m.phase != phaseTools {
		return false
	}
	for i := range m.turn {
		if c := &m.turn[i]; c.state == callAsking && c.words && c.askedFor && (command == "" || c.id == command) {
			c.state, c.rule, c.reply = callRefused, ruleReplied, d.Parts
			return true
		}
	}
	return false
}

// plan notes the state that a call of the plan tool gives: it is recorded as the
// run's own before anything else happens.
func (m *Machine) plan(c *call) {
	if c.tool != nil && c.tool.Harness && c.Name == tool.Plan && c.done.Status == event.StatusSuccess && len(c.done.Result) > 0 {
		m.planned = &event.StateUpdated{State: c.done.Result, Why: "call " + c.ID + " of " + c.Name}
	}
}
