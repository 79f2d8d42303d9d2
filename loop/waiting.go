package loop

import (
	"slices"

	"rein.example/rein/event"
)

// Waiting reports that nothing but a person can move the run on, and what for:
// questions were asked and nothing else is outstanding. An engine that has
// nobody to ask pauses the run with this cause. parked are the ids of [StartRun]
// commands whose runs have paused: where only they are waited for, cause is empty,
// and the run pauses with theirs.
func (m *Machine) Waiting(parked ...string) (cause event.Cause, waiting bool) {
	if m.phase != phaseTools || m.paused != "" || m.halt != "" || m.decide() != nil {
		return "", false
	}
	return m.questions(parked)
}

// questions reports whether all that is left to do in the turn of calls waits for
// answers to questions that were asked, and the cause to pause with.
func (m *Machine) questions(parked []string) (cause event.Cause, waiting bool) {
	for i := range m.turn {
		switch c := &m.turn[i]; {
		case c.agent() && (c.state == callRunning && slices.Contains(parked, c.id) || c.state == callReady && m.waitsForOthers(c)):
			waiting = true
		case c.state == callAsking && !c.askedFor, c.state == callRunning, c.state == callWaiting, c.state == callQuerying,
			c.state == callReady && m.mayRun(i):
			return "", false
		case c.state == callAsking && (c.settle || c.words):
			cause, waiting = event.CauseWaitingInput, true
		case c.state == callAsking:
			if waiting = true; cause == "" {
				cause = event.CauseWaitingApproval
			}
		}
	}
	return cause, waiting
}

// inFlight reports whether something was started that has no outcome yet, and has to
// have one before the run can pause or end: a run below this one can pause with it.
func (m *Machine) inFlight() bool {
	if m.working() {
		return true
	}
	if m.phase == phaseTools && m.halt == event.InputCancel {
		for i := range m.turn {
			if m.turn[i].running() {
				return true
			}
		}
	}
	return false
}

// working reports whether a model or a tool of this run itself is at work.
func (m *Machine) working() bool {
	if m.phase == phaseModel && m.call.started {
		return true
	}
	if m.phase == phaseTools {
		for i := range m.turn {
			if c := &m.turn[i]; c.running() && !c.agent() {
				return true
			}
		}
	}
	return false
}
