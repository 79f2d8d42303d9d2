package loop

import (
	"errors"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// A fork begins with the events of another run and goes on with a run.resumed that
// names it, which makes what was in flight unknown as it does in any run. What a
// person has allowed there and that run had not begun yet is asked for again: the
// answer was for one execution, and that run may have used it since.

// forked folds that the run goes on from here as a fork of another.
func (m *Machine) forked() {
	for i := range m.turn {
		if c := &m.turn[i]; c.state == callReady && c.attempt == 0 && c.allowed != (event.Hash{}) {
			c.state, c.id = callAsking, m.id(2+i)
			c.ask, c.askedFor, c.allowed = nil, false, event.Hash{}
		}
	}
}

// change goes on with other models. What was learnt of the ones before, such as how
// they count, says nothing of these.
func (m *Machine) change(c *event.ModelChange) {
	if m.phase == phaseReply { // it is still read as the model has written it
		calling := m.calling()
		m.call.wrote = &calling
	}
	m.spec = m.spec.With(c)
	m.strategy = nil
	if s, err := window.For(m.spec.Window.Strategy); err == nil && m.spec.Window.Strategy != "" {
		m.strategy = s
	}
	m.fallback, m.tooLong = 0, 0
	m.gauge.cal = newCalibrations(m.spec)
	m.gauge.reported, m.gauge.reportedOf, m.gauge.size, m.gauge.refused, m.gauge.most = 0, 0, 0, 0, 0
	m.address()
	m.call.cmd, m.call.failures = nil, 0
}

// takenOver goes on with another agent, with what it has: tools, rules, limits. What
// another program has used is not this agent's: what it may spend is counted from here.
func (m *Machine) takenOver(c *event.ModelChange) error {
	if !m.BetweenSteps() {
		return errors.New("another agent takes a run over in the middle of a step: it can only do so between two")
	}
	if err := m.adopt(m.spec.With(c)); err != nil {
		return err
	}
	m.origin = nil
	m.usage, m.cost, m.counted = message.Usage{}, 0, false
	m.fresh, m.worked, m.below, m.spentBefore = 0, 0, event.Spent{}, spending{toolCalls: m.toolCalls}
	m.started, m.away = m.now, 0
	m.over, m.overWhy, m.noticed, m.wallPassed = "", "", false, false
	// What was to come of the last reply is not this agent's either.
	m.verdict, m.note, m.remarks, m.planned, m.ending = nil, nil, nil, nil, nil
	m.resuming, m.empty, m.malformed, m.cutOff, m.refusals, m.repeats, m.announced = 0, 0, 0, 0, 0, 0, 0
	m.misread, m.circled, m.clipped = false, false, false
	n := len(m.msgs)
	m.idle = n == 0 || m.msgs[n-1].Role == message.Assistant
	return nil
}

// Recorded returns the recording that the run was made of, nil if it was carried out,
// or is now.
func (m *Machine) Recorded() *event.Origin { return m.origin }

// newCalibrations returns the calibrations of a spec's models, of which nothing is
// known yet.
func newCalibrations(s *event.Spec) []tokens.Calibration {
	return make([]tokens.Calibration, 1+len(s.Fallback))
}

// Idle reports whether there is nothing to be done until somebody says something.
func (m *Machine) Idle() bool { return m.phase == phaseBoundary && m.idle }

// BetweenSteps reports whether the run has decided what becomes of its last step, if
// it has made one, and has not begun another: a fork after such an event makes the
// next step anew.
func (m *Machine) BetweenSteps() bool { return m.phase == phaseBoundary }

// Steps returns how many steps the run itself has made, those of runs below it not
// included.
func (m *Machine) Steps() int64 { return m.steps }

// revocable reports whether an end that is decided gives way to what somebody says
// before it is recorded: it is a model's answer, of whatever kind, and no fault.
func revocable(end *event.RunFinished) bool {
	switch end.Reason {
	case event.ReasonAnswered, event.ReasonSubmitted, event.ReasonRefused:
		return true
	}
	return false
}
