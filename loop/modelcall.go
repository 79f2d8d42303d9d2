package loop

import (
	"strconv"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// modelCall is the model call of the present step.
type modelCall struct {
	id      string
	purpose event.Purpose
	step    int64
	// attempt counts from 1 how often it is made, failures how often it failed:
	// a stop or a crash is no failure.
	attempt  int64
	failures int64
	noTools  bool
	// counted is the size of the request as counted, total as the server is expected
	// to count it; tail is the text of its volatile block.
	counted, total int64
	tail           string
	// strict: the attempt that was begun holds calls to their schemas, as
	// model.called says.
	strict  bool
	started bool
	cancel  bool
	// waitID and until are set between two attempts.
	waitID string
	until  int64
	// elapsed and worked are how far the run's time and its time at work were when the
	// call was fixed, or taken up anew.
	elapsed, worked int64
	// missed says why the attempts so far have failed.
	missed string
	// malformedTold: the provider's complaint about a call was passed on once.
	malformedTold bool
	// oversizeTold: that a reply was more than is read of one was said once.
	oversizeTold bool
	// limitTold: the model knows that this is its last call.
	limitTold bool
	// outputBoost doubles the room for the reply after one that was cut off.
	outputBoost bool

	// wrote says how the model was to call tools that has written the reply, where
	// another is asked now.
	wrote *event.ModelCalling

	cmd *CallModel // built once per attempt
}

// command returns the outstanding command: the call, or the wait before it.
func (c *modelCall) command(m *Machine) Command {
	if c.waitID != "" {
		return &Wait{ID: c.waitID, Until: c.until}
	}
	if c.cmd == nil {
		calling := m.calling()
		c.cmd = &CallModel{
			ID: c.id, Purpose: c.purpose, Step: c.step, Attempt: c.attempt, Model: m.model(),
			System: m.system, Messages: m.msgs[:len(m.msgs):len(m.msgs)], Epoch: m.epoch,
			Dialect: calling.Dialect, Strict: m.strict(c, &calling), Tools: m.offered, NoTools: c.noTools,
		}
		c.cmd.Tail, c.cmd.MaxOutput = c.tailMessage(), m.maxOutput(c)
		if c.purpose == event.PurposeFinal && len(m.spec.Submit) > 0 {
			c.cmd.Schema, c.cmd.SchemaName = m.spec.Submit, "result"
		}
		if c.purpose.Check() {
			c.cmd.Schema, c.cmd.SchemaName = asideSchema(c.purpose)
		}
	}
	c.cmd.Cancel = c.cancel || m.halt != ""
	return c.cmd
}

// tailMessage returns the last message of the request, nil for none.
func (c *modelCall) tailMessage() *message.Message {
	if c.tail == "" {
		return nil
	}
	msg := stateTail(c.tail)
	if c.purpose.Aside() {
		msg = summaryTail(c.tail)
	}
	return &msg
}

// maxOutput returns the bound of the reply, 0 for none.
func (m *Machine) maxOutput(c *modelCall) int64 {
	if c.purpose == event.PurposeSummary && m.making.asked() {
		return m.summaryRoom()
	}
	n := m.spec.Limits.Output
	if c.outputBoost {
		n *= 2
	}
	return m.room(n)
}

// called folds model.called.
func (c *modelCall) called(d *event.ModelCalled) {
	if d.ID == c.id {
		c.started, c.strict = true, d.Strict
	}
}

// again starts the next attempt under a new id.
func (c *modelCall) again(id string) {
	c.id, c.waitID, c.until, c.started, c.cmd = id, "", 0, false, nil
	c.attempt++
}

// lost gives a call that was in flight in a dead process a new id.
func (c *modelCall) lost(id string) {
	if c.started {
		c.again(id)
	}
	c.cancel = false
	if c.cmd != nil {
		c.cmd.Cancel = false
	}
}

// answered folds model.answered.
func (m *Machine) answered(d *event.ModelAnswered) {
	if m.phase != phaseModel || d.ID != m.call.id {
		return
	}
	u := m.plausible(d)
	m.count(&u)
	m.waited(d.Waited)
	m.observe(&d.Usage)
	m.fresh += u.Output.Or(d.Tokens.Or(0))
	if m.call.purpose != event.PurposeSummary {
		m.tooLong = 0
	}
	m.reply = d
	m.phase = phaseReply
}

// maxUsage is the most tokens that one call can have where the model's window is not
// known: more than any window there is.
const maxUsage = 16_000_000

// plausible returns a reply's usage, with what was counted here in the place of
// figures that no call can have: one absurd report must not end a run.
func (m *Machine) plausible(d *event.ModelAnswered) message.Usage {
	var unknown message.Count
	u, most := d.Usage, int64(maxUsage)
	if size := m.spec.Window.Size; size > 0 {
		most = 2 * size // a window that was set by hand may be too small
	}
	if u.Input.Or(0) > most || u.Cached.Or(0) > most || u.CacheWrite.Or(0) > most {
		u.Input, u.Cached, u.CacheWrite = message.Known(m.call.total), unknown, unknown
	}
	if u.Output.Or(0) > most || u.Reasoning.Or(0) > most {
		u.Output, u.Reasoning = d.Tokens, unknown
	}
	return u
}

// count adds what a call of the model that is asked now consumed. One unknown
// figure makes the sum unknown.
func (m *Machine) count(u *message.Usage) {
	var cost message.Count
	if c, ok := u.Cost(m.spec.Price(m.model())); ok {
		cost = message.Known(c.Total())
	}
	m.tally(u, cost)
}

// tally adds usage and cost.
func (m *Machine) tally(u *message.Usage, cost message.Count) {
	if !m.counted {
		m.usage, m.cost, m.counted = *u, cost, true
		m.usage.Total, m.usage.Invalid = 0, false // which say something of one call
		return
	}
	m.usage.Input = m.usage.Input.Add(u.Input)
	m.usage.Cached = m.usage.Cached.Add(u.Cached)
	m.usage.CacheWrite = m.usage.CacheWrite.Add(u.CacheWrite)
	m.usage.Output = m.usage.Output.Add(u.Output)
	m.usage.Reasoning = m.usage.Reasoning.Add(u.Reasoning)
	m.cost = m.cost.Add(cost)
}

// failed folds model.failed and decides by its class.
func (m *Machine) failed(d *event.ModelFailed) {
	if m.phase != phaseModel || d.ID != m.call.id {
		return
	}
	m.waited(d.Waited)
	if d.Usage != (message.Usage{}) || d.Partial != "" {
		// A reply that had begun is billed, whether or not the figures came.
		m.count(&d.Usage)
	}
	c := &m.call
	c.started = false
	c.cmd = nil
	if m.halt != "" {
		// Stopped on purpose: the call is made again when the run goes on.
		c.again(m.id(0))
		return
	}
	if c.cancel {
		m.cut(d)
		return
	}
	if m.loosen(d) {
		c.again(m.id(0))
		return
	}
	if c.purpose == event.PurposeSummary {
		m.summaryFailed(d)
		return
	}
	if c.purpose.Check() {
		m.asideFailed(d)
		return
	}
	if c.purpose == event.PurposeStep && d.Class == event.ClassBadReply && d.Code == event.CodeReplyLimit && !c.oversizeTold {
		c.oversizeTold = true
		m.note = &event.NoticeAdded{Kind: noticeReply, Text: "Nothing was run from your last reply, which is more than is read of one: " + d.Message +
			". Write a shorter one; what does not fit can follow in the next steps."}
		m.phase = phaseBoundary
		return
	}
	switch d.Class {
	case event.ClassRate, event.ClassServer, event.ClassTimeout, event.ClassNetwork, event.ClassIncomplete, event.ClassBadReply:
		if c.failures++; c.failures < m.tries(d) {
			c.waitID, c.until = m.id(0), m.now+m.backoff(d)
			c.missed = failure(d, plural(c.failures, "attempt"))
			return
		}
		if !m.fallBack(d) {
			m.fail(event.ReasonModelError, d, plural(c.failures, "attempt"))
		}
	case event.ClassCancelled:
		m.fail(event.ReasonCancelled, d, "")
	case event.ClassMalformed:
		if !c.malformedTold {
			c.malformedTold, m.misread = true, true
			m.note = &event.NoticeAdded{Kind: noticeReply, Text: "The provider refused the last request because of a tool call in it: " + d.Message +
				". Call only the tools you are offered, with arguments that are a JSON object."}
			m.phase = phaseBoundary
			return
		}
		m.fail(event.ReasonModelError, d, "")
	case event.ClassOverflow:
		if !m.relieve(d) {
			m.fail(event.ReasonContextOverflow, d, "")
		}
	case event.ClassInternal:
		m.fail(event.ReasonInternalError, d, "")
	default:
		if !m.fallBack(d) {
			m.fail(event.ReasonModelError, d, "")
		}
	}
}

// plural returns "1 attempt", "2 attempts".
func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatInt(n, 10) + " " + what
}

