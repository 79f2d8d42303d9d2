package anomaly

import (
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// maxSamples is how many steps of a run are kept to see how its input grows: when there
// are more, every second one is dropped.
const maxSamples = 96

// cost watches what steps take in.
type cost struct {
	samples []sample
	every   int64 // one in so many steps is kept
	n       int64 // steps with a known input
}

// sample is one step.
type sample struct {
	place
	input, fresh int64
	cached       bool // it is known how much was cached
}

func (k *cost) add(at place, u *message.Usage) {
	input, ok := u.Input.Get()
	if !ok {
		return
	}
	k.every = max(k.every, 1)
	if k.n++; (k.n-1)%k.every != 0 {
		return
	}
	if len(k.samples) == maxSamples {
		kept := k.samples[:0]
		for i := 0; i < maxSamples; i += 2 {
			kept = append(kept, k.samples[i])
		}
		k.samples, k.every = kept, 2*k.every
		if (k.n-1)%k.every != 0 {
			return
		}
	}
	cached, known := u.Cached.Get()
	k.samples = append(k.samples, sample{at, input, max(input-cached, 0), known})
}

const (
	// growthSamples is how many steps must be known.
	growthSamples = 12
	// growthTimes is by how much the new input of the last third of them exceeds that of
	// the first, and growthTokens how much it is at least.
	growthTimes, growthTokens = 4, 4000
	// Where nobody says what was cached, input that grows by the same amount each step
	// is how conversations are; growthBend is by how much faster it grows in the end,
	// and growthStep by how many tokens a step at least.
	growthBend, growthStep = 3, 1000
)

// growth adds that steps become more and more expensive.
func (f *Fold) growth(out *[]trace.Anomaly) {
	s := f.cost.samples
	if len(s) < growthSamples {
		return
	}
	third := len(s) / 3
	first, last := s[:third], s[len(s)-third:]
	end := &s[len(s)-1]
	a := trace.Anomaly{Kind: CostGrowth, Level: trace.Notice, Step: end.step, Event: end.event}
	from, to, cached := mean(first), mean(last), true
	for i := range s {
		cached = cached && s[i].cached
	}
	if cached {
		if to < growthTokens || to < growthTimes*from {
			return
		}
		a.Text = "new input that no cached prefix covers grows from about " + number(from) + " tokens a step in the first third of the run to " + number(to) + " in the last"
	} else {
		before, after := slope(first), slope(last)
		if after < growthStep || after < growthBend*max(before, 1) {
			return
		}
		a.Text = "input grows faster and faster: by about " + number(max(before, 0)) + " tokens a step in the first third of the run and by " + number(after) +
			" in the last, up to " + number(end.input) + "; the server does not say what it reuses"
	}
	*out = append(*out, a)
}

// mean returns the mean of the new input.
func mean(s []sample) int64 {
	var sum int64
	for i := range s {
		sum += s[i].fresh
	}
	return sum / int64(len(s))
}

// slope returns by how much the input grows in a step.
func slope(s []sample) int64 {
	a, b := &s[0], &s[len(s)-1]
	return (b.input - a.input) / max(b.step-a.step, 1)
}
