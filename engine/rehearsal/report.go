package rehearsal

import (
	"math"
	"slices"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/tokens"
	"rein.example/rein/window"
)

// Report says what a conversation has cost under a strategy and what was left of
// it, or several together (see [Sum]). Costs are in tokens of input at full price;
// parts are percentages.
type Report struct {
	// Conversation is the script's id; empty for several, of which there are
	// Conversations then.
	Conversation  string `json:"conversation,omitempty"`
	Conversations int    `json:"conversations,omitzero"`
	// Scope says which ones of a [Comparison].
	Scope    string `json:"scope,omitempty"`
	Strategy string `json:"strategy"`
	// Budget is the most that a request may have, 0 with [Everything].
	Budget int64 `json:"budget"`
	// Method is how tokens were counted, Tokenizer with which vocabulary, if any.
	Method    string `json:"method"`
	Tokenizer string `json:"tokenizer,omitempty"`
	// Messages were played, in Calls requests of steps.
	Messages int `json:"messages"`
	Calls    int `json:"calls"`
	// Tokens is what all requests have together, those for summaries included, which
	// is also their cost without a cache. Cached is the part of it that stood at the
	// beginning of the request before, and Cost what they cost with a cache, in which
	// that is a tenth. What models write is in neither.
	Tokens int64 `json:"tokens"`
	Cached int64 `json:"cached_tokens"`
	Cost   int64 `json:"cost"`
	// Parts are what Cost is made of.
	Parts CostParts `json:"cost_parts"`
	// CostPart is Cost in parts of what it costs to send everything, as far as the run
	// has got; nil until [Report.Against] says what that is.
	CostPart *Percent `json:"cost_percent"`
	// Rewrites are the steps whose request did not begin with the one before.
	Rewrites    int     `json:"rewrites"`
	RewritePart Percent `json:"rewrite_percent"`
	// Thirds are the mean costs of a call in each third of the calls 100 to 350, and
	// Growth the last in parts of the first, 1 for linear; none where there are not as
	// many calls.
	Thirds []int64  `json:"cost_by_thirds"`
	Growth *float64 `json:"cost_growth"`
	// Peak is the largest request of a step, SummaryPeak the largest for a summary,
	// which may have the reserve for output too, as summaries are short.
	Peak        int64 `json:"peak_tokens"`
	SummaryPeak int64 `json:"summary_peak_tokens"`
	// Overflows are requests over the budget, sent or refused; PairViolations those in
	// which a call had no result right after it, or a result no call.
	Overflows      int `json:"overflows"`
	PairViolations int `json:"pair_violations"`
	// Compactions are rewrites of the context; Summaries how often one was asked for,
	// Refused how many of them were not good enough, SummaryTokens what was written.
	Compactions   int   `json:"compactions"`
	Summaries     int   `json:"summaries"`
	Refused       int   `json:"summaries_refused"`
	SummaryTokens int64 `json:"summary_output_tokens"`
	// Rewritten are the compactions one by one; not in sums.
	Rewritten []Compaction `json:"compaction_list,omitempty"`

	// Users is what users have said, looked at after every rewrite; UsersShort of it
	// was shortened and said so, UsersGone missing, and UsersAlive the part that was
	// not. Constraints, ConstraintsGone and ConstraintsAlive are the same for what was
	// planted as declared.
	Users            int     `json:"user_messages"`
	UsersShort       int     `json:"user_messages_shortened"`
	UsersGone        int     `json:"user_messages_gone"`
	UsersAlive       Percent `json:"user_messages_alive_percent"`
	Constraints      int     `json:"constraints"`
	ConstraintsGone  int     `json:"constraints_gone"`
	ConstraintsAlive Percent `json:"constraints_alive_percent"`
	// Facts were planted. FactsAlive of them stand in the last request to the letter,
	// FactsReachable there or where a tool finds them that the context points to.
	// FactsMean is the part alive of those said so far, on average over ten looks.
	Facts          int     `json:"facts"`
	FactsAlive     int     `json:"facts_alive"`
	FactsReachable int     `json:"facts_reachable"`
	AlivePart      Percent `json:"facts_alive_percent"`
	ReachablePart  Percent `json:"facts_reachable_percent"`
	FactsMean      Percent `json:"facts_alive_mean_percent"`
	// Lost are the facts that are not alive.
	Lost []Fact `json:"lost,omitempty"`

	// Assembly is the time from the last outcome until a request is built, where the
	// context was not rewritten: on average, of 99 in 100 at most, and at most.
	// RewriteMax is what it takes at most where it was. All in microseconds.
	Assembly    int64 `json:"assembly_us"`
	Assembly99  int64 `json:"assembly_p99_us"`
	AssemblyMax int64 `json:"assembly_max_us"`
	RewriteMax  int64 `json:"rewrite_max_us"`

	// Notices are those of the machine's own.
	Notices int `json:"notices"`
	// Ended says why the machine has ended the run before the recording does, and
	// Left how many messages were not played then; EndedEarly counts such runs.
	Ended      string `json:"ended,omitempty"`
	EndedEarly int    `json:"ended_early"`
	Left       int    `json:"messages_left,omitzero"`
	// Repairs were needed before it could be played.
	Repairs []string `json:"repairs,omitempty"`

	// steps are the costs of the steps, in tenths of a token; what a summary costs
	// belongs to the step after it.
	steps   []int64
	pending int64
	base    int64   // what sending everything costs, in tokens
	times   []int64 // of assembly
	mean    float64 // of the facts, from 0 to 1
}

