package trace

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// tally is a sum of which some summands may be unknown. Its zero value is nothing.
type tally struct{ sum, unknown int64 }

// add adds a summand, or takes it away again if sign is -1.
func (t *tally) add(c message.Count, sign int64) {
	n, ok := c.Get()
	switch {
	case !ok:
		t.unknown += sign
	case sign < 0:
		t.sum = max(t.sum-n, 0)
	default:
		t.sum = message.Known(t.sum).Add(c).Or(message.MaxCount)
	}
}

// count returns the sum, unknown if a summand is.
func (t tally) count() message.Count {
	if t.unknown > 0 {
		return 0
	}
	return message.Known(t.sum)
}

// usageSums are the sums of what was used.
type usageSums struct{ input, uncached, cached, written, output, reasoning tally }

func (s *usageSums) add(u *message.Usage, sign int64) {
	s.input.add(u.Input, sign)
	s.uncached.add(uncached(u), sign)
	s.cached.add(u.Cached, sign)
	s.written.add(u.CacheWrite, sign)
	s.output.add(u.Output, sign)
	s.reasoning.add(u.Reasoning, sign)
}

// uncached returns the input that a server read anew: what it neither had kept nor is
// known to have kept for later.
func uncached(u *message.Usage) message.Count {
	in, ok := u.Input.Get()
	cached, known := u.Cached.Get()
	if !ok || !known {
		return 0
	}
	return message.Known(max(in-cached-u.CacheWrite.Or(0), 0))
}

func (s *usageSums) tokens() Tokens {
	return Tokens{known(s.input.count()), known(s.uncached.count()), known(s.cached.count()), known(s.written.count()), known(s.output.count()), known(s.reasoning.count())}
}

// sums are those of a run.
type sums struct {
	steps, modelCalls, ended, toolCalls int64
	// unreported are calls that were charged and did not say what they used.
	unreported int64
	usage      usageSums
	parts      [5]tally // of the cost, in the order of message.Cost
	cost       tally
	charged    int64 // summands of cost, those below included
	below      belowSums
}

// belowSums are those of the runs that have carried out calls of agents.
type belowSums struct {
	runs, steps, toolCalls int64
	usage                  usageSums
	cost                   tally
}

func (s *sums) add(c *modelCall, sign int64) {
	s.charged += sign
	if c.usage.Input.Add(c.usage.Output) <= 0 {
		s.unreported += sign
	}
	s.usage.add(&c.usage, sign)
	s.cost.add(c.total(), sign)
	parts := [...]int64{c.cost.Uncached, c.cost.Cached, c.cost.CacheWrite, c.cost.Output, c.cost.Reasoning}
	for i, n := range parts {
		var part message.Count
		if c.priced {
			part = message.Known(n)
		}
		s.parts[i].add(part, sign)
	}
}

// spent adds what the run of an agent has used.
func (s *sums) spent(d *event.Spent) {
	if d == nil {
		return
	}
	s.charged++
	b := &s.below
	b.runs++
	b.steps, b.toolCalls = *plus(&b.steps, d.Steps), *plus(&b.toolCalls, d.ToolCalls)
	b.usage.add(&d.Usage, 1)
	b.cost.add(d.Cost, 1)
}

// total returns what the run has cost so far with the runs below it, nil if that is
// unknown or nothing was charged yet.
func (f *Fold) total() *USD {
	if f.gap || f.sums.charged <= 0 {
		return nil
	}
	return usd(f.sums.cost.count().Add(f.sums.below.cost.count()))
}

// costParts returns the parts of the cost, nil if they are unknown.
func (s *sums) costParts() *CostParts {
	if s.cost.unknown > 0 {
		return nil
	}
	p := &s.parts
	return &CostParts{USD(p[0].sum), USD(p[1].sum), USD(p[2].sum), USD(p[3].sum), USD(p[4].sum)}
}

func partsOf(c *message.Cost) *CostParts {
	return &CostParts{USD(c.Uncached), USD(c.Cached), USD(c.CacheWrite), USD(c.Output), USD(c.Reasoning)}
}

func usd(c message.Count) *USD {
	if n, ok := c.Get(); ok {
		return ptr(USD(n))
	}
	return nil
}
