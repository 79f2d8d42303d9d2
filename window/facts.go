package window

import (
	"slices"
	"strings"
)

// Facts are taken from texts by what their words look like, not by what they mean:
// a line or sentence with an id, an amount, a date, a name, a path, or that denies
// or demands something, says more than one without; one that is like many others (a
// row of a table, a line of a listing, code) says less; and so does one whose words
// are everywhere, or stay in the context anyway. Chosen are those that say most for
// their size. The weights come from trying on recorded conversations with facts
// planted in them; most could be changed by a quarter with no effect.

// who said something.
type who uint8

const (
	byTool who = iota
	byModel
	// byCall: in the arguments of a call. Most of it stands in results too.
	byCall
	bySummary
	byHarness
)

// source is a message that facts are taken from.
type source struct {
	// number is the message's; -1: it is not known any more.
	number int64
	who    who
	// stale: what it says may not be so any more.
	stale bool
	// call is what read_artifact takes, where that is needed to find it again.
	call string
}

// fact is a piece of text that may stay when its message leaves.
type fact struct {
	text string
	// source is an index; its words are marks[from:to].
	source   int
	from, to int
	cues     cue
	// kept: an earlier compaction has chosen it already.
	kept bool
	// plains counts plain words, signs the characters of code, names the pairs of
	// names that follow each other.
	plains, signs, names int
	// same is equal for pieces of the same words; frame for those of the same words
	// but for numbers (0: too few to tell); form for those of the same signs and
	// kinds of words; opening for those that begin with the same two words.
	same, frame, form, opening uint64
	// score is what it says, cost its size in tokens with what the line takes besides.
	score, cost int64
}

// mark is a word of a fact.
type mark struct {
	key   uint64
	class class
}

// seen is how often a word occurs.
type seen struct {
	facts, messages int
	// last is the last source it occurs in.
	last int
	// again: the model has used it after it was seen elsewhere.
	again bool
}

// finder finds facts. Its maps are looked up, never walked.
type finder struct {
	measure measure
	sources []source
	facts   []fact
	marks   []mark
	seen    map[uint64]seen
	// forms counts pieces by form and by opening.
	forms map[uint64]int
	// known are words that stay in the context anyway, told those of the summary.
	known, told map[uint64]bool
}

func newFinder(m measure) *finder {
	return &finder{measure: m, seen: map[uint64]seen{}, forms: map[uint64]int{}, known: map[uint64]bool{}, told: map[uint64]bool{}}
}

// keep takes in a text that stays: what it says need not be said again.
func (f *finder) keep(text string) {
	for w := scan(text); ; {
		d, ok := w.next()
		if !ok {
			return
		}
		if d.class != plainWord {
			f.known[d.key] = true
		}
		n := f.seen[d.key]
		n.facts++
		f.seen[d.key] = n
	}
}

// tell takes in the summary.
func (f *finder) tell(text string) {
	for w := scan(text); ; {
		d, ok := w.next()
		if !ok {
			return
		}
		f.told[d.key] = true
	}
}

// add takes in a text whose pieces may be chosen.
func (f *finder) add(s source, text string) {
	f.sources = append(f.sources, s)
	pieces(text, func(p string) { f.piece(p, false) })
}

// again takes in a piece that was chosen before.
func (f *finder) again(s source, text string) {
	if n := len(f.sources); n == 0 || f.sources[n-1] != s {
		f.sources = append(f.sources, s)
	}
	f.piece(text, true)
}

// piece takes in a piece of the last source.
func (f *finder) piece(p string, kept bool) {
	if strings.HasPrefix(p, "[rein: ") {
		return // of what Rein has said itself
	}
	x := fact{text: p, source: len(f.sources) - 1, from: len(f.marks), kept: kept, signs: signs(p), form: formOf(p)}
	same, frame, opening := hasher(1), hasher(2), hasher(3)
	n, anchors := 0, 0
	var prev word
	for w := scan(p); ; n++ {
		d, ok := w.next()
		if !ok {
			break
		}
		key := d.folded()
		if months[key] && (prev.class.counts() || dated(p[d.start+len(d.text):])) {
			d.class = bigNumber
		}
		if d.class == nameWord && prev.class == nameWord && prev.start+len(prev.text)+1 == d.start {
			x.names++
		}
		same.add(d.key)
		if n < 2 {
			opening.add(d.key)
		}
		x.cues |= cues[key]
		switch {
		case d.class.counts():
			frame.add(0)
		case d.class == plainWord:
			x.plains, anchors = x.plains+1, anchors+1
			frame.add(d.key)
		default:
			anchors += 2
			frame.add(d.key)
		}
		f.mark(&x, d)
		prev = d
	}
	if strings.IndexFunc(p, func(r rune) bool { return r >= 0x0E00 }) >= 0 {
		x.cues |= wideCue(p)
	}
	x.to, x.same, x.opening = len(f.marks), uint64(same), uint64(opening)
	if anchors >= leastAnchors {
		x.frame = uint64(frame)
	}
	f.forms[x.form]++
	f.forms[x.opening]++
	f.facts = append(f.facts, x)
}

