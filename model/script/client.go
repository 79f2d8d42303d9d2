package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Options of a [Client]. Nil means the defaults.
type Options struct {
	// Info describes the model. Without a provider and model it is
	// "script/NAME", where NAME is the script's model, or else "script".
	Info model.Info
}

// Client plays a script in process. It implements [model.Client].
type Client struct {
	player *player
	info   model.Info
}

var _ model.Client = (*Client)(nil)

// New returns a client that plays s and counts tries of its own.
func New(s *Script, o *Options) *Client {
	c := &Client{player: newPlayer(s)}
	if o != nil {
		c.info = o.Info
	}
	if c.info.Provider == "" {
		c.info.Provider = "script"
	}
	if c.info.Model == "" {
		c.info.Model = s.modelName()
	}
	return c
}

func (s *Script) modelName() string {
	if s.model != "" {
		return s.model
	}
	return "script"
}

// Info describes the model.
func (c *Client) Info() model.Info { return c.info }

// Encoder returns the encoder of the form "script/1".
func (c *Client) Encoder() model.Encoder { return encoder{} }

// Call plays the turn that the request is for; see [model.Client]. A request
// that the script is not for, or that a server would refuse, fails with class
// bad_request and says why.
func (c *Client) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	start := time.Now()
	conv, stream, err := decode(bytesOf(req))
	if err == nil && stream != req.Stream {
		err = fmt.Errorf("the request says stream=%t and its body stream=%t", req.Stream, stream)
	}
	var r *reply
	var f *fault
	if err == nil {
		r, f, err = c.player.play(conv)
	}
	if err != nil {
		return nil, &model.Error{Class: event.ClassBadRequest, Status: 400, Code: codeMismatch, Message: "script: " + err.Error(), Err: err}
	}
	p := &performance{ctx: ctx, idle: req.Idle, reply: r, sink: sink}
	if req.Timeout > 0 {
		p.deadline = start.Add(req.Timeout)
	}
	if sink == nil || !stream {
		p.sink = func(model.Delta) {}
	}
	if err := p.play(f); err != nil {
		return nil, err
	}
	out := &model.Reply{
		Message:   message.Message{Role: message.Assistant},
		Finish:    finishOf(r.finish),
		RawFinish: r.finish,
		Usage:     r.usage,
		Model:     c.info.Model,
		ID:        fmt.Sprintf("script-%d", r.number),
	}
	if !p.first.IsZero() {
		out.First = p.first.Sub(start)
	}
	if r.reason != "" {
		out.Message.Parts = append(out.Message.Parts, message.Part{Kind: message.Reasoning, Text: r.reason})
	}
	if r.text != "" {
		out.Message.Parts = append(out.Message.Parts, message.Part{Kind: message.Text, Text: r.text})
	}
	out.Message.Parts = append(out.Message.Parts, r.calls...)
	return out, nil
}

func bytesOf(req *model.Request) []byte {
	body := make([]byte, 0, req.Bytes())
	for _, b := range req.Body {
		body = append(body, b...)
	}
	return body
}

func finishOf(word string) event.Finish {
	switch f := event.Finish(word); f {
	case event.FinishStop, event.FinishLength, event.FinishToolCalls, event.FinishContentFilter:
		return f
	}
	return event.FinishError
}

// A performance is one reply on its way in process.
type performance struct {
	ctx      context.Context
	idle     time.Duration // 0: none
	deadline time.Time     // zero: none
	reply    *reply
	sink     func(model.Delta)
	first    time.Time // of the first piece
	partial  strings.Builder
}

// play hands out the pieces of the reply, or what f lets through of them.
func (p *performance) play(f *fault) error {
	if err := p.wait(p.reply.turn.delay); err != nil {
		return err
	}
	most := p.reply.bytes() + 1 // the end, which is not a byte of the reply
	switch {
	case f == nil:
		return p.deliver(most)
	case f.status != 0:
		return f.modelError()
	case f.html:
		return &model.Error{Class: event.ClassBadReply, Status: 200, Message: "the server answered with a web page: " + page}
	case f.close:
		return &model.Error{Class: event.ClassNetwork, Message: "the server closed the connection before it answered"}
	case f.event != nil:
		if err := p.deliver(most / 2); err != nil {
			return err
		}
		return p.fail(classified(0, errorBody(*f.event), 0))
	}
	if f.cut() {
		if err := p.deliver(f.arrives(most)); err != nil {
			return err
		}
	}
	if err := p.wait(f.stall); err != nil {
		return err
	}
	return p.fail(&model.Error{Class: event.ClassIncomplete, Message: "the connection was cut before the reply was complete"})
}

// fail adds what had arrived to e.
func (p *performance) fail(e *model.Error) error {
	e.Partial = p.partial.String()
	return e
}

// deliver hands out the first n bytes of the reply in pieces.
func (p *performance) deliver(n int) error {
	for _, part := range []struct {
		text      string
		reasoning bool
	}{{p.reply.reason, true}, {p.reply.text, false}} {
		for piece := range pieces(part.text, p.reply.turn.chunk) {
			piece = piece[:cut.Down(piece, max(n, 0))]
			if n -= len(piece); piece == "" {
				return p.check()
			}
			d := model.Delta{Text: piece}
			if part.reasoning {
				d = model.Delta{Reasoning: piece}
			} else {
				p.partial.WriteString(piece)
			}
			if err := p.emit(d); err != nil {
				return err
			}
		}
	}
	for i := range p.reply.calls {
		c := &p.reply.calls[i]
		if n < len(c.Name) {
			break
		}
		n -= len(c.Name) + len(c.Args)
		if err := p.emit(model.Delta{Call: c.Name}); err != nil {
			return err
		}
	}
	return p.check()
}

func (p *performance) emit(d model.Delta) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.first.IsZero() {
		p.first = time.Now()
	}
	p.sink(d)
	return nil
}

// check returns the error of a context or a call whose time is over.
func (p *performance) check() error {
	if err := p.ctx.Err(); err != nil {
		return p.fail(&model.Error{Class: event.ClassCancelled, Message: "the call was given up", Err: context.Cause(p.ctx)})
	}
	if !p.deadline.IsZero() && !time.Now().Before(p.deadline) {
		return p.fail(&model.Error{Class: event.ClassTimeout, Message: "the reply was not complete in time", Err: errTimeout})
	}
	return nil
}

var errTimeout = errors.New("model call timed out")

// wait is a silence of the server of length d.
func (p *performance) wait(d time.Duration) error {
	if d <= 0 {
		return p.check()
	}
	silent := false
	if p.idle > 0 && d > p.idle {
		d, silent = p.idle, true
	}
	if !p.deadline.IsZero() {
		if left := time.Until(p.deadline); left < d {
			d, silent = max(left, 0), false
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ctx.Done():
	case <-timer.C:
	}
	if err := p.check(); err != nil {
		return err
	}
	if silent {
		return p.fail(&model.Error{Class: event.ClassTimeout, Message: fmt.Sprintf("the server was silent for %s", p.idle), Err: errTimeout})
	}
	return nil
}
