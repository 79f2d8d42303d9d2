package loop

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// spending is what the run had used when its present step began, to see what a step
// takes.
type spending struct {
	toolCalls, fresh, cost int64
	worked, elapsed        int64 // milliseconds
}

// elapsed returns the time since the run began in which it was not paused.
func (m *Machine) elapsed() int64 { return m.now - m.started - m.away }

// limit returns the limit that is reached, if any. What the runs of agents that this
// one has called as tools have used counts.
func (m *Machine) limit() (event.Reason, string) {
	l := &m.spec.Limits
	switch cost, known := m.cost.Get(); {
	case m.over != "":
		return m.over, m.overWhy
	case l.Steps > 0 && m.steps+m.below.Steps >= l.Steps:
		return event.ReasonStepLimit, "the limit of " + plural(l.Steps, "step") + " is reached"
	case l.ToolCalls > 0 && m.toolCalls >= l.ToolCalls:
		return event.ReasonToolLimit, "the limit of " + plural(l.ToolCalls, "tool call") + " is reached"
	case l.Tokens > 0 && m.fresh+m.reserve(m.fresh-m.spentBefore.fresh, l.Tokens) >= l.Tokens:
		return event.ReasonTokenLimit, fmt.Sprintf("%d of %d tokens are used", m.fresh, l.Tokens)
	case l.Cost > 0 && m.counted && !known:
		return event.ReasonCostLimit, "what the run has cost is not known, so its limit of " + dollars(l.Cost) + " cannot be kept"
	case l.Cost > 0 && cost+m.reserve(cost-m.spentBefore.cost, l.Cost) >= l.Cost:
		return event.ReasonCostLimit, dollars(cost) + " of " + dollars(l.Cost) + " are spent"
	case l.Work > 0 && m.worked >= l.Work:
		return event.ReasonTimeLimit, workUsedUp
	}
	return "", ""
}

// reach notes that a limit ends the run: one last call, then reason. The first
// limit counts.
func (m *Machine) reach(reason event.Reason, why string) {
	if m.over == "" {
		m.over, m.overWhy = reason, why
	}
}

// reserve returns what is set aside of a limit for the last call, which asks for the
// best answer: what the last step took, since it is one more request of the same size,
// but at most a fifth of the limit.
func (m *Machine) reserve(step, limit int64) int64 {
	if m.steps < 2 {
		return 0 // the first step sent all that stands before it
	}
	return min(max(step, 0), limit/5)
}

// dollars writes millionths of a US dollar.
func dollars(micros int64) string { return fmt.Sprintf("$%d.%06d", micros/million, micros%million) }

// spend adds what the run of an agent that was called as a tool has used.
func (m *Machine) spend(s *event.Spent) {
	if s == nil {
		return
	}
	m.below.Steps += s.Steps
	m.toolCalls += s.ToolCalls
	m.fresh += s.Tokens
	m.worked += s.Work
	m.tally(&s.Usage, s.Cost)
}

// work adds the time between two events in which a model or a tool was at work. Runs
// below this one count their own.
func (m *Machine) work(before int64) {
	if m.phase != phaseNew && m.paused == "" && m.working() {
		m.worked += m.now - before
	}
}

// waited takes the time that a model call has waited for its turn out of that in
// which one was at work.
func (m *Machine) waited(ms int64) { m.worked = max(m.worked-max(ms, 0), 0) }

// lastStepNotice tells the model once that one step is left: by the number of steps,
// or because another like the last one would use up what is left. A run of one step
// knows it from the start.
func (m *Machine) lastStepNotice() event.Data {
	if m.noticed || m.spec.Limits.Steps == 1 {
		return nil
	}
	why := m.near()
	if why == "" {
		return nil
	}
	return &event.NoticeAdded{Kind: noticeLastStep, Text: why + " Finish with it, or answer with what you have."}
}

// near says why the next step is the last one in which tools can be used; empty if
// it is not known to be.
func (m *Machine) near() string {
	l := &m.spec.Limits
	cost := m.cost.Or(0)
	more := func(used, before, limit int64) bool { return limit > 0 && m.steps > 1 && used+(used-before) >= limit }
	switch p := &m.spentBefore; {
	case l.Steps > 0 && m.steps+m.below.Steps == l.Steps-1:
		return "This is the last step in which you can use tools."
	case more(m.toolCalls, p.toolCalls, l.ToolCalls):
		return fmt.Sprintf("%d of %d tool calls are used: this is the last step like the one before.", m.toolCalls, l.ToolCalls)
	case more(m.fresh+m.reserve(m.fresh-p.fresh, l.Tokens), p.fresh+m.reserve(m.fresh-p.fresh, l.Tokens), l.Tokens):
		return fmt.Sprintf("%d of %d tokens are used: this is the last step like the one before.", m.fresh, l.Tokens)
	case more(cost+m.reserve(cost-p.cost, l.Cost), p.cost+m.reserve(cost-p.cost, l.Cost), l.Cost):
		return dollars(cost) + " of " + dollars(l.Cost) + " are spent: this is the last step like the one before."
	case more(m.worked, p.worked, l.Work):
		return seconds(m.worked) + " of " + seconds(l.Work) + " of working time are used: this is the last step like the one before."
	case more(m.elapsed(), p.elapsed, l.Wall):
		return seconds(m.elapsed()) + " of " + seconds(l.Wall) + " are used: this is the last step like the one before."
	}
	return ""
}

// seconds writes milliseconds.
func seconds(ms int64) string { return fmt.Sprintf("%d.%d s", ms/1000, ms%1000/100) }

// Spent returns what the run has used, with the runs below it.
func (m *Machine) Spent() event.Spent {
	s := event.Spent{Steps: m.steps + m.below.Steps, ToolCalls: m.toolCalls, Tokens: m.fresh, Usage: m.usage, Cost: m.cost, Work: m.worked}
	if none := message.Known(0); !m.counted { // and known to be nothing
		s.Usage, s.Cost = message.Usage{Input: none, Cached: none, CacheWrite: none, Output: none, Reasoning: none}, none
	}
	return s
}
