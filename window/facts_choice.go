package window

import (
	"slices"
	"strings"
)

// leastScore is what words and cues of a fact say at least.
const leastScore = 44

// score returns what a fact says, in 1/128 of what one strong word does.
func (f *finder) score(x *fact) int64 {
	var sum int64
	n := 0
	for _, m := range f.marks[x.from:x.to] {
		if w := f.value(m); w > 0 {
			if n++; n > 4 {
				w /= 2 // what more there is says less
			}
			sum += w
		}
	}
	sum += 30 * int64(min(x.names, 2))
	for _, c := range [...]struct {
		cue   cue
		worth int64
	}{{denies, 60}, {binds, 40}, {bounds, 30}, {settles, 50}} {
		if x.cues&c.cue != 0 {
			sum += c.worth
		}
	}
	if sum < leastScore {
		return 0
	}
	switch {
	case strings.HasPrefix(x.text, "//") || strings.HasPrefix(x.text, "/*"):
		sum = sum * 5 / 8
	case x.signs > x.plains && x.signs > 2:
		sum = sum * 3 / 8
	case x.plains >= 3 && x.signs*4 <= x.plains:
		sum = sum * 20 / 8
	}
	for n := f.counts[x.form]; n > 1; n /= 2 {
		sum = sum * 7 / 8
	}
	for n := f.counts[x.opening]; n > 1; n /= 2 {
		sum = sum * 7 / 8
	}
	switch f.sources[x.source].who {
	case byModel:
		sum = sum * 5 / 4
	case byCall:
		sum /= 2
	}
	if f.sources[x.source].stale {
		sum /= 2
	}
	if x.kept {
		sum = sum * 5 / 4
	}
	return sum
}

// value returns what a word says, in 1/128 of what a strong one does.
func (f *finder) value(m mark) int64 {
	n := &f.seen[m.word]
	if m.class == plainWord {
		if n.facts > 1 {
			return 0
		}
		return 8
	}
	w := int64(worth[m.class]) * 8
	if n.known || n.told {
		w /= 4
	}
	if n.again {
		w = w * 5 / 4
	}
	if n.messages > 6 {
		w = w * 6 / int64(n.messages)
	}
	if often := max(n.messages, 1); n.facts >= 3*often {
		w = w * 2 / int64(n.facts/often)
	}
	return w
}

// said reports whether the summary has all that is strong in a fact, and most of its
// other words.
func (f *finder) said(x *fact) bool {
	told, not := 0, 0
	for _, m := range f.marks[x.from:x.to] {
		switch {
		case f.seen[m.word].told:
			told++
		case m.class.strong():
			return false
		default:
			not++
		}
	}
	return told > 3*not
}

// best chooses facts of at most limit tokens and returns their indices, in order.
// head is what the line costs that names a source, once for each.
//
// It always takes next what says most for its size, less what those before have said
// already. The time is n·log n for n facts.
func (f *finder) best(limit int64, head int64) []int {
	q := f.candidates()
	taken, opened := make([]bool, len(f.seen)), make([]bool, len(f.sources))
	var out []int
	for len(q) > 0 {
		c := q.pop()
		x := &f.facts[c.fact]
		cost := x.cost
		if !opened[x.source] {
			cost += head
		}
		if cost > limit {
			continue
		}
		if now := f.fresh(x, taken); now < c.rank {
			if now > 0 {
				q.push(candidate{now, c.fact})
			}
			continue
		}
		limit -= cost
		opened[x.source] = true
		out = append(out, c.fact)
		for _, m := range f.marks[x.from:x.to] {
			if m.class != plainWord {
				taken[m.word] = true
			}
		}
	}
	slices.Sort(out)
	return out
}

// candidates scores all facts and returns those that say anything, the last of
// several versions of one only.
func (f *finder) candidates() queue {
	var q queue
	same, frames := make(map[uint64]bool, min(len(f.facts), 1024)), map[uint64]rows{}
	for i := len(f.facts) - 1; i >= 0; i-- {
		x := &f.facts[i]
		if same[x.same] {
			continue
		}
		same[x.same] = true
		// Within one message they are rows rather than versions.
		r, ok := frames[x.frame]
		if ok && r.source != x.source {
			if x.common {
				continue
			}
			r = rows{}
		}
		r.source, r.n = x.source, r.n+1
		frames[x.frame] = r
		if x.score = r.weigh(f.score(x)); x.score > 0 && !f.said(x) {
			x.cost = f.measure.count(x.text) + 2
			q.push(candidate{x.rank(), i})
		}
	}
	return q
}

// rows is how many pieces of a source have the same frame.
type rows struct {
	source int32
	n      int64
}

// fewRows is how many lines of which only the numbers differ say as much as others.
const fewRows = 3

// weigh returns the score of the next row: the more there are, the less each says,
// and nothing in the end.
func (r *rows) weigh(score int64) int64 {
	if r.n <= fewRows {
		return score
	}
	if score = score * fewRows / r.n; score < leastScore {
		return 0
	}
	return score
}

// rank is what a fact says for its size.
func (x *fact) rank() int64 { return x.score * 1024 / (x.cost + 4) }

// fresh is the rank by what has not been said yet.
func (f *finder) fresh(x *fact, taken []bool) int64 {
	var all, left int64 = 16, 16
	for _, m := range f.marks[x.from:x.to] {
		v := f.value(m)
		all += v
		if !taken[m.word] {
			left += v
		}
	}
	return x.rank() * left / all
}

// candidate is a fact by its rank.
type candidate struct {
	rank int64
	fact int
}

// queue is a heap with the best candidate first; of equal ones the later fact.
type queue []candidate

func (q queue) less(i, j int) bool {
	return q[i].rank > q[j].rank || q[i].rank == q[j].rank && q[i].fact > q[j].fact
}

func (q *queue) push(c candidate) {
	h := append(*q, c)
	for i := len(h) - 1; i > 0 && h.less(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*q = h
}

func (q *queue) pop() candidate {
	h := *q
	best, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	*q = h
	for i := 0; ; {
		k := 2*i + 1
		if k >= n {
			return best
		}
		if k+1 < n && h.less(k+1, k) {
			k++
		}
		if !h.less(k, i) {
			return best
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}