// leastAnchors is how many words two pieces have in common, at least, to be two
// versions of one fact; names count twice.
const leastAnchors = 4

// mark counts a word, and notes it as one of the fact's.
func (f *finder) mark(x *fact, d word) {
	n := f.seen[d.key]
	n.facts++
	if n.messages == 0 || n.last != x.source {
		n.messages++
		n.last = x.source
		n.again = n.again || n.messages > 1 && f.sources[x.source].who == byModel
	}
	f.seen[d.key] = n
	for _, m := range f.marks[x.from:] {
		if m.key == d.key {
			return
		}
	}
	f.marks = append(f.marks, mark{d.key, d.class})
}

// hasher combines hashes in order.
type hasher uint64

func (h *hasher) add(k uint64) { *h = (*h ^ hasher(k)) * 1099511628211 }

// signs counts the characters that code has and prose has not.
func signs(s string) int {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '{', '}', '(', ')', ';', '=', '<', '>', '[', ']', '|', '\\', '*', '^', '`', '"':
			n++
		}
	}
	return n
}

// formLength is how many signs and words of a piece its form has.
const formLength = 24

// formOf hashes the form of a piece: its signs, and for each run of letters or
// digits that it is one.
func formOf(s string) uint64 {
	h := hasher(4)
	last := apart
	for i, n := 0, 0; i < len(s) && n < formLength; i++ {
		k := kinds[s[i]]
		switch {
		case k == upper:
			k = lower
		case k < digit || k > high:
			h.add(256 + uint64(s[i]))
			last, n = apart, n+1
			continue
		}
		if k != last {
			h.add(uint64(k))
			last, n = k, n+1
		}
	}
	return uint64(h)
}

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
	for n := f.forms[x.form]; n > 1; n /= 2 {
		sum = sum * 7 / 8
	}
	for n := f.forms[x.opening]; n > 1; n /= 2 {
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

// leastScore is what words and cues of a fact say at least.
const leastScore = 44

// value returns what a word says, in 1/128 of what a strong one does.
func (f *finder) value(m mark) int64 {
	n := f.seen[m.key]
	if m.class == plainWord {
		if n.facts > 1 {
			return 0
		}
		return 8
	}
	w := int64(worth[m.class]) * 8
	if f.known[m.key] || f.told[m.key] {
		w /= 4
	}
	if n.again {
		w = w * 5 / 4
	}
	if n.messages > 6 {
		w = w * 6 / int64(n.messages)
	}
	if each := n.facts / max(n.messages, 1); each > 2 {
		w = w * 2 / int64(each)
	}
	return w
}

// said reports whether the summary has all that is strong in a fact, and most of its
// other words.
func (f *finder) said(x *fact) bool {
	told, not := 0, 0
	for _, m := range f.marks[x.from:x.to] {
		switch {
		case f.told[m.key]:
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
	taken, opened := map[uint64]bool{}, map[int]bool{}
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
				taken[m.key] = true
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
	same, frames := map[uint64]int{}, map[uint64]int{}
	for i := len(f.facts) - 1; i >= 0; i-- {
		x := &f.facts[i]
		if _, ok := same[x.same]; ok {
			continue
		}
		same[x.same] = i
		if x.frame != 0 {
			// Within one message they are rows rather than versions.
			if j, ok := frames[x.frame]; ok && f.facts[j].source != x.source {
				continue
			}
			frames[x.frame] = i
		}
		if x.score = f.score(x); x.score > 0 && !f.said(x) {
			x.cost = f.measure.count(x.text) + 2
			q.push(candidate{x.rank(), i})
		}
	}
	return q
}

// rank is what a fact says for its size.
func (x *fact) rank() int64 { return x.score * 1024 / (x.cost + 4) }

// fresh is the rank by what has not been said yet.
func (f *finder) fresh(x *fact, taken map[uint64]bool) int64 {
	var all, left int64 = 16, 16
	for _, m := range f.marks[x.from:x.to] {
		v := f.value(m)
		all += v
		if !taken[m.key] {
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
