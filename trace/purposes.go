package trace

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// PurposeTotal is what the model calls for one purpose have taken together.
type PurposeTotal struct {
	Purpose string `json:"purpose"`
	// Calls counts attempts, those that failed included.
	Calls int64 `json:"calls"`
	// Tokens are input and output, null if one call did not say what it used, or none
	// was charged.
	Tokens *int64 `json:"tokens"`
	// Cost is null while prices are unknown.
	Cost *USD `json:"cost_usd"`
	// Returned counts the checks after which the run was told something and went on.
	Returned int64 `json:"returned"`
}

// totals is what was used for one purpose.
type totals struct {
	calls, returned int64
	tokens, cost    tally
}

// purposes are all there are, in the order in which they are listed.
var purposes = [...]event.Purpose{event.PurposeStep, event.PurposeSummary, event.PurposeReadBack, event.PurposeCompletionCheck, event.PurposeFinal}

// Purposes returns what each purpose for which a model was called has taken, steps
// first.
func (f *Fold) Purposes() []PurposeTotal {
	var out []PurposeTotal
	for _, p := range purposes {
		t := f.totals[p]
		if t == nil {
			continue
		}
		out = append(out, PurposeTotal{Purpose: string(p), Calls: t.calls, Returned: t.returned,
			Tokens: known(t.tokens.said()), Cost: usd(t.cost.said())})
	}
	return out
}

// of returns the totals of a purpose.
func (f *Fold) of(p event.Purpose) *totals {
	t := f.totals[p]
	if t == nil {
		t = &totals{}
		f.totals[p] = t
	}
	return t
}

// add takes note of what a call has used, or forgets it if sign is -1.
func (t *totals) add(tokens, cost message.Count, sign int64) {
	t.tokens.add(tokens, sign)
	t.cost.add(cost, sign)
}

// returns takes note of a notice that a check has led to.
func (f *Fold) returns(d *event.NoticeAdded) {
	switch d.Kind {
	case event.NoticeCompletion:
		f.of(event.PurposeCompletionCheck).returned++
	case event.NoticeDrift:
		f.of(event.PurposeReadBack).returned++
	}
}
