package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nearest returns the percentile by nearest rank of all values.
func nearest(values []int64, p int) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)*p+99)/100-1]
}

// Few values are kept as they are, and percentiles are exact.
func TestSpreadExact(t *testing.T) {
	if r := (&spread{}).report(); r.Median != nil || r.P95 != nil || r.Max != nil || r.Count != 0 || !r.Exact {
		t.Errorf("of nothing: %+v", r)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= exactMost; n = n*3/2 + 1 {
		var s spread
		var all []int64
		for range n {
			all = append(all, rng.Int64N(100_000))
			s.add(all[len(all)-1])
		}
		r := s.report()
		if !r.Exact || *r.Median != nearest(all, 50) || *r.P95 != nearest(all, 95) || *r.Max != slices.Max(all) {
			t.Errorf("%d values: %+v, want %d, %d, %d", n, r, nearest(all, 50), nearest(all, 95), slices.Max(all))
		}
	}
}

// Many values are counted in classes: percentiles are off by 0.4% at most, whatever
// the distribution, and memory is bounded.
func TestSpreadClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func() int64{
		"even":        func() int64 { return rng.Int64N(1_000_000) },
		"exponential": func() int64 { return int64(rng.ExpFloat64() * 3000) },
		"all alike":   func() int64 { return 12_345 },
		"small":       func() int64 { return rng.Int64N(5) },
		"two humps":   func() int64 { return 50 + rng.Int64N(2)*1_000_000_000 },
		"huge":        func() int64 { return math.MaxInt64 - rng.Int64N(1000) },
	} {
		var s spread
		var all []int64
		for range 20_000 {
			all = append(all, draw())
			s.add(all[len(all)-1])
		}
		r := s.report()
		if r.Exact || r.Count != 20_000 || *r.Max != slices.Max(all) || len(s.classes) > 7296 || s.values != nil {
			t.Errorf("%s: %+v with %d classes", name, r, len(s.classes))
		}
		for p, got := range map[int]int64{50: *r.Median, 95: *r.P95} {
			want := nearest(all, p)
			if off := max(got-want, want-got); off > want/256 {
				t.Errorf("%s: the %dth of 100 is %d, not %d", name, p, want, got)
			}
		}
	}
}

// FuzzSpread: how values come together makes no difference, and every class has its
// own values in it.
func FuzzSpread(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint16(3000))
	f.Add(uint64(2), uint16(1024), uint16(1))
	f.Add(uint64(3), uint16(1025), uint16(1024))
	f.Fuzz(func(t *testing.T, seed uint64, n, m uint16) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var one, a, b spread
		for i := range int(n%4096) + int(m%4096) {
			v := rng.Int64N(math.MaxInt64) >> rng.IntN(63)
			if c := class(v); class(middle(c)) != c || c >= 7296 {
				t.Fatalf("%d is in class %d, whose middle %d is in class %d", v, c, middle(c), class(middle(c)))
			}
			one.add(v)
			if i < int(n%4096) {
				a.add(v)
			} else {
				b.add(v)
			}
		}
		a.merge(&b)
		x, y := one.report(), a.report()
		if x.Count != y.Count || x.Total != y.Total || x.Exact != y.Exact {
			t.Fatalf("%+v and %+v", x, y)
		}
		if x.Count > 0 && (*x.Median != *y.Median || *x.P95 != *y.P95 || *x.Max != *y.Max) {
			t.Fatalf("%d %d %d and %d %d %d", *x.Median, *x.P95, *x.Max, *y.Median, *y.P95, *y.Max)
		}
	})
}
