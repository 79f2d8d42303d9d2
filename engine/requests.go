package engine

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Request is one request of a run as [Requests] yields it: what is new in it since
// the one before.
type Request struct {
	// Seen is what the model saw, without the first Kept of its Messages: these are the
	// first ones of the request before, unchanged.
	Seen
	Kept int
	// The body is the first Same bytes of the body of the request Since (its Seq; 0 where
	// Same is 0), then Rest. Same does not part a character. Exact says, as with
	// [Rebuild], whether that is what was sent.
	Since int64
	Same  int64
	Rest  []byte
	Exact bool
	// Problem says why the body cannot be built again; then Rest is nil.
	Problem error
	// Unseen says why it cannot be known what the model saw; then there is nothing but
	// Seq and Called.
	Unseen error
}

// Requests yields each request of a run, in order, as [See] and [Rebuild] give it. It
// folds the journal once and encodes each message once, so that all of them together
// cost what is new in them; a body is compared with that of the request before. What it
// yields must not be changed. It calls no model. An error ends it.
func Requests(ctx context.Context, store journal.Store, encoder func(EncoderID) (model.Encoder, error), run string) iter.Seq2[*Request, error] {
	return func(yield func(*Request, error) bool) {
		r := requests{ctx: ctx, store: store, encoder: encoder, m: loop.New(run), builders: map[string]*request.Builder{}}
		for ev, err := range store.Read(ctx, run, 1) {
			if err != nil {
				yield(nil, err)
				return
			}
			if called, ok := ev.Data.(*event.ModelCalled); ok {
				next, err := r.next(ev.Seq, called)
				if err != nil {
					next = &Request{Seen: Seen{Seq: ev.Seq, Called: called}, Unseen: err}
					r.n, r.pieces = 0, nil
				}
				if !yield(next, nil) {
					return
				}
			}
			if err := r.m.Apply(&ev); err != nil {
				yield(nil, fmt.Errorf("run %s: %w", run, err))
				return
			}
		}
	}
}

// requests is how far Requests is.
type requests struct {
	ctx     context.Context
	store   journal.Store
	encoder func(EncoderID) (model.Encoder, error)
	m       *loop.Machine
	// builders are those used so far, by what they encode with; looked up only.
	builders map[string]*request.Builder

	// Of the request before: its sequence, its messages' number and epoch, its body.
	seq    int64
	n      int
	epoch  int64
	pieces [][]byte
}

func (r *requests) next(seq int64, called *event.ModelCalled) (*Request, error) {
	c := request.Find(r.m, called.ID)
	if c == nil {
		return nil, fmt.Errorf("the events before do not lead to the call %s", called.ID)
	}
	out := &Request{Seen: Seen{Seq: seq, Called: called, Dialect: c.Dialect, Tail: c.Tail}}
	if !c.NoTools && c.Dialect == "" {
		out.Tools = c.Tools
	}
	var err error
	if out.System, err = resolved(r.ctx, r.store, c.System); err != nil {
		return nil, err
	}
	if r.n > 0 && r.epoch == c.Epoch {
		out.Kept = r.n
	}
	msgs := message.PairFrom(c.Messages, out.Kept)
	if repaired := len(msgs) != len(c.Messages) || len(msgs) > 0 && &msgs[0] != &c.Messages[0]; repaired {
		out.Kept, r.n = 0, 0 // what was put in is not known to be at the same place the next time
	} else {
		r.n = len(msgs)
	}
	r.epoch = c.Epoch
	if out.Messages, err = resolved(r.ctx, r.store, msgs[out.Kept:]); err != nil {
		return nil, err
	}
	body, exact, err := r.body(c, called)
	if err != nil {
		out.Problem = err
		r.pieces = nil
		return out, nil
	}
	out.Exact = exact
	if out.Same = same(r.pieces, body.Pieces); out.Same > 0 {
		out.Since = r.seq
	}
	out.Rest = after(body.Pieces, out.Same)
	r.seq, r.pieces = seq, body.Pieces
	return out, nil
}

// body builds a request's body again.
func (r *requests) body(c *loop.CallModel, called *event.ModelCalled) (request.Body, bool, error) {
	o, err := request.ParseOptions(called.Options)
	if err != nil {
		return request.Body{}, false, fmt.Errorf("its options: %w", err)
	}
	c = request.AsRecorded(c, called)
	key := fmt.Sprintf("%q %q %s", c.Model, called.Encoder, called.Options)
	b := r.builders[key]
	if b == nil {
		enc, err := r.encoder(EncoderID{Model: c.Model, Version: model.WireVersion(called.Encoder), Options: o.Encoder})
		if err == nil {
			enc, err = request.Encoder(enc, c)
		}
		if err != nil {
			return request.Body{}, false, err
		}
		b = request.New(enc, func(ref message.Ref) ([]byte, error) { return r.store.Body(r.ctx, ref) })
		r.builders[key] = b
	}
	p := request.Params(r.m.Spec(), c, o)
	body, err := b.Build(&p, c)
	if err != nil {
		return request.Body{}, false, err
	}
	return body, body.SHA256 == called.SHA256 && b.Encoder().Version() == called.Encoder, nil
}

// same returns with how many bytes both begin, up to the last whole character. Pieces
// that share memory, as those of one builder do, are not looked at.
func same(a, b [][]byte) int64 {
	var n int64
	var x, y []byte
	for {
		for len(x) == 0 && len(a) > 0 {
			x, a = a[0], a[1:]
		}
		for len(y) == 0 && len(b) > 0 {
			y, b = b[0], b[1:]
		}
		k := min(len(x), len(y))
		if k == 0 {
			return n
		}
		if &x[0] != &y[0] && !bytes.Equal(x[:k], y[:k]) {
			for k = 0; x[k] == y[k]; k++ {
			}
			return n + int64(cut.Down(y, k))
		}
		n, x, y = n+int64(k), x[k:], y[k:]
	}
}

// after returns what follows the first n bytes.
func after(pieces [][]byte, n int64) []byte {
	var out []byte
	for _, p := range pieces {
		k := min(n, int64(len(p)))
		out, n = append(out, p[k:]...), n-k
	}
	return out
}
