package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// How often a tool call whose failure may pass is executed where the spec says
// nothing, and how long is waited between, in milliseconds: the first is one
// execution and two retries, for reads and repeatable writes alike; a once call
// is tried again only if it is proven that nothing has happened.
const (
	defaultToolTries = 3
	toolBase         = 200
	// toolCap is the longest wait within a call. A tool that asks for more is
	// told to the model instead: it may have something else to do.
	toolCap = 60_000
)

// toolTries returns how often a call whose failure may pass is executed.
func (m *Machine) toolTries() int64 {
	if n := m.spec.Retry.ToolTries; n > 0 {
		return n
	}
	return defaultToolTries
}

// tryAgain decides whether an execution that came to the outcome d is followed
// by another one, and when.
func (m *Machine) tryAgain(e *execution, t *toolInfo, d *event.ToolFinished) bool {
	asked, _ := d.RetryAfter.Get()
	if !mayPass(t, d) || asked > toolCap || m.over != "" || m.halt == event.InputCancel {
		return false
	}
	if e.failures++; e.failures >= m.toolTries() {
		return false
	}
	e.waitID, e.until = m.id(0), m.now+m.delay(toolBase, toolCap, e.failures, d.RetryAfter)
	return true
}

// mayPass reports whether the outcome is a failure that another execution, soon
// and under the same key, may not meet, and that it is safe to try. A call that
// was given up on purpose, or is still going on somewhere, is not begun again.
func mayPass(t *toolInfo, d *event.ToolFinished) bool {
	if !d.Retryable || d.Status == event.StatusSuccess {
		return false
	}
	switch d.ErrorType {
	case tool.TypeCancelled, tool.TypeAbandoned, tool.TypeOverloaded:
		return false
	}
	switch t.Effect {
	case event.Read, event.Repeatable:
		return true
	}
	return d.Status == event.StatusError && d.NoEffect
}

// delay returns how long to wait after n failures, in milliseconds: what was
// asked for, but at least base; else base, doubled with each failure up to limit;
// jitter on top of the one and within the other, from the run's seed. Who asks for
// no time at all, or for a moment that has passed, asks for nothing.
func (m *Machine) delay(base, limit, n int64, asked message.Count) int64 {
	noise := splitmix(uint64(m.spec.Seed) ^ uint64(m.seq)*0x9e3779b97f4a7c15)
	if asked, ok := asked.Get(); ok && asked > 0 {
		wait := min(max(asked, base), limit)
		return wait + int64(noise%uint64(wait/10+1))
	}
	wait := base
	for i := int64(1); i < n && wait < limit; i++ {
		wait *= 2
	}
	wait = min(wait, limit)
	return wait/2 + int64(noise%uint64(wait/2+1))
}

// ready makes a call ready to be executed, under a new id. One whose definition
// has changed since the run began, or since a person had to allow the call, asks
// first: what was allowed is exactly what runs.
func (m *Machine) ready(c *call, id string) {
	c.id, c.waitID, c.until, c.state = id, "", 0, callReady
	must := c.tool.changed || c.allowed != event.Hash{} && m.policy.Judge(*c.tool.ToolSpec).Verdict == event.Ask
	if must && c.allowed != guard.ApprovalHash(*c.tool.ToolSpec, c.args) {
		c.state, c.rule, c.why = callAsking, ruleChanged, changedWhy(c.tool)
		c.settle, c.ask, c.askedFor = false, nil, false
	}
}

// callTimer folds timer.fired for what waits to be executed again.
func (m *Machine) callTimer(id string) {
	for i := range m.turn {
		c := &m.turn[i]
		switch q := c.query; {
		case c.state == callWaiting && c.waitID == id:
			m.ready(c, m.id(0))
			return
		case c.state == callQuerying && q.state == callWaiting && q.waitID == id:
			q.ready(m.id(0))
			return
		}
	}
}

// giveUp makes the last outcome of every call that waits to be tried again its
// result, and no longer waits until a "not done" counts: there is no time left.
func (m *Machine) giveUp() {
	turn := m.turn // the last result closes it
	for i := range turn {
		switch c := &turn[i]; {
		case c.state == callQuerying && c.query.state == callWaiting && c.denied != 0:
			m.tooEarly(c)
		case c.state == callWaiting:
			if !uncertain(c.tool, c.last) || !m.ask(c, m.id(2+i)) {
				m.conclude(c, c.last)
			}
		}
	}
}

// outOfTime keeps what has not begun from beginning: the time for the run is used
// up, and what is under way is given up.
func (m *Machine) outOfTime() {
	if m.phase == phaseModel && m.call.purpose != event.PurposeFinal && !m.call.started {
		m.phase = phaseBoundary // for the last call
	}
	if m.phase != phaseTools {
		return
	}
	turn := m.turn // the last result closes it
	for i := range turn {
		c := &turn[i]
		if c.state != callReady && c.state != callAsking || c.below() {
			continue // a run below this one has the same limit, and comes to its end by itself
		}
		switch {
		case c.attempt == 0:
			c.state, c.rule, c.why = callRefused, ruleTimeLimit, m.whyLate()
		case c.again:
			c.state, c.rule = callRefused, ruleNotDone
		case c.last == nil:
			c.state, c.rule = callRefused, ruleLost
		case !uncertain(c.tool, c.last) || !m.ask(c, m.id(2+i)):
			m.conclude(c, c.last)
		}
	}
}
