package bpe

import (
	"fmt"
	"unicode/utf8"
)

// Merge is two tokens that merge to a third, by their places in a list of texts.
type Merge struct{ Left, Right, Whole uint32 }

// MaxMerges is how many there may be. Gemma has 580,604, since its file names every way
// to each token.
const MaxMerges = 1<<rankBits - 2

// Merges is what others than tiktoken count with: which two tokens merge to which,
// whatever the order in which they were learnt. Pieces are merged by the book, in n log n
// time. It does not change.
type Merges struct {
	pairs pairs
	whole []uint32 // by rank
	// bytes has the token of each byte; else chars that of each character.
	bytes []uint32
	chars map[rune]uint32
	// within are the characters that follow each other in some token: between others
	// nothing is merged.
	within  map[[2]rune]struct{}
	missing Missing
	pieces  *words // those that need no merging; nil if that isn't known
}

// Missing is what becomes of a character that is not among the tokens.
type Missing uint8

// What becomes of one.
const (
	// MissingBytes: a token for each of its bytes.
	MissingBytes Missing = iota
	// MissingOne: a token.
	MissingOne
	// MissingFused: a token for all that stand in a row.
	MissingFused
)

// MergesOptions say how a tokenizer differs from others. Nil means none of it.
type MergesOptions struct {
	// Characters: texts begin as characters, and not as bytes. Missing says what
	// becomes of those that are not among the texts.
	Characters bool
	Missing    Missing
	// Pieces: a piece that is one of the texts is a token, whatever merging makes of
	// it.
	Pieces bool
}

// NewMerges returns what counts with tokens of these texts, of which some have one byte,
// or one character, and with merges, those that go first first. A later merge of the
// same two stands for the earlier.
func NewMerges(all []string, merges []Merge, o *MergesOptions) (*Merges, error) {
	if len(all) > MaxTokens || len(merges) > MaxMerges {
		return nil, fmt.Errorf("%d tokens and %d merges: there may be %d and %d", len(all), len(merges), MaxTokens, MaxMerges)
	}
	if o == nil {
		o = &MergesOptions{}
	}
	m := &Merges{pairs: newPairs(len(merges)), whole: make([]uint32, len(merges)), missing: o.Missing}
	for rank, merge := range merges {
		if max(merge.Left, merge.Right, merge.Whole) >= uint32(len(all)) {
			return nil, fmt.Errorf("merge %d is of tokens that there are not", rank)
		}
		m.pairs.add(merge.Left, merge.Right, uint32(rank))
		m.whole[rank] = merge.Whole
	}
	if o.Characters {
		m.characters(all)
	} else if err := m.singleBytes(all); err != nil {
		return nil, err
	}
	if o.Pieces || !o.Characters {
		m.pieces = m.wholes(all, o.Pieces)
	}
	return m, nil
}

// singleBytes finds the bytes among the texts.
func (m *Merges) singleBytes(all []string) error {
	m.bytes = make([]uint32, 256)
	found := 0
	for i, s := range all {
		if len(s) == 1 {
			m.bytes[s[0]] = uint32(i)
			found++
		}
	}
	if found != 256 {
		return fmt.Errorf("there must be 256 tokens of one byte, and there are %d", found)
	}
	return nil
}

// characters finds the characters among the texts, and which follow each other in one.
func (m *Merges) characters(all []string) {
	m.chars, m.within = map[rune]uint32{}, map[[2]rune]struct{}{}
	for i, s := range all {
		before := rune(-1)
		for _, r := range s {
			if len(s) == utf8.RuneLen(r) {
				m.chars[r] = uint32(i)
			}
			if before >= 0 {
				m.within[[2]rune{before, r}] = struct{}{}
			}
			before = r
		}
	}
}

// wholes returns the texts that are one token as a piece: any, or those that merging
// makes one of. Most words of a text are among them, and need not be merged again.
func (m *Merges) wholes(all []string, anyOfThem bool) *words {
	t := newTexts(len(all))
	var w work
	for _, s := range all {
		if s != "" && (anyOfThem || len(s) <= small && m.piece(s, 0, len(s), &w) == 1) {
			t.add(s)
		}
	}
	t.complete()
	return newWords(t)
}

