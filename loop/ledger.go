package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/schema"
)

// entry is a line of the idempotency ledger: a once call that has begun.
type entry struct {
	rec  *record
	key  string
	args jsontext.Value
	// unknown: nobody can say whether it took effect.
	unknown bool
	// told: the model has repeated it since, and was told to find out.
	told bool
	// settled: it was unknown, and is known to have taken effect.
	settled bool
}

// key returns the idempotency key of a write: the root run, the tool and the
// canonical arguments or the fields of them that the tool declares. A
// repeatable write also carries how often this run has begun the same before,
// so that A, B, A are three writes.
func (m *Machine) key(c *call) string {
	key := m.baseKey(c)
	if c.tool.Effect == event.Repeatable {
		return key + "-" + strconv.FormatInt(m.ordinals[key]+1, 10)
	}
	return key
}

func (m *Machine) baseKey(c *call) string {
	var buf [256]byte
	b := appendField(buf[:0], m.root)
	b = appendField(b, c.Name)
	args := c.args
	if len(c.tool.KeyFields) > 0 {
		args = schema.Fields(args, c.tool.KeyFields)
	}
	b = appendField(b, string(args))
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// appendField appends a string so that fields cannot run into each other.
func appendField(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

// enter notes what became of an executed call: of a once call in the ledger,
// and of a confirm tool's in the lines that it answers for.
func (m *Machine) enter(c *call, d *event.ToolFinished) {
	if e := m.ledger[c.key]; c.tool.Effect == event.Once && e != nil && e.rec == c.rec {
		switch {
		case d.Status == event.StatusUnknown || d.Status == event.StatusTimeout:
			e.unknown = true
		case d.Status == event.StatusError && d.NoEffect:
			m.release(e)
		}
	}
	if !c.tool.confirms || d.Status != event.StatusSuccess {
		return
	}
	if done, ok := schema.BoolField(d.Result, "done"); ok {
		for _, e := range m.entries {
			if t := m.tool(e.rec.tool); e.unknown && t != nil && t.Confirm == c.Name && schema.Agree(c.args, e.args) {
				m.resolve(e, done)
			}
		}
	}
}

// resolve settles a line whose outcome was unknown.
func (m *Machine) resolve(e *entry, done bool) {
	if done {
		e.unknown, e.settled = false, true
	} else {
		m.release(e)
	}
}

// release lets the act be done again.
func (m *Machine) release(e *entry) {
	e.unknown = false
	delete(m.ledger, e.key)
}

// given folds approval.given: an answer to an open question, if it is about
// exactly what was asked, or a word on an earlier call of unknown outcome.
func (m *Machine) given(d *event.ApprovalGiven) {
	settles := d.Decision == event.Done || d.Decision == event.NotDone
	c := m.find(d.Call)
	if c == nil || c.state != callAsking {
		if settles {
			m.settle(d)
		}
		return
	}
	if c.settle != settles || d.Hash != guard.ApprovalHash(*c.tool.ToolSpec, c.args) {
		return
	}
	if settles {
		if e := m.ledger[m.baseKey(c)]; e != nil {
			m.resolve(e, d.Decision == event.Done)
		}
	}
	switch d.Decision {
	case event.Rejected:
		c.state, c.rule, c.why = callRefused, ruleRejected, d.Why
	case event.Done:
		c.state, c.rule = callRefused, ruleSettled
	case event.NotDone, event.Approved:
		c.state, c.id = callReady, m.id(0)
	}
}

// settle folds a person's word on the unknown outcome of an earlier call; the
// open question about the same act, if there is one, is answered with it.
func (m *Machine) settle(d *event.ApprovalGiven) {
	for _, e := range m.entries {
		if e.rec.id != d.Call || !e.unknown {
			continue
		}
		for i := range m.turn {
			if c := &m.turn[i]; c.state == callAsking && c.settle && m.ledger[m.baseKey(c)] == e {
				m.given(&event.ApprovalGiven{Call: c.ID, Decision: d.Decision, Why: d.Why,
					Hash: guard.ApprovalHash(*c.tool.ToolSpec, c.args)})
				return
			}
		}
		m.resolve(e, d.Decision == event.Done)
		return
	}
}
