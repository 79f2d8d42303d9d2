package window

import (
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
