package loop

import (
	"strconv"
	"strings"
	"unicode"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// Turns in a row that end a run, from the defaults.
const (
	maxMalformed = 3
	maxEmpty     = 3
	maxCutOff    = 2
	maxRefusals  = 3
	maxRepeats   = 3
	// maxResumes: a provider that pauses more often does not get on.
	maxResumes = 8
)

// Reading says how the reply to the model call that is under way will be read:
// what a [parse.Stream] needs to show it while it arrives.
func (m *Machine) Reading() parse.Input {
	calling := m.calling()
	if m.call.wrote != nil {
		calling = *m.call.wrote
	}
	in := parse.Input{Tools: m.callable, TextCalls: calling.Text, Asked: calling.Dialect}
	if m.call.noTools || m.call.purpose == event.PurposeSummary {
		in.Tools = nil
	}
	return in
}

// parse decides what the reply asks for.
func (m *Machine) parse() *event.ReplyParsed {
	in := m.Reading()
	in.Message, in.Finish = &m.reply.Message, m.reply.Finish
	in.Used, in.Base = m.UsedID, "c"+strconv.FormatInt(m.seq, 10)
	r := parse.Parse(in)
	d := r.Event(m.call.id, &m.reply.Message)
	m.findRepeats(d)
	return d
}

// findRepeats notes that a reply ends with the same passage again and again, and
// leaves its text with that passage once: given back whole, it would be gone on with.
// A model that stops by itself after such a text, and gives it again when asked, means
// it.
func (m *Machine) findRepeats(d *event.ReplyParsed) {
	if len(d.Calls) > 0 || len(d.Problems) > 0 || m.call.purpose != event.PurposeStep || m.reply.Finish == event.FinishPause ||
		m.circled && m.reply.Finish == event.FinishStop {
		return
	}
	msg := parse.Assistant(&m.reply.Message, d)
	text, thought := strings.TrimSpace(msg.PlainText()), ""
	if text == "" {
		if thought = thinking(&msg); thought != "" {
			_, d.Repeats = parse.Repeats(thought)
		}
		return
	}
	if again, times := parse.Repeats(text); times > 0 {
		d.Repeats, d.Text = times, text[:again]
	}
}

// thinking returns the reasoning of a message.
func thinking(msg *message.Message) string {
	var b strings.Builder
	for i := range msg.Parts {
		if msg.Parts[i].Kind == message.Reasoning {
			b.WriteString(msg.Parts[i].Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// UsedID reports whether the run has had a call of that id.
func (m *Machine) UsedID(id string) bool { return m.byID[id] != nil }

// parsed folds reply.parsed: the step counts, and the reply becomes a turn of
// calls, an answer, or something that the model must be told about.
func (m *Machine) parsed(d *event.ReplyParsed) {
	if m.phase != phaseReply || d.ID != m.call.id {
		return
	}
	r := m.reply
	m.reply = nil
	if m.call.purpose == event.PurposeSummary {
		m.summarised(r, d)
		return
	}
	if m.call.purpose.Check() {
		m.asideAnswered(r, d)
		return
	}
	m.misread, m.clipped = false, r.Finish == event.FinishLength
	m.circled = d.Repeats > 0 && r.Finish == event.FinishStop
	msg := parse.Assistant(&r.Message, d)
	text := withoutBlankEnds(msg.PlainText())
	m.phase = phaseBoundary
	if r.Finish != event.FinishPause {
		m.resuming = 0
	}
	if m.goesOn(r, d, &msg) {
		// The provider goes on where it stopped when it gets its words back. That is
		// still the same step.
		m.say(window.Reply, msg, r.Tokens.Or(0))
		m.resuming++
		return
	}
	m.steps++
	switch {
	case m.call.purpose == event.PurposeFinal:
		m.verdict = m.bestEffort(r, d, text)
	case r.Finish == event.FinishContentFilter:
		m.verdict = &event.RunFinished{Reason: event.ReasonRefused, Answer: text, Detail: "the model or a filter refused (" + r.RawFinish + ")"}
	case r.Finish == event.FinishPause && len(d.Calls) == 0:
		m.verdict = &event.RunFinished{Reason: event.ReasonModelError, Answer: text,
			Detail: "the provider paused its reply (" + r.RawFinish + ") " + plural(m.resuming+1, "time") + " in a row and does not come to an end"}
	case len(d.Calls) > 0:
		m.empty, m.cutOff, m.announced = 0, 0, 0
		m.say(window.Reply, msg, r.Tokens.Or(0))
		m.openTurn(d.Calls)
	case len(d.Problems) > 0 || r.Finish == event.FinishError:
		m.unusable(r, d, msg)
	case d.Repeats > 0:
		m.wentRound(d, msg)
	case text == "":
		if m.empty++; m.empty >= maxEmpty {
			m.verdict = &event.RunFinished{Reason: event.ReasonMalformed,
				Detail: strconv.Itoa(maxEmpty) + " replies in a row held neither a tool call nor an answer"}
		}
	default:
		m.say(window.Reply, msg, r.Tokens.Or(0))
		m.answer(text, r.Finish == event.FinishLength)
	}
	if m.phase == phaseBoundary {
		m.flush()
	}
}

// goesOn reports whether a reply is only the beginning of one.
func (m *Machine) goesOn(r *event.ModelAnswered, d *event.ReplyParsed, msg *message.Message) bool {
	return r.Finish == event.FinishPause && len(d.Calls) == 0 && len(msg.Parts) > 0 && m.resuming < maxResumes && m.call.purpose != event.PurposeFinal
}

// withoutBlankEnds returns a text without the empty lines before it and the white
// space after it. The first line keeps its indentation.
func withoutBlankEnds(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	start := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return s[strings.LastIndexByte(s[:start], '\n')+1:]
}

// unusable tells the model that nothing could be made of its reply.
func (m *Machine) unusable(r *event.ModelAnswered, d *event.ReplyParsed, msg message.Message) {
	if len(msg.Parts) > 0 && strings.TrimSpace(msg.PlainText()) != "" {
		m.say(window.Reply, msg, r.Tokens.Or(0))
	}
	m.misread = true
	why := strings.Join(d.Problems, "; ")
	if why == "" {
		why = "it ended with " + strconv.Quote(r.RawFinish)
	}
	if m.malformed++; m.malformed >= maxMalformed {
		m.verdict = &event.RunFinished{Reason: event.ReasonMalformed, Detail: "the last of three unusable replies: " + why}
		return
	}
	m.note = &event.NoticeAdded{Kind: noticeReply, Text: "Nothing was run from your last reply: " + why +
		". " + m.howToCall()}
}

// wentRound tells the model that its reply went round in a circle.
func (m *Machine) wentRound(d *event.ReplyParsed, msg message.Message) {
	what, left := "reasoning", ""
	if msg.PlainText() != "" {
		what, left = "text", ", of which one is left"
		m.say(window.Reply, msg, estimate(&msg)) // less than what was counted
	}
	why := "its " + what + " ended with the same passage " + plural(d.Repeats, "time") + " in a row"
	if m.malformed++; m.malformed >= maxMalformed {
		m.verdict = &event.RunFinished{Reason: event.ReasonMalformed, Detail: "the last of three unusable replies: " + why}
		return
	}
	text := "Nothing was made of your last reply: " + why + left + ". Do not go on like that: take another way, call a tool, or answer in a few words."
	if m.circled {
		text += " If that text is the answer that was asked for, give it again."
	}
	m.note = &event.NoticeAdded{Kind: noticeRepeats, Text: text}
}

// answer decides what a text without calls means.
func (m *Machine) answer(text string, cut bool) {
	m.empty, m.malformed = 0, 0
	if cut {
		m.cutOff++
		if m.cutOff < maxCutOff {
			m.call.outputBoost = true
			m.note = &event.NoticeAdded{Kind: noticeCutOff,
				Text: "Your last reply was cut off at the output limit. Give the whole answer again, shorter."}
			return
		}
		m.verdict = &event.RunFinished{Reason: event.ReasonAnswered, Answer: text, Detail: "the answer is cut off at the output limit"}
		return
	}
	m.cutOff = 0
	switch {
	case len(m.queue) > 0:
		m.next = true // somebody has said more meanwhile: that is answered first
	case m.onlyAnnounced(text):
	case m.spec.Chat:
		m.idle = true
	case len(m.spec.Submit) > 0 && !m.reasked:
		m.reasked = true
		m.note = &event.NoticeAdded{Kind: noticeSubmit,
			Text: "The task is finished only when its result is submitted: call submit_result with it."}
	case len(m.spec.Submit) > 0:
		m.verdict = &event.RunFinished{Reason: event.ReasonAnswered, Answer: text, Detail: "the result was not submitted"}
	default:
		m.hold(text)
	}
}

// maxHeld is how often in a row a model is told of the same thing that its answer
// lacks.
const maxHeld = 2

// hold ends the run with an answer in words, which is held to the rules of
// submit_result: otherwise words would be a way around them. What is missing is
// told, and the run goes on; a model that does not see to it has not done well.
func (m *Machine) hold(text string) {
	var b *guard.Breach
	if m.harness(tool.SubmitResult) {
		b = m.rules.JudgeEnd(m.names)
	}
	if b == nil {
		m.finishWith(&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: text})
		return
	}
	if b.Why != m.heldFor {
		m.held, m.heldFor = 0, b.Why
	}
	why := "the rule " + strconv.Quote(b.Rule.Text) + " is not kept: " + b.Why
	if m.held++; m.held > maxHeld || b.Do == "" {
		m.verdict = &event.RunFinished{Reason: event.ReasonAnswered, Answer: text, Detail: why}
		return
	}
	m.note = &event.NoticeAdded{Kind: noticeRule, Text: "Your answer does not finish the task yet: " + why + ". To do: " + b.Do +
		". If that is impossible, say so in your answer."}
}

// flush puts input that has waited at the end of the conversation.
func (m *Machine) flush() {
	query := ""
	for i := range m.queue {
		q := &m.queue[i]
		if m.put(q.msg, q.item); q.kind == window.Input {
			query += inlineText(q.msg.Parts) + "\n\n"
		}
	}
	m.queue = nil
	if m.next {
		m.next = false
		m.inquire(query, m.id(0))
	}
}
