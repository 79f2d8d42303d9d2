package rehearsal

import (
	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
)

// Sent is one request as it would go out.
type Sent struct {
	Purpose event.Purpose
	Bytes   int64
	// Tokens is its size, tail included; Cached how many of them stand in messages
	// that begin the request before, byte for byte, so that a server has them.
	Tokens, Cached int64
	// Tail is the size of the tail.
	Tail int64
	// Rewrites: it does not begin with all that the step before has sent, apart from
	// that one's tail.
	Rewrites bool
}

// meter measures requests by their bytes: those of tools, system text and messages.
// Settings that stand before them in a body, such as the length of the reply, are left
// alone: no server's cache depends on them.
type meter struct {
	enc   model.Encoder
	count tokens.Counter

	// before is the last request, step the last one of a step.
	before, step measured
}

// measured is a request that was measured.
type measured struct {
	// body are its bytes, of which the first stable will stay in the next request.
	body   []byte
	stable int
	// pieces are the head and the messages.
	pieces []piece
}

// piece is a part of a body: where it ends, and its tokens.
type piece struct {
	end    int
	tokens int64
}

// request measures the next request.
func (m *meter) request(c *loop.CallModel, params *model.Params, body *request.Body) Sent {
	now := measured{body: make([]byte, 0, body.Bytes)}
	now.body = m.enc.Head(now.body, &model.Params{Model: params.Model, Tools: params.Tools, NoTools: params.NoTools, Strict: params.Strict}, c.System)
	head := len(now.body)
	last := len(body.Pieces) - 1
	for _, part := range body.Pieces[1:last] {
		now.body = append(now.body, part...)
	}
	now.stable = len(now.body)
	now.body = append(now.body, body.Pieces[last]...)
	same := max(common(m.before.body, now.body), common(m.step.body, now.body))
	out := Sent{Purpose: c.Purpose, Bytes: body.Bytes}
	m.cut(&now, c, head, same)
	for _, p := range now.pieces {
		out.Tokens += p.tokens
		if p.end <= same {
			out.Cached += p.tokens
		}
	}
	if c.Tail != nil {
		out.Tail = int64(m.size(c.Tail))
		out.Tokens += out.Tail
	}
	if c.Purpose == event.PurposeStep {
		out.Rewrites = common(m.step.body[:m.step.stable], now.body) < m.step.stable
		m.step = now
	}
	m.before = now
	return out
}

// cut finds the pieces of a body whose messages begin after head bytes, and which has
// its first same bytes in common with one that was measured before.
func (m *meter) cut(now *measured, c *loop.CallModel, head, same int) {
	old := &m.before
	if common(old.body, now.body) < same {
		old = &m.step
	}
	for _, p := range old.pieces {
		if p.end > same || p.end > now.stable {
			break
		}
		now.pieces = append(now.pieces, p)
	}
	msgs := message.Pair(c.Messages)
	if len(now.pieces) == 0 {
		now.pieces = append(now.pieces, piece{head, m.head(c)})
	}
	var scratch []byte
	for i := len(now.pieces) - 1; i < len(msgs); i++ {
		var prev *message.Message
		if i > 0 {
			prev = &msgs[i-1]
		}
		scratch = m.enc.Message(scratch[:0], prev, &msgs[i])
		now.pieces = append(now.pieces, piece{now.pieces[len(now.pieces)-1].end + len(scratch), int64(m.size(&msgs[i]))})
	}
}

// head returns the size of what stands before the messages.
func (m *meter) head(c *loop.CallModel) (n int64) {
	for i := range c.System {
		n += int64(m.count.Count(c.System[i].PlainText()))
	}
	if c.NoTools {
		return n
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		n += int64(tokens.Tool(m.count, t.Name, t.Description, string(t.Schema)))
	}
	return n
}

// size returns a message's tokens.
func (m *meter) size(msg *message.Message) int { return tokens.Message(m.count, msg) }

// common returns how many bytes two texts begin with in common.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	const block = 1 << 10
	i := 0
	for i+block <= n && string(a[i:i+block]) == string(b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