// model returns the name of the model that is asked now.
func (m *Machine) model() string {
	if m.fallback > 0 {
		return m.spec.Fallback[m.fallback-1]
	}
	return m.spec.Model
}

// fallBack goes on with the next model, if there is one and the failure is the
// model's or its server's: a request that is too long or wrong stays so.
func (m *Machine) fallBack(d *event.ModelFailed) bool {
	switch d.Class {
	case event.ClassOverflow, event.ClassCancelled, event.ClassInternal, event.ClassMalformed:
		return false
	}
	if m.fallback >= len(m.spec.Fallback) {
		return false
	}
	m.fallback++
	m.gauge.reported, m.gauge.reportedOf = 0, 0
	m.address()
	m.call.failures = 0
	m.call.again(m.id(0))
	return true
}

// fail ends the run, or the last call of one that is ending already.
func (m *Machine) fail(reason event.Reason, d *event.ModelFailed, how string) {
	m.verdict = m.failing(m.call.purpose, reason, failure(d, how))
	m.phase = phaseBoundary
}

// failing returns the end of a run that a call for that purpose brings about: if it
// was the last one, the run ends for the reason that made it so.
func (m *Machine) failing(purpose event.Purpose, reason event.Reason, detail string) *event.RunFinished {
	if purpose == event.PurposeFinal {
		reason, detail = m.over, m.overWhy+"; the last call failed: "+detail
	}
	return &event.RunFinished{Reason: reason, Detail: detail}
}

