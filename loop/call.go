package loop

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/window"
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
	// callWaiting: the last execution failed in a way that may pass, and the next
	// one is to come.
	callWaiting
	// callQuerying: its outcome is unknown, and its confirm tool is asked.
	callQuerying
	// callRefused: will not run, or not again; its result is to be recorded.
	callRefused
	// callDone: has its one result.
	callDone
)

// call is one call of the present turn.
type call struct {
	event.ParsedCall
	// said is the name by which the model has called it, where that is another.
	said string
	// outer are the repairs of what it said around the call; see through.
	outer []schema.Repair
	tool  *toolInfo // nil: there is none of that name
	state callState
	args  jsontext.Value // canonical
	hash  event.Hash
	rec   *record

	rule, why string
	of        *record // whose outcome stands in for this one's

	execution // its id is that of the AskApproval while that is outstanding
	key       string
	askedFor  bool
	settle    bool
	// words: it is a question to a person, and reply is the answer.
	words bool
	reply []message.Part
	ask   *AskApproval // built once
	// allowed is the hash of what a person has allowed to run; zero: nobody was
	// asked.
	allowed event.Hash
	locks   *locks // built once

	// last is the outcome of the last execution where it is not the call's.
	last    *event.ToolFinished
	base    string // its key without ordinal, once it is known
	query   *query // the last one
	queries int
	// denied is when its confirm tool first said of the last execution that it was
	// not done, 0 if it has not.
	denied int64
	// again: it was executed once more, because it had had no effect.
	again bool

	done *event.ToolFinished

	// Of a call of an agent: the id of the run that carries it out, what that may use,
	// and the command once it was started.
	child string
	grant event.Limits
	start *StartRun
}

// execution is the carrying out of a call: one of the model's, or one of a
// confirm tool that the harness makes by itself.
type execution struct {
	id string // of its RunTool
	// attempt counts executions, failures those that failed in a way that may
	// pass, losses those that were lost with their process.
	attempt, failures, losses int64
	// waitID and until are set between two executions.
	waitID string
	until  int64
	run    *RunTool // built once per execution
}

