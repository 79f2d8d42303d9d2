package request

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Builder builds the bodies of one run's requests, one after the other. It is
// not safe for concurrent use; the bodies that it has returned stay valid.
type Builder struct {
	enc    model.Encoder
	bodies Bodies

	// What the kept bytes were made from: they are good while it stays the same.
	params model.Params
	epoch  int64
	ready  bool // there are kept bytes

	head  []byte
	full  [][]byte // chunks of messages that nothing is appended to any more
	chunk []byte   // the last one
	size  int64    // of all of these
	done  int      // messages in them
	sum   hash.Hash
	// repaired: the messages are not the command's own, but had to be paired.
	repaired bool

	// before is how many messages the last request had that are the first ones
	// of the next, too.
	before int

	ended int       // length of the last end
	fork  hash.Hash // scratch for hashing the end of a body
	state []byte
	hash  event.Hash
}

// chunkSize is where a new chunk of kept bytes begins. It bounds what growing
// copies; the pieces of a body are the chunks.
const chunkSize = 64 << 10

// New returns a builder that encodes with enc and finds in bodies what messages
// refer to.
func New(enc model.Encoder, bodies Bodies) *Builder {
	return &Builder{enc: enc, bodies: bodies, sum: sha256.New(), fork: sha256.New()}
}

// Encoder returns the builder's encoder.
func (b *Builder) Encoder() model.Encoder { return b.enc }

// Body is one request body.
type Body struct {
	// Pieces make the body when put together. They must not be changed.
	Pieces [][]byte
	SHA256 event.Hash
	Bytes  int64
	// Kept counts the messages that the request before had in the same place,
	// Added those after them. A tail is in neither.
	Kept, Added int64
}

// Recall tells a new builder of the last request in the journal, built with p
// for c from n messages, so that the next one's Kept is what it would be had
// this builder made both.
func (b *Builder) Recall(p *model.Params, c *loop.CallModel, n int64) {
	b.params, b.epoch, b.before, b.ready = *p, c.Epoch, int(n), false
}

// Build returns the body for a command. It fails only if something that a
// message refers to cannot be had.
func (b *Builder) Build(p *model.Params, c *loop.CallModel) (Body, error) {
	from := 0
	if b.ready && !b.repaired && b.epoch == c.Epoch {
		from = b.done
	}
	msgs := message.PairFrom(c.Messages, from)
	if err := b.extend(p, c, msgs); err != nil {
		b.ready, b.done = false, 0
		return Body{}, err
	}
	kept := min(b.before, len(msgs))
	b.before = len(msgs)

	var last *message.Message
	if len(msgs) > 0 {
		last = &msgs[len(msgs)-1]
	}
	end := model.End(make([]byte, 0, b.ended+16), b.enc, p, last, c.Tail)
	b.ended = len(end)
	body := Body{Bytes: b.size + int64(len(end)), Kept: int64(kept), Added: int64(len(msgs) - kept)}
	body.Pieces = append(make([][]byte, 0, len(b.full)+3), b.head)
	body.Pieces = append(body.Pieces, b.full...)
	body.Pieces = append(body.Pieces, b.chunk[:len(b.chunk):len(b.chunk)], end)
	if err := b.finish(end); err != nil {
		return Body{}, err
	}
	body.SHA256 = b.hash
	return body, nil
}

// extend makes the kept bytes those of the messages, from scratch if what they
// were made from has changed.
func (b *Builder) extend(p *model.Params, c *loop.CallModel, msgs []message.Message) error {
	// The command's own messages only grow within an epoch; repaired ones may
	// differ anywhere.
	b.repaired = len(msgs) != len(c.Messages) || len(msgs) > 0 && &msgs[0] != &c.Messages[0]
	fits := b.epoch == c.Epoch && (equal(&b.params, p) ||
		bytes.Equal(b.enc.Head(nil, &b.params, c.System), b.enc.Head(nil, p, c.System)))
	switch {
	case !fits:
		b.before = 0
		b.reset(p, c)
	case !b.ready:
		b.reset(p, c)
	case b.repaired:
		old := *b
		b.reset(p, c)
		if err := b.encode(msgs); err != nil {
			return err
		}
		if !bytes.HasPrefix(b.join(), old.join()) {
			b.before = 0
		}
		return nil
	}
	b.params = *p
	return b.encode(msgs)
}

// reset begins the kept bytes anew.
func (b *Builder) reset(p *model.Params, c *loop.CallModel) {
	b.params, b.epoch, b.ready = *p, c.Epoch, true
	b.head = b.enc.Head(nil, p, c.System)
	b.full, b.chunk, b.done = nil, nil, 0
	b.size = int64(len(b.head))
	b.sum.Reset()
	b.sum.Write(b.head)
}

// encode appends the messages that are not in the kept bytes.
func (b *Builder) encode(msgs []message.Message) error {
	for ; b.done < len(msgs); b.done++ {
		m, err := b.resolve(&msgs[b.done])
		if err != nil {
			return err
		}
		var prev *message.Message
		if b.done > 0 {
			prev = &msgs[b.done-1]
		}
		if len(b.chunk) >= chunkSize {
			b.full, b.chunk = append(b.full, b.chunk), nil
		}
		from := len(b.chunk)
		b.chunk = b.enc.Message(b.chunk, prev, m)
		b.size += int64(len(b.chunk) - from)
		b.sum.Write(b.chunk[from:])
	}
	return nil
}

// join returns the kept bytes in one piece.
func (b *Builder) join() []byte {
	return append(append(append([]byte(nil), b.head...), bytes.Join(b.full, nil)...), b.chunk...)
}

// finish makes hash that of the kept bytes and end, without touching the running
// hash.
func (b *Builder) finish(end []byte) error {
	var err error
	if b.state, err = b.sum.(encoding.BinaryAppender).AppendBinary(b.state[:0]); err != nil {
		return fmt.Errorf("hash the request: %w", err)
	}
	if err := b.fork.(encoding.BinaryUnmarshaler).UnmarshalBinary(b.state); err != nil {
		return fmt.Errorf("hash the request: %w", err)
	}
	b.fork.Write(end)
	b.fork.Sum(b.hash[:0])
	return nil
}

// equal reports whether two parameters surely give the same head. Tools are
// compared by identity: they come from one spec.
func equal(a, b *model.Params) bool {
	return a.Model == b.Model && a.NoTools == b.NoTools && a.Strict == b.Strict && a.SchemaName == b.SchemaName && a.MaxOutput == b.MaxOutput &&
		a.Sampling == b.Sampling && a.Stream == b.Stream && slices.Equal(a.Stop, b.Stop) && bytes.Equal(a.Schema, b.Schema) &&
		len(a.Tools) == len(b.Tools) && (len(a.Tools) == 0 || &a.Tools[0] == &b.Tools[0])
}
