package bpe

import "math/bits"

// golden spreads keys over a table by multiplication (Knuth, volume 3, 6.4).
const golden = 0x9E3779B97F4A7C15

// slots returns how many slots a table for n entries has, a power of two of which
// at most four fifths are taken, and the shift that makes a slot's index of a hash.
func slots(n int) (size int, shift uint8) {
	b := bits.Len(uint(max(n+n/4, 2) - 1))
	return 1 << b, uint8(64 - b)
}

// words is a set of texts: those of up to 7 bytes are their own keys, of the others
// the table has which they are.
type words struct {
	texts      *texts
	short      []uint64
	shortShift uint8
	long       []uint32 // a text, plus 1
	longShift  uint8
	longest    int
}

// long is the length from which texts are not their own keys.
const long = 8

// newWords returns the set of all texts.
func newWords(t *texts) *words {
	w := &words{texts: t}
	few := 0
	for i := range t.len() {
		w.longest = max(w.longest, t.size(uint32(i)))
		if t.size(uint32(i)) < long {
			few++
		}
	}
	var n int
	n, w.shortShift = slots(few)
	w.short = make([]uint64, n)
	n, w.longShift = slots(t.len() - few)
	w.long = make([]uint32, n)
	for i := range t.len() {
		if s := t.at(uint32(i)); len(s) < long {
			w.addShort(shortKey(s))
		} else {
			w.addLong(s, uint32(i)+1)
		}
	}
	return w
}

func (w *words) addShort(key uint64) {
	i := key * golden >> w.shortShift
	for w.short[i] != 0 && w.short[i] != key {
		i = (i + 1) & uint64(len(w.short)-1)
	}
	w.short[i] = key
}

func (w *words) addLong(s string, at uint32) {
	i := hash(s) >> w.longShift
	for w.long[i] != 0 {
		i = (i + 1) & uint64(len(w.long)-1)
	}
	w.long[i] = at
}

// has reports whether s[i:j], which is not empty, is in the set.
func (w *words) has(s string, i, j int) bool {
	n := j - i
	switch {
	case n >= long:
		return n <= w.longest && w.hasLong(s[i:j])
	case i+8 <= len(s):
		return w.hasShort(eight(s[i:])&(1<<(8*n)-1) | uint64(n)<<56)
	}
	return w.hasShort(shortKey(s[i:j]))
}

func (w *words) hasShort(key uint64) bool {
	for i := key * golden >> w.shortShift; ; i = (i + 1) & uint64(len(w.short)-1) {
		switch w.short[i] {
		case key:
			return true
		case 0:
			return false
		}
	}
}

func (w *words) hasLong(s string) bool {
	for i := hash(s) >> w.longShift; ; i = (i + 1) & uint64(len(w.long)-1) {
		at := w.long[i]
		if at == 0 {
			return false
		}
		if w.texts.at(at-1) == s {
			return true
		}
	}
}

// shortKey returns the key of a text of up to 7 bytes: the bytes, and how many.
func shortKey(s string) uint64 {
	key := uint64(len(s)) << 56
	for i := range len(s) {
		key |= uint64(s[i]) << (8 * i)
	}
	return key
}

// hash returns a hash of a text of 8 bytes or more: its first, last and some bytes
// between, eight at a time.
func hash(s string) uint64 {
	h := uint64(len(s)) * golden
	last := eight(s[len(s)-8:])
	for ; len(s) > 8; s = s[8:] {
		h = (h ^ eight(s)) * golden
		h ^= h >> 29
	}
	return (h ^ last) * golden
}

// eight returns the first eight bytes of a text.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// pairs is a table from two tokens to the one that they merge to, or to the rank of
// that: the two, of tokenBits each, and the rank plus 1 in the rest of a slot. Most pairs that are looked
// up are not in it, which seen, a bit for each of many hashes and small enough to stay
// near, mostly knows.
type pairs struct {
	slots     []uint64
	seen      []uint64
	shift     uint8
	seenShift uint8
}

// tokenBits is enough for MaxTokens.
const (
	tokenBits = 21
	rankBits  = 64 - 2*tokenBits
)

func newPairs(n int) pairs {
	size, shift := slots(n)
	bits, seenShift := slots(max(4*n, 32))
	return pairs{make([]uint64, size), make([]uint64, bits/64), shift, seenShift}
}

// add adds two tokens, again if they are there already.
func (p *pairs) add(left, right, rank uint32) {
	key := uint64(left)<<tokenBits | uint64(right)
	h := key * golden
	p.seen[h>>p.seenShift/64] |= 1 << (h >> p.seenShift % 64)
	i := h >> p.shift
	for p.slots[i] != 0 && p.slots[i]>>rankBits != key {
		i = (i + 1) & uint64(len(p.slots)-1)
	}
	p.slots[i] = key<<rankBits | uint64(rank+1)
}

// get returns the rank of two tokens, or none.
func (p *pairs) get(left, right uint32) uint32 {
	key := uint64(left)<<tokenBits | uint64(right)
	h := key * golden
	if p.seen[h>>p.seenShift/64]&(1<<(h>>p.seenShift%64)) == 0 {
		return none
	}
	for i := h >> p.shift; ; i = (i + 1) & uint64(len(p.slots)-1) {
		switch slot := p.slots[i]; {
		case slot == 0:
			return none
		case slot>>rankBits == key:
			return uint32(slot&(1<<rankBits-1)) - 1
		}
	}
}
