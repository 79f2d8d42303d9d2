package window

import (
	"slices"
	"strings"

	"rein.example/rein/message"
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
	byUser
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
	source   int32
	from, to int32
	cues     cue
	// kept: an earlier compaction has chosen it already.
	kept bool
	// plains counts plain words, signs the characters of code, names the pairs of
	// names that follow each other.
	plains, signs, names int32
	// form and opening are indices of the counts of pieces of the same signs and kinds
	// of words, and of those that begin with the same two words.
	form, opening int32
	// same is equal for pieces of the same words; frame for those of the same words
	// but for numbers. common: those words are enough to tell a version of a fact from
	// another fact.
	same, frame uint64
	common      bool
	// score is what it says, cost its size in tokens with what the line takes besides.
	score, cost int64
}

// mark is a word of a fact: which of those seen, what it is where it stands first,
// and how often it stands there.
type mark struct {
	word  int32
	class class
	times uint16
}

// seen is what is known of a word.
type seen struct {
	facts, messages int32
	// source is the last source it occurs in, piece the last piece, mark its mark there.
	source, piece, mark int32
	// again: the model has used it after it was seen elsewhere.
	again bool
	// known: it stays in the context anyway; told: the summary has it.
	known, told bool
}

// finder finds facts. Its maps are looked up, never walked; each word is looked up
// once where it stands, and known by its index from then on.
type finder struct {
	measure measure
	sources []source
	facts   []fact
	marks   []mark
	words   map[uint64]int32 // indices of seen, by key
	recent  [1 << 9]recent
	seen    []seen
	// forms has indices of counts, by form and by opening.
	forms  map[uint64]int32
	counts []int32
	// pieces is how many there were; twins has the last fact of each text, as lines are
	// often there again when something has been read again.
	pieces int32
	twins  map[string]int32
	// only: pieces that say none of it are counted, and not chosen; 0: all are.
	only cue
}

// recent is a word that was looked up, in a place that others with the same last bits
// of their keys have too: what saves most of the lookups.
type recent struct {
	key  uint64
	word int32 // its index and 1
}

// newFinder returns one with room for what texts of that size have as a rule.
func newFinder(m measure, of extent) *finder {
	bytes := min(of.bytes, 16<<20)
	n := min(of.lines, bytes/12) + bytes/128
	return &finder{
		measure: m, facts: make([]fact, 0, n), marks: make([]mark, 0, bytes/8), twins: make(map[string]int32, n/4),
		words: make(map[uint64]int32, bytes/128), seen: make([]seen, 0, bytes/64), forms: map[uint64]int32{},
	}
}

// extent is how much text there is.
type extent struct{ bytes, lines int }

func (x *extent) add(text string) {
	x.bytes += len(text)
	x.lines += strings.Count(text, "\n") + 1
}

// message adds what is said in a message, and called.
func (x *extent) message(m *message.Message) {
	for i := range m.Parts {
		x.add(m.Parts[i].Text)
		x.bytes += len(m.Parts[i].Args)
	}
}

// word returns what is known of a word, and its index. It holds until the next call.
func (f *finder) word(key uint64) (*seen, int32) {
	r := &f.recent[(key^key>>32)%uint64(len(f.recent))]
	if r.word > 0 && r.key == key {
		return &f.seen[r.word-1], r.word - 1
	}
	i, ok := f.words[key]
	if !ok {
		i = int32(len(f.seen))
		f.words[key] = i
		f.seen = append(f.seen, seen{})
	}
	*r = recent{key, i + 1}
	return &f.seen[i], i
}

// count counts a form or an opening, and returns its index.
func (f *finder) count(key uint64) int32 {
	i, ok := f.forms[key]
	if !ok {
		i = int32(len(f.counts))
		f.forms[key] = i
		f.counts = append(f.counts, 0)
	}
	f.counts[i]++
	return i
}

// keep takes in a message that stays: what it says need not be said again.
func (f *finder) keep(m *message.Message) {
	eachText(m, f.keepText)
}

