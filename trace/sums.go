package trace

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// tally is a sum of which some summands may be unknown. Its zero value is nothing.
type tally struct{ sum, unknown, summands int64 }

// add adds a summand, or takes it away again if sign is -1.
func (t *tally) add(c message.Count, sign int64) {
	n, ok := c.Get()
	t.summands += sign
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

// said returns the sum, unknown if a summand is or there is none: where nothing was
// charged nobody has said that it was 0.
func (t tally) said() message.Count {
	if t.summands <= 0 {
		return 0
	}
	return t.count()
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
	written    tally    // what output cost, reasoning included
	cost       tally
	calls      int64 // those that were charged: summands of all of these
	charged    int64 // the same, and the runs below
	below      belowSums
}

// belowSums are those of the runs that have carried out calls of agents.
type belowSums struct {
	runs, steps, toolCalls int64
	usage                  usageSums
	cost                   tally
}

func (s *sums) add(c *modelCall, sign int64) {
	s.calls += sign
	s.charged += sign
	if c.usage.Input.Add(c.usage.Output) <= 0 {
		s.unreported += sign
	}
	s.usage.add(&c.usage, sign)
	s.cost.add(c.total(), sign)
	for i, part := range c.parts() {
		s.parts[i].add(part, sign)
	}
	s.written.add(message.Known(c.cost.Output+c.cost.Reasoning), sign)
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

// costParts returns the parts of the cost, nil if it is unknown.
func (s *sums) costParts() *CostParts {
	if s.calls <= 0 || s.cost.unknown > 0 {
		return nil
	}
	var parts [5]message.Count
	for i := range parts {
		parts[i] = s.parts[i].count()
	}
	return partsOf(&parts, s.written.count())
}

// parts returns what a call cost by kind of token, in the order of message.Cost, each
// unknown where its tokens are.
func (c *modelCall) parts() (parts [5]message.Count) {
	if !c.priced {
		return parts
	}
	u, k := &c.usage, message.Known
	if u.Cached != 0 {
		parts[0], parts[1] = k(c.cost.Uncached), k(c.cost.Cached)
	}
	if u.CacheWrite != 0 {
		parts[2] = k(c.cost.CacheWrite)
	}
	parts[3] = k(c.cost.Output)
	if u.Reasoning != 0 {
		parts[4] = k(c.cost.Reasoning)
	}
	return parts
}

// partsOf returns parts of a cost of which output, reasoning included, is written.
func partsOf(parts *[5]message.Count, written message.Count) *CostParts {
	if parts[4] == 0 { // not known of all calls: it is in the output
		parts[3] = written
	}
	return &CostParts{usd(parts[0]), usd(parts[1]), usd(parts[2]), usd(parts[3]), usd(parts[4])}
}

func usd(c message.Count) *USD {
	if n, ok := c.Get(); ok {
		return ptr(USD(n))
	}
	return nil
}
