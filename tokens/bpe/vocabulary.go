package bpe

import (
	"errors"
	"fmt"
	"math"
)

// Token is a token of a [Vocabulary]: its rank, which is when it was learnt. A
// tokenizer's own numbers may be others.
type Token = uint32

// none is no token. It is more than any.
const none Token = math.MaxUint32

// What a vocabulary may have.
const (
	// MaxTokens is how many tokens; the largest in use have 262,144.
	MaxTokens = 1 << 20
	// MaxBytes is how many bytes all tokens together.
	MaxBytes = 64 << 20
)

// Vocabulary is what was learnt: tokens in the order of their learning, each from
// two earlier ones side by side. It does not change.
type Vocabulary struct {
	learnt
	prefix []Token // the longest other token that each begins with, or none
	trie   *trie
	// whole has the pieces that are one token whatever merging would make of them.
	whole   *words
	missing Missing
}

// Missing is what a vocabulary makes of a character that it doesn't have, where its
// given tokens are characters.
type Missing uint8

// What it makes of one.
const (
	// MissingBytes: a token for each of its bytes.
	MissingBytes Missing = iota
	// MissingOne: a token.
	MissingOne
	// MissingFused: a token for all that stand in a row.
	MissingFused
)

// learnt is the part of a vocabulary that grows.
type learnt struct {
	texts *texts
	// parts are the two that each token was learnt from; twice the token itself for
	// those that were given.
	parts [][2]Token
	pairs pairs
}

// Builder makes a [Vocabulary]. It is for one goroutine.
type Builder struct {
	learnt
	room    int // for merges
	more    []string
	missing Missing
}

// NewBuilder begins a vocabulary with the tokens that texts consist of, mostly the
// 256 bytes, and has room for merges more. None of them may begin with another.
func NewBuilder(base []string, merges int) (*Builder, error) {
	if len(base) == 0 || merges < 0 || len(base)+merges > MaxTokens {
		return nil, fmt.Errorf("a vocabulary of %d given tokens and %d learnt ones: there must be some that are given, and at most %d of both", len(base), merges, MaxTokens)
	}
	b := &Builder{learnt{newTexts(len(base) + merges), make([][2]Token, 0, len(base)+merges), newPairs(merges)}, merges, nil, MissingBytes}
	for i, s := range base {
		if s == "" {
			return nil, errors.New("a vocabulary with an empty token")
		}
		b.texts.add(s)
		b.parts = append(b.parts, [2]Token{Token(i), Token(i)})
	}
	return b, nil
}

// Learn adds the token that left and right merge to, after all others. They must be
// [Builder.Neighbours], and no other two may make the same text. There is one less
// to learn.
func (b *Builder) Learn(left, right Token) (Token, error) {
	n := Token(len(b.parts))
	switch {
	case left >= n || right >= n:
		return none, fmt.Errorf("token %d is learnt from %d and %d, of which one is not known yet", n, left, right)
	case b.room == 0:
		return none, fmt.Errorf("token %d is one more than there was to be", n)
	case len(b.texts.all)+b.texts.size(left)+b.texts.size(right) > MaxBytes:
		return none, fmt.Errorf("the tokens have more than %d bytes", MaxBytes)
	}
	b.room--
	b.texts.join(left, right)
	b.parts = append(b.parts, [2]Token{left, right})
	b.pairs.add(left, right, n)
	return n, nil
}

// Whole says that a piece is one token, whatever merging makes of it.
func (b *Builder) Whole(piece string) { b.more = append(b.more, piece) }

// Missing says what becomes of characters that are not among the given tokens.
func (b *Builder) Missing(m Missing) { b.missing = m }

// Build returns the vocabulary. It fails if two tokens are the same text. The builder
// must not be used any more.
func (b *Builder) Build() (*Vocabulary, error) {
	v := &Vocabulary{learnt: b.learnt, missing: b.missing}
	v.texts.complete()
	var err error
	if v.trie, v.prefix, err = newTrie(v.texts); err != nil {
		return nil, fmt.Errorf("a vocabulary in which %w", err)
	}
	all := v.texts
	if len(b.more) > 0 {
		all = newTexts(v.texts.len() + len(b.more))
		for i := range v.texts.ends {
			all.add(v.texts.at(uint32(i)))
		}
		for _, s := range b.more {
			all.add(s)
		}
		all.complete()
	}
	v.whole = newWords(all)
	return v, nil
}

// Neighbours reports whether merging leaves left and right side by side where a text
// is left and then right: whether no merge goes across from one into the other.
//
// It takes the two apart again, each time the one that was learnt last, and looks
// whether the two that then stand side by side would have been merged before that.
// Of two merges of the same rank the left one goes first.
func (l *learnt) Neighbours(left, right Token) bool {
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
