package message

import "math/bits"

// Price is what a model's tokens cost, in millionths of a US dollar per million
// tokens, so that sums stay integers: $1.25 per million is 1,250,000. All four
// are known; a kind of token without a price of its own has the price of Input.
type Price struct {
	// Input is for tokens that the server read anew, Cached for those that it had
	// kept, CacheWrite for those that it was asked to keep.
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached"`
	CacheWrite int64 `json:"cache_write"`
	// Output is for what the model wrote, reasoning included.
	Output int64 `json:"output"`
}

// Cost is what one model call cost, in millionths of a US dollar, by kind of
// token. The parts do not overlap, and each is rounded to the nearest millionth.
type Cost struct {
	Uncached, Cached, CacheWrite, Output, Reasoning int64
}

// Total returns the sum of the parts, at most [MaxCount].
func (c Cost) Total() int64 {
	var sum Count = 1 // a known 0
	for _, n := range []int64{c.Uncached, c.Cached, c.CacheWrite, c.Output, c.Reasoning} {
		sum = sum.Add(Known(n))
	}
	return sum.Or(0)
}

// Cost returns what a call of that usage costs at price p. It is unknown, and ok
// false, if p is nil or the usage does not say how much went in and came out.
// Input that is not known to have been cached is charged in full, so that the
// cost is never too low for that reason, and the most that it can be where the usage
// does not say what was cached; figures that contradict each other are
// cut to what they are part of.
func (u *Usage) Cost(p *Price) (c Cost, ok bool) {
	input, ok1 := u.Input.Get()
	output, ok2 := u.Output.Get()
	if p == nil || !ok1 || !ok2 {
		return Cost{}, false
	}
	cached := min(u.Cached.Or(0), input)
	written := min(u.CacheWrite.Or(0), input-cached)
	reasoning := min(u.Reasoning.Or(0), output)
	return Cost{
		Uncached:   dollars(input-cached-written, p.Input),
		Cached:     dollars(cached, p.Cached),
		CacheWrite: dollars(written, p.CacheWrite),
		Output:     dollars(output-reasoning, p.Output),
		Reasoning:  dollars(reasoning, p.Output),
	}, true
}

// dollars returns tokens × price ÷ 1,000,000, rounded half up, at most MaxCount.
// A negative price counts as none.
func dollars(tokens, price int64) int64 {
	const million = 1_000_000
	hi, lo := bits.Mul64(uint64(tokens), uint64(max(price, 0)))
	lo, carry := bits.Add64(lo, million/2, 0)
	if hi += carry; hi >= million {
		return MaxCount
	}
	n, _ := bits.Div64(hi, lo, million)
	return int64(min(n, uint64(MaxCount)))
}
