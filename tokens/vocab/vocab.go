// Package vocab answers: what counts the tokens of a model by its name?
//
// It has the vocabularies of OpenAI's models, o200k_base and cl100k_base, embedded
// and packed (1 MB). They are read when something is first counted with them, once
// for the whole process: some tens of milliseconds, and 13 or 7 MB that stay. Nothing
// is read by a process that counts nothing.
//
// tools/vocab writes them, from the npm package tiktoken: make generate.
package vocab

import (
	_ "embed"
	"fmt"
	"sync"

	"rein.example/rein/tokens"
	"rein.example/rein/tokens/bpe"
)

//go:embed o200k_base.bin
var packedO200k []byte

//go:embed cl100k_base.bin
var packedCL100k []byte

var (
	o200k  = sync.OnceValue(func() *bpe.Tokenizer { return open(packedO200k, bpe.O200k) })
	cl100k = sync.OnceValue(func() *bpe.Tokenizer { return open(packedCL100k, bpe.CL100k) })
)

// open returns the tokenizer of an embedded vocabulary.
func open(packed []byte, p bpe.Pattern) *bpe.Tokenizer {
	v, err := bpe.Read(packed)
	if err != nil {
		panic(fmt.Sprintf("the embedded vocabulary is damaged: %v", err)) // it is a part of the program
	}
	return bpe.New(v, p)
}

// counter is a tokenizer that is read when it is first needed.
type counter func() *bpe.Tokenizer

func (c counter) Count(text string) int {
	if text == "" {
		return 0
	}
	return c().Count(text)
}

func (c counter) Method() tokens.Method { return tokens.Exact }

// O200k counts as o200k_base does; see [tokens.O200k].
func O200k() tokens.Counter { return counter(o200k) }

// CL100k counts as cl100k_base does; see [tokens.CL100k].
func CL100k() tokens.Counter { return counter(cl100k) }

// For returns the counter of a model by its name, as [tokens.For] reads it: exact for
// models whose tokenizer comes with Rein, [tokens.Estimate] for all others.
func For(model string) tokens.Counter {
	switch tokens.For(model) {
	case tokens.O200k:
		return O200k()
	case tokens.CL100k:
		return CL100k()
	}
	return tokens.Estimate{}
}
