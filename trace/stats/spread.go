package stats

import (
	"math"
	"math/bits"
	"slices"
)

// exactMost is how many values a spread keeps as they are. Up to there percentiles
// are exact; beyond, values are counted in classes.
const exactMost = 1024

// Values below 2^classBits have a class each; above, each power of two has 2^classBits
// classes of equal width, so that a value and its class's middle differ by less than
// one part in 2^(classBits+1): 0.4%.
const classBits = 7

// spread is a distribution of whole numbers in bounded memory: at most exactMost
// values, or one counter for each of 7,296 classes at the very most, and for
// milliseconds of up to an hour about 2,000. It needs no floating point, and does not
// depend on the order in which values come.
type spread struct {
	n, sum, max int64
	values      []int64 // while there are few
	classes     []int64 // counts, afterwards
}

// add adds a value; a negative one counts as 0.
func (s *spread) add(v int64) {
	v = max(v, 0)
	s.n++
	s.sum = plus(s.sum, v)
	s.max = max(s.max, v)
	switch {
	case s.classes == nil && len(s.values) < exactMost:
		s.values = append(s.values, v)
	default:
		s.sort()
		*s.at(class(v))++
	}
}

// merge adds the values of another.
func (s *spread) merge(o *spread) {
	if o.classes == nil {
		for _, v := range o.values {
			s.add(v)
		}
		return
	}
	s.sort()
	s.n, s.sum, s.max = s.n+o.n, plus(s.sum, o.sum), max(s.max, o.max)
	for c, n := range o.classes {
		*s.at(c) += n
	}
}

// sort puts values that were kept as they are into classes.
func (s *spread) sort() {
	for _, v := range s.values {
		*s.at(class(v))++
	}
	s.values = nil
}

// at returns the counter of a class.
func (s *spread) at(c int) *int64 {
	if c >= len(s.classes) {
		s.classes = append(s.classes, make([]int64, c+1-len(s.classes))...)
	}
	return &s.classes[c]
}

// class returns the number of a value's class.
func class(v int64) int {
	if v < 1<<classBits {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - classBits - 1
	return shift<<classBits + int(v>>shift)
}

// middle returns the value that stands for a class.
func middle(c int) int64 {
	if c < 2<<classBits {
		return int64(c) // one value
	}
	shift := c>>classBits - 1
	low := int64(c-shift<<classBits) << shift
	return low + (int64(1)<<shift)/2
}

// Spread says how whole numbers are distributed. Percentiles are by nearest rank: of
// 20 values the 95th percentile is the 19th; they are null where there is no value.
type Spread struct {
	Count int64 `json:"count"`
	Total int64 `json:"total"`
	// Median, P95 and Max are values that occurred, if Exact; else, for more than
	// 1,024 values, Median and P95 are within 0.4% of one that did. Max is always one.
	Median *int64 `json:"median"`
	P95    *int64 `json:"p95"`
	Max    *int64 `json:"max"`
	Exact  bool   `json:"exact"`
}

// report returns what is known of the distribution.
func (s *spread) report() Spread {
	out := Spread{Count: s.n, Total: s.sum, Exact: s.classes == nil}
	if s.n > 0 {
		slices.Sort(s.values)
		median, p95, most := s.percentile(50), s.percentile(95), s.max
		out.Median, out.P95, out.Max = &median, &p95, &most
	}
	return out
}

// percentile returns the value at a percentage of the way; the values are sorted, and
// there is one.
func (s *spread) percentile(p int64) int64 {
	rank := s.n/100*p + (s.n%100*p+99)/100 // ceil(n × p ÷ 100), without overflow
	if s.classes == nil {
		return s.values[rank-1]
	}
	var seen int64
	for c, n := range s.classes {
		if seen += n; seen >= rank {
			return min(middle(c), s.max)
		}
	}
	return s.max
}

// plus adds two numbers that are not negative; what is too large stays at the most.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
