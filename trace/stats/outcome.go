package stats

import (
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// Outcomes counts runs by how they stand. Each run is counted in exactly one of the
// fields below All, and All is their sum: no run leaves the denominator.
type Outcomes struct {
	All int64 `json:"all"`
	// OK: finished as the agent was to.
	OK int64 `json:"ok"`
	// NotOK: finished badly by its own doing: a limit, repetition, no progress,
	// malformed replies, a refusal or denial, an answer that was not accepted.
	NotOK int64 `json:"not_ok"`
	// BestEffort: a limit was reached, and what was known by then is the answer.
	BestEffort int64 `json:"best_effort"`
	// Errors: the model, its server, its window or Rein failed: model_error,
	// internal_error, context_overflow.
	Errors int64 `json:"errors"`
	// TimedOut: the limit of time was reached without an answer.
	TimedOut int64 `json:"timed_out"`
	// Cancelled: the caller gave it up.
	Cancelled int64 `json:"cancelled"`
	// Interrupted: its process died in the middle of work; it can be resumed.
	Interrupted int64 `json:"interrupted"`
	// Damaged: its journal is not sound, so that nothing can be said.
	Damaged int64 `json:"damaged"`
	// Open: it is being carried out, or waits for a person or the next turn.
	Open int64 `json:"open"`
	// Success is OK of All: errors, and whatever else did not end well (yet), count as
	// failures. Beside it are the same of the runs that have finished, and of those
	// that finished by the agent's own doing: OK, NotOK and BestEffort.
	Success           *Rate `json:"success"`
	SuccessOfFinished *Rate `json:"success_of_finished"`
	SuccessOfJudged   *Rate `json:"success_of_judged"`
}

// Finished returns how many runs have finished.
func (o *Outcomes) Finished() int64 { return o.Judged() + o.Errors + o.TimedOut + o.Cancelled }

// Judged returns how many runs have finished by the agent's own doing.
func (o *Outcomes) Judged() int64 { return o.OK + o.NotOK + o.BestEffort }

// add counts a run.
func (o *Outcomes) add(r *Run) {
	o.All++
	*o.field(r)++
}

// field returns the counter that a run belongs to.
func (o *Outcomes) field(r *Run) *int64 {
	end := r.end
	switch {
	case r.damaged:
		return &o.Damaged
	case end == nil && r.status == "interrupted":
		return &o.Interrupted
	case end == nil:
		return &o.Open
	case end.BestEffort:
		return &o.BestEffort
	case end.OK:
		return &o.OK
	}
	switch end.Reason {
	case event.ReasonModelError, event.ReasonInternalError, event.ReasonContextOverflow:
		return &o.Errors
	case event.ReasonTimeLimit:
		return &o.TimedOut
	case event.ReasonCancelled:
		return &o.Cancelled
	}
	return &o.NotOK
}

// rated returns the counts with the rates.
func (o Outcomes) rated() Outcomes {
	o.Success, o.SuccessOfFinished, o.SuccessOfJudged = rate(o.OK, o.All), rate(o.OK, o.Finished()), rate(o.OK, o.Judged())
	return o
}

// Rate is a part of a whole, in parts per million. In JSON it is a decimal.
type Rate int64

// rate returns n of all, rounded down, nil of nothing.
func rate(n, all int64) *Rate {
	if all <= 0 {
		return nil
	}
	r := Rate(n * 1_000_000 / all)
	return &r
}

// MarshalJSON writes the rate with six decimals.
func (r Rate) MarshalJSON() ([]byte, error) { return trace.USD(r).MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Rate) UnmarshalJSON(b []byte) error {
	if err := (*trace.USD)(r).UnmarshalJSON(b); err != nil {
		return fmt.Errorf("%.40s is no rate with at most six decimals", b)
	}
	return nil
}

// String returns the rate in per cent with one decimal, rounded down.
func (r Rate) String() string { return fmt.Sprintf("%d.%d%%", r/10_000, r/1_000%10) }
