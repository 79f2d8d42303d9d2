package loop

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/schema"
)

// callState is how far one call of the present turn is.
type callState uint8

const (
	// callNew: to be judged.
	callNew callState = iota
	// callReady: may run, when its turn comes.
	callReady
	// callAsking: a person is to be asked, or has been.
	callAsking
	// callRunning: started, without an outcome.
	callRunning
	// callRefused: will not run; its result is to be recorded.
	callRefused
	// callDone: has its one result.
	callDone
)

// call is one call of the present turn.
type call struct {
	event.ParsedCall
	tool  *toolInfo // nil: there is none of that name
	state callState
	args  jsontext.Value // canonical
	hash  event.Hash
	rec   *record

	rule, why string
	of        *record // whose outcome stands in for this one's

	id       string // of its RunTool or AskApproval
	key      string
	attempt  int64
	askedFor bool
	settle   bool
	run      *RunTool     // built once per execution
	ask      *AskApproval // built once

	done *event.ToolFinished
}

// record is what a run remembers of a call whose arguments were right.
type record struct {
	id, tool string
	hash     event.Hash
	index    int
	// done is nil until the outcome is there.
	done *event.ToolFinished
	// ran: it was executed, not intercepted or denied.
	ran bool
	// of is the call whose outcome stood in for this one's.
	of *record
}

// openTurn begins the turn of calls.
func (m *Machine) openTurn(calls []event.ParsedCall) {
	m.turn = make([]call, len(calls))
	for i := range calls {
		m.turn[i] = call{ParsedCall: calls[i], tool: m.tool(calls[i].Name)}
	}
	m.prevTurn, m.thisTurn = m.thisTurn, len(m.calls)
	m.phase = phaseTools
}

// find returns the call of the present turn with that id, or nil.
func (m *Machine) find(id string) *call {
	for i := range m.turn {
		if m.turn[i].ID == id {
			return &m.turn[i]
		}
	}
	return nil
}

// judged folds call.judged.
func (m *Machine) judged(d *event.CallJudged) {
	c := m.find(d.Call)
	if c == nil || c.state != callNew {
		return
	}
	c.rule, c.why, c.hash = d.Rule, d.Why, d.ArgsHash
	if d.Args != "" {
		c.args = jsontext.Value(d.Args)
	} else if c.args == nil && d.ArgsHash != (event.Hash{}) {
		c.args, _ = schema.Canonical([]byte(orEmpty(c.Args)))
	}
	if d.Of != "" {
		c.of = m.byID[d.Of]
	}
	if c.tool != nil && c.args != nil {
		c.rec = &record{id: c.ID, tool: c.Name, hash: c.hash, index: len(m.calls), of: c.of}
		m.calls = append(m.calls, c.rec)
	} else {
		c.rec = &record{id: c.ID, index: -1}
	}
	m.byID[c.ID] = c.rec
	if c.WireID != "" && m.byID[c.WireID] == nil {
		m.byID[c.WireID] = c.rec
	}
	switch d.Verdict {
	case event.Allow:
		c.state, c.id = callReady, m.id(0)
	case event.Ask:
		c.state, c.id, c.settle = callAsking, m.id(0), d.Rule == ruleSettle
	case event.Halt:
		c.state = callRefused
		m.verdict = &event.RunFinished{Reason: event.ReasonDenied, Detail: d.Why}
	default:
		c.state = callRefused
	}
}

// orEmpty returns the arguments of a call that gave none.
func orEmpty(args string) string {
	if args == "" {
		return "{}"
	}
	return args
}

// callCommands appends the commands of the turn's calls.
func (m *Machine) callCommands() {
	for i := range m.turn {
		c := &m.turn[i]
		switch c.state {
		case callAsking:
			if m.halt == "" {
				m.out = append(m.out, c.question())
			}
		case callRunning:
			c.run.Cancel = m.halt != ""
			m.out = append(m.out, c.run)
		case callReady:
			if m.halt == "" && m.mayRun(i) {
				m.out = append(m.out, m.execution(c))
			}
		}
	}
}

// maxParallel is how many reads run at once.
const maxParallel = 8

// mayRun reports whether the i-th call's turn has come: the calls of one reply
// have the effect that they would have one after the other. A write waits for
// everything before it, a read for every write before it.
func (m *Machine) mayRun(i int) bool {
	writes := m.turn[i].tool.Effect.Writes()
	running := 0
	for j := range m.turn {
		o := &m.turn[j]
		if o.state == callRunning {
			running++
		}
		if j < i && o.state != callDone && o.state != callRefused && (writes || o.tool.Effect.Writes()) {
			return false
		}
	}
	return running < maxParallel
}

// question returns the AskApproval of a call.
func (c *call) question() *AskApproval {
	if c.ask == nil {
		c.ask = &AskApproval{ID: c.id, Call: c.ID, Tool: c.Name, Args: c.args,
			Hash: guard.ApprovalHash(*c.tool.ToolSpec, c.args), Settle: c.settle, Why: c.why}
	}
	c.ask.Asked = c.askedFor
	return c.ask
}