// failure says what kept a call from succeeding, after how many attempts if that
// is not empty.
func failure(d *event.ModelFailed, how string) string {
	s := string(d.Class)
	if d.Status != 0 {
		s += " (HTTP " + strconv.FormatInt(d.Status, 10) + ")"
	}
	if how != "" {
		s += " after " + how
	}
	if d.Message != "" {
		s += ": " + d.Message
	}
	return s
}

// Defaults of the retry policy, where the spec has none: facts of the providers'
// own guidance (exponential from 1 s to 60 s, 6 tries).
const (
	defaultTries = 6
	defaultBase  = 1_000
	defaultCap   = 60_000
	// badReplyTries: a page that is not of the wire's form seldom changes.
	badReplyTries = 2
	// absentTries: a server that is being started needs a moment.
	absentTries = 3
)

// tries returns how often a call that fails so is made. A server that is not
// there, or not the one it should be, is reported within seconds instead of
// minutes; one that has answered before is waited for like any other. The last call
// of a run whose time is used up is not made again.
func (m *Machine) tries(d *event.ModelFailed) int64 {
	n := m.spec.Retry.Tries
	if n <= 0 {
		n = defaultTries
	}
	switch {
	case m.call.purpose == event.PurposeFinal && m.late():
		return 1 // there is no time to wait for another
	case d.Class == event.ClassBadReply:
		return min(n, badReplyTries)
	case d.Class != event.ClassNetwork:
		return n
	}
	switch d.Code {
	case "certificate", "tls":
		return 1
	case "dns", "refused", "unreachable":
		if m.steps == 0 {
			return min(n, absentTries)
		}
	}
	return n
}

// backoff returns how long to wait after a failure, in milliseconds: what the
// server asked for, else exponential; jitter on top from the run's seed.
func (m *Machine) backoff(d *event.ModelFailed) int64 {
	base, limit := m.spec.Retry.Base, m.spec.Retry.Cap
	if base <= 0 {
		base = defaultBase
	}
	if limit <= 0 {
		limit = defaultCap
	}
	return m.delay(base, limit, m.call.failures, d.RetryAfter)
}

// splitmix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): a good
// spread from a counter, without state.
func splitmix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
