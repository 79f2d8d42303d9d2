// Package bpe answers: how many tokens does byte-pair encoding make of a text?
//
// Nearly all language models count by it. A text is cut into pieces, mostly words
// with the space before them, by a [Pattern]. Each piece begins as bytes, or
// characters, and the two neighbours whose merging was learnt first are merged, the
// leftmost of several, until there are none that were.
//
// Counts are exact. A [Vocabulary], which OpenAI's models have, takes time linear in
// the text, whatever is in it. Merging itself would not: instead the longest token that
// fits is taken, from the left, as long as it and the one before it are what merging
// leaves side by side, and steps are taken back where nothing fits. That gives the same
// tokens; the idea is from Hendrik van Antwerpen and Alexander Neubeck, "So many tokens,
// so little time" (2024). A test merges by the book and compares. [Merges], which all
// other models' can be read as, are merged, with a queue where a piece is long.
//
// Nothing is special: the text of a special token, such as "<|endoftext|>", is
// counted as the ordinary text that a careful server takes it for. A byte that is
// not UTF-8 counts as U+FFFD, which Rein's encoders send in its place.
//
// The package is pure; what it returns does not change and may be used from any
// goroutine.
package bpe

import (
	"strings"
	"unicode/utf8"

	"rein.example/rein/tokens"
)

// Tokenizer counts tokens with an encoder and patterns. It implements
// [tokens.Counter].
type Tokenizer struct {
	encoder Encoder
	stages  []stage
}

// Encoder makes tokens of pieces: a [Vocabulary] or [Merges].
type Encoder interface {
	// piece returns how many tokens it makes of s[i:j], which is not empty.
	piece(s string, i, j int, w *work) int
}

// New returns a tokenizer that cuts texts by a pattern, the pieces by the next, and
// so on; without any a text is one piece. Its memory is the encoder's and 128 KiB.
func New(e Encoder, patterns ...Pattern) *Tokenizer {
	t := &Tokenizer{encoder: e}
	class := newClasses()
	for _, p := range patterns {
		t.stages = append(t.stages, p.stage(class))
	}
	return t
}

// Method returns [tokens.Exact].
func (t *Tokenizer) Method() tokens.Method { return tokens.Exact }

// Count returns the number of tokens of a text, at most its bytes. It takes a kilobyte of
// memory for ordinary texts; for one long piece that is no word a [Vocabulary] takes up to
// 5 bytes for each of its bytes, and [Merges] 36.
func (t *Tokenizer) Count(text string) int {
	var w work
	return min(t.count(Valid(text), t.stages, &w), len(text))
}

// count counts what the stages, which are as many as there were patterns at most,
// make of a text.
func (t *Tokenizer) count(s string, stages []stage, w *work) int {
	if len(stages) == 0 {
		if s == "" {
			return 0
		}
		return t.encoder.piece(s, 0, len(s), w)
	}
	n := 0
	for i := 0; i < len(s); {
		j := stages[0].next(s, i)
		if len(stages) == 1 {
			n += t.encoder.piece(s, i, j, w)
		} else {
			n += t.count(s[i:j], stages[1:], w)
		}
		i = j
	}
	return n
}

// Pieces returns what the patterns cut a text into, for those who want to see it.
func (t *Tokenizer) Pieces(text string) []string {
	pieces := []string{Valid(text)}
	for _, stage := range t.stages {
		var cut []string
		for _, s := range pieces {
			for i := 0; i < len(s); {
				j := stage.next(s, i)
				cut = append(cut, s[i:j])
				i = j
			}
		}
		pieces = cut
	}
	return pieces
}

// Valid returns the text with U+FFFD for each byte that is not UTF-8, which is what
// Rein's encoders write of it.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
