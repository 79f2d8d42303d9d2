package loop

import (
	"crypto/sha256"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// query is the question to a confirm tool what became of a call whose outcome is
// unknown. The harness asks it by itself: the model neither makes this call nor
// is shown it as one, but it stands in the journal like any other.
//
// The answer {"done": true} makes the call a success. {"done": false} may only be
// early: a server can be at work on a request whose sender has given up or died.
// So it counts at once only if what carried the call out is known to have ended;
// else the tool is asked again after a while ([settleTime]), and the second "not
// done" counts. The call is then executed once more, under the same key. Without an
// answer that counts the model is told to find out.
//
// What this cannot prove: that nothing is on its way any more. A server that holds
// a request for longer than that and carries it out in the end, or a message that
// a program had sent to somebody else before it ended, is met by the key only: a
// server that honours it does the act once all the same.
type query struct {
	execution
	call  string // its own id
	tool  *toolInfo
	state callState // callReady, callRunning or callWaiting
	args  jsontext.Value
	hash  event.Hash
	// why there is no answer; answer is the one that there is.
	why    string
	answer *event.ToolFinished
}

// keyMember is the argument of a confirm tool that takes the call's key.
const keyMember = "idempotency_key"

// uncertain reports whether an outcome leaves open what a writing call did.
func uncertain(t *toolInfo, d *event.ToolFinished) bool {
	return t.Effect.Writes() && (d.Status == event.StatusUnknown || d.Status == event.StatusTimeout)
}

// ask begins to ask a call's confirm tool, under the command id. It reports
// false if there is none, if it must not run unasked, or if its arguments do not
// follow from the call's.
func (m *Machine) ask(c *call, id string) bool {
	t := m.tool(c.tool.Confirm)
	if t == nil || t.Effect != event.Read || t.changed || m.policy.Judge(*t.ToolSpec).Verdict != event.Allow ||
		m.rules.Judge(t.ToolSpec, nil, m.names) != nil {
		return false
	}
	args := m.queryArgs(t, c)
	if args == nil {
		return false
	}
	c.queries++
	q := &query{tool: t, args: args, hash: sha256.Sum256(args), call: m.queryID(c)}
	q.ready(id)
	c.query, c.state = q, callQuerying
	m.byID[q.call] = &record{id: q.call, index: -1}
	return true
}

// queryID names a query: after its call, and no other call of the run.
func (m *Machine) queryID(c *call) string {
	id := c.ID + "~confirm"
	if c.queries > 1 {
		id += strconv.Itoa(c.queries)
	}
	for m.UsedID(id) {
		id += "~"
	}
	return id
}

// queryArgs returns the arguments of a query: those members of the call's that
// the confirm tool has too, and the key if it takes that. Nil: they do not
// satisfy its schema, or say nothing of a call that had arguments.
func (m *Machine) queryArgs(t *toolInfo, c *call) jsontext.Value {
	args := t.schema.Members(c.args)
	if _, own := schema.Field(args, keyMember); !own && t.schema.Has(keyMember) {
		args = args[:len(args)-1]
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(args, `"`+keyMember+`":`...)
		args, _ = jsontext.AppendQuote(args, c.key)
		args = append(args, '}')
	}
	if len(args) == len("{}") && len(c.args) > len("{}") {
		return nil
	}
	args, _, problems := t.schema.CheckIn(&m.scratch, args)
	if len(problems) > 0 {
		return nil
	}
	return args
}

// ready makes the query ready to be executed, under a new id.
func (q *query) ready(id string) {
	q.id, q.waitID, q.until, q.state = id, "", 0, callReady
}

// queryCommand appends the outstanding command of a call's query.
func (m *Machine) queryCommand(c *call) {
	q := c.query
	switch {
	case q.state == callRunning:
		q.run.Cancel = m.halt != ""
		m.out = append(m.out, q.run)
	case m.halt != "":
	case q.state == callWaiting:
		m.out = append(m.out, &Wait{ID: q.waitID, Until: q.until})
	default:
		m.out = append(m.out, q.command(c))
	}
}

// command returns the RunTool of the query.
func (q *query) command(c *call) *RunTool {
	if q.run == nil || q.run.ID != q.id {
		q.run = &RunTool{ID: q.id, Call: q.call, Tool: q.tool.Name, Args: q.args, ArgsHash: q.hash, Effect: q.tool.Effect,
			Attempt: q.attempt + 1, Timeout: q.tool.Timeout, Value: true, For: c.ID}
	}
	return q.run
}

// queried returns the call whose query has that command id, or nil.
func (m *Machine) queried(id string) *call {
	for i := range m.turn {
		if c := &m.turn[i]; c.state == callQuerying && c.query.id == id {
			return c
		}
	}
	return nil
}

// queryStarted folds tool.started of the query of a call.
func (m *Machine) queryStarted(c *call, d *event.ToolStarted) {
	if c.query.state != callReady {
		return
	}
	c.query.command(c)
	c.query.state, c.query.attempt = callRunning, d.Attempt
}

// queryFinished folds tool.finished of the query of a call.
func (m *Machine) queryFinished(c *call, d *event.ToolFinished) {
	q := c.query
	if q.state == callRunning && d.ErrorType == tool.TypeAbandoned {
		m.abandoned++
	}
	if d.Status != event.StatusSuccess {
		switch {
		case m.halt != "" && d.ErrorType == tool.TypeCancelled:
			q.ready(m.id(0)) // asked again when the run goes on
		case m.tryAgain(&q.execution, q.tool, d):
			q.state = callWaiting
		default:
			m.unanswered(c, "failed: "+d.ErrorMessage)
		}
		return
	}
	done, ok := schema.BoolField(d.Result, "done")
	if !ok {
		m.unanswered(c, `did not say {"done": true} or {"done": false}`)
		return
	}
	q.answer = d
	m.answeredBy(c, done)
}

// lostQuery asks a query again whose process has died.
func (m *Machine) lostQuery(c *call, id string) {
	q := c.query
	if q.state != callRunning {
		return
	}
	q.run.Cancel = false
	if q.losses++; q.losses < maxLosses {
		q.ready(id)
		return
	}
	m.unanswered(c, "ended with its process each of the "+plural(q.losses, "time")+" that it was called")
}

// unanswered leaves the outcome of a call unknown.
func (m *Machine) unanswered(c *call, why string) {
	c.query.why = why
	c.state, c.rule = callRefused, ruleUnconfirmed
}

// The bounds of the time after which a call that nobody answered is taken to have
// ended, in milliseconds: that is what a call of its tool may take, but so that a
// slow server has a chance and the run goes on within a minute.
const (
	minSettle     = 5_000
	maxSettle     = 60_000
	defaultSettle = maxSettle // the engine's own timeout
)

// settleTime returns how long after a confirm tool's first "not done" the second
// one counts, in milliseconds.
func settleTime(t *toolInfo) int64 {
	if t.Timeout <= 0 {
		return defaultSettle
	}
	return min(max(t.Timeout, minSettle), maxSettle)
}

// believed reports whether a confirm tool's "not done" about a call of the tool t
// counts, at whose first one denied is (0: this is it, and is noted).
func (m *Machine) believed(denied *int64, ended bool, t *toolInfo) bool {
	if *denied == 0 {
		*denied = m.now
	}
	return ended || m.now >= *denied+settleTime(t)
}

// awaited reports whether a call asks anew about an act that may still be under
// way: what was said of it before may have changed, though nothing was written.
func (m *Machine) awaited(c *call) bool {
	if !c.tool.confirms {
		return false
	}
	for _, e := range m.entries {
		if t := m.tool(e.rec.tool); e.unknown && t != nil && t.Confirm == c.Name && schema.Agree(c.args, e.args) {
			return true
		}
	}
	return false
}

// askLater asks a confirm tool again when its "not done" can count.
func (m *Machine) askLater(c *call) {
	if m.late() {
		m.tooEarly(c)
		return
	}
	q := c.query
	q.state, q.failures = callWaiting, 0
	q.waitID, q.until = m.id(0), c.denied+settleTime(c.tool)
}

// tooEarly leaves the outcome of a call unknown that is not done yet.
func (m *Machine) tooEarly(c *call) {
	m.unanswered(c, "says that it has not been carried out so far, but it may still be under way, and there is no time left to ask again")
}

// answeredBy draws the conclusion from a confirm tool's answer.
func (m *Machine) answeredBy(c *call, done bool) {
	e := m.ledger[c.key]
	if e != nil && e.rec != c.rec {
		e = nil
	}
	switch {
	case done:
		if e != nil {
			e.unknown = false
		}
		m.acted(c)
		c.state, c.rule = callRefused, ruleConfirmed
	case c.last != nil && c.last.ErrorType == tool.TypeAbandoned:
		// It still goes on: what is not done yet may come to be.
		m.unanswered(c, "says that it has not been carried out so far, but the tool is still at work")
	case !m.believed(&c.denied, c.last != nil && c.last.Ended, c.tool):
		if e != nil {
			e.denied = c.denied
		}
		m.askLater(c)
	default:
		if e != nil {
			m.release(e)
		}
		if c.again || m.over != "" {
			c.state, c.rule = callRefused, ruleNotDone
			return
		}
		c.again = true
		m.ready(c, m.id(0))
	}
}

// confirmed returns the result of a call whose confirm tool says that it was
// carried out.
func (m *Machine) confirmed(c *call, d *event.ToolFinished) *event.ToolFinished {
	d.Status = event.StatusSuccess
	note := "This call was carried out: its own answer was lost (" + c.whyUnknown() + "), but " + c.query.tool.Name +
		" was asked and confirms it. Do not repeat it. What " + c.query.tool.Name + " returned:"
	return quoted(d, note, c.query.answer.Parts)
}

// unconfirmed returns the result of a call of which nobody could say what became
// of it.
func (m *Machine) unconfirmed(c *call, d *event.ToolFinished) *event.ToolFinished {
	e := &tool.Error{Type: tool.TypeUnknown, Hint: m.findOut(c.tool),
		Message: "whether this call took effect is unknown (" + c.whyUnknown() + "); " + c.query.tool.Name + " was asked, and " + c.query.why}
	if c.last != nil && c.last.ErrorType != "" {
		e.Type = c.last.ErrorType
	}
	d.Status = event.StatusUnknown
	return finishWith(d, e)
}

// notDone returns the result of a call whose outcome was lost, and that is known
// to have had no effect.
func (m *Machine) notDone(c *call, d *event.ToolFinished) *event.ToolFinished {
	d.NoEffect = true
	return finishWith(d, &tool.Error{Type: tool.TypeNotDone, Retryable: true,
		Message: "this call was tried " + plural(c.attempt, "time") + " without an answer (" + c.whyUnknown() + "); " +
			c.query.tool.Name + " says that it was not carried out",
		Hint: "nothing was changed; call it again later if it is still needed"})
}

// whyUnknown says what became of the last execution.
func (c *call) whyUnknown() string {
	switch {
	case c.last == nil:
		return "the process ended while it was being carried out"
	case c.last.ErrorMessage == "":
		return "no answer came"
	}
	return c.last.ErrorMessage
}

// quoted completes a result that quotes an earlier one after a note.
func quoted(d *event.ToolFinished, note string, parts []message.Part) *event.ToolFinished {
	d.Parts = append(d.Parts, message.Part{Kind: message.Text, Text: note})
	for i, p := range parts {
		if i == 0 && p.Kind == message.Text && p.Ref == nil {
			d.Parts[0].Text += "\n" + p.Text
			continue
		}
		d.Parts = append(d.Parts, p)
	}
	for _, p := range d.Parts {
		d.Shown += int64(len(p.Text))
	}
	d.Size = d.Shown
	return d
}
