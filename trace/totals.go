package trace

import (
	"slices"

	"rein.example/rein/event"
)

// Totals are what a run has taken. What a server did not report makes the sum that it
// belongs to null; the calls that it was asked of and that say nothing are counted.
//
// Tokens, cost and models are those of the run itself. What runs of agents have used
// that it has called as tools stands apart in Below: they are runs of their own, with
// totals of their own, so who adds over many runs leaves Below out.
type Totals struct {
	// Steps counts the replies that were acted on, as limits do and as a run's result
	// has it; ModelCalls all attempts of all purposes, ToolCalls the calls that were
	// executed at least once.
	Steps      int64 `json:"steps"`
	ModelCalls int64 `json:"model_calls"`
	ToolCalls  int64 `json:"tool_calls"`
	// Unreported are the model calls that were charged and did not say what they used;
	// Unanswered those without an outcome, of which nobody knows: they are under way,
	// or their process has died.
	Unreported int64 `json:"unreported_calls"`
	Unanswered int64 `json:"unanswered_calls"`
	// Time says where the time has gone; it is null for a run that another program has
	// recorded, which does not say it, and for a fork of one.
	Time *Times `json:"time"`
	// Tokens, Cost and CostParts are null, or have members that are, where something
	// is unknown; so they are while no call was charged, since a server that has only
	// failed has said nothing.
	Tokens    Tokens     `json:"tokens"`
	Cost      *USD       `json:"cost_usd"`
	CostParts *CostParts `json:"cost_parts"`
	// Models are the same by model, in the order in which they were called first.
	Models []ModelTotal `json:"models"`
	// Below is what the runs below have used; left out where there are none.
	Below *Below `json:"below,omitempty"`
	// CostWithBelow is the cost of both, as limits count it.
	CostWithBelow *USD `json:"cost_with_below_usd"`
	// BeforeFork is what of all this was there when the run was forked from another,
	// which has paid for it; left out where it was not. It has no Models.
	BeforeFork *Totals `json:"before_fork,omitempty"`
}

