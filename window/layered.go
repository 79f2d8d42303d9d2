package window

const (
	// leastGroups is how many of the last groups stay whole, whatever their size, as
	// long as the request fits its budget.
	leastGroups = 3
	// recentPPM is how much of the target the last groups may have beyond those.
	recentPPM = 600_000
	// gainPPM is the least that a plan at the mark must win, in parts per million of
	// the budget. With less, the mark is reached again a few steps later, and each
	// time the whole prefix is sent anew; it is cheaper to wait for the budget.
	gainPPM = 100_000
)

// layered is the default. First goes what is of no use any more, and old results
// become stubs that keep some facts; the oldest groups leave only if that does not
// land.
type layered struct{}

func (layered) Name() string { return Layered }
func (layered) Always() bool { return false }

func (layered) Plan(v *View) Plan {
	if !v.reached() {
		return Plan{}
	}
	return deep(v, leastGroups, (*planner).layers)
}

// deep plans with as many whole groups at the end as it may, at least least, and
// fewer if the request would be too large with them.
func deep(v *View, least int, how func(p *planner, old int)) Plan {
	over := v.Forced || v.Total() > v.Budget // a mark was reached, so there is a budget
	for {
		p := newPlanner(v)
		how(p, p.old(least))
		out := p.plan()
		out.Summarise = out.Upto > 0 && !v.NoSummary
		switch {
		case p.total <= p.goal, over && least <= 1:
			return out
		case !over && p.total <= v.Trigger-part(v.Budget, gainPPM):
			return out
		case !over:
			return Plan{}
		case !v.Forced && p.total <= v.Budget-part(v.Budget, gapPPM):
			return out
		}
		least--
	}
}

// layers is how layered plans; the groups from old on stay as they are.
func (p *planner) layers(old int) {
	p.tidy(old)
	p.stubOld(old)
	if p.total > p.goal {
		p.evict(old)
	}
	p.fillStubs()
}

// old returns how many groups are old: the last ones are not, at least least of
// them, and more as far as there is room for both them and the digest.
func (p *planner) old(least int) int {
	if k := p.v.Spec.Keep; k > 0 && least == leastGroups {
		return max(len(p.groups)-int(min(k, 1<<30)), 0)
	}
	room := min(part(p.goal, recentPPM), p.free()-p.digest)
	n := len(p.groups)
	for kept := 0; n > 0; kept++ {
		room -= p.groups[n-1].tokens
		if kept >= least && room < 0 {
			break
		}
		n--
	}
	return n
}

// tidy gives up what is of no use any more in the first n groups.
func (p *planner) tidy(n int) {
	for _, g := range p.groups[:n] {
		if i, ok := g.lone(p.v.Entries); ok && p.v.Entries[i].Handled {
			p.drop(g)
			continue
		}
		for i := g.from; i < g.to; i++ {
			switch e := &p.v.Entries[i]; {
			case e.Kind != Result || e.Stubbed || e.answer():
			case e.Handled:
				p.stub(i, HandledError)
			case e.Same != "":
				p.stub(i, Duplicate)
			case e.Newer != "":
				p.stub(i, ObsoleteRead)
			}
		}
	}
}

// drop plans that a group goes by itself, its call with its result.
func (p *planner) drop(g group) {
	if !p.dropped {
		p.dropped = true
		p.total += p.growth()
	}
	for i := g.from; i < g.to; i++ {
		if leaves(&p.v.Entries[i]) {
			p.edit(i, ActionDrop, HandledError, "")
		}
	}
}

// growth is what a digest grows by, or is there at all, with a plan that only edits.
func (p *planner) growth() int64 { return part(editGrowth+digestHead, p.measure.ppm) }

// stub puts a line in the place of a result, if that is shorter.
func (p *planner) stub(i int, why string) {
	e := &p.v.Entries[i]
	text := Stub(e, why, p.v.Reach)
	if p.edits[i] == nil && p.measure.message(e.Msg, text) < e.Tokens {
		p.edit(i, ActionStub, why, text)
	}
}

// stubOld puts stubs in the place of results of the first n groups, the oldest
// first, until the request is at the goal.
func (p *planner) stubOld(n int) {
	for _, g := range p.groups[:n] {
		for i := g.from; i < g.to && p.total > p.goal; i++ {
			if e := &p.v.Entries[i]; e.Kind == Result && !e.Stubbed && !e.answer() {
				p.stub(i, OldResult)
			}
		}
	}
}

// fillStubs gives stubs that stay facts of what they stand for, as far as there is
// room.
func (p *planner) fillStubs() {
	room := min(p.goal-p.total, p.v.share())
	if room <= 0 {
		return
	}
	var at []int
	var size extent
	start := 0
	if p.gone > 0 {
		start = p.groups[p.gone-1].to
	}
	for i := start; i < len(p.edits); i++ {
		if x := p.edits[i]; x != nil && x.Action == ActionStub && (x.Why == OldResult || x.Why == ObsoleteRead) {
			at = append(at, i)
			size.message(p.v.Entries[i].Msg)
		}
	}
	if len(at) == 0 {
		return
	}
	f := newFinder(p.measure, size)
	for i, x := range p.edits {
		if x == nil {
			f.keep(p.v.Entries[i].Msg)
		}
	}
	for _, i := range at {
		x := p.edits[i]
		f.add(source{number: x.Message, stale: x.Why == ObsoleteRead}, saidIn(p.v.Entries[i].Msg))
	}
	p.fill(f, at, room)
}

// fill appends the chosen facts to the stubs of the entries at.
func (p *planner) fill(f *finder, at []int, room int64) {
	chosen := f.best(room, part(headTokens, p.measure.ppm))
	for k := 0; k < len(chosen); {
		from := f.facts[chosen[k]].source
		i := at[from]
		text := p.edits[i].Text + "\nFrom it:"
		for ; k < len(chosen) && f.facts[chosen[k]].source == from; k++ {
			text += "\n" + item + f.facts[chosen[k]].text
		}
		if p.measure.message(p.v.Entries[i].Msg, text) < p.v.Entries[i].Tokens {
			p.edit(i, ActionStub, p.edits[i].Why, text)
		}
	}
}
