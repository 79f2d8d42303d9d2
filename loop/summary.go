package loop

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// mayAsk reports whether a summary may be asked for: there is time for it, it was
// neither tried in vain nor had without use, and those before have been of use.
func (m *Machine) mayAsk() bool {
	k := &m.making
	if m.over == event.ReasonTimeLimit || m.over == event.ReasonTokenLimit || m.over == event.ReasonCostLimit {
		return false
	}
	return k.done == 0 && m.vain < maxVain && m.gauge.brief < maxBrief && k.refused == nil && k.summary == "" && !k.hopeless && len(k.failed) < maxSummaries
}

// summaryFits reports whether the request for a plan's summary, which is the next
// step's with another tail, fits with the reply.
func (m *Machine) summaryFits(v *window.View, p *window.Plan) bool {
	ask := summaryTail(window.SummaryPrompt(v, p))
	n := m.predict(m.sizes.Total()+estimate(&ask)) + window.SummaryTokens(v, p)
	size, refused := m.size(), m.gauge.refused
	return (size == 0 || n <= share64(size, m.margin())) && (refused == 0 || n <= share64(refused, refusedKnown))
}

// summaryTail returns the message that asks for a summary: the user's word, so that
// models take it for what they are to do now. It is not part of the conversation.
func summaryTail(prompt string) message.Message { return message.NewText(message.User, prompt) }

// askSummary assembles the request for a summary.
func (m *Machine) askSummary(v *window.View, p *window.Plan) event.Data {
	prompt := window.SummaryPrompt(v, p)
	if n := len(m.making.failed); n > 0 {
		prompt += "\nThe summary before could not be used: " + m.making.failed[n-1] + "."
	}
	ask := summaryTail(prompt)
	return m.assembly(event.PurposeSummary, false, prompt, estimate(&ask))
}

// summaryRoom returns how long the reply with a summary may be: what it thinks on
// the way counts too, so it has all of the digest's share. A model that is asked to
// think has what a step has: how much it may think follows from that, and a server
// that caches prompts forgets the conversation when it changes.
func (m *Machine) summaryRoom() int64 {
	if m.spec.Sampling.Reasoning != "" {
		return m.room(m.spec.Limits.Output)
	}
	k := &m.making
	n := max(window.SummaryTokens(k.view, &k.plan), window.Share(&m.spec.Window, window.BlockDigest, k.view.Budget))
	if most := m.spec.Limits.Output; most > 0 {
		n = min(n, most)
	}
	return m.room(n)
}

// asking folds that a summary is asked for. What for was decided before; a machine
// that folds a journal decides it again from the same state.
func (m *Machine) asking() {
	k := &m.making
	if k.asked() {
		return
	}
	if m.strategy == nil {
		k.view, k.hopeless = &window.View{Spec: &m.spec.Window}, true
		return
	}
	if m.drawn.seq == m.seq-1 && m.drawn.view != nil {
		k.view, k.plan, m.drawn = m.drawn.view, m.drawn.plan, drawn{}
		return
	}
	k.view = m.view(m.nextSize())
	k.plan = m.strategy.Plan(k.view)
}

// summarised folds the reply to the request for a summary. It is no step.
func (m *Machine) summarised(r *event.ModelAnswered, d *event.ReplyParsed) {
	k := &m.making
	msg := parse.Assistant(&r.Message, d)
	text := strings.TrimSpace(msg.PlainText())
	size := int64(tokens.Estimate{}.Count(text))
	switch err := window.CheckSummary(text, r.Finish, len(d.Calls), k.view, &k.plan, size); {
	case err != nil:
		k.failed = append(k.failed, err.Error())
	case text == "":
		k.failed = append(k.failed, "it was empty") // whatever the check says: it could not be told from none
	default:
		k.summary = text
	}
	m.phase = phaseBoundary
	m.flush()
}

// summaryFailed folds that no reply came to the request for a summary. A failure
// that may pass is waited for; every one counts as an attempt.
func (m *Machine) summaryFailed(d *event.ModelFailed) {
	k := &m.making
	k.failed = append(k.failed, failure(d, ""))
	switch d.Class {
	case event.ClassRate, event.ClassServer, event.ClassTimeout, event.ClassNetwork, event.ClassIncomplete, event.ClassBadReply:
		if m.call.failures++; len(k.failed) < maxSummaries {
			m.call.waitID, m.call.until = m.id(0), m.now+m.backoff(d)
			return
		}
	case event.ClassOverflow:
		m.learn(d)
	}
	k.hopeless = true
	m.phase = phaseBoundary
	m.flush()
}

// summaryLost folds that the process has ended in the middle of asking for a
// summary, and reports whether it is not asked for again.
func (m *Machine) summaryLost() bool {
	if m.phase != phaseModel || m.call.purpose != event.PurposeSummary || !m.call.started {
		return false
	}
	k := &m.making
	if k.failed = append(k.failed, "the process ended in the middle of it"); len(k.failed) < maxSummaries {
		return false
	}
	m.call.started, m.phase = false, phaseBoundary
	m.flush()
	return true
}

// summarises reports whether the run's strategy has summaries.
func (m *Machine) summarises() bool {
	return m.strategy.Name() == window.Layered || m.strategy.Name() == window.Summary
}

// inVainAsked notes whether summaries were asked for in vain at the boundary that
// ends.
func (m *Machine) inVainAsked() {
	switch k := &m.making; {
	case k.summary != "":
		m.vain = 0
	case len(k.failed) > 0:
		m.vain++
	}
}
