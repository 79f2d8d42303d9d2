package loop

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// Kinds of notices.
const (
	noticeLastStep = "last_step"
	noticeLimit    = "limit"
	noticeSubmit   = "submit"
	noticeReply    = "unusable_reply"
	noticeCutOff   = "cut_off"
	noticeRule     = "rule"
	noticeRepeats  = "repeated_text"
)

// boundary decides how to go on between two steps.
func (m *Machine) boundary() Command {
	if m.planned != nil {
		return m.recording(m.planned)
	}
	if m.verdict != nil {
		return &Finish{m.verdict}
	}
	if m.note != nil {
		return m.recording(m.note)
	}
	if len(m.remarks) > 0 {
		return m.recording(m.remarks...)
	}
	if m.pause {
		return m.recording(&event.RunPaused{Cause: event.CauseInterrupted})
	}
	reason, why := m.limit()
	if m.resuming > 0 && reason == "" {
		return m.goOn()
	}
	if m.idle {
		return m.recording(&event.RunPaused{Cause: event.CauseTurnDone})
	}
	if m.ending != nil {
		return m.checkCompletion()
	}
	if reason != "" {
		return m.finalCall(why)
	}
	if m.driftDue() {
		if d := m.readBack(); d != nil {
			return m.recording(d)
		}
	}
	if n := m.lastStepNotice(); n != nil {
		return m.recording(n)
	}
	return m.assemble(event.PurposeStep, m.empty >= 2)
}

// finalCall asks for the best answer from what is known.
func (m *Machine) finalCall(why string) Command {
	if !m.call.limitTold {
		return m.recording(&event.NoticeAdded{Kind: noticeLimit, Text: "The run ends here: " + why +
			". No tool can be called any more. Give the best answer that what you know allows: what is done, what is not, and what should come next."})
	}
	return m.assemble(event.PurposeFinal, true)
}

// remark has the model told something after the turn of calls that ends.
func (m *Machine) remark(kind, text string) {
	m.remarks = append(m.remarks, &event.NoticeAdded{Kind: kind, Text: text})
}

// notice folds notice.added. One that does not come from the machine may come in
// the middle of a step, and waits for its end.
func (m *Machine) notice(d *event.NoticeAdded) {
	msg, it := message.NewText(message.System, d.Text), item{kind: window.Notice, tokens: d.Tokens.Or(0)}
	if d.Kind == noticeUndone && m.phase != phaseBoundary {
		m.queue = append(m.queue, queued{msg, it})
		return
	}
	m.put(msg, it)
	if d.Kind != noticeUndone {
		m.told(d)
	}
}

// told folds what a notice means for later decisions.
func (m *Machine) told(d *event.NoticeAdded) {
	if m.note != nil {
		m.note = nil
	} else if len(m.remarks) > 0 {
		m.remarks = m.remarks[1:]
	}
	switch d.Kind {
	case noticeLastStep:
		m.noticed = true
	case noticeLimit:
		m.reach(m.limit())
		m.call.limitTold = true
	}
}

// assemble records what the model is about to see. If that does not fit, room is
// made first; where none can be made, the run ends.
func (m *Machine) assemble(purpose event.Purpose, noTools bool) Command {
	text, tail := m.tailBlock()
	n := m.sizes.Total() + tail
	if d := m.makeRoom(purpose, n); d != nil {
		return m.recording(d)
	}
	if d := m.making.refused; d != nil {
		return &Finish{m.failing(purpose, event.ReasonContextOverflow, failure(d, "")+"; nothing more can be left out")}
	}
	a := m.assembly(purpose, noTools, text, tail)
	if a.Budget > 0 && a.Tokens > a.Budget {
		return &Finish{m.failing(purpose, event.ReasonContextOverflow, overflow(a))}
	}
	return m.recording(a)
}

// goOn gives a provider its paused reply back. Nothing may stand behind that, and
// what is before it stays as it is.
func (m *Machine) goOn() Command {
	a := m.assembly(event.PurposeStep, false, "", 0)
	if a.Budget > 0 && a.Tokens > a.Budget && m.strategy == nil {
		return &Finish{&event.RunFinished{Reason: event.ReasonContextOverflow, Detail: overflow(a)}}
	}
	return m.recording(a)
}

// assembly is the next request, with such a tail.
func (m *Machine) assembly(purpose event.Purpose, noTools bool, text string, tail int64) *event.ContextAssembled {
	return &event.ContextAssembled{
		Purpose: purpose, Step: m.steps + 1, Blocks: m.blocks(tail), Tokens: m.predict(m.sizes.Total() + tail),
		Budget: m.budget(), Method: string(m.method()), Messages: int64(len(m.msgs)), Tail: text, NoTools: noTools,
	}
}

// assembled folds context.assembled: the request is fixed, and is to be sent.
func (m *Machine) assembled(d *event.ContextAssembled) {
	n, tail := sizeOf(d)
	if d.Purpose == event.PurposeStep {
		m.spentBefore = spending{m.toolCalls, m.fresh, m.cost.Or(0), m.worked, m.elapsed()}
	}
	switch d.Purpose {
	case event.PurposeSummary:
		m.asking()
	case event.PurposeStep, event.PurposeFinal:
		m.settled(n)
	}
	if n > m.sent { // another model may be told of the tools in fewer words
		m.fresh += muldiv(n-m.sent, d.Tokens, n)
	}
	m.sent = n - tail
	m.call = modelCall{id: m.id(0), purpose: d.Purpose, step: d.Step, attempt: 1, noTools: d.NoTools, counted: n, total: d.Tokens, tail: d.Tail,
		elapsed: m.elapsed(), worked: m.worked,
		limitTold: m.call.limitTold, outputBoost: m.call.outputBoost, malformedTold: m.call.malformedTold, oversizeTold: m.call.oversizeTold}
	m.phase = phaseModel
}

// sizeOf returns the size of a request as counted, and that of its tail.
func sizeOf(d *event.ContextAssembled) (n, tail int64) {
	for i := range d.Blocks {
		n += d.Blocks[i].Tokens
		if d.Blocks[i].Name == window.BlockTail {
			tail = d.Blocks[i].Tokens
		}
	}
	if n == 0 {
		n = d.Tokens
	}
	return n, tail
}

// settled notes that a step's request, counted as n, is as it is to be: room was
// made for it as far as that was worth while.
func (m *Machine) settled(n int64) {
	g := &m.gauge
	if g.base == 0 {
		g.base, g.baseSteps = n, m.steps
	}
	if m.strategy != nil && m.making.done == 0 && m.resuming == 0 && !m.strategy.Always() && m.full(n, m.marks(n)) {
		g.landed = n
	}
	m.inVainAsked()
	m.making = making{}
}
