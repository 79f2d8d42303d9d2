package loop

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/internal/cut"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// Rules by which the machine judges calls, as they stand in call.judged, beside
// the permissions of the agent.
const (
	// ruleReply: the reply was cut off, or the arguments are no JSON object.
	ruleReply       = "reply"
	ruleUnknownTool = "unknown_tool"
	ruleArguments   = "arguments"
	// ruleSameID: the id comes back with the same tool and arguments.
	ruleSameID = "same_id"
	// ruleSameAct: a once call of this reply has the same key.
	ruleSameAct = "same_act"
	// ruleLedger: a once call under this key was carried out before.
	ruleLedger = "ledger"
	// ruleUnknownOutcome: one began, and its outcome is unknown.
	ruleUnknownOutcome = "unknown_outcome"
	// ruleSettle: the model insists; a person must say what became of it.
	ruleSettle     = "settle"
	ruleRepetition = "repetition"
	// ruleFailed: the same call has failed, and its error says that trying again
	// does not help.
	ruleFailed    = "failed_before"
	ruleToolLimit = "tool_limit"
	// ruleMaxCalls: the tool's own limit is reached.
	ruleMaxCalls = "max_calls"
	// ruleTimeLimit: the time for the run was used up before the call began.
	ruleTimeLimit = "time_limit"
	// ruleLossy: reading the call took a guess, and it writes.
	ruleLossy = "lossy_repair"
	// rulePhase: the tool is not one of the present phase.
	rulePhase = "phase"
	// ruleChanged: the tool's definition is not the one that the run began with.
	ruleChanged = "changed_definition"
	// ruleRejected: a person said no.
	ruleRejected = "rejected"
	// ruleReplied: it is a question to a person, who has answered.
	ruleReplied = "replied"
	// ruleSettled: a person or the confirm tool said that it was carried out.
	ruleSettled = "settled"
	// ruleLost: it was in flight when its process died.
	ruleLost = "lost"
	// The confirm tool of a call of unknown outcome was asked: it was carried out,
	// it was not, or there is no answer.
	ruleConfirmed   = "confirmed"
	ruleNotDone     = "not_done"
	ruleUnconfirmed = "unconfirmed"
)

// judge records the verdicts on all calls of the turn, then the results of
// those that will not run; nil when there is nothing to decide.
func (m *Machine) judge() Command {
	out := m.rec.Data[:0]
	claims := m.claims[:0] // of the calls that may run and have not begun
	for i := range m.turn {
		c := &m.turn[i]
		switch {
		case c.state == callNew:
			j := m.consider(i, claims)
			if j.Verdict == event.Allow || j.Verdict == event.Ask {
				claims = append(claims, c.tool)
			}
			out = append(out, j)
		case (c.state == callReady || c.state == callAsking) && c.attempt == 0:
			claims = append(claims, c.tool)
		}
	}
	m.claims = claims
	if len(out) == 0 {
		for i := range m.turn {
			c := &m.turn[i]
			if c.state == callRefused && (c.of == nil || c.of.done != nil) {
				out = append(out, m.refusal(c))
			}
		}
		out = m.unbegun(out)
	}
	if len(out) == 0 {
		return nil
	}
	m.rec.Data = out
	return &m.rec
}