// openTurn begins the turn of calls.
func (m *Machine) openTurn(calls []event.ParsedCall) {
	m.turn = make([]call, len(calls))
	for i := range calls {
		m.turn[i] = call{ParsedCall: calls[i], said: calls[i].Name}
		m.turn[i].outer = m.through(&m.turn[i].ParsedCall)
		m.turn[i].tool = m.tool(m.turn[i].Name)
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
	c.rule, c.why, c.hash, c.base = d.Rule, d.Why, d.ArgsHash, ""
	if d.Args != "" {
		c.args = jsontext.Value(d.Args)
	} else if c.args == nil && d.ArgsHash != (event.Hash{}) {
		c.args, _ = schema.Canonical([]byte(orEmpty(c.Args)))
	}
	if d.Of != "" {
		c.of = m.byID[d.Of]
	}
	if c.tool != nil && c.args != nil {
		c.rec = &record{id: c.ID, tool: c.Name, hash: c.hash, args: c.args, index: len(m.calls), of: c.of}
		c.rec.inVain = m.inVain(c)
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
		m.nameRun(c)
		if c.words = c.tool != nil && c.tool.asksUser(); c.words {
			c.state = callAsking
		}
	case event.Ask:
		c.state, c.id, c.settle = callAsking, m.id(0), d.Rule == ruleSettle
		m.nameRun(c)
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
	agents, slots := false, m.slots()
	for i := range m.turn {
		c := &m.turn[i]
		if agents = agents || c.agent(); c.agent() && c.state != callAsking {
			continue
		}
		switch c.state {
		case callAsking:
			if m.halt == "" {
				m.out = append(m.out, c.question())
			}
		case callRunning:
			c.run.Cancel = m.halt != "" || m.wallPassed || m.workPassed
			m.out = append(m.out, c.run)
		case callWaiting:
			if m.halt == "" {
				m.out = append(m.out, &Wait{ID: c.waitID, Until: c.until})
			}
		case callQuerying:
			m.queryCommand(c)
		case callReady:
			if m.halt == "" && slots > 0 && m.mayRun(i) {
				slots--
				m.out = append(m.out, m.command(c))
			}
		}
	}
	if agents {
		m.agentCommands(slots)
	}
}

// question returns the AskApproval of a call.
func (c *call) question() *AskApproval {
	if c.ask == nil {
		c.ask = &AskApproval{ID: c.id, Call: c.ID, Tool: c.Name, Args: c.args,
			Hash: guard.ApprovalHash(*c.tool.ToolSpec, c.args), Settle: c.settle, Words: c.words, Why: c.why}
	}
	c.ask.Asked = c.askedFor
	return c.ask
}

// command returns the RunTool of a call that may run now.
func (m *Machine) command(c *call) *RunTool {
	if c.run == nil || c.run.ID != c.id {
		t := c.tool
		c.run = &RunTool{ID: c.id, Call: c.ID, Tool: c.Name, Args: c.args, ArgsHash: c.hash,
			Effect: t.Effect, Attempt: c.attempt + 1, Timeout: t.Timeout, Value: t.Harness || t.confirms}
		if t.Effect.Writes() {
			c.run.Key = c.key
			if c.key == "" {
				c.run.Key = m.key(c)
			}
		}
		if t.informed() {
			c.run.Seen = m.seen.all()
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
	if d.Undoes != "" {
		return
	}
	if c := m.queried(d.ID); c != nil {
		m.queryStarted(c, d)
		return
	}
	c := m.find(d.Call)
	if c == nil || c.state != callReady || c.id != d.ID {
		return
	}
	if c.agent() {
		m.agentStarted(c, d)
	} else {
		m.command(c).Key = d.Key
	}
	c.state = callRunning
	if c.attempt == 0 {
		m.begun(c)
	}
	c.attempt, c.denied, c.rec.ran = d.Attempt, 0, true
	m.writeDown(c, d.Key)
}

// toolFinished folds tool.finished: the outcome of an execution, or the result
// of a call that the machine has decided on.
func (m *Machine) toolFinished(d *event.ToolFinished) {
	if d.Undoes != "" {
		m.undone(d)
		return
	}
	if c := m.queried(d.ID); c != nil {
		m.queryFinished(c, d)
		return
	}
	c := m.find(d.Call)
	if c != nil && c.state != callDone && c.tool != nil {
		m.rules.Add(d, c.tool.ToolSpec)
	}
	switch {
	case c == nil || c.state == callDone:
		return
	case d.ID == "":
		m.conclude(c, d)
		return
	case d.ID != c.id || c.state != callRunning && c.state != callReady:
		return
	}
	if c.state == callRunning && d.ErrorType == tool.TypeAbandoned {
		m.abandoned++
	}
	m.enter(c, d)
	m.spend(d.Spent)
	if len(d.Seen) > 0 {
		m.seen.fold(d.Seen)
		m.wrote(d.Seen)
		m.looks++
	}
	c.last = d
	switch {
	case !c.agent() && m.tryAgain(&c.execution, c.tool, d):
		c.state = callWaiting
	case uncertain(c.tool, d) && m.ask(c, m.id(0)):
	default:
		m.conclude(c, d)
	}
}

// conclude gives a call its one result.
func (m *Machine) conclude(c *call, d *event.ToolFinished) {
	c.state, c.done, c.rec.done, c.rec.looks = callDone, d, d, m.looks
	m.results = append(m.results, d)
	c.rec.at = len(m.results)
	m.tail.stale = m.tail.stale || c.tool != nil && c.tool.Effect == event.Once // its outcome may be unknown, or known at last
	m.remember(c, d)
	m.opens(c, d)
	m.suspect(c, d)
	if c.rule == ruleUnknownOutcome {
		m.ledger[m.baseKey(c)].told = true
	}
	for i := range m.turn {
		if m.turn[i].state != callDone {
			return
		}
	}
	m.closeTurn()
}

// lost makes a call that was in flight in a dead process what its effect class
// demands: a read and a repeatable write run again, the latter under the same
// key; a once call's outcome is unknown, and its confirm tool is asked. The run of an
// agent is carried on, whatever the class: its own journal knows what it did.
func (m *Machine) lost(c *call, index int) {
	if c.run != nil {
		c.run.Cancel = false
	}
	switch c.state {
	case callQuerying:
		m.lostQuery(c, m.id(index))
	case callRunning:
		if c.agent() {
			m.ready(c, m.id(index))
			return
		}
		c.losses++
		c.last = nil
		if (c.tool.Effect == event.Read || c.tool.Effect == event.Repeatable) && c.losses < maxLosses {
			m.ready(c, m.id(index))
			return
		}
		c.rule = ruleLost
		if e := m.ledger[c.key]; e != nil && e.rec == c.rec {
			e.unknown = true
		}
		if !c.tool.Effect.Writes() || !m.ask(c, m.id(index)) {
			c.state = callRefused
		}
	}
}

// maxLosses is how often an execution that keeps being lost is begun: 1 and 2
// retries.
const maxLosses = 3

// closeTurn puts the results into the conversation, in call order, and draws
// the conclusions of the turn.
func (m *Machine) closeTurn() {
	var unusable, denied, repeated int
	var submitted *event.RunFinished
	for i := range m.turn {
		c := &m.turn[i]
		m.misread = m.misread || c.misreads(m.clipped)
		failed := c.done.Status != event.StatusSuccess && c.done.Status != event.StatusIntercepted
		m.put(message.Message{Role: message.Tool, ToolCallID: c.ID, ToolName: c.said, Failed: failed, Parts: c.done.Parts},
			item{kind: window.Result, tokens: c.done.Tokens.Or(0), rec: c.rec, done: c.done})
		switch {
		case c.rule == ruleReply || c.rule == ruleUnknownTool || c.rule == ruleArguments || c.rule == ruleLossy:
			unusable++
		case c.done.Status == event.StatusDenied:
			denied++
		case c.done.Status == event.StatusIntercepted:
			repeated++
		}
		m.plan(c)
		if c.tool != nil && c.tool.Harness && c.Name == tool.SubmitResult && c.done.Status == event.StatusSuccess && len(c.done.Result) > 0 && submitted == nil {
			submitted = &event.RunFinished{Reason: event.ReasonSubmitted, OK: true, Result: c.done.Result, Answer: answerOf(c.done.Result)}
		}
	}
	if submitted != nil && m.verdict == nil {
		m.finishWith(submitted)
	}
	m.nextPhase()
	n := len(m.turn)
	inARow(&m.malformed, unusable == n)
	inARow(&m.refusals, denied == n)
	inARow(&m.repeats, repeated == n)
	switch {
	case m.verdict != nil || m.ending != nil:
	case m.malformed >= maxMalformed:
		m.verdict = &event.RunFinished{Reason: event.ReasonMalformed,
			Detail: "three replies in a row held no call that could be run: " + m.turn[n-1].why}
	case m.refusals >= maxRefusals:
		m.reach(event.ReasonDenied, "three replies in a row held only calls that were denied")
	case m.repeats >= maxRepeats:
		m.reach(event.ReasonRepetition, "three replies in a row only repeated earlier calls")
	}
	if len(m.unread) > 0 && m.verdict == nil {
		m.remark(noticeReply, "Part of your last reply could not be read, and nothing was made of it: "+strings.Join(m.unread, "; ")+
			". What it called besides was carried out as the results say; if something is missing, call it again.")
	}
	if submitted == nil {
		m.getsOn()
	}
	m.turn, m.unread = nil, nil
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
