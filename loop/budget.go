package loop

import (
	"math/bits"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// gauge is what a run knows of how large its requests are and may be. Sizes come
// in two measures: as counted (the engine's own count, a sum of blocks), and as the
// server will count, which is predicted from that.
type gauge struct {
	// cal holds what each model has reported: the spec's first, then its fallbacks.
	cal []tokens.Calibration
	// reported is what the server said of the request that was counted as reportedOf;
	// both 0 if the model that is asked now has said nothing that can be believed.
	reported, reportedOf int64
	// size is the window that a server has stated, refused the size of the smallest
	// request that was refused as too long, and most the most that one may have since;
	// all as the server counts, and 0 where there is none.
	size, refused, most int64
	// base and baseSteps are the size, as counted, and the steps at the last rewrite,
	// from which growth is measured.
	base, baseSteps int64
	// landed is the size, as counted, to which the last attempt to make room has
	// led: another is worth while once much has been added.
	landed int64
	// rewrote is the step of the last rewrite, summed whether it had a new summary, and
	// brief how many summaries in a row have made room for briefSteps steps at most.
	rewrote int64
	summed  bool
	brief   int64
}

// rewritten folds that the context was rewritten before the next step, with a new
// summary or not.
func (g *gauge) rewritten(steps int64, summary bool) {
	switch {
	case steps-g.rewrote > briefSteps:
		g.brief = 0
	case g.summed:
		g.brief++
	}
	g.rewrote, g.summed = steps, summary
}

const (
	million = 1_000_000
	// warmMargin is the margin of a calibrated model.
	warmMargin = 900_000
	// refusedShare is what a request may have of the size of one that was refused as
	// too long, where nobody says how large the window is; refusedKnown where the
	// window is known, or the server says what it takes.
	refusedShare, refusedKnown = 600_000, 900_000
	// leastReply is the room for a reply, in tokens, that a request must leave.
	leastReply = 1024
	// leastGain is the part of the budget that must have been added since room was
	// made last, before it is made again.
	leastGain = 100_000
	// maxBrief is after how many summaries in a row that have made room for briefSteps
	// steps at most no more are asked for: what cannot leave is too large for the
	// window, and a call of the model before each step only costs.
	maxBrief, briefSteps = 2, 2
)

// nextSize returns the size of the next request as counted, its tail included.
func (m *Machine) nextSize() int64 {
	_, tail := m.tailBlock()
	return m.sizes.Total() + tail
}

// predict returns what the server will count for a request that is counted as n.
func (m *Machine) predict(n int64) int64 {
	return m.gauge.cal[m.fallback].Predict(m.gauge.reported, m.gauge.reportedOf, n)
}

// method says how predicted sizes come about.
func (m *Machine) method() tokens.Method {
	if m.fallback == 0 && m.spec.Window.Tokenizer != "" {
		return tokens.Exact
	}
	return m.gauge.cal[m.fallback].Method()
}

// observe learns from what the server says of the request that it has answered. One
// without tools is left alone: it was counted with them.
func (m *Machine) observe(u *message.Usage) {
	input, ok := u.Input.Get()
	if !ok || m.call.noTools || m.call.counted <= 0 {
		return
	}
	if m.gauge.cal[m.fallback].Observe(m.call.counted, input, m.size()) == "" {
		m.gauge.reported, m.gauge.reportedOf = input, m.call.counted
	}
}

// size returns the window's size, 0 if it is unknown.
func (m *Machine) size() int64 {
	n := m.spec.Window.Size
	if n <= 0 || m.gauge.size > 0 && m.gauge.size < n {
		n = m.gauge.size
	}
	return max(n, 0)
}

// margin returns the part of the room that is used, per million.
func (m *Machine) margin() int64 {
	n := m.spec.Window.Margin
	if n <= 0 || n > million {
		n = million
	}
	if m.gauge.cal[m.fallback].Method() == tokens.Calibrated {
		n = max(n, warmMargin)
	}
	return n
}

// budget returns how many tokens a request may have, as the server counts; 0:
// nobody knows.
func (m *Machine) budget() int64 {
	w := m.spec.Window
	if m.strategy == nil {
		return window.Budget(&w)
	}
	w.Size, w.Margin = m.size(), m.margin()
	w.Reserve = min(w.Reserve, w.Size/2)
	n := window.Budget(&w)
	if w.Size > 0 {
		n = max(min(n, w.Size-min(leastReply, w.Size/8)), 1)
	}
	if most := m.gauge.most; most > 0 && (n == 0 || most < n) {
		n = most
	}
	return n
}

// learn takes note of a request that was too long for the server.
func (m *Machine) learn(d *event.ModelFailed) {
	g := &m.gauge
	if g.refused == 0 || m.call.total < g.refused {
		g.refused = m.call.total
	}
	share := int64(refusedShare)
	if m.size() > 0 {
		share = refusedKnown
	}
	if limit, ok := d.Limit.Get(); ok && limit > 0 {
		share = refusedKnown
		if n := m.size(); n == 0 || limit < n {
			g.size = limit
		}
	}
	if most := max(share64(m.call.total, share), 1); g.most == 0 || most < g.most {
		g.most = most
	}
}

// marks are the sizes that decide about a rewrite, as counted; all 0 if there is no
// budget.
type marks struct{ budget, trigger, target int64 }

// marks returns them for a request that is counted as n.
func (m *Machine) marks(n int64) marks {
	k := marks{budget: m.budget()}
	if k.budget == 0 {
		return k
	}
	if p := m.predict(n); p != n && p > 0 {
		k.budget = max(muldiv(k.budget, n, p), 1)
	}
	in := window.MarksIn{Budget: k.budget, Fixed: m.fixed(), Anchors: m.sizes.Inputs, Growth: m.growth(n), CachedPPM: m.cachedPPM()}
	if m.summarises() {
		in.Summary = window.SummaryShare(&m.spec.Window, k.budget)
	}
	k.trigger, k.target = window.Marks(&m.spec.Window, in)
	return k
}

// fixed returns the size of what stands before the conversation, as counted.
func (m *Machine) fixed() int64 {
	n := m.sizes.Tools
	for i := range m.sizes.System {
		n += m.sizes.System[i].Tokens
	}
	return n
}

// growth returns what a step has added on average since the last rewrite.
func (m *Machine) growth(now int64) int64 {
	steps := m.steps - m.gauge.baseSteps
	if m.gauge.base == 0 || steps <= 0 {
		return 0
	}
	return max(now-m.gauge.base, 0) / steps
}

// cachedPPM returns the price of cached input in parts of that of input, per
// million, 0 if it is unknown.
func (m *Machine) cachedPPM() int64 {
	p := m.spec.Price(m.model())
	if p == nil || p.Input <= 0 || p.Cached <= 0 || p.Cached > p.Input {
		return 0
	}
	return muldiv(p.Cached, million, p.Input)
}

// overflow says what is too large about a request that does not fit.
func overflow(a *event.ContextAssembled) string {
	e := &window.OverflowError{Tokens: a.Tokens, Budget: a.Budget}
	for _, b := range a.Blocks {
		if b.Tokens > e.Size {
			e.Block, e.Size = b.Name, b.Tokens
		}
	}
	return e.Error()
}

// blocks returns the sizes of the blocks of a request with such a tail, as counted.
func (m *Machine) blocks(tail int64) []event.BlockSize {
	s := m.sizes
	s.Tail = tail
	return s.Blocks()
}

// room returns the most that a reply may have, given what was asked for: input and
// output together fit the window, where its size is known. It is a multiple of what
// makes a difference, so that bodies differ only when they must.
func (m *Machine) room(wanted int64) int64 {
	size := m.size()
	if m.strategy == nil || size == 0 || wanted <= 0 || wanted <= size-m.call.total {
		return wanted
	}
	left := max(size-m.call.total, 1) // little only for what had to be sent as it was
	if left > roomUnit {
		left -= left % roomUnit
	}
	return min(left, wanted)
}

const roomUnit = 512

// share64 returns n parts per million of a size.
func share64(n, ppm int64) int64 { return muldiv(n, ppm, million) }

// muldiv returns a·b/c, at most 2⁶², of numbers that are not negative; c is not 0.
func muldiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi >= uint64(c) {
		return 1 << 62
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, 1<<62))
}