// piece implements [Encoder].
func (m *Merges) piece(s string, i, j int, w *work) int {
	if m.pieces != nil && m.pieces.has(s, i, j) {
		return 1
	}
	if m.chars != nil {
		return m.pieceOfCharacters(s[i:j], w)
	}
	tokens := w.tokens(j - i)
	for k := i; k < j; k++ {
		tokens = append(tokens, m.bytes[s[k]])
	}
	return m.merge(tokens, w)
}

// pieceOfCharacters merges what lies between characters that are missing, or that never
// follow each other in a token.
func (m *Merges) pieceOfCharacters(s string, w *work) int {
	n, fused := 0, false
	tokens, before := w.tokens(0), rune(-1)
	for _, r := range s {
		t, ok := m.chars[r]
		if _, within := m.within[[2]rune{before, r}]; !ok || !within {
			n += m.merge(tokens, w)
			tokens = tokens[:0]
		}
		switch {
		case ok:
			tokens = append(tokens, t)
		case m.missing == MissingBytes:
			n += utf8.RuneLen(r)
		case m.missing == MissingOne || !fused:
			n++
		}
		before, fused = r, !ok
	}
	w.stack = tokens
	return n + m.merge(tokens, w)
}

// small is how many tokens are merged by looking at all of them each time.
const small = 64

// merge returns how many tokens are left when all that can be merged are. It writes over
// tokens.
func (m *Merges) merge(tokens []uint32, w *work) int {
	n := len(tokens)
	if n < 2 {
		return n
	}
	if n > small {
		return m.mergeMany(tokens)
	}
	ranks := w.rank[:n-1]
	for i := range ranks {
		ranks[i] = m.pairs.get(tokens[i], tokens[i+1])
	}
	for {
		best, at := none, 0
		for i, r := range ranks {
			if r < best {
				best, at = r, i
			}
		}
		if best == none {
			return len(tokens)
		}
		tokens[at] = m.whole[best]
		tokens = append(tokens[:at+1], tokens[at+2:]...)
		ranks = append(ranks[:at], ranks[at+1:]...)
		if at > 0 {
			ranks[at-1] = m.pairs.get(tokens[at-1], tokens[at])
		}
		if at < len(ranks) {
			ranks[at] = m.pairs.get(tokens[at], tokens[at+1])
		}
	}
}

// mergeMany does the same with a queue of the pairs, the lowest rank first and then the
// leftmost.
func (m *Merges) mergeMany(tokens []uint32) int {
	left := len(tokens)
	next, before := make([]int32, left), make([]int32, left)
	q := make(queue, 0, 2*left)
	for i := range tokens {
		next[i], before[i] = int32(i+1), int32(i-1)
		if i+1 < left {
			q.put(m.pairs.get(tokens[i], tokens[i+1]), uint32(i))
		}
	}
	end := int32(left)
	for len(q) > 0 {
		rank, at := q.take()
		// Tokens may have become others since; those that are gone are none.
		if n := next[at]; tokens[at] == none || n == end || m.pairs.get(tokens[at], tokens[n]) != rank {
			continue
		}
		gone := next[at]
		tokens[at], tokens[gone] = m.whole[rank], none
		next[at] = next[gone]
		left--
		if n := next[at]; n < end {
			before[n] = int32(at)
			q.put(m.pairs.get(tokens[at], tokens[n]), at)
		}
		if b := before[at]; b >= 0 {
			q.put(m.pairs.get(tokens[b], tokens[at]), uint32(b))
		}
	}
	return left
}

// queue is a heap of ranks and places: each is before the two at twice its own place
// plus 1 and 2.
type queue []uint64

// put adds a pair, if it has a rank.
func (q *queue) put(rank, at uint32) {
	if rank == none {
		return
	}
	*q = append(*q, uint64(rank)<<32|uint64(at))
	h := *q
	for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

// take removes the first.
func (q *queue) take() (rank, at uint32) {
	h := *q
	first, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			break
		}
		if least+1 < n && h[least+1] < h[least] {
			least++
		}
		if h[i] <= h[least] {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*q = h
	return uint32(first >> 32), uint32(first)
}