// execution returns the RunTool of a call that may run now.
func (m *Machine) execution(c *call) *RunTool {
	if c.run == nil || c.run.ID != c.id {
		t := c.tool
		c.run = &RunTool{ID: c.id, Call: c.ID, Tool: c.Name, Args: c.args, ArgsHash: c.hash,
			Effect: t.Effect, Attempt: c.attempt + 1, Timeout: t.Timeout, Value: t.Harness || t.confirms}
		if t.Effect.Writes() {
			c.run.Key = c.key
			if c.key == "" {
				c.run.Key = m.key(c)
			}
			if len(t.Resources) > 0 {
				c.run.Seen = m.seen.all()
			}
		}
	}
	return c.run
}

// asked folds approval.asked.
func (m *Machine) asked(d *event.ApprovalAsked) {
	if c := m.find(d.Call); c != nil && c.state == callAsking && c.id == d.ID {
		c.askedFor = true
	}
}

// toolStarted folds tool.started.
func (m *Machine) toolStarted(d *event.ToolStarted) {
	c := m.find(d.Call)
	if c == nil || c.state != callReady || c.id != d.ID {
		return
	}
	if c.run == nil || c.run.ID != c.id {
		m.execution(c)
	}
	c.run.Key = d.Key
	c.state = callRunning
	if c.attempt == 0 {
		m.toolCalls++
		if c.tool.Effect == event.Repeatable {
			m.ordinals[m.baseKey(c)]++
		}
	}
	c.attempt, c.key, c.rec.ran = d.Attempt, d.Key, true
	if d.Effect == event.Once && m.ledger[d.Key] == nil {
		e := &entry{rec: c.rec, key: d.Key, args: c.args}
		m.ledger[d.Key] = e
		m.entries = append(m.entries, e)
	}
}

// toolFinished folds tool.finished, the one result of a call.
func (m *Machine) toolFinished(d *event.ToolFinished) {
	c := m.find(d.Call)
	if c == nil || c.state == callDone || d.ID != "" && d.ID != c.id {
		return
	}
	c.state, c.done, c.rec.done = callDone, d, d
	if d.ID != "" || c.rule == ruleLost {
		m.enter(c, d)
		// An unknown outcome may have changed something.
		if c.tool.Effect.Writes() && d.Status != event.StatusError {
			m.lastWrite = c.rec.index
		}
	}
	if c.rule == ruleUnknownOutcome {
		m.ledger[m.baseKey(c)].told = true
	}
	m.seen.fold(d.Seen)
	for i := range m.turn {
		if m.turn[i].state != callDone {
			return
		}
	}
	m.closeTurn()
}

// lost makes a call that was in flight in a dead process what its effect class
// demands: a read and a repeatable write run again, the latter under the same
// key; a once call's outcome is unknown.
func (m *Machine) lost(c *call, index int) {
	if c.run != nil {
		c.run.Cancel = false
	}
	if c.state != callRunning {
		return
	}
	if c.tool.Effect != event.Once && c.attempt < maxAttempts {
		c.state, c.id = callReady, m.id(index)
		return
	}
	c.state, c.rule = callRefused, ruleLost
}

// maxAttempts is how often a read or repeatable write that keeps being lost is
// begun: 1 and 2 retries.
const maxAttempts = 3

// closeTurn puts the results into the conversation, in call order, and draws
// the conclusions of the turn.
func (m *Machine) closeTurn() {
	var unusable, denied, repeated int
	for i := range m.turn {
		c := &m.turn[i]
		m.misread = m.misread || c.misreads(m.clipped)
		failed := c.done.Status != event.StatusSuccess && c.done.Status != event.StatusIntercepted
		m.say(message.Message{Role: message.Tool, ToolCallID: c.ID, ToolName: c.Name, Failed: failed, Parts: c.done.Parts}, c.done.Tokens.Or(0))
		switch {
		case c.rule == ruleReply || c.rule == ruleUnknownTool || c.rule == ruleArguments:
			unusable++
		case c.done.Status == event.StatusDenied:
			denied++
		case c.done.Status == event.StatusIntercepted:
			repeated++
		}
		if c.tool != nil && c.tool.Harness && c.done.Status == event.StatusSuccess && len(c.done.Result) > 0 && m.verdict == nil {
			m.verdict = &event.RunFinished{Reason: event.ReasonSubmitted, OK: true, Result: c.done.Result, Answer: answerOf(c.done.Result)}
		}
	}
	n := len(m.turn)
	inARow(&m.malformed, unusable == n)
	inARow(&m.refusals, denied == n)
	inARow(&m.repeats, repeated == n)
	switch {
	case m.verdict != nil:
	case m.malformed >= maxMalformed:
		m.verdict = &event.RunFinished{Reason: event.ReasonMalformed,
			Detail: "three replies in a row held no call that could be run: " + m.turn[n-1].why}
	case m.refusals >= maxRefusals:
		m.reach(event.ReasonDenied, "three replies in a row held only calls that were denied")
	case m.repeats >= maxRepeats:
		m.reach(event.ReasonRepetition, "three replies in a row only repeated earlier calls")
	}
	m.turn = nil
	m.phase = phaseBoundary
	m.flush()
}

// inARow counts consecutive turns of a kind.
func inARow(n *int64, again bool) {
	if again {
		*n++
	} else {
		*n = 0
	}
}

// answerOf returns the text that stands for a submitted value: its answer
// member, the string itself, or the JSON.
func answerOf(v jsontext.Value) string {
	if s, ok := schema.StringField(v, "answer"); ok {
		return s
	}
	return string(v)
}
