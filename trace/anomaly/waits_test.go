package anomaly

import "testing"

// A duration is not longer than its bucket says, and by a quarter shorter at most.
func TestBuckets(t *testing.T) {
	last := -1
	for _, ms := range []int64{0, 1, 7, 8, 9, 10, 15, 16, 999, 1000, 1024, 59_999, 60_000, 3_600_000, 86_400_000, 1 << 39} {
		b := bucket(ms)
		if top := longest(b); top < ms || top-ms > ms/4 {
			t.Errorf("%d ms are in a bucket up to %d", ms, top)
		}
		if b < last {
			t.Errorf("%d ms are in bucket %d, after %d", ms, b, last)
		}
		last = b
	}
	if b := bucket(1<<63 - 1); b != maxBuckets-1 {
		t.Errorf("what is too long is in bucket %d", b)
	}
	var s slow
	for ms := range int64(101) {
		s.add(1000+10*ms, place{}, "")
	}
	if m := s.median(); m < 1500 || m > 1800 {
		t.Errorf("the median of 1,000 to 2,000 ms is %d", m)
	}
}
