package bpe

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// magic begins a packed vocabulary, and says how it is packed.
const magic = "rein-bpe 1 "

// Read returns a vocabulary that tools/vocab has packed: a line with magic, the
// vocabulary's name and how many tokens are given and learnt; then, compressed with
// DEFLATE, the given tokens, a byte each, and the two tokens that each other was
// learnt from, as six planes of bytes: the lowest bytes of all left ones, their
// second, their third, and those of the right ones.
func Read(packed []byte) (*Vocabulary, error) {
	v, err := read(packed)
	if err != nil {
		return nil, fmt.Errorf("read a packed vocabulary: %w", err)
	}
	return v, nil
}

func read(packed []byte) (*Vocabulary, error) {
	head, body, _ := bytes.Cut(packed, []byte("\n"))
	var name string
	var given, learnt int
	if n, err := fmt.Sscanf(string(head[:min(len(head), 100)]), magic+"%s %d %d", &name, &given, &learnt); n != 3 {
		return nil, fmt.Errorf("it does not begin as one does: %w", err)
	}
	if given < 1 || given > 256 || learnt < 0 || learnt > MaxTokens-given {
		return nil, fmt.Errorf("%d tokens given and %d learnt: out of range", given, learnt)
	}
	size := given + 6*learnt
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body)), int64(size)+1))
	if err != nil {
		return nil, err
	}
	if len(data) != size {
		return nil, errors.New("it has more or fewer tokens than it says")
	}
	base := make([]string, given)
	for i := range base {
		base[i] = string(data[i : i+1])
	}
	b := newBuilder(base, learnt)
	planes := data[given:]
	at := func(plane, i int) Token { return Token(planes[plane*learnt+i]) }
	for i := range learnt {
		left := at(0, i) | at(1, i)<<8 | at(2, i)<<16
		right := at(3, i) | at(4, i)<<8 | at(5, i)<<16
		if err := b.learn(left, right); err != nil {
			return nil, err
		}
	}
	return b.build()
}
