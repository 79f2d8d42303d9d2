package message

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
)

// Count is a number that may be unknown. The zero value is unknown, which is
// not the same as a known 0; build known ones with [Known]. Numbers below 0
// cannot be represented; the largest is [MaxCount]. In JSON it is the number,
// and null when unknown (left out by omitempty and omitzero).
type Count int64

// MaxCount is the largest known number, 2⁶³-2.
const MaxCount = math.MaxInt64 - 1

// Known returns the count n, or MaxCount if n is larger. A negative n is
// unknown: servers that report one have not counted.
func Known(n int64) Count {
	if n < 0 {
		return 0
	}
	return Count(min(n, MaxCount) + 1)
}

// Get returns the number and whether it is known.
func (c Count) Get() (int64, bool) { return int64(c) - 1, c > 0 }

// String returns the number in decimal, or "unknown".
func (c Count) String() string {
	if n, ok := c.Get(); ok {
		return strconv.FormatInt(n, 10)
	}
	return "unknown"
}

// Or returns the number, or n if it is unknown.
func (c Count) Or(n int64) int64 {
	if c > 0 {
		return int64(c) - 1
	}
	return n
}

// Add returns the sum, at most MaxCount; an unknown summand makes it unknown.
func (c Count) Add(d Count) Count {
	if c <= 0 || d <= 0 {
		return 0
	}
	if c-1 > math.MaxInt64-d {
		return math.MaxInt64
	}
	return c + d - 1
}

// AppendJSON appends the number, or null, to dst.
func (c Count) AppendJSON(dst []byte) []byte {
	if c <= 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(c)-1, 10)
}

// DecodeJSON reads a number or null. It fails on anything but a whole number
// from 0 to MaxCount.
func (c *Count) DecodeJSON(dec *jsontext.Decoder) error {
	*c = 0
	null, err := codec.Null(dec)
	if null || err != nil {
		return err
	}
	n, err := codec.Int(dec, 64)
	if err != nil {
		return err
	}
	if n < 0 || n > MaxCount {
		return fmt.Errorf("%s: a count of %d", codec.Place(dec), n)
	}
	*c = Known(n)
	return nil
}

// MarshalJSON returns what AppendJSON appends, for packages that reflect.
func (c Count) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// UnmarshalJSON reads what MarshalJSON returns.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = 0
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n > MaxCount {
		return fmt.Errorf("%.40s is no count: want a whole number that is not negative, or null", b)
	}
	*c = Known(n)
	return nil
}

// Usage is what a provider says one model call consumed, in tokens. Whatever
// the provider did not say is unknown. All wires are normalised to one meaning:
// Input includes Cached and CacheWrite, Output includes Reasoning.
//
// What a provider says may contradict itself. Nothing is then made up to reconcile
// it: the figures are kept as they came, and Total and Invalid show that they are not
// to be relied on. Both are of one call; sums leave them out.
type Usage struct {
	Input      Count `json:"input_tokens,omitempty"`
	Cached     Count `json:"cached_tokens,omitempty"`
	CacheWrite Count `json:"cache_write_tokens,omitempty"`
	Output     Count `json:"output_tokens,omitempty"`
	Reasoning  Count `json:"reasoning_tokens,omitempty"`
	// Total is what the provider gives as the sum of input and output, kept only
	// where it is not their sum.
	Total Count `json:"total_tokens,omitempty"`
	// Invalid: a figure was given that no number of tokens can be, such as -5 or 1.5,
	// and is unknown.
	Invalid bool `json:"invalid,omitzero"`
}
