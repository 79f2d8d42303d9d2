package diff

// span is a run of elements that two sequences have in common: n of them, from a
// in the one and from b in the other.
type span struct{ a, b, n int }

// Bounds of what one comparison of two sequences takes, see [common].
const (
	// maxWork bounds the work as a whole, in looks at an element: some 0.3 s.
	maxWork = 10_000_000
	// leastCost is what is searched in any case before a comparison is cut short:
	// two sequences with up to twice as many differences are always compared to
	// the end.
	leastCost = 256
	// mostCost is where a search is cut short at the latest: it is as much as two
	// sequences of 2,048 elements each can differ.
	mostCost = 2048
)

// common returns what two sequences have in common, in order: a longest common
// subsequence, unless the sequences are long and differ in too much, when it is
// one that was found with the work that is allowed, and exact is false.
//
// It is Myers' algorithm in linear space (An O(ND) difference algorithm and its
// variations, 1986): the search goes from both ends, and what lies on both sides
// of where it meets is compared in the same way. What both begin and end with, and
// what only one of them has, is taken out before. Where the ends have not met after
// cost rounds, the furthest place that was reached stands for the middle. So it
// takes at most some cost looks for each element, and memory as the sequences have.
func common(a, b []int32) (spans []span, exact bool) {
	d := differ{exact: true}
	head := prefix(a, b)
	d.put(0, 0, head)
	a, b = a[head:], b[head:]
	tail := suffix(a, b)
	a, b = a[:len(a)-tail], b[:len(b)-tail]

	// The places of what is left, in what was given.
	x, atA := kept(a, b)
	y, atB := kept(b, a)
	d.compare(x, y, func(i, j, n int) {
		for k := range n {
			d.put(head+atA[i+k], head+atB[j+k], 1)
		}
	})
	d.put(head+len(a), head+len(b), tail)
	return d.spans, d.exact
}

// prefix returns how many elements two sequences have in common from the start.
func prefix(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// suffix returns how many elements two sequences have in common at the end.
func suffix(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// kept returns the elements of a that b has too, and where they stand in a.
func kept(a, b []int32) (out []int32, at []int) {
	have := make(map[int32]bool, len(b)) // looked up only
	for _, v := range b {
		have[v] = true
	}
	for i, v := range a {
		if have[v] {
			out, at = append(out, v), append(at, i)
		}
	}
	return out, at
}

// differ compares two sequences.
type differ struct {
	spans []span
	exact bool
	// forward and backward are how far each diagonal was reached, from both ends.
	forward, backward []int
}

// put adds what both have, together with what comes right before it.
func (d *differ) put(a, b, n int) {
	if n == 0 {
		return
	}
	if k := len(d.spans) - 1; k >= 0 && d.spans[k].a+d.spans[k].n == a && d.spans[k].b+d.spans[k].n == b {
		d.spans[k].n += n
		return
	}
	d.spans = append(d.spans, span{a, b, n})
}

// box is a part of the comparison: a[a0:a1] against b[b0:b1]. done: it is what
// both have, and there is nothing left to be compared.
type box struct {
	a0, a1, b0, b1 int
	done           bool
}

// compare calls found for what two sequences have in common, in order.
func (d *differ) compare(a, b []int32, found func(i, j, n int)) {
	size := len(a) + len(b)
	cost := min(max(leastCost, maxWork/(size+1)), mostCost)
	d.forward, d.backward = make([]int, size+3), make([]int, size+3)
	todo := []box{{a1: len(a), b1: len(b)}} // a stack: the first is done last
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x.done {
			found(x.a0, x.b0, x.a1-x.a0)
			continue
		}
		head := prefix(a[x.a0:x.a1], b[x.b0:x.b1])
		if head > 0 {
			found(x.a0, x.b0, head)
		}
		x.a0, x.b0 = x.a0+head, x.b0+head
		if tail := suffix(a[x.a0:x.a1], b[x.b0:x.b1]); tail > 0 {
			x.a1, x.b1 = x.a1-tail, x.b1-tail
			todo = append(todo, box{x.a1, x.a1 + tail, x.b1, x.b1 + tail, true})
		}
		if x.a0 == x.a1 || x.b0 == x.b1 {
			continue
		}
		i, j := d.middle(a[x.a0:x.a1], b[x.b0:x.b1], cost)
		todo = append(todo, box{x.a0 + i, x.a1, x.b0 + j, x.b1, false}, box{x.a0, x.a0 + i, x.b0, x.b0 + j, false})
	}
}

// middle returns a place on a shortest way from the beginning of both sequences to
// the end of both, which lies neither at the beginning nor at the end; after cost
// rounds, the furthest place that was reached. Neither sequence is empty, and they
// differ in their first element and in their last.
func (d *differ) middle(a, b []int32, cost int) (i, j int) {
	n, m := len(a), len(b)
	delta := n - m
	// Diagonal k, of the places with i-j = k, is at k+off. Only those between -m and
	// n have places.
	off := m + 1
	f, r := d.forward[:n+m+3], d.backward[:n+m+3]
	f[off+1], r[off+delta-1] = 0, n
	for step := 0; ; step++ {
		for k := -step + 2*max(0, step-m); k <= step-2*max(0, step-n); k += 2 {
			x := furthest(f, off+k, k == -step, k == step)
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			f[off+k] = x
			if delta%2 != 0 && k >= delta-(step-1) && k <= delta+(step-1) && x >= r[off+k] {
				return x, x - k
			}
		}
		for k := -step + 2*max(0, step-m); k <= step-2*max(0, step-n); k += 2 {
			at := delta - k // k counts from the end, where all is the other way round
			x := nearest(r, off+at, k == -step, k == step)
			for x > 0 && x-at > 0 && a[x-1] == b[x-at-1] {
				x--
			}
			r[off+at] = x
			if delta%2 == 0 && at >= -step && at <= step && x <= f[off+at] {
				return x, x - at
			}
		}
		if step >= cost {
			d.exact = false
			return d.reached(n, m, off, step)
		}
	}
}

// furthest returns how far diagonal at is reached in one more step from the
// diagonals beside it. low and high: only one of them was reached.
func furthest(f []int, at int, low, high bool) int {
	if low || !high && f[at-1] < f[at+1] {
		return f[at+1] // an element of b
	}
	return f[at-1] + 1 // an element of a
}

// nearest is furthest from the end.
func nearest(r []int, at int, low, high bool) int {
	if low || !high && r[at+1] > r[at-1] {
		return r[at-1]
	}
	return r[at+1] - 1
}

// reached returns the place that a search of so many steps has come furthest to.
func (d *differ) reached(n, m, off, step int) (i, j int) {
	most := -1
	for k := -step + 2*max(0, step-m); k <= step-2*max(0, step-n); k += 2 {
		if x := min(d.forward[off+k], n); x-k <= m && x-k >= 0 && x+x-k > most {
			most, i, j = x+x-k, x, x-k
		}
	}
	return i, j
}
