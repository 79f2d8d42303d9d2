package stats

import (
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// Sum is a sum of figures of which some may not be known.
type Sum struct {
	// Known is the sum of those that are.
	Known int64 `json:"known"`
	// Unknown is the number of model calls whose figure nobody reported: the true sum
	// is Known or more.
	Unknown int64 `json:"unknown_calls"`
}

func (s *Sum) add(c message.Count) {
	if n, ok := c.Get(); ok {
		s.Known = plus(s.Known, n)
	} else {
		s.Unknown++
	}
}

func (s *Sum) merge(o Sum) { s.Known, s.Unknown = plus(s.Known, o.Known), s.Unknown+o.Unknown }

// Tokens are what model calls took. Input includes Cached and CacheWrite, Output
// includes Reasoning, as in [message.Usage].
type Tokens struct {
	Input      Sum `json:"input"`
	Cached     Sum `json:"cached"`
	CacheWrite Sum `json:"cache_write"`
	Output     Sum `json:"output"`
	Reasoning  Sum `json:"reasoning"`
}

func (t *Tokens) add(u *message.Usage) {
	t.Input.add(u.Input)
	t.Cached.add(u.Cached)
	t.CacheWrite.add(u.CacheWrite)
	t.Output.add(u.Output)
	t.Reasoning.add(u.Reasoning)
}

func (t *Tokens) merge(o *Tokens) {
	t.Input.merge(o.Input)
	t.Cached.merge(o.Cached)
	t.CacheWrite.merge(o.CacheWrite)
	t.Output.merge(o.Output)
	t.Reasoning.merge(o.Reasoning)
}

// Cost is what model calls cost.
type Cost struct {
	// USD is null if the cost of one call is unknown: Known is then what the others
	// cost, and Unknown how many are not in it. A price or the usage is missing. It is
	// null too where calls were made and none was charged: nobody has said that they
	// cost nothing, and their tokens are as unknown.
	USD     *trace.USD `json:"usd"`
	Known   trace.USD  `json:"known_usd"`
	Unknown int64      `json:"unknown_calls"`
	// The parts of Known, which do not overlap. InFull is for the input of calls whose
	// server did not say what it had kept of it: it is charged in full, which is the
	// most that it can have cost.
	Uncached   trace.USD `json:"uncached_input_usd"`
	InFull     trace.USD `json:"input_in_full_usd"`
	Cached     trace.USD `json:"cached_input_usd"`
	CacheWrite trace.USD `json:"cache_write_usd"`
	Output     trace.USD `json:"output_usd"`
	Reasoning  trace.USD `json:"reasoning_usd"`

	charged int64 // calls
}

func (c *Cost) add(u *message.Usage, p *message.Price) {
	c.charged++
	part, ok := u.Cost(p)
	if !ok {
		c.Unknown++
		return
	}
	usd := func(n int64) trace.USD { return trace.USD(n) }
	full, total := int64(0), part.Total()
	if u.Cached == 0 {
		full, part.Uncached = part.Uncached, 0
	}
	c.merge(&Cost{Known: usd(total), Uncached: usd(part.Uncached), InFull: usd(full), Cached: usd(part.Cached),
		CacheWrite: usd(part.CacheWrite), Output: usd(part.Output), Reasoning: usd(part.Reasoning)})
}

func (c *Cost) merge(o *Cost) {
	c.Unknown += o.Unknown
	c.charged += o.charged
	for _, s := range []struct {
		to *trace.USD
		n  trace.USD
	}{{&c.Known, o.Known}, {&c.Uncached, o.Uncached}, {&c.InFull, o.InFull}, {&c.Cached, o.Cached}, {&c.CacheWrite, o.CacheWrite},
		{&c.Output, o.Output}, {&c.Reasoning, o.Reasoning}} {
		*s.to = trace.USD(plus(int64(*s.to), int64(s.n)))
	}
}

// summed returns the cost of so many calls with USD, if that is known.
func (c Cost) summed(calls int64) Cost {
	if c.Unknown == 0 && (c.charged > 0 || calls == 0) {
		known := c.Known
		c.USD = &known
	}
	return c
}