// CostParts are the parts of a cost, in tokens at full price.
type CostParts struct {
	// New is what a step adds, Again what is sent again and cached, Rewrites what is
	// sent again and not cached because the context was rewritten, Tail the volatile
	// block at the end of each request, and Summaries the requests for summaries.
	New       int64 `json:"new"`
	Again     int64 `json:"again"`
	Rewrites  int64 `json:"rewrites"`
	Tail      int64 `json:"tail"`
	Summaries int64 `json:"summaries"`
}

// add adds another cost's parts.
func (p *CostParts) add(o *CostParts) {
	p.New += o.New
	p.Again += o.Again
	p.Rewrites += o.Rewrites
	p.Tail += o.Tail
	p.Summaries += o.Summaries
}

// Compaction is one rewrite of the context.
type Compaction struct {
	// Call is the step before which it was made, from 1.
	Call int `json:"call"`
	// Before and After are the sizes of the request without its tail.
	Before int64 `json:"before_tokens"`
	After  int64 `json:"after_tokens"`
	// Upto: messages before this number have left. Edits are the messages that were
	// changed besides, by reason.
	Upto  int64          `json:"upto"`
	Edits map[string]int `json:"edits,omitempty"`
	// Summary and Snapshot are the sizes of what stands in their place.
	Summary  int64  `json:"summary_tokens"`
	Snapshot int64  `json:"snapshot_tokens"`
	Why      string `json:"why,omitempty"`
	// Failed says why summaries were refused on the way.
	Failed []string `json:"failed,omitempty"`
}

// Percent is a part in percent, to a tenth.
type Percent float64

// part returns n of all in percent; 100 if there is nothing.
func part[N int | int64 | float64](n, all N) Percent {
	if all == 0 {
		return 100
	}
	return Percent(math.Round(float64(n)/float64(all)*1000) / 10)
}

// cachedPart is what a cached token costs in parts of one that is not: 1/10.
const cachedPart = 10

// sent counts a request.
func (r *Report) sent(c *loop.CallModel, s *Sent, m *loop.Machine) {
	r.Tokens += s.Tokens
	r.Cached += s.Cached
	if c.Purpose == event.PurposeSummary {
		r.SummaryPeak = max(r.SummaryPeak, s.Tokens)
	} else {
		r.Peak = max(r.Peak, s.Tokens)
	}
	if w := &m.Spec().Window; w.Size > 0 {
		most := window.Budget(w)
		if c.Purpose != event.PurposeStep {
			most = w.Size // the reserve is for the reply, and a summary's is short
		}
		if s.Tokens > most {
			r.Overflows++
		}
	}
	cost := cachedPart*(s.Tokens-s.Cached) + s.Cached
	r.pending += cost
	if c.Purpose != event.PurposeStep {
		r.Parts.Summaries += cost / cachedPart
		return
	}
	r.Calls++
	r.Parts.Again += s.Cached / cachedPart
	r.Parts.Tail += s.Tail
	if s.Rewrites {
		r.Rewrites++
		r.Parts.Rewrites += s.Tokens - s.Cached - s.Tail
	} else {
		r.Parts.New += s.Tokens - s.Cached - s.Tail
	}
	r.steps = append(r.steps, r.pending)
	r.pending = 0
}

// assembled counts the time of a request.
func (r *Report) assembled(took time.Duration, rewritten bool) {
	if rewritten {
		r.RewriteMax = max(r.RewriteMax, took.Microseconds())
		return
	}
	r.times = append(r.times, took.Microseconds())
}

// compacted counts a compaction.
func (r *Report) compacted(d *event.ContextCompacted, c tokens.Counter) {
	r.Compactions++
	r.Refused += len(d.Failed)
	x := Compaction{Call: r.Calls + 1, Before: d.Before, After: d.After, Upto: d.Upto, Why: d.Why, Failed: d.Failed,
		Summary: int64(c.Count(d.Summary)), Snapshot: int64(c.Count(d.Snapshot))}
	for i := range d.Edits {
		if x.Edits == nil {
			x.Edits = map[string]int{}
		}
		x.Edits[d.Edits[i].Action+" "+d.Edits[i].Why]++
	}
	r.Rewritten = append(r.Rewritten, x)
}

