package bpe

import (
	"fmt"
	"math"
)

// Token is a token of a [Vocabulary]: its rank, which is when it was learnt.
type Token = uint32

// none is no token, and no rank. It is more than any.
const none Token = math.MaxUint32

// MaxTokens is how many tokens a vocabulary may have; the largest in use have 262,144.
const MaxTokens = 1 << 20

// maxBytes is how many bytes all tokens of one may have together.
const maxBytes = 64 << 20

// Vocabulary is what tiktoken counts with: tokens in the order of their learning, each
// from two earlier ones that stand side by side. A piece that is a token is one; others
// are encoded in linear time, without merging. It does not change.
type Vocabulary struct {
	learnt
	prefix  []Token // the longest other token that each begins with, or none
	trie    *trie
	whole   *words
	borders *borders
}

// learnt is the part of a vocabulary that grows.
type learnt struct {
	texts *texts
	// parts are the two that each token was learnt from; twice the token itself for
	// those that were given.
	parts [][2]Token
	pairs pairs
}

// builder makes a Vocabulary.
type builder struct {
	learnt
	room int // for more
}

// newBuilder begins a vocabulary with the tokens that texts consist of, none of which
// may begin with another, and has room for more.
func newBuilder(given []string, more int) *builder {
	n := len(given) + more
	b := &builder{learnt{newTexts(n), make([][2]Token, 0, n), newPairs(more)}, more}
	for i, s := range given {
		b.texts.add(s)
		b.parts = append(b.parts, [2]Token{Token(i), Token(i)})
	}
	return b
}

// learn adds the token that left and right merge to, after all others. They must be
// neighbours.
func (b *builder) learn(left, right Token) error {
	n := Token(len(b.parts))
	switch {
	case left >= n || right >= n:
		return fmt.Errorf("token %d is learnt from %d and %d, of which one is not known yet", n, left, right)
	case b.room == 0:
		return fmt.Errorf("token %d is one more than there was to be", n)
	case len(b.texts.all)+b.texts.size(left)+b.texts.size(right) > maxBytes:
		return fmt.Errorf("the tokens have more than %d bytes", maxBytes)
	}
	b.room--
	b.texts.join(left, right)
	b.parts = append(b.parts, [2]Token{left, right})
	b.pairs.add(left, right, n)
	return nil
}

// build returns the vocabulary. It fails if two tokens are the same text. The builder
// must not be used any more.
func (b *builder) build() (*Vocabulary, error) {
	v := &Vocabulary{learnt: b.learnt}
	v.texts.complete()
	var err error
	if v.trie, v.prefix, err = newTrie(v.texts); err != nil {
		return nil, fmt.Errorf("a vocabulary in which %w", err)
	}
	v.whole = newWords(v.texts)
	v.borders = newBorders(len(v.parts))
	for t, p := range v.parts {
		if p[0] != Token(t) {
			v.borders.add(v.texts.at(p[0]), v.texts.at(p[1]))
		}
	}
	return v, nil
}

// neighbours reports whether merging leaves left and right side by side where a text
// is left and then right: whether no merge goes across from one into the other.
//
// It takes the two apart again, each time the one that was learnt last, and looks
// whether the two that then stand side by side would have been merged before that.
// Of two merges of the same rank the left one goes first.
func (l *learnt) neighbours(left, right Token) bool {
	limit := none // merges from here on come too late
	for {
		if l.pairs.get(left, right) < limit {
			return false
		}
		switch {
		case left > right && left != l.parts[left][1]:
			limit = left
			left = l.parts[left][1]
		case right != l.parts[right][0]:
			limit = right + 1
			right = l.parts[right][0]
		case left != l.parts[left][1]:
			limit = left
			left = l.parts[left][1]
		default:
			return true
		}
	}
}
