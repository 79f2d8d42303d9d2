package window

import (
	"cmp"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// planner is a plan in the making.
type planner struct {
	v       *View
	groups  []group
	measure measure
	// goal is where the plan is to land.
	goal int64
	// edits has the edit of each entry, by index; nil: none.
	edits []*event.ContextEdit
	// gone is how many groups leave; dropped: others are given up by themselves, and
	// the digest grows by what they have taught.
	gone    int
	dropped bool
	// total is the size of the request as planned, with the digest that is there now
	// or, once groups leave, with digest in its place: what is set apart for the new.
	total, digest int64
}

func newPlanner(v *View) *planner {
	p := &planner{v: v, groups: groupsOf(v.Entries), measure: v.measure(), goal: v.goal(), total: v.Total()}
	p.edits = make([]*event.ContextEdit, len(v.Entries))
	p.digest = min(v.share(), max(p.free()/2, v.share()/leastDigest))
	return p
}

// goal is where a plan lands, if it can.
func (v *View) goal() int64 {
	if v.Forced {
		// The server counts otherwise than we do: by our own count it is to be much less.
		low := part(v.Total(), forcedPPM)
		if v.Target > 0 {
			low = min(low, v.Target)
		}
		return low
	}
	return v.Target
}

// reached reports whether a strategy that waits for the mark acts now. A window of
// unknown size has none.
func (v *View) reached() bool { return v.Forced || v.Trigger > 0 && v.Total() >= v.Trigger }

// share returns the digest's part of the budget; of the request, where the budget is
// not known.
func (v *View) share() int64 {
	if v.Budget <= 0 {
		return Share(v.Spec, BlockDigest, v.Total())
	}
	return Share(v.Spec, BlockDigest, v.Budget)
}

// forcedPPM is what is left of a request that a server has refused as too long.
const forcedPPM = 600_000

// free is what the goal leaves for digest and turns.
func (p *planner) free() int64 {
	n := p.goal - p.v.Fixed - p.v.Tail
	for i := range p.v.Entries {
		if e := &p.v.Entries[i]; e.Kind == Input {
			n -= e.Tokens
		}
	}
	return max(n, 0)
}

// edit plans to replace an entry's content.
func (p *planner) edit(i int, action, why, text string) {
	e := &p.v.Entries[i]
	before := p.size(i)
	x := &event.ContextEdit{Message: e.Number, Action: action, Why: why, Text: text}
	if action != ActionDrop {
		x.Tokens = message.Known(p.measure.message(e.Msg, text))
	}
	p.edits[i] = x
	p.total += p.size(i) - before
}

// size returns the size of an entry as planned so far.
func (p *planner) size(i int) int64 {
	if x := p.edits[i]; x != nil {
		return x.Tokens.Or(0)
	}
	return p.v.Entries[i].Tokens
}

// evict takes out the oldest groups, n of them at most, until the request is at the
// goal with what is set apart for the digest.
func (p *planner) evict(n int) {
	for p.gone < n && (p.gone == 0 || p.total > p.goal) {
		p.evictOne()
	}
}

// evictAll takes out the oldest groups until n are gone.
func (p *planner) evictAll(n int) {
	for p.gone < n {
		p.evictOne()
	}
}

// evictOne takes out the oldest group that is there.
func (p *planner) evictOne() {
	if p.gone == 0 {
		p.begin()
	}
	g := p.groups[p.gone]
	for i := g.from; i < g.to; i++ {
		if leaves(&p.v.Entries[i]) {
			p.total -= p.size(i)
		}
	}
	p.gone++
}

// begin puts the new digest in the place of the old, and takes out what leaves with
// any group: what stands before the first.
func (p *planner) begin() {
	p.total += p.digest
	if p.dropped {
		p.total -= p.growth()
	}
	first := p.groups[0].from
	for i := range p.v.Entries {
		if e := &p.v.Entries[i]; e.Kind == Digest || i < first && leaves(e) {
			p.total -= p.size(i)
		}
	}
}

// leaves reports whether an entry leaves with its group. The newest material does
// not, which only makes a plan land lower than it says.
func leaves(e *Entry) bool { return e.Kind != Input && e.Kind != Digest && e.Kind != Material }

// plan returns the plan: edits of what stays, sorted; zero if there is nothing.
func (p *planner) plan() Plan {
	var out Plan
	if p.gone > 0 {
		out.Upto = p.upto()
	}
	for i, x := range p.edits {
		if x != nil && (x.Message >= out.Upto || !leaves(&p.v.Entries[i])) {
			out.Edits = append(out.Edits, *x)
		}
	}
	slices.SortFunc(out.Edits, func(a, b event.ContextEdit) int { return cmp.Compare(a.Message, b.Message) })
	if !out.Zero() {
		out.Why = p.why()
	}
	return out
}

// upto returns the number before which everything leaves.
func (p *planner) upto() int64 {
	if p.gone < len(p.groups) {
		return p.v.Entries[p.groups[p.gone].from].Number
	}
	last := int64(0)
	for i := range p.v.Entries {
		last = max(last, p.v.Entries[i].Number)
	}
	return last + 1
}

// why says what made a plan necessary.
func (p *planner) why() string {
	total := p.v.Total()
	switch {
	case p.v.Forced:
		return "the server has refused the request as too long: " + group3(total) + " tokens by our count"
	case total > p.v.Budget && p.v.Budget > 0:
		return group3(total) + " tokens are more than the budget of " + group3(p.v.Budget)
	case total >= p.v.Trigger:
		return group3(total) + " tokens have reached the mark of " + group3(p.v.Trigger)
	}
	return "the strategy keeps the last groups only"
}