// Span are the calls over which the cost is compared: after the beginning, in which
// every strategy is the same, as long as the longest recordings are.
const (
	spanFrom = 100
	spanTo   = 350
)

// close works out what follows from the rest.
func (r *Report) close() {
	r.timing()
	r.Cost = (cachedPart*(r.Tokens-r.Cached) + r.Cached + cachedPart/2) / cachedPart
	r.RewritePart = part(r.Rewrites, r.Calls)
	r.UsersAlive = part(r.Users-r.UsersGone, r.Users)
	r.ConstraintsAlive = part(r.Constraints-r.ConstraintsGone, r.Constraints)
	r.AlivePart, r.ReachablePart = part(r.FactsAlive, r.Facts), part(r.FactsReachable, r.Facts)
	r.FactsMean = part(r.mean, 1)
	if r.Calls == 0 {
		r.RewritePart = 0
	}
	if len(r.steps) >= spanTo {
		span := r.steps[spanFrom:spanTo]
		for i := range 3 {
			third := span[len(span)*i/3 : len(span)*(i+1)/3]
			var sum int64
			for _, n := range third {
				sum += n
			}
			r.Thirds = append(r.Thirds, sum/cachedPart/int64(len(third)))
		}
	}
	r.grow()
}

// timing works out the figures of assembly.
func (r *Report) timing() {
	if len(r.times) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(r.times))
	var sum int64
	for _, n := range sorted {
		sum += n
	}
	n := len(sorted)
	r.Assembly, r.Assembly99, r.AssemblyMax = sum/int64(n), sorted[(n-1)*99/100], sorted[n-1]
}

// grow works out Growth.
func (r *Report) grow() {
	if r.Growth = nil; len(r.Thirds) == 3 && r.Thirds[0] > 0 {
		g := math.Round(float64(r.Thirds[2])/float64(r.Thirds[0])*100) / 100
		r.Growth = &g
	}
}

// Against sets CostPart: base is the report of the same conversation with
// [Everything].
func (r *Report) Against(base *Report) {
	var sum int64
	for _, n := range base.steps[:min(r.Calls, len(base.steps))] {
		sum += n
	}
	r.setBase((sum + cachedPart/2) / cachedPart)
}

func (r *Report) setBase(base int64) {
	r.base = base
	p := part(r.Cost, base)
	r.CostPart = &p
}

// Sum returns the reports of several conversations, all with the same strategy and
// budget, as one. Its Thirds are those of the conversations that have any, together;
// CostPart is set if it is set in all.
func Sum(reports []*Report) *Report {
	out := &Report{Conversations: len(reports)}
	base, known := int64(0), true
	for _, r := range reports {
		base += r.base
		known = known && r.CostPart != nil
		out.Strategy, out.Budget, out.Method, out.Tokenizer = r.Strategy, r.Budget, r.Method, r.Tokenizer
		out.Messages += r.Messages
		out.Calls += r.Calls
		out.Tokens += r.Tokens
		out.Cached += r.Cached
		out.Parts.add(&r.Parts)
		out.Rewrites += r.Rewrites
		out.Peak, out.SummaryPeak = max(out.Peak, r.Peak), max(out.SummaryPeak, r.SummaryPeak)
		out.Overflows += r.Overflows
		out.PairViolations += r.PairViolations
		out.Compactions += r.Compactions
		out.Summaries += r.Summaries
		out.Refused += r.Refused
		out.SummaryTokens += r.SummaryTokens
		out.Users += r.Users
		out.UsersShort += r.UsersShort
		out.UsersGone += r.UsersGone
		out.Constraints += r.Constraints
		out.ConstraintsGone += r.ConstraintsGone
		out.mean = (out.mean*float64(out.Facts) + r.mean*float64(r.Facts)) / max(float64(out.Facts+r.Facts), 1)
		out.Facts += r.Facts
		out.FactsAlive += r.FactsAlive
		out.FactsReachable += r.FactsReachable
		out.Lost = append(out.Lost, r.Lost...)
		out.times = append(out.times, r.times...)
		out.RewriteMax = max(out.RewriteMax, r.RewriteMax)
		out.Notices += r.Notices
		out.Left += r.Left
		out.EndedEarly += r.EndedEarly
		for i, n := range r.Thirds {
			if out.Thirds == nil {
				out.Thirds = make([]int64, len(r.Thirds))
			}
			out.Thirds[i] += n
		}
	}
	out.close()
	if known {
		out.setBase(base)
	}
	return out
}