// consider judges the i-th call of the turn; claims are the tools of those
// before it that may run and have not begun. The order of the checks is the order in which a reason is of
// use to the model: what it wrote, what it did before, what it may do.
func (m *Machine) consider(i int, claims []*toolInfo) *event.CallJudged {
	c := &m.turn[i]
	j := &event.CallJudged{Call: c.ID, Tool: c.Name}
	rule := func(v event.Verdict, rule, why string) *event.CallJudged {
		j.Verdict, j.Rule, j.Why = v, rule, why
		return j
	}
	if c.tool == nil {
		return rule(event.Deny, ruleUnknownTool, "there is no tool "+strconv.Quote(c.Name))
	}
	if c.Problem != "" {
		return rule(event.Deny, ruleReply, c.Problem)
	}
	args, repairs, problems := c.tool.schema.CheckIn(&m.scratch, []byte(orEmpty(c.Args)))
	if len(problems) > 0 {
		return rule(event.Deny, ruleArguments, problems[0].String())
	}
	c.args, c.hash = args, sha256.Sum256(args)
	j.ArgsHash = c.hash
	if len(repairs) > 0 || c.said != c.Name {
		j.Args = string(args)
		for _, r := range append(c.outer[:len(c.outer):len(c.outer)], repairs...) {
			j.Repairs = append(j.Repairs, event.Repair{Kind: r.Kind, Where: r.Where, Lossy: r.Lossy})
		}
	}
	if unclear(c.Repairs) != "" && c.tool.Effect.Writes() {
		return rule(event.Deny, ruleLossy, "it could be read only with a guess: "+unclear(c.Repairs))
	}
	if of := m.byID[c.WireID]; c.WireID != "" && of != nil && of.same(c) && of.index >= m.lastWrite && of.settledOutcome(m.toolTries()) {
		j.Of = of.id
		return rule(event.Intercept, ruleSameID, "the call "+of.id+" came again")
	}
	var insists *entry
	if c.tool.Effect == event.Once {
		if of := m.sameAct(i); of != "" {
			j.Of = of
			return rule(event.Intercept, ruleSameAct, "the same act as call "+of+" of this reply")
		}
		if e := m.ledger[m.baseKey(c)]; e != nil {
			switch {
			case e.settled:
				return rule(event.Intercept, ruleSettled, "call "+e.rec.id+" was confirmed to have been carried out")
			case !e.unknown:
				j.Of = e.rec.id
				return rule(event.Intercept, ruleLedger, "this was carried out before, by call "+e.rec.id)
			case !e.told:
				return rule(event.Intercept, ruleUnknownOutcome, "whether call "+e.rec.id+" took effect is unknown")
			}
			insists = e // a person is asked, if it may run at all
		}
	}
	if of := m.repeated(i); of != "" {
		j.Of = of
		return rule(event.Intercept, ruleRepetition, "the same as call "+of+", and nothing was written since")
	}
	if of := m.triedInVain(i); of != nil {
		j.Of = of.id
		return rule(event.Intercept, ruleFailed, "the same as call "+of.id+", which failed in a way that trying again does not change")
	}
	if l := m.spec.Limits.ToolCalls; l > 0 && m.toolCalls+int64(len(claims)) >= l {
		return rule(event.Deny, ruleToolLimit, "the limit of "+plural(l, "tool call")+" is reached")
	}
	if l := c.tool.MaxCalls; l > 0 && c.tool.calls+count(claims, c.tool) >= l {
		return rule(event.Deny, ruleMaxCalls, "the limit of "+plural(l, "call")+" of "+c.Name+" is reached")
	}
	d := m.policy.Judge(*c.tool.ToolSpec)
	if d.Verdict == event.Deny {
		return rule(d.Verdict, d.Rule, d.Why)
	}
	if !m.inPhase(c.tool.ToolSpec) {
		return rule(event.Deny, rulePhase, c.Name+" is not a tool of the phase "+strconv.Quote(m.phaseSpec().Name))
	}
	if b := m.breach(c, i, claims); b != nil {
		return rule(event.Deny, guard.BreachRule(b.Rule), "the rule "+strconv.Quote(b.Rule.Text)+" forbids it: "+b.Why)
	}
	if insists != nil && (d.Verdict == event.Allow || d.Verdict == event.Ask) {
		return rule(event.Ask, ruleSettle, "whether call "+insists.rec.id+" took effect is unknown, and the model repeats it")
	}
	if c.tool.changed && (d.Verdict == event.Allow || d.Verdict == event.Ask) {
		return rule(event.Ask, ruleChanged, changedWhy(c.tool))
	}
	return rule(d.Verdict, d.Rule, d.Why)
}

// count returns how often a tool is in the list.
func count(tools []*toolInfo, t *toolInfo) (n int64) {
	for _, o := range tools {
		if o == t {
			n++
		}
	}
	return n
}

