package model

import "rein.example/rein/message"

// Tailed is what an [Encoder] also implements if it must know which message is
// the tail: the one that this request has at its end and the next has not, such
// as the state block. A wire on which the client says how far a request will be
// the beginning of the next one says so before the tail.
type Tailed interface {
	// Tail appends tail after last, the last message (nil if none), and
	// everything after it: what Message and Close append together, but for what
	// marks the end of what stays.
	Tail(dst []byte, p *Params, last, tail *message.Message) []byte
}

// End appends the end of a body after last, the last message (nil if none): the
// tail, where there is one, and what closes the body. Whoever builds a body with
// a tail ends it so.
func End(dst []byte, e Encoder, p *Params, last, tail *message.Message) []byte {
	if tail == nil {
		return e.Close(dst, p, last)
	}
	if t, ok := e.(Tailed); ok {
		return t.Tail(dst, p, last, tail)
	}
	return e.Close(e.Message(dst, last, tail), p, tail)
}
