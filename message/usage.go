package message

// Count is a number that may be unknown. The zero value is unknown, which is
// not the same as a known 0; build known ones with [Known]. Negative numbers
// cannot be represented.
type Count int64

// Known returns the count n. A negative n is unknown: servers that report one
// have not counted.
func Known(n int64) Count {
	if n < 0 {
		return 0
	}
	return Count(n + 1)
}

// Get returns the number and whether it is known.
func (c Count) Get() (int64, bool) { return int64(c) - 1, c > 0 }

// Or returns the number, or n if it is unknown.
func (c Count) Or(n int64) int64 {
	if c > 0 {
		return int64(c) - 1
	}
	return n
}

// Add returns the sum; an unknown summand makes it unknown.
func (c Count) Add(d Count) Count {
	if c == 0 || d == 0 {
		return 0
	}
	return c + d - 1
}

// Usage is what a provider says one model call consumed, in tokens. Whatever
// the provider did not say is unknown. All wires are normalised to one meaning:
// Input includes Cached and CacheWrite, Output includes Reasoning.
type Usage struct {
	Input      Count `json:"input_tokens,omitempty"`
	Cached     Count `json:"cached_tokens,omitempty"`
	CacheWrite Count `json:"cache_write_tokens,omitempty"`
	Output     Count `json:"output_tokens,omitempty"`
	Reasoning  Count `json:"reasoning_tokens,omitempty"`
}
