// Package huggingface answers: how many tokens does the tokenizer of a tokenizer.json
// make of a text?
//
// It reads the files that Hugging Face's tokenizers writes, as far as they are
// byte-pair encoding, which those of nearly all language models are: with a byte level
// (GPT-2, Llama 3, Qwen, DeepSeek, Mistral's Tekken, gpt-oss, …) or with characters and
// bytes for those that are missing (Llama 2, Mistral, Gemma, …). Whatever in a file would
// change the count and is not known here is refused, with its name.
//
// Counts are those of encode without special tokens around the text. The texts of
// special tokens are ordinary text; those of added tokens that are not special, such as
// Qwen's "<think>", are the one token that they are.
package huggingface

import (
	"fmt"
	"io"
	"os"
	"strings"

	"rein.example/rein/tokens"
	"rein.example/rein/tokens/bpe"
)

// MaxFile is how many bytes a file may have. Gemma 3's, among the largest, has 33 MB.
const MaxFile = 96 << 20

var errTooLarge = fmt.Errorf("it has more than %d MB", MaxFile>>20)

// Tokenizer is a tokenizer.json, ready to count. It implements [tokens.Counter], and
// takes for its vocabulary about 100 bytes a token.
type Tokenizer struct {
	raw        *added // tokens that are found in the text as it is
	normalizer []normalizer
	normal     *added // tokens that are found in the normalized text
	// space is what a text is led by where it does not begin with it; at its
	// beginning only if first.
	space string
	first bool
	// metaspace: spaces are "▁", and so are those in the text.
	metaspace bool
	bpe       *bpe.Tokenizer
}

// Open reads a file.
func Open(path string) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a tokenizer: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > MaxFile {
		return nil, fmt.Errorf("%s: %w", path, errTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1)) // it may have no size, or grow
	if err != nil {
		return nil, fmt.Errorf("read a tokenizer: %w", err)
	}
	t, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Method returns [tokens.Exact].
func (t *Tokenizer) Method() tokens.Method { return tokens.Exact }

// Count returns the number of tokens of a text, and at most its bytes: a tokenizer that
// puts a space before a text, or makes several characters of one, can have a few more of
// a text of a few letters.
func (t *Tokenizer) Count(text string) int {
	n, at := 0, 0
	for part, is := range t.raw.split(bpe.Valid(text)) {
		if is {
			n++
		} else {
			n += t.normalized(part, at == 0)
		}
		at += len(part)
	}
	return min(n, len(text))
}

// normalized counts a text that has no added token as it is.
func (t *Tokenizer) normalized(text string, first bool) int {
	for _, f := range t.normalizer {
		text = f(text)
	}
	n := 0
	for part, is := range t.normal.split(text) {
		if is {
			n++
			continue
		}
		if t.metaspace {
			part = strings.ReplaceAll(part, " ", "▁")
		}
		if t.space != "" && (first || !t.first) && !strings.HasPrefix(part, t.space) {
			part = t.space + part
		}
		first = false
		n += t.bpe.Count(part)
	}
	return n
}