// unclear says which repairs of a call were guesses; empty for none.
func unclear(repairs []event.Repair) string {
	var out []string
	for _, r := range repairs {
		if !r.Lossy {
			continue
		}
		text := strings.ReplaceAll(r.Kind, "_", " ")
		if r.Where != "" {
			text += " at " + r.Where
		}
		if len(out) == maxUnclear {
			out = append(out, "and more")
			break
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// maxUnclear bounds the guesses that are named.
const maxUnclear = 5

// sameAct returns the id of a call before the i-th in this reply that has the
// same key, whatever else is written between; empty for none.
func (m *Machine) sameAct(i int) string {
	c := &m.turn[i]
	for k := range i {
		o := &m.turn[k]
		if o.tool != c.tool || o.args == nil || o.Problem != "" || m.baseKey(o) != m.baseKey(c) {
			continue
		}
		if o.of != nil {
			return o.of.id
		}
		return o.ID
	}
	return ""
}

// repeated returns the id of an identical call before the i-th of this turn, in
// the turn before or in this one, with no successful write between; empty for
// none. A call that may be repeated after an error does not count.
func (m *Machine) repeated(i int) string {
	c := &m.turn[i]
	if c.tool.Polling {
		return ""
	}
	// In this reply: nothing has run yet, so any write between may succeed.
	for k := i - 1; k >= 0; k-- {
		o := &m.turn[k]
		if o.tool == nil || o.args == nil || o.Problem != "" {
			continue
		}
		if o.Name == c.Name && o.hash == c.hash {
			if o.of != nil {
				return o.of.id
			}
			return o.ID
		}
		if o.tool.Effect.Writes() {
			return ""
		}
	}
	for k := min(m.thisTurn, len(m.calls)) - 1; k >= m.prevTurn; k-- {
		if r := m.calls[k]; r.same(c) {
			if r.of != nil {
				r = r.of
			}
			if m.valid(c, r) && r.settledOutcome(m.toolTries()) && !(r.failed() && m.mayChange(i)) {
				return r.id
			}
		}
	}
	return ""
}

// refusal returns the result of a call that will not run, or was lost.
func (m *Machine) refusal(c *call) *event.ToolFinished {
	d := &event.ToolFinished{Call: c.ID, Tool: c.Name, Status: event.StatusError}
	e := &tool.Error{Type: c.rule, Message: c.why}
	switch c.rule {
	case ruleReply:
		e.Type = "invalid_call"
		if c.Problem == parse.ProblemIncomplete {
			e.Type = "incomplete_call"
		}
		e.Message, e.Hint = parse.Explain(&c.ParsedCall)
	case ruleUnknownTool:
		e.Hint = m.available()
		if len(m.names) == 0 {
			e.Hint = "no tool is offered; answer in words"
		}
		if near := schema.Nearest(c.Name, m.names); len(near) > 0 {
			e.Hint = "did you mean " + strings.Join(near, " or ") + "? " + e.Hint
		}
	case ruleArguments:
		e.Type = "invalid_arguments"
		_, _, problems := c.tool.schema.Check([]byte(orEmpty(c.Args)))
		e.Message = schema.Text(problems)
		e.Hint = "the call was not run; send it again with arguments of this schema: " + string(c.tool.Schema) + suchAs(c.tool.schema)
	case ruleLossy:
		e.Type = "unclear_call"
		e.Message += "; it was understood as " + clip(string(c.args))
		e.Hint = "nothing was run; send the call again, with arguments that are one complete JSON object"
	case ruleSameID, ruleSameAct, ruleLedger, ruleRepetition, ruleSettled, ruleFailed:
		return m.standIn(c, d)
	case ruleConfirmed:
		return m.confirmed(c, d)
	case ruleUnconfirmed:
		return m.unconfirmed(c, d)
	case ruleNotDone:
		return m.notDone(c, d)
	case ruleUnknownOutcome:
		d.Status = event.StatusIntercepted
		e.Type = tool.TypeUnknown
		e.Hint = m.findOut(c.tool)
	case ruleLost:
		if c.tool.Effect == event.Read {
			e.Type, e.Retryable = tool.TypeInterrupted, true
			if e.Message = "the process ended while this call was being carried out"; c.losses > 1 {
				e.Message = "the process ended each of the " + plural(c.losses, "time") + " that this call was carried out"
			}
			e.Hint = "nothing was changed; call it again if you still need it"
			break
		}
		d.Status = event.StatusUnknown
		e.Type = tool.TypeUnknown
		e.Message = "the process ended while this call was being carried out; whether it took effect is unknown"
		e.Hint = m.findOut(c.tool)
	case ruleToolLimit, ruleTimeLimit:
		d.Status = event.StatusDenied
		e.Hint = "finish with what you have"
	case ruleMaxCalls:
		d.Status = event.StatusDenied
		e.Type = ruleToolLimit
		e.Hint = "use what its earlier calls returned, or another tool"
	case ruleReplied:
		d.Status = event.StatusSuccess
		return quoted(d, "The user answers:", c.reply)
	case ruleRejected:
		d.Status = event.StatusDenied
		e.Message = "a person declined this call"
		if c.why != "" {
			e.Message += ": " + c.why
		}
		e.Hint = "do not repeat it; go on without it, or say why it is needed"
		if c.words {
			e.Message = strings.Replace(e.Message, "declined this call", "declined to answer", 1)
			e.Hint = "decide by yourself what is most likely meant, and say so, or end the task with what can be done without the answer"
		}
		if c.attempt > 0 && c.tool.Effect == event.Repeatable {
			d.Status = event.StatusUnknown
			e.Message += "; it had been begun before that, and whether that took effect is unknown"
		}
	case rulePhase:
		d.Status = event.StatusDenied
		e.Hint = m.whichPhase(c.tool.ToolSpec)
	default:
		d.Status = event.StatusDenied
		e.Type = "denied"
		if guard.IsBreach(c.rule) {
			e.Type = "rule"
			if b := m.breach(c, m.place(c), nil); b != nil {
				e.Hint = b.Do
				break
			}
		}
		e.Hint = "do not repeat it; use another way, or say in your answer that this was not permitted"
	}
	return finishWith(d, e)
}

// suchAs shows an example of arguments; nothing where that would teach nothing:
// an empty object for a schema all of whose members may be left out.
func suchAs(s *schema.Schema) string {
	v := s.Example()
	if v == nil || string(v) == "{}" && len(s.Root().Names()) > 0 {
		return ""
	}
	return ", such as " + string(v)
}

// finishWith completes the result of a call with an error for the model.
func finishWith(d *event.ToolFinished, e *tool.Error) *event.ToolFinished {
	text := tool.ErrorText(e)
	d.Parts = []message.Part{{Kind: message.Text, Text: text}}
	d.Size, d.Shown = int64(len(text)), int64(len(text))
	d.ErrorType, d.ErrorMessage, d.Retryable = e.Type, e.Message, e.Retryable
	return d
}

// findOut says how to learn what became of a call.
func (m *Machine) findOut(t *toolInfo) string {
	if t.Effect == event.Repeatable {
		return "call it again if it is still needed: what is done already is not done twice"
	}
	if t.Confirm != "" {
		return "do not repeat it; call " + t.Confirm + " to find out whether it took effect"
	}
	return "do not repeat it; find out by reading whether it took effect"
}

// standIn answers a call with the outcome of an earlier one.
func (m *Machine) standIn(c *call, d *event.ToolFinished) *event.ToolFinished {
	d.Status = event.StatusIntercepted
	note := "This call was not run: "
	switch c.rule {
	case ruleSettled:
		note += "it is confirmed that it had been carried out before. Do not repeat it."
	case ruleSameAct:
		note += "it asks for the same as another call of this reply, which is to be done once. This is what came of that:"
	case ruleLedger:
		note += "it was carried out before, and must not be done twice. This is what came of it:"
	case ruleFailed:
		note += "the same call has failed, its error says that trying again does not help, and nothing was written since. Change its arguments or do something else. This is what came of it:"
	default:
		note += "it is the same as an earlier one, and nothing has changed since. Use what it returned, and go on with something else:"
	}
	if c.of == nil || c.of.done == nil || c.rule == ruleSettled {
		return quoted(d, note, nil)
	}
	first := c.of.done
	d.ErrorType, d.ErrorMessage, d.Full = first.ErrorType, first.ErrorMessage, first.Full
	return quoted(d, note, first.Parts)
}

// clip keeps a text that is quoted short.
func clip(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return s[:cut.Down(s, most)] + "…"
}
