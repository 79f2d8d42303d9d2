package model

import (
	"testing"

	"rein.example/rein/message"
)

// letters writes a letter for each piece of a body.
type letters struct{}

func (letters) Version() string { return "letters/1" }
func (letters) Head(dst []byte, _ *Params, _ []message.Message) []byte {
	return append(dst, 'h')
}
func (letters) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil {
		dst = append(dst, ',')
	}
	return append(dst, m.PlainText()...)
}
func (letters) Close(dst []byte, _ *Params, last *message.Message) []byte {
	if last != nil {
		dst = append(dst, '.')
	}
	return append(dst, ']')
}

// marking writes where a tail begins.
type marking struct{ letters }

func (m marking) Tail(dst []byte, p *Params, last, tail *message.Message) []byte {
	return m.Close(m.Message(append(dst, '|'), last, tail), p, tail)
}

func TestEnd(t *testing.T) {
	last, tail := message.NewText(message.User, "l"), message.NewText(message.System, "t")
	for _, c := range []struct {
		e          Encoder
		last, tail *message.Message
		want       string
	}{
		{letters{}, nil, nil, "x]"},
		{letters{}, &last, nil, "x.]"},
		{letters{}, &last, &tail, "x,t.]"},
		{letters{}, nil, &tail, "xt.]"},
		{marking{}, &last, nil, "x.]"},
		{marking{}, &last, &tail, "x|,t.]"},
		{marking{}, nil, &tail, "x|t.]"},
	} {
		if got := string(End([]byte("x"), c.e, nil, c.last, c.tail)); got != c.want {
			t.Errorf("%T: got %q, want %q", c.e, got, c.want)
		}
	}
}
