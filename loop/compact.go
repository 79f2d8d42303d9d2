package loop

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// making is how far the making of room is, between two steps. The zero value is
// none: it begins when a request is due, and ends when that is assembled.
type making struct {
	// done counts the rewrites since the last request: the first is the strategy's,
	// the second, where that was not enough, deterministic.
	done int
	// refused: the server says that the last request was too long, so that something
	// must be given up whatever the sizes say.
	refused *event.ModelFailed
	// view and plan are what a summary is asked for, while it is.
	view *window.View
	plan window.Plan
	// failed says why summaries could not be had or used, hopeless that no other is
	// to be asked for.
	failed   []string
	hopeless bool
	// summary is the one that can be used.
	summary string
}

// asked reports whether a summary is being asked for.
func (k *making) asked() bool { return k.view != nil }

const (
	// maxSummaries is how often a summary is asked for at one boundary.
	maxSummaries = 2
	// maxVain is at how many boundaries in a row summaries may be asked for in vain:
	// then the run goes on without any.
	maxVain = 2
	// maxRewrites is how often the context is rewritten before one request.
	maxRewrites = 2
	// maxRefused is how often a step's request that is refused as too long is made
	// smaller and sent again: first as the strategy has it, then by all that can be
	// done.
	maxRefused = 2
)

// drawn is a decision that Next has made and nobody has recorded yet, so that it is
// not made again.
type drawn struct {
	seq     int64 // after this event
	purpose event.Purpose
	data    event.Data // nil: nothing is to be done
	view    *window.View
	plan    window.Plan
}

// makeRoom decides what has to be done to the context before a request for that
// purpose, counted as n; nil: nothing. It looks at no message unless there is
// something to do.
func (m *Machine) makeRoom(purpose event.Purpose, n int64) event.Data {
	if m.strategy == nil || !m.due(purpose, n) {
		return nil
	}
	if d := &m.drawn; d.seq != m.seq || d.purpose != purpose {
		*d = drawn{seq: m.seq, purpose: purpose}
		d.data = m.rewrite(d, n)
	}
	return m.drawn.data
}

// due reports whether room is to be made before a request that is counted as n.
// The last call of a run has none after it, so only what it needs is done for it.
func (m *Machine) due(purpose event.Purpose, n int64) bool {
	k := &m.making
	switch {
	case k.refused != nil || k.summary != "":
		return true
	case k.done >= maxRewrites:
		return false
	case k.done == 0 && !k.asked() && m.strategy.Always():
		return true
	}
	marks := m.marks(n)
	switch {
	case marks.budget == 0:
		return false
	case n > marks.budget:
		return true
	case k.done > 0 || purpose == event.PurposeFinal:
		return false
	}
	return k.asked() || m.full(n, marks)
}

// full reports whether a request has reached the size at which room is made, and
// has grown since that was tried last.
func (m *Machine) full(n int64, k marks) bool {
	return k.budget > 0 && n >= k.trigger && n >= m.gauge.landed+share64(k.budget, leastGain)
}

// rewrite decides how room is made, and notes in d what a summary would be asked
// for. Nil: no room can be made, or what could is not worth it.
func (m *Machine) rewrite(d *drawn, n int64) event.Data {
	k := &m.making
	switch {
	case k.summary != "":
		if c := m.compaction(k.view, &k.plan, k.summary); c != nil {
			return c
		}
	case k.asked() && m.mayAsk():
		return m.askSummary(k.view, &k.plan)
	}
	v := m.view(n)
	if k.done == 0 && m.tooLong < maxRefused {
		if c := m.asPlanned(d, v); c != nil {
			return c
		}
		if k.refused == nil && n <= v.Budget {
			return nil
		}
	}
	v.NoSummary = true
	p := window.Trim(v)
	return m.compaction(v, &p, "")
}

// asPlanned carries out what the strategy plans: without a summary, if one was asked
// for in vain.
func (m *Machine) asPlanned(d *drawn, v *window.View) event.Data {
	v.NoSummary = !m.mayAsk()
	p := m.strategy.Plan(v)
	if p.Summarise && !v.NoSummary && !m.summaryFits(v, &p) {
		v.NoSummary = true
		p = m.strategy.Plan(v)
	}
	if p.Summarise && !v.NoSummary {
		d.view, d.plan = v, p
		return m.askSummary(v, &p)
	}
	return m.compaction(v, &p, "")
}

// view returns the context as a strategy sees it; n is its size as counted.
func (m *Machine) view(n int64) *window.View {
	k := m.marks(n)
	_, tail := m.tailBlock()
	return &window.View{Spec: &m.spec.Window, Entries: m.viewEntries(), Fixed: m.fixed(), Tail: tail,
		Budget: k.budget, Trigger: k.trigger, Target: k.target, Forced: m.making.refused != nil, Digest: m.digest, Reach: m.Reach()}
}

// relieve has a request that was refused as too long made smaller, and sent again;
// it reports false if that was done often enough, or the run knows no way to do it.
func (m *Machine) relieve(d *event.ModelFailed) bool {
	if m.strategy == nil || m.tooLong >= maxRefused {
		return false
	}
	m.tooLong++
	m.learn(d)
	m.making.refused = d
	m.resuming = 0 // what is given up may stand before a reply that was to go on
	m.phase = phaseBoundary
	m.flush()
	return true
}

