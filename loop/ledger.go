package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
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
	// abandoned: its execution may still be going on, so that not done yet does
	// not mean that it will not be.
	abandoned bool
	// ended: it is known not to go on. denied is when its confirm tool first said
	// that it is not done, 0 if it has not; see believed.
	ended  bool
	denied int64
}

// write is a repeatable write under its key without ordinal.
type write struct {
	// n is the ordinal of the last one that was begun, and index its place among
	// the calls.
	n     int64
	index int
	// done: it has succeeded, so that the next is another write.
	done bool
}

// key returns the idempotency key of a write: the root run, the tool and the
// canonical arguments or the fields of them that the tool declares. A
// repeatable write also carries an ordinal, so that A, B, A are three writes; one
// that has not succeeded, with no other write since, is the same when it comes
// again.
func (m *Machine) key(c *call) string {
	key := m.baseKey(c)
	if c.tool.Effect == event.Repeatable {
		return key + "-" + strconv.FormatInt(m.ordinal(key), 10)
	}
	return key
}

func (m *Machine) ordinal(key string) int64 {
	switch w := m.writes[key]; {
	case w == nil:
		return 1
	case !w.done && w.index >= m.lastWrite:
		return w.n
	default:
		return w.n + 1
	}
}

// begun notes that a call was executed for the first time.
func (m *Machine) begun(c *call) {
	m.toolCalls++
	c.tool.calls++
	if c.tool.Effect == event.Repeatable {
		key := m.baseKey(c)
		m.writes[key] = &write{n: m.ordinal(key), index: c.rec.index}
	}
}

// acted notes that a write has succeeded.
func (m *Machine) acted(c *call) {
	if c.tool.Effect != event.Repeatable {
		return
	}
	if w := m.writes[m.baseKey(c)]; w != nil && w.index == c.rec.index {
		w.done = true
	}
}

func (m *Machine) baseKey(c *call) string {
	if c.base == "" {
		c.base = m.keyOf(c)
	}
	return c.base
}

func (m *Machine) keyOf(c *call) string {
	var buf [256]byte
	b := appendField(buf[:0], m.root)
	b = appendField(b, c.Name)
	args := c.args
	if len(c.tool.KeyFields) > 0 {
		args = schema.Fields(args, c.tool.KeyFields)
	}
	b = appendField(b, string(args))
	if c.tool.Effect == event.Repeatable && m.caller != "" {
		b = appendField(b, m.caller) // ordinals count the writes of one run
	}
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
	if d.Status == event.StatusSuccess {
		m.acted(c)
	}
	if c.tool.Effect == event.Once && d.Status == event.StatusUnknown && m.ledger[c.key] == nil {
		m.writeDown(c, m.baseKey(c)) // it was not begun, because the same is still going on
	}
	if e := m.ledger[c.key]; c.tool.Effect == event.Once && e != nil && e.rec == c.rec {
		switch {
		case d.Status == event.StatusUnknown || d.Status == event.StatusTimeout:
			e.unknown, e.abandoned, e.ended = true, d.ErrorType == tool.TypeAbandoned, d.Ended
		case d.Status == event.StatusError && d.NoEffect:
			m.release(e)
		}
	}
	if !c.tool.confirms || d.Status != event.StatusSuccess {
		return
	}
	if done, ok := schema.BoolField(d.Result, "done"); ok {
		for _, e := range m.entries {
			t := m.tool(e.rec.tool)
			if !e.unknown || t == nil || t.Confirm != c.Name || !schema.Agree(c.args, e.args) {
				continue
			}
			if done || !e.abandoned && m.believed(&e.denied, e.ended, t) {
				m.resolve(e, done)
			}
		}
	}
}

// writeDown begins a line of the ledger for a once call, unless there is one.
func (m *Machine) writeDown(c *call, key string) {
	c.key = key
	if c.tool.Effect == event.Once && m.ledger[key] == nil {
		e := &entry{rec: c.rec, key: key, args: c.args}
		m.ledger[key] = e
		m.entries = append(m.entries, e)
	}
}

// resolve settles a line whose outcome was unknown.
func (m *Machine) resolve(e *entry, done bool) {
	m.tail.stale = true
	if t := m.tool(e.rec.tool); t != nil {
		m.rules.Settle(e.rec.id, t.ToolSpec, done)
	}
	if done {
		e.unknown, e.settled = false, true
	} else {
		m.release(e)
	}
}

// release lets the act be done again.
func (m *Machine) release(e *entry) {
	e.unknown, m.tail.stale = false, true
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
	if c.words && d.Decision != event.Rejected {
		return // which is no answer to the question
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
	case event.NotDone:
		m.ready(c, m.id(0))
	case event.Approved:
		c.allowed = d.Hash
		m.ready(c, m.id(0))
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
