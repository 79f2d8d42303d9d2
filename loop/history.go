package loop

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// record is what a run remembers of a call whose arguments were right.
type record struct {
	id, tool string
	hash     event.Hash
	args     jsontext.Value // canonical
	index    int
	// at is how many results the run had when the outcome came.
	at int
	// done is nil until the outcome is there.
	done *event.ToolFinished
	// ran: it was executed, not intercepted or denied.
	ran bool
	// of is the call whose outcome stood in for this one's.
	of *record
	// inVain is how many identical calls, one in each turn before it, have failed
	// in a way that may pass.
	inVain int64
	// looks is how often the run had learned something of files and the like when
	// the outcome came.
	looks int64
}

// act identifies identical calls.
type act struct {
	tool string
	hash event.Hash
}

// same reports whether the record is of the same tool and arguments.
func (r *record) same(c *call) bool { return r.tool == c.Name && r.hash == c.hash && r.index >= 0 }

// settledOutcome reports whether the call has an outcome that asking again would
// not change: not an error that is worth another try unless there were tries of
// them already, not a refusal (the guard decides again), not an unknown one (the
// ledger decides).
func (r *record) settledOutcome(tries int64) bool {
	switch {
	case r.done == nil || !r.ran:
		return false
	case r.done.Status == event.StatusSuccess:
		return true
	}
	return r.failed() && (!r.done.Retryable || r.inVain >= tries-1)
}

// failed reports whether the call has failed, and is known to have.
func (r *record) failed() bool {
	return r.done != nil && (r.done.Status == event.StatusError || r.done.Status == event.StatusTimeout)
}

// inVain counts the identical calls that have just failed in a way that may pass.
func (m *Machine) inVain(c *call) int64 {
	for k := min(m.thisTurn, len(m.calls)) - 1; k >= m.prevTurn; k-- {
		if r := m.calls[k]; r.same(c) && r.ran && r.done != nil {
			if r.failed() && r.done.Retryable && m.valid(c, r) {
				return r.inVain + 1
			}
			break
		}
	}
	return 0
}

// valid reports whether nothing has happened since a call that would make the
// identical one c another: no write has succeeded, and nobody has said anything.
// What has failed may also have been for want of what the run has seen since.
func (m *Machine) valid(c *call, r *record) bool {
	return r.index >= max(m.lastWrite, m.spoken) && !m.awaited(c) && (!c.tool.informed() || !r.failed() || r.looks == m.looks)
}

// informed reports whether the tool is told what the run has seen.
func (t *toolInfo) informed() bool { return t.Effect.Writes() && len(t.Resources) > 0 }

// mayChange reports whether a call of this reply before the i-th, of which none
// has run yet, may make that one succeed where it failed before.
func (m *Machine) mayChange(i int) bool {
	informed := m.turn[i].tool.informed()
	for k := range i {
		if o := &m.turn[k]; o.tool != nil && o.args != nil && (informed || o.tool.Effect.Writes()) {
			return true
		}
	}
	return false
}

// remember draws what later calls depend on from a call's result.
func (m *Machine) remember(c *call, d *event.ToolFinished) {
	if c.attempt > 0 {
		// An unknown outcome may have changed something.
		if c.tool.Effect.Writes() && d.Status != event.StatusError {
			m.lastWrite = c.rec.index
		}
		k := act{c.Name, c.hash}
		if d.Status == event.StatusError && !d.Retryable {
			m.hopeless[k] = c.rec
		} else {
			delete(m.hopeless, k)
		}
	}
	if c.tool == nil {
		return
	}
	switch d.Status {
	case event.StatusSuccess:
		c.tool.worked = len(m.results)
		m.resolveErrors(c)
	case event.StatusError, event.StatusTimeout:
		m.errors = append(m.errors, fault{Resolved: Resolved{Tool: c.Name, Type: d.ErrorType, Call: c.ID}})
		if len(m.errors) > maxErrors {
			m.errors = append(m.errors[:0], m.errors[1:]...)
		}
	}
}

// maxErrors bounds the errors that are kept to be resolved.
const maxErrors = 64

// Resolved is an error of a tool that a later success of the same tool has made
// a thing of the past.
type Resolved struct {
	// Tool and Type are the tool's name and the error's type, Call the call that
	// met it.
	Tool, Type, Call string
	// By is the call that succeeded.
	By string
}

// resolveErrors notes that the tool of a call works after all.
func (m *Machine) resolveErrors(c *call) {
	for i := range m.errors {
		if e := &m.errors[i]; e.By == "" && e.Tool == c.Name {
			e.By, m.tail.stale = c.ID, true
		}
	}
}

// resolved returns the errors that are resolved, in the order in which they came.
func (m *Machine) resolved() []Resolved {
	var out []Resolved
	for _, e := range m.errors {
		if e.By != "" {
			out = append(out, e.Resolved)
		}
	}
	return out
}

// triedInVain returns the earlier identical call whose error says that trying
// again does not help, nil if there is none or something has happened since.
func (m *Machine) triedInVain(i int) *record {
	c := &m.turn[i]
	r := m.hopeless[act{c.Name, c.hash}]
	if r == nil || c.tool.Polling || c.tool.Harness || !m.valid(c, r) || m.mayChange(i) {
		return nil
	}
	return r
}