// compaction returns the event that carries a plan out; nil if it changes nothing,
// or wins nothing.
func (m *Machine) compaction(v *window.View, p *window.Plan, summary string) event.Data {
	if p.Zero() {
		return nil
	}
	if summary == "" {
		summary = v.Digest.Summary
	}
	d := &event.ContextCompacted{Strategy: m.strategy.Name(), Why: p.Why, Upto: p.Upto, Summary: summary,
		Snapshot: window.TakeSnapshot(v, p, summary), Edits: slices.Clone(p.Edits), Failed: m.making.failed}
	if m.gauge.brief >= maxBrief && m.summarises() {
		d.Failed = append(slices.Clone(d.Failed), "none was asked for: the last "+strconv.FormatInt(m.gauge.brief, 10)+" have made room for "+
			plural(briefSteps, "step")+" at most each; "+m.immovable())
	}
	if lost := window.Missing(v, p, window.DigestText{Summary: d.Summary, Snapshot: d.Snapshot, Upto: p.Upto}); len(lost) > 0 {
		d.Snapshot = strings.TrimSpace(d.Snapshot + "\nAlso: " + strings.Join(lost, "; "))
	}
	m.measure(d)
	before := m.sizes.Total()
	after := before
	for _, e := range m.items {
		after -= e.tokens
	}
	for _, e := range m.apply(d) {
		after += e.Tokens
	}
	if after >= before {
		return nil
	}
	d.Before, d.After = m.predict(before), m.predict(after)
	return d
}

// immovable names the largest block that no rewrite makes smaller.
func (m *Machine) immovable() string {
	var largest event.BlockSize
	for _, b := range m.blocks(0) {
		switch b.Name {
		case window.BlockTurns, window.BlockDigest, window.BlockMaterial:
		default:
			if b.Tokens > largest.Tokens {
				largest = b
			}
		}
	}
	return strconv.Quote(largest.Name) + " takes " + plural(largest.Tokens, "token") + " of " + strconv.FormatInt(m.budget(), 10)
}

// measure fills in the sizes that are not known: of the digest and of what edits
// leave.
func (m *Machine) measure(d *event.ContextCompacted) {
	for i := range d.Edits {
		e := &d.Edits[i]
		if _, known := e.Tokens.Get(); known || e.Action == window.ActionDrop {
			continue
		}
		for k := range m.items {
			if m.items[k].number == e.Message {
				msg := window.Edited(&m.msgs[k], e.Text)
				e.Tokens = message.Known(estimate(&msg))
			}
		}
	}
	if digest := m.digestEntry(d); digest != nil {
		d.Tokens = message.Known(digest.Tokens)
	}
}

// digestOf returns what stands in the place of what has left after d.
func (m *Machine) digestOf(d *event.ContextCompacted) window.DigestText {
	return window.DigestText{Summary: d.Summary, Snapshot: d.Snapshot, Upto: max(m.digest.Upto, d.Upto), Reach: m.Reach()}
}

// digestEntry returns the message that a rewrite puts in the place of what has left;
// nil if it leaves what is there.
func (m *Machine) digestEntry(d *event.ContextCompacted) *window.Entry {
	text := m.digestOf(d)
	if text.Empty() && d.Upto == 0 {
		return nil
	}
	msg := window.DigestMessage(text)
	return &window.Entry{Number: -1, Kind: window.Digest, Msg: &msg, Tokens: d.Tokens.Or(estimate(&msg))}
}

// apply returns the context as d leaves it.
func (m *Machine) apply(d *event.ContextCompacted) []window.Entry {
	byMessage := func(a, b event.ContextEdit) int { return cmp.Compare(a.Message, b.Message) }
	edits := d.Edits
	if !slices.IsSortedFunc(edits, byMessage) {
		edits = slices.Clone(edits)
		slices.SortStableFunc(edits, byMessage)
	}
	return window.Apply(m.plainEntries(), &window.Plan{Edits: edits, Upto: d.Upto}, m.digestEntry(d))
}

// compacted folds context.compacted: the conversation is another one from here on.
// Commands that are outstanding keep the one that they have.
func (m *Machine) compacted(d *event.ContextCompacted) {
	if m.phase != phaseBoundary {
		return
	}
	entries := m.apply(d)
	m.gauge.rewritten(m.steps, m.making.summary != "")
	m.progress.again.rewritten()
	if digest := m.digestEntry(d); digest != nil {
		m.digest = m.digestOf(d)
	}
	if m.past.Len() == 0 {
		m.past = m.History()
	}
	same := m.replace(entries)
	m.epoch++
	m.sent = min(m.sent, m.fixed()+same)
	if m.joinOpened() {
		m.sent = 0
	}
	m.left()
	m.inVainAsked()
	m.making, m.drawn = making{done: m.making.done + 1}, drawn{}
	n := m.nextSize()
	m.gauge.base, m.gauge.baseSteps, m.gauge.landed = n, m.steps, n
}

// replace makes the entries the conversation, and returns the size of those at its
// beginning that are as they were.
func (m *Machine) replace(entries []window.Entry) (same int64) {
	const spare = 16 // for the next steps
	msgs, items := make([]message.Message, 0, len(entries)+spare), make([]item, 0, len(entries)+spare)
	sizes := m.sizes
	sizes.Inputs, sizes.Digest, sizes.Material, sizes.Turns = 0, 0, 0, 0
	at := make([]int32, m.past.Len()) // where each message stands now
	for k := range m.items {
		if n := m.items[k].number; n >= 0 {
			at[n] = int32(k)
		}
	}
	prefix := true
	for i := range entries {
		e := &entries[i]
		it := item{number: e.Number, kind: e.Kind}
		if e.Number >= 0 {
			it = m.items[at[e.Number]]
		}
		if prefix = prefix && i < len(m.items) && e.Msg == &m.msgs[i]; prefix {
			same += e.Tokens
		}
		it.tokens, it.stubbed = e.Tokens, e.Stubbed
		msgs, items = append(msgs, *e.Msg), append(items, it)
		sizes.Add(e.Kind, e.Tokens)
	}
	m.msgs, m.items, m.sizes = msgs, items, sizes
	return same
}
