package window

import (
	"math/bits"

	"rein.example/rein/event"
)

// Default marks, in parts per million of the budget.
const (
	// triggerPPM: above it a compaction begins, whatever it costs. Others have 0.5
	// to 0.9.
	triggerPPM = 850_000
	// targetPPM: it lands there or below. At 0.40, which is the most that is worth
	// while, runs of 100 calls and more at 32,000 tokens cost 32% of sending everything
	// and kept 90% of planted facts; so they cost 29% and keep 87%.
	targetPPM = 330_000
	// gapPPM is the least distance between the two: with less, what a compaction has
	// won is used up within a few steps, and each is a rewrite of the prefix.
	gapPPM = 300_000
	// stepsApart is how many steps lie between two compactions, if they can: the prefix
	// is not to be sent anew in more than a twentieth of them.
	stepsApart = 24
	// cachedPPM is what cached input costs where no price is known.
	cachedPPM = 100_000
)

// MarksIn is what [Marks] needs to know. All but CachedPPM are in tokens.
type MarksIn struct {
	// Budget is that of the whole request; see [Budget].
	Budget int64
	// Fixed is the size of what stands before the conversation, Anchors that of the
	// messages that stay there through every compaction: what users have said.
	Fixed, Anchors int64
	// Growth is what one step adds; 0: not known yet.
	Growth int64
	// CachedPPM is the price of cached input in parts per million of the price of
	// input; 0: not known, and taken for a tenth.
	CachedPPM int64
	// Summary is what the model writes for a summary; 0: none is asked for.
	Summary int64
}

// Marks returns where a compaction begins and where it must land, in tokens of the
// whole request. Marks of the spec that are set hold, but for the distance between
// the two, which is at least 0.3 of the budget: the target gives way. A budget of 0
// (a window of unknown size) has no marks: both are 0.
//
// By default a compaction begins at 0.85 of the budget, or earlier if that is cheaper
// than to go on, but no earlier than 24 steps' growth above the target. It is cheaper
// from
//
//	H = L + √(2g·((1-c)(L-A) + cL + 5S) / c)
//
// on, with g tokens of growth for each step, L the size after a compaction, A that of
// the prefix that stays, S the summary's (which costs about five times as much as
// input) and c the price of cached input. A cycle of n steps that grows from L to H
// costs its rewrite, (1-c)(L-A) + cL + 5S, once, and c·g·n²/2 for sending again
// what has been added; H is where the mean of both for each step is smallest.
func Marks(spec *event.WindowSpec, m MarksIn) (trigger, target int64) {
	if m.Budget <= 0 {
		return 0, 0
	}
	share := func(n, fallback int64) int64 {
		if n <= 0 || n > million {
			n = fallback
		}
		return part(m.Budget, n)
	}
	trigger, target = share(spec.Trigger, triggerPPM), share(spec.Target, targetPPM)
	gap := part(m.Budget, gapPPM)
	target = max(min(target, trigger-gap), 0)
	if spec.Trigger > 0 || m.Growth <= 0 {
		return trigger, target
	}
	return min(max(cheapest(&m, target), target+max(gap, stepsApart*min(m.Growth, m.Budget))), trigger), target
}

// cheapest returns H for a landing at low.
func cheapest(m *MarksIn, low int64) int64 {
	c := m.CachedPPM
	if c <= 0 {
		c = cachedPPM
	}
	c = min(c, million)
	// What stays cannot be landed below.
	prefix := m.Fixed + m.Anchors
	low = max(low, prefix)
	rewrite := part(low-prefix, million-c) + part(low, c) + 5*max(m.Summary, 0)
	return low + root(scale(rewrite, million, c), 2*m.Growth)
}

// part returns n·ppm/1,000,000 for an n that is not negative.
func part(n, ppm int64) int64 { return scale(n, ppm, million) }

// scale returns n·times/by, at most 2⁶²; all are positive or 0, by is not 0.
func scale(n, times, by int64) int64 {
	hi, lo := bits.Mul64(uint64(max(n, 0)), uint64(max(times, 0)))
	if hi >= uint64(by) {
		return 1 << 62
	}
	q, _ := bits.Div64(hi, lo, uint64(by))
	return int64(min(q, 1<<62))
}

// root returns ⌊√(a·b)⌋ for a, b that are not negative, in integers.
func root(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	var r uint64
	for bit := uint64(1) << 62; bit > 0; bit >>= 1 {
		t := r | bit
		if h, l := bits.Mul64(t, t); h < hi || h == hi && l <= lo {
			r = t
		}
	}
	return int64(r)
}
