package loop

import (
	"strconv"

	"rein.example/rein/event"
)

// A limit on time ends what is under way, too: a call of the model is given up, a
// tool is, and no attempt is waited for. Only the last call of the model, which asks
// for the best answer, may go on for a moment, once. What ends by itself is left: the
// run of an agent has its share of the same limits, and the question to a confirm
// tool what became of an act has its tool's time.

const (
	// timeUsedUp says that the limit on the time since the run began is reached,
	// workUsedUp that on the time at work.
	timeUsedUp = "the time for the run is used up"
	workUsedUp = "the working time of the run is used up"
)

// The bounds of the time that the last call may take beyond a limit on time, in
// milliseconds: a tenth of the limit, but long enough for a slow server to answer and
// short enough for somebody who waits.
const (
	minLast = 10_000
	maxLast = 60_000
)

// lastTime returns how long the last call may take beyond a limit on time.
func lastTime(limit int64) int64 { return min(max(limit/10, minLast), maxLast) }

// late reports whether a limit on time is reached.
func (m *Machine) late() bool {
	l := &m.spec.Limits
	return m.wallPassed || m.workPassed || l.Work > 0 && m.worked >= l.Work
}

// watchTime keeps the timer that ends what is under way, and names it anew when it
// moves: an engine starts each name once.
func (m *Machine) watchTime() {
	switch until := m.ends(); {
	case until == 0:
		m.bound = nil
	case m.bound == nil || m.bound.Until != until:
		m.bound = &Wait{ID: strconv.FormatInt(m.seq, 10) + ".end", Until: until}
	}
}

// ends returns when what is under way is to end, 0 for never, apart from what the
// limit on the time since the run began ends.
func (m *Machine) ends() int64 {
	if m.paused != "" || m.phase == phaseFinished {
		return 0
	}
	l := &m.spec.Limits
	if m.phase == phaseModel && m.call.purpose == event.PurposeFinal {
		return m.lastEnds()
	}
	if l.Work <= 0 || m.workPassed || m.phase == phaseModel && m.call.cancel || !m.atWork() {
		return 0
	}
	return m.now + max(l.Work-m.worked, 0)
}

// atWork reports whether a model or a tool of this run itself is at work or is to
// begin now: an engine looks at what is outstanding before it begins.
func (m *Machine) atWork() bool {
	switch {
	case m.working():
		return true
	case m.phase == phaseModel:
		return m.call.waitID == ""
	case m.phase != phaseTools:
		return false
	}
	slots := m.slots() > 0
	for i := range m.turn {
		c := &m.turn[i]
		if c.state == callQuerying && c.query.state == callReady || slots && c.state == callReady && !c.agent() && m.mayRun(i) {
			return true
		}
	}
	return false
}

// lastEnds returns when the last call is given up, 0 for never. What it takes counts
// from its beginning, or from when the limit is reached.
func (m *Machine) lastEnds() (until int64) {
	c, l := &m.call, &m.spec.Limits
	if c.cancel {
		return 0
	}
	if l.Wall > 0 {
		until = m.started + m.away + max(c.elapsed, l.Wall) + lastTime(l.Wall)
	}
	if l.Work > 0 && c.waitID == "" {
		if t := m.now + max(c.worked, l.Work) + lastTime(l.Work) - m.worked; until == 0 || t < until {
			until = t
		}
	}
	return until
}

// timer folds timer.fired.
func (m *Machine) timer(d *event.TimerFired) {
	switch {
	case d.ID == m.wallID:
		m.wallPassed = true
		m.reach(event.ReasonTimeLimit, timeUsedUp)
		switch {
		case m.phase != phaseModel:
		case m.call.purpose != event.PurposeFinal:
			m.call.cancel = true
		case m.call.waitID != "":
			m.lastMissed(m.call.missed)
		}
		m.giveUp()
		m.unasked()
	case d.ID == m.call.waitID:
		if m.phase == phaseModel {
			m.call.again(m.id(0))
		}
	case m.bound != nil && d.ID == m.bound.ID:
		m.timeEnds()
	default:
		m.callTimer(d.ID)
	}
}

// timeEnds folds that what is under way is to end.
func (m *Machine) timeEnds() {
	l := m.spec.Limits.Work
	switch {
	case m.phase == phaseModel && m.call.purpose == event.PurposeFinal:
		if m.call.cancel = m.call.started; !m.call.started {
			m.lastMissed(m.call.missed)
		}
	case m.worked < l: // something that was to begin has not
	case m.phase == phaseModel:
		m.call.cancel = true // whether the time is used up is seen when it is known how long the call has waited for its turn
	case m.phase == phaseTools:
		m.workPassed = true
		m.reach(event.ReasonTimeLimit, workUsedUp)
		m.giveUp()
	}
}

// cut folds that a call of the model was given up because the time is used up.
func (m *Machine) cut(d *event.ModelFailed) {
	c := &m.call
	reason, _ := m.limit()
	switch {
	case c.purpose == event.PurposeFinal && d.Waited > 0 && d.Latency == 0:
		m.lastMissed("the limits of its server did not let it through within " + seconds(d.Waited))
	case c.purpose == event.PurposeFinal:
		m.lastMissed("no reply within " + seconds(m.elapsed()-c.elapsed))
	case reason == "": // it had waited for its turn, which is no work
		c.cancel = false
		c.again(m.id(0))
	default:
		m.phase = phaseBoundary // for the last call
	}
}

// lastMissed ends the run without the answer that the last call was to give.
func (m *Machine) lastMissed(why string) {
	if why == "" {
		why = "there was no time left for it"
	}
	m.verdict, m.phase = m.failing(event.PurposeFinal, m.over, why), phaseBoundary
}

// whyLate says which limit on time is reached.
func (m *Machine) whyLate() string {
	if m.wallPassed {
		return timeUsedUp
	}
	return workUsedUp
}
