package diff

import (
	"math/rand/v2"
	"testing"
)

// longest returns the length of a longest common subsequence, from the full table.
func longest(a, b []int32) int {
	row := make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		below := 0
		for j := len(b) - 1; j >= 0; j-- {
			was := row[j]
			if a[i] == b[j] {
				row[j] = below + 1
			} else {
				row[j] = max(row[j], row[j+1])
			}
			below = was
		}
	}
	return row[0]
}

// check reports whether the spans are in order and in common, and how long they are.
func check(t *testing.T, a, b []int32, spans []span) int {
	t.Helper()
	total, i, j := 0, 0, 0
	for _, s := range spans {
		if s.a < i || s.b < j || s.n < 1 || s.a+s.n > len(a) || s.b+s.n > len(b) {
			t.Fatalf("%v after %d, %d in sequences of %d and %d", s, i, j, len(a), len(b))
		}
		for k := range s.n {
			if a[s.a+k] != b[s.b+k] {
				t.Fatalf("%v: element %d differs", s, k)
			}
		}
		i, j, total = s.a+s.n, s.b+s.n, total+s.n
	}
	return total
}

func sequence(r *rand.Rand, n, kinds int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(r.IntN(kinds))
	}
	return out
}

// Of sequences that are short enough a longest common subsequence is found.
func TestCommonIsLongest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		kinds := 1 + r.IntN(6)
		a, b := sequence(r, r.IntN(14), kinds), sequence(r, r.IntN(14), kinds)
		spans, exact := common(a, b)
		if got, want := check(t, a, b, spans), longest(a, b); got != want || !exact {
			t.Fatalf("%v and %v: %v has %d, the longest %d, exact %v", a, b, spans, got, want, exact)
		}
	}
}

// Long ones that differ in much are compared with bounded work, which is said; what
// is found is in common, and not much less than there is.
func TestCommonIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := sequence(r, 10_000, 50), sequence(r, 10_000, 50)
	spans, exact := common(a, b)
	if got := check(t, a, b, spans); exact || got < 1500 {
		t.Errorf("%d in common, exact %v", got, exact)
	}
	disjoint := sequence(r, 10_000, 50)
	for i := range disjoint {
		disjoint[i] += 100
	}
	if spans, exact := common(a, disjoint); len(spans) != 0 || !exact {
		t.Errorf("nothing in common gave %v, exact %v", spans, exact)
	}
}

func BenchmarkCommon(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := sequence(r, 10_000, 50), sequence(r, 10_000, 50)
	for b.Loop() {
		common(x, y)
	}
}
