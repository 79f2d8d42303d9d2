package loop

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"rein.example/rein/event"
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
	// ruleLedger: a once call under this key was carried out before.
	ruleLedger = "ledger"
	// ruleUnknownOutcome: one began, and its outcome is unknown.
	ruleUnknownOutcome = "unknown_outcome"
	// ruleSettle: the model insists; a person must say what became of it.
	ruleSettle     = "settle"
	ruleRepetition = "repetition"
	ruleToolLimit  = "tool_limit"
	// ruleRejected: a person said no.
	ruleRejected = "rejected"
	// ruleSettled: a person or the confirm tool said that it was carried out.
	ruleSettled = "settled"
	// ruleLost: it was in flight when its process died.
	ruleLost = "lost"
)

// judge records the verdicts on all calls of the turn, then the results of
// those that will not run; nil when there is nothing to decide.
func (m *Machine) judge() Command {
	out := m.rec.Data[:0]
	allowed := int64(0)
	for i := range m.turn {
		if m.turn[i].state == callNew {
			j := m.consider(i, allowed)
			if j.Verdict == event.Allow || j.Verdict == event.Ask {
				allowed++
			}
			out = append(out, j)
		}
	}
	if len(out) == 0 {
		for i := range m.turn {
			c := &m.turn[i]
			if c.state == callRefused && (c.of == nil || c.of.done != nil) {
				out = append(out, m.refusal(c))
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	m.rec.Data = out
	return &m.rec
}

// consider judges the i-th call of the turn; allowed counts those before it
// that may run. The order of the checks is the order in which a reason is of
// use to the model: what it wrote, what it did before, what it may do.
func (m *Machine) consider(i int, allowed int64) *event.CallJudged {
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
	if len(repairs) > 0 {
		j.Args = string(args)
		for _, r := range repairs {
			j.Repairs = append(j.Repairs, event.Repair{Kind: r.Kind, Where: r.Where, Lossy: r.Lossy})
		}
	}
	if of := m.byID[c.WireID]; c.WireID != "" && of != nil && of.same(c) && of.index >= m.lastWrite && of.settledOutcome() {
		j.Of = of.id
		return rule(event.Intercept, ruleSameID, "the call "+of.id+" came again")
	}
	if c.tool.Effect == event.Once {
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
			return rule(event.Ask, ruleSettle, "whether call "+e.rec.id+" took effect is unknown, and the model repeats it")
		}
	}
	if of := m.repeated(i); of != "" {
		j.Of = of
		return rule(event.Intercept, ruleRepetition, "the same as call "+of+", and nothing was written since")
	}
	if l := m.spec.Limits.ToolCalls; l > 0 && m.toolCalls+allowed >= l {
		return rule(event.Deny, ruleToolLimit, "the limit of "+plural(l, "tool call")+" is reached")
	}
	d := m.policy.Judge(*c.tool.ToolSpec)
	return rule(d.Verdict, d.Rule, d.Why)
}

// same reports whether the record is of the same tool and arguments.
func (r *record) same(c *call) bool { return r.tool == c.Name && r.hash == c.hash && r.index >= 0 }

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
			if r.index >= m.lastWrite && r.settledOutcome() {
				return r.id
			}
		}
	}
	return ""
}

// settledOutcome reports whether the call has an outcome that asking again
// would not change: not an error that is worth another try, not a refusal (the
// guard decides again), not an unknown one (the ledger decides).
func (r *record) settledOutcome() bool {
	if r.done == nil || !r.ran {
		return false
	}
	return r.done.Status == event.StatusSuccess || r.done.Status == event.StatusError && !r.done.Retryable
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
		e.Hint = "available tools: " + strings.Join(m.names, ", ")
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
		e.Hint = "the call was not run; send it again with arguments of this schema: " + string(c.tool.Schema)
	case ruleSameID, ruleLedger, ruleRepetition, ruleSettled:
		return m.standIn(c, d)
	case ruleUnknownOutcome:
		d.Status = event.StatusIntercepted
		e.Type = "outcome_unknown"
		e.Hint = m.findOut(c.tool)
	case ruleLost:
		if c.tool.Effect == event.Read {
			e.Type, e.Retryable = "interrupted", true
			e.Message = "the process ended each of the " + plural(c.attempt, "time") + " that this call was carried out"
			e.Hint = "nothing was changed; call it again if you still need it"
			break
		}
		d.Status = event.StatusUnknown
		e.Type = "outcome_unknown"
		e.Message = "the process ended while this call was being carried out; whether it took effect is unknown"
		e.Hint = m.findOut(c.tool)
	case ruleToolLimit:
		d.Status = event.StatusDenied
		e.Hint = "finish with what you have"
	case ruleRejected:
		d.Status = event.StatusDenied
		e.Message = "a person declined this call"
		if c.why != "" {
			e.Message += ": " + c.why
		}
		e.Hint = "do not repeat it; go on without it, or say why it is needed"
	default:
		d.Status = event.StatusDenied
		e.Type = "denied"
		e.Hint = "do not repeat it; use another way, or say in your answer that this was not permitted"
	}
	return finishWith(d, e)
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
	case ruleLedger:
		note += "it was carried out before, and must not be done twice. This is what came of it:"
	default:
		note += "it is the same as an earlier one, and nothing has changed since. Use what it returned, and go on with something else:"
	}
	d.Parts = append(d.Parts, message.Part{Kind: message.Text, Text: note})
	if c.of != nil && c.of.done != nil && c.rule != ruleSettled {
		first := c.of.done
		for i, p := range first.Parts {
			if i == 0 && p.Kind == message.Text && p.Ref == nil {
				d.Parts[0].Text += "\n" + p.Text
				continue
			}
			d.Parts = append(d.Parts, p)
		}
		d.ErrorType, d.ErrorMessage = first.ErrorType, first.ErrorMessage
	}
	for _, p := range d.Parts {
		d.Shown += int64(len(p.Text))
	}
	d.Size = d.Shown
	return d
}