func (f *finder) keepText(text string) {
	for w := scan(text); ; {
		d, ok := w.next()
		if !ok {
			return
		}
		n, _ := f.word(d.key)
		n.known = n.known || d.class != plainWord
		n.facts++
	}
}

// tell takes in the summary.
func (f *finder) tell(text string) {
	for w := scan(text); ; {
		d, ok := w.next()
		if !ok {
			return
		}
		n, _ := f.word(d.key)
		n.told = true
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
	if i, ok := f.twins[p]; ok {
		f.twin(i, kept)
		return
	}
	f.pieces++
	signs, far := signs(p)
	x := fact{text: p, source: int32(len(f.sources) - 1), from: int32(len(f.marks)), kept: kept, signs: signs}
	same, frame, opening := hasher(1), hasher(2), hasher(3)
	n, anchors := 0, 0
	var prev word
	for w := scan(p); ; n++ {
		d, ok := w.next()
		if !ok {
			break
		}
		says := lexicon.of(d.folded())
		if says&month != 0 && (prev.class.counts() || dated(p[d.start+len(d.text):])) {
			d.class = bigNumber
		}
		if d.class == nameWord && prev.class == nameWord && prev.start+len(prev.text)+1 == d.start {
			x.names++
		}
		same.add(d.key)
		if n < 2 {
			opening.add(d.key)
		}
		x.cues |= says &^ month
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
	if far {
		x.cues |= wideCue(p)
	}
	x.to, x.same, x.frame, x.common = int32(len(f.marks)), uint64(same), uint64(frame), anchors >= leastAnchors
	x.form, x.opening = f.count(formOf(p)), f.count(uint64(opening))
	if f.only == 0 || x.cues&f.only != 0 {
		f.twins[p] = int32(len(f.facts))
		f.facts = append(f.facts, x)
	}
}

// twin takes in a piece of the same text as the fact of that index.
func (f *finder) twin(i int32, kept bool) {
	x := f.facts[i]
	x.source, x.kept = int32(len(f.sources)-1), kept
	for _, m := range f.marks[x.from:x.to] {
		f.see(&f.seen[m.word], x.source, int32(m.times))
	}
	f.counts[x.form]++
	f.counts[x.opening]++
	f.facts = append(f.facts, x)
}

// leastAnchors is how many words two pieces have in common, at least, to be two
// versions of one fact; names count twice.
const leastAnchors = 4

// mark counts a word, and notes it as one of the fact's.
func (f *finder) mark(x *fact, d word) {
	n, i := f.word(d.key)
	f.see(n, x.source, 1)
	if n.piece != f.pieces {
		n.piece, n.mark = f.pieces, int32(len(f.marks))
		f.marks = append(f.marks, mark{i, d.class, 1})
	} else if m := &f.marks[n.mark]; m.times < 1<<16-1 {
		m.times++
	}
}

// see counts a word of a source.
func (f *finder) see(n *seen, source, times int32) {
	n.facts += times
	if n.messages == 0 || n.source != source {
		n.messages++
		n.source = source
		n.again = n.again || n.messages > 1 && f.sources[source].who == byModel
	}
}

// hasher combines hashes in order.
type hasher uint64

func (h *hasher) add(k uint64) { *h = (*h ^ hasher(k)) * prime64 }

// signs counts the characters that code has and prose has not. far: there may be
// characters of scripts far from Latin.
func signs(s string) (n int32, far bool) {
	for i := range len(s) {
		n += int32(codeSigns[s[i]])
		far = far || s[i] >= 0xE0
	}
	return n, far
}

// codeSigns has a 1 for each of those characters.
var codeSigns = func() (t [256]uint8) {
	for _, c := range []byte("{}();=<>[]|\\*^`\"") {
		t[c] = 1
	}
	return t
}()

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

// leastScore is what words and cues of a fact say at least.
const leastScore = 44

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
