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
	// Tokens are input and output, null if one call did not say what it used.
	Tokens *int64 `json:"tokens"`
	// Cost is null while prices are unknown.
	Cost *USD `json:"cost_usd"`
	// Returned counts the checks after which the run was told something and went on.
	Returned int64 `json:"returned"`
}

// totals is what was used for one purpose.
type totals struct {
	calls, returned int64
	tokens, cost    message.Count
	spent           bool // tokens and cost hold something; before, they are nothing
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
		o := PurposeTotal{Purpose: string(p), Calls: t.calls, Returned: t.returned, Tokens: ptr(int64(0)), Cost: ptr(USD(0))}
		if t.spent {
			o.Tokens, o.Cost = known(t.tokens), nil
			if n, ok := t.cost.Get(); ok {
				o.Cost = ptr(USD(n))
			}
		}
		out = append(out, o)
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

// add takes note of a call's usage and cost.
func (t *totals) add(u *message.Usage, cost message.Count) {
	tokens := u.Input.Add(u.Output)
	if t.spent {
		tokens, cost = t.tokens.Add(tokens), t.cost.Add(cost)
	}
	t.tokens, t.cost, t.spent = tokens, cost, true
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
