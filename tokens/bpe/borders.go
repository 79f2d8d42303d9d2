package bpe

import "unicode/utf8"

// borders knows where nothing is merged: between which bytes of a text no merge that was
// learnt goes across, by the three bytes on either side or, for merges of which one has
// fewer, by one. That there is one it only suspects: of ASCII always, where there mostly
// is one, and otherwise where another merge has the same bit.
type borders struct {
	three []uint64 // bits, by a hash of three bytes and three
	shift uint8
	one   [1 << 16 / 64]uint64 // bits, by a byte and a byte
}

// side is how many bytes on either side count.
const side = 3

func newBorders(n int) *borders {
	bits, shift := slots(max(4*n, 64))
	return &borders{three: make([]uint64, bits/64), shift: shift}
}

// add adds the border between two texts that merge.
func (b *borders) add(left, right string) {
	if len(left) >= side && len(right) >= side {
		h := b.hash(left[len(left)-side:], right)
		b.three[h/64] |= 1 << (h % 64)
		return
	}
	i := int(left[len(left)-1])<<8 | int(right[0])
	b.one[i/64] |= 1 << (i % 64)
}

// open reports whether something may be merged across s[at], which is neither the
// beginning nor the end.
func (b *borders) open(s string, at int) bool {
	before, after := s[at-1], s[at]
	if before < utf8.RuneSelf && after < utf8.RuneSelf {
		return true
	}
	if i := int(before)<<8 | int(after); b.one[i/64]&(1<<(i%64)) != 0 {
		return true
	}
	if at < side || at+side > len(s) {
		return false
	}
	h := b.hash(s[at-side:], s[at:])
	return b.three[h/64]&(1<<(h%64)) != 0
}

// hash returns the bit of the first three bytes of two texts.
func (b *borders) hash(left, right string) uint64 {
	_, _ = left[side-1], right[side-1]
	key := uint64(left[0]) | uint64(left[1])<<8 | uint64(left[2])<<16 |
		uint64(right[0])<<24 | uint64(right[1])<<32 | uint64(right[2])<<40
	return (key + 1) * golden >> b.shift
}