// Tokens are sums over the calls of a run. Input is Uncached, Cached and CacheWrite;
// where no cache writes are reported they are in Uncached. Reasoning is a part of
// Output.
type Tokens struct {
	Input      *int64 `json:"input_tokens"`
	Uncached   *int64 `json:"uncached_tokens"`
	Cached     *int64 `json:"cached_tokens"`
	CacheWrite *int64 `json:"cache_write_tokens"`
	Output     *int64 `json:"output_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

// CostParts is what was paid for, in dollars; the parts don't overlap. A part is null
// where the tokens that it is for are. Of a server that does not say how much of the
// input it had kept, all of that is charged in full (see [message.Usage.Cost]): Uncached
// and Cached are null then, and the cost that these are parts of is the most that it can
// have been. Where Reasoning is null it is in Output; what cache writes cost of which
// nobody knows is in Uncached.
type CostParts struct {
	Uncached   *USD `json:"uncached"`
	Cached     *USD `json:"cached"`
	CacheWrite *USD `json:"cache_write"`
	Output     *USD `json:"output"`
	Reasoning  *USD `json:"reasoning"`
}

// Paid is one thing that was paid for, in words for people.
type Paid struct {
	What string
	USD  USD
}

// Paid lists what a cost of total was for, as far as it is known; nothing that was for
// nothing is in it.
func (p *CostParts) Paid(total USD) []Paid {
	if p == nil {
		return nil
	}
	rest := total
	of := func(what string, u *USD) Paid {
		if u == nil {
			return Paid{}
		}
		rest -= *u
		return Paid{what, *u}
	}
	out := []Paid{of("output", p.Output), of("reasoning", p.Reasoning)}
	if p.Uncached == nil || p.Cached == nil {
		out = append([]Paid{{"input at the full price", rest}}, out...)
	} else {
		in := []Paid{of("input read anew", p.Uncached), of("cached", p.Cached)}
		out = append(append(in, Paid{"written to the cache", rest}), out...) // the rest, if not all calls have said it
	}
	return slices.DeleteFunc(out, func(x Paid) bool { return x.USD <= 0 })
}

// ModelTotal is what the calls of one model have taken.
type ModelTotal struct {
	// Model is the id as it was asked for.
	Model string `json:"model"`
	// Calls counts attempts, those that failed included.
	Calls int64 `json:"calls"`
	// Tokens are input and output, null if one call did not say what it used, or none was
	// charged; Cost is null while prices are unknown, and then.
	Tokens *int64 `json:"tokens"`
	Cost   *USD   `json:"cost_usd"`

	tokens, cost tally
}

// Below is what runs have used that carry out calls of agents, with those below them.
type Below struct {
	// Runs counts those that have ended.
	Runs      int64  `json:"runs"`
	Steps     int64  `json:"steps"`
	ToolCalls int64  `json:"tool_calls"`
	Tokens    Tokens `json:"tokens"`
	Cost      *USD   `json:"cost_usd"`

	sums belowSums
}

// Totals returns what the run has taken so far.
func (f *Fold) Totals() Totals {
	t := f.here()
	t.BeforeFork = f.forked
	t.Models = make([]ModelTotal, len(f.byModel))
	for i := range f.byModel {
		m := &f.byModel[i]
		t.Models[i] = ModelTotal{Model: m.Model, Calls: m.Calls, Tokens: known(m.tokens.said()), Cost: usd(m.cost.said())}
	}
	return t
}

// here returns the sums as they stand, without those by model.
func (f *Fold) here() Totals {
	s := &f.sums
	t := Totals{Steps: s.steps, ModelCalls: s.modelCalls, ToolCalls: s.toolCalls, Unreported: s.unreported, Unanswered: s.modelCalls - s.ended,
		CostParts: s.costParts()}
	if s.calls > 0 {
		t.Tokens, t.Cost, t.CostWithBelow = s.usage.tokens(), usd(s.cost.count()), usd(s.cost.count().Add(s.below.cost.count()))
	}
	if times := f.clock.times; !f.untimed {
		t.Time = &times
	}
	if s.below.runs > 0 {
		t.Below = s.below.total()
	}
	return t
}

func (s belowSums) total() *Below {
	return &Below{Runs: s.runs, Steps: s.steps, ToolCalls: s.toolCalls, Tokens: s.usage.tokens(), Cost: usd(s.cost.count()), sums: s}
}

// and returns the sum of b, nil for nothing, and what one more execution has spent,
// nil for nothing.
func (b *Below) and(d *event.Spent) *Below {
	if d == nil {
		return b
	}
	var s sums
	if b != nil {
		s.below = b.sums
	}
	s.spent(d)
	return s.below.total()
}

// A Point is how far a run was with one step.
type Point struct {
	Step int64 `json:"step"`
	// Time is when the step's request began, in Unix milliseconds.
	Time int64 `json:"ts"`
	// Input is the size of the request, and Output that of the reply, in tokens, as
	// its server counts them; CachedPPM the share of the input that the server had
	// kept, in millionths. Each is null where it is not known.
	Input     *int64 `json:"input_tokens"`
	Output    *int64 `json:"output_tokens"`
	CachedPPM *int64 `json:"cached_ppm"`
	// Cost is what the run had cost by the end of the step, with its calls.
	Cost *USD `json:"cumulative_cost"`
}

// Curve returns a point for each step of rows: of its last attempt that says what it
// took in, else of its first. Summaries and checks beside a step add to its cost only.
func Curve(rows []Row) []Point {
	points := []Point{}
	for i := range rows {
		r := &rows[i]
		n := len(points)
		own := r.Purpose != nil && !event.Purpose(*r.Purpose).Aside()
		switch {
		case own && (n == 0 || points[n-1].Step != r.Step):
			points = append(points, Point{Step: r.Step, Time: r.Time, Input: r.PromptTokens, Output: r.CompletionTokens, CachedPPM: r.CachedPPM, Cost: r.CumulativeCost})
			continue
		case own && r.PromptTokens != nil:
			p := &points[n-1]
			p.Input, p.Output, p.CachedPPM = r.PromptTokens, r.CompletionTokens, r.CachedPPM
		}
		if n > 0 && points[n-1].Step == r.Step && ended(r) {
			points[n-1].Cost = r.CumulativeCost
		}
	}
	return points
}

// ended reports whether a row has an outcome.
func ended(r *Row) bool { return r.FinishReason != nil || r.ToolStatus != nil }
