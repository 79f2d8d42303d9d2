package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/sse"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

const (
	// tailIdle bounds the silence after a reply is complete, while usage and
	// the like may still come.
	tailIdle = 5 * time.Second
	// drainIdle bounds the wait for the end of the body after all that counts,
	// so that the connection can be used again.
	drainIdle = 50 * time.Millisecond
	// errorLimit bounds the body of an error.
	errorLimit = 256 << 10
	// headSize is how much of a reply's beginning is kept for an error message.
	headSize = 256
)

// A Decoder puts one reply together. It is pure: the same payloads give the same
// reply. It is for one goroutine.
type Decoder interface {
	// Push takes the data of one server-sent event and the event's name, or
	// the whole body of a reply without streaming. The error is a
	// [*model.Error] and final: what the server reports as one, or of class
	// bad_reply for a payload that is not of this wire. A reply that is
	// complete stays so, whatever is wrong with what follows it.
	Push(name string, data []byte) error
	// Begun reports whether anything has come that only a reply has.
	Begun() bool
	// Complete reports whether the reply's terminal event has come, and Over
	// whether nothing that counts can follow it. A decoder that also is an
	// [Ender] may find a reply incomplete again.
	Complete() bool
	Over() bool
	// Reply returns the complete reply. It is not called before Complete.
	Reply() *model.Reply
	// Partial returns the text and usage that have come so far.
	Partial() (string, message.Usage)
}

// An Ender is a [Decoder] of a wire on which a reply may go on after its terminal
// event, and then is complete only once the body has ended in order.
type Ender interface {
	// End says that it has: nothing was cut off.
	End()
}

// Protocol is what [Server.Do] has to know of a wire.
type Protocol struct {
	// Decoder makes the decoder of a stream, or of a reply in one piece. It
	// calls emit with what is added.
	Decoder func(stream bool, emit func(model.Delta)) Decoder
	// Fault makes the error of a reply whose status is one. wait is what its
	// headers ask for.
	Fault func(status int, body []byte, wait message.Count) *model.Error
	// Reply and Terminal name, for messages, a reply and what completes it: "a
	// chat completion", "finish_reason".
	Reply, Terminal string
}

// Do sends one request to url and returns the complete reply; see
// [model.Client]. url is one of the server's.
func (s *Server) Do(ctx context.Context, p *Protocol, url string, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	begun := time.Now()
	reply, err := s.exchange(ctx, p, url, req, sink)
	if err == nil {
		return reply, nil
	}
	e := asError(err)
	e.Redact(s.secrets...)
	if filtered(e) {
		return refused(e, time.Since(begun), sink), nil
	}
	s.advise(e)
	return nil, e
}

// refused makes the reply of what a filter has kept from being one. Some servers
// report that as an error, some as a reply that is empty, or that was cut off: it is
// the same on all. Without any text it says what the server did.
func refused(e *model.Error, took time.Duration, sink func(model.Delta)) *model.Reply {
	text := e.Partial
	if text == "" {
		text = e.Message
		if sink != nil {
			sink(model.Delta{Text: text})
		}
	}
	return &model.Reply{
		Message: message.NewText(message.Assistant, text), Finish: event.FinishContentFilter, RawFinish: e.Code,
		Usage: e.Usage, First: took,
	}
}

// exchange is Do; its errors are not yet advised and redacted.
func (s *Server) exchange(ctx context.Context, p *Protocol, url string, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	header := s.header.Clone()
	header.Set("Accept", "application/json")
	if req.Stream {
		header.Set("Accept", "text/event-stream, application/json")
	}
	post := &model.Post{
		Client: s.HTTP, URL: url, Header: header, Body: req.Body, Stream: req.Stream,
		Timeout: orDefault(req.Timeout, s.timeout), Idle: orDefault(req.Idle, s.idle),
	}
	start := time.Now()
	resp, err := post.Send(ctx)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	if resp.Status < 200 || resp.Status > 299 {
		return nil, refusal(resp, p)
	}
	var first time.Duration
	t := transfer{resp: resp, p: p, idle: orDefault(post.Idle, model.DefaultIdle), emit: func(d model.Delta) {
		if first == 0 {
			first = time.Since(start)
		}
		if sink != nil {
			sink(d)
		}
	}}
	if err := t.run(); err != nil {
		e := asError(err)
		e.Status = resp.Status
		if t.dec != nil {
			e.Partial, e.Usage = t.dec.Partial()
		}
		return nil, e
	}
	reply := t.dec.Reply()
	reply.First = first
	return reply, nil
}

func orDefault(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

// refusal makes the error of a reply whose status is one.
func refusal(resp *model.Response, p *Protocol) error {
	body, err := io.ReadAll(io.LimitReader(resp, errorLimit))
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Class == event.ClassCancelled {
		return e
	}
	e := p.Fault(resp.Status, body, model.RetryAfter(resp.Status, resp.Header, time.Now()))
	if to := resp.Header.Get("Location"); resp.Status < 400 && to != "" {
		e.Message = fmt.Sprintf("the server redirects to %s, which is not followed: set the base URL to where it really is", Limit(to, 200))
	}
	return e
}

// A LimitError says which limit a reply goes beyond that is of the wire's form
// otherwise.
type LimitError string

// Error says which.
func (e LimitError) Error() string { return string(e) }

// BadReply makes the error of a payload that is not what it should be, such as
// "a chat completion", or, if err is a [LimitError], is too much of it, of the code
// [event.CodeReplyLimit].
func BadReply(should string, data []byte, err error) *model.Error {
	if limit := LimitError(""); errors.As(err, &limit) {
		return &model.Error{Class: event.ClassBadReply, Code: event.CodeReplyLimit, Message: limit.Error(), Err: err}
	}
	return &model.Error{
		Class:   event.ClassBadReply,
		Message: fmt.Sprintf("the server sent something that is not %s: %s", should, model.Excerpt(data)),
		Err:     err,
	}
}

// asError returns err as a model error; what is none is a fault of ours.
func asError(err error) *model.Error {
	var e *model.Error
	if errors.As(err, &e) {
		return e
	}
	return &model.Error{Class: event.ClassInternal, Message: err.Error(), Err: err}
}

// transfer reads the body of a reply that began well.
type transfer struct {
	resp *model.Response
	p    *Protocol
	idle time.Duration // while the reply is not complete
	emit func(model.Delta)

	dec  Decoder
	buf  []byte
	head []byte // the body's beginning, for an error message
}

// run reads the reply to its end. What it is shows in its first byte: servers
// stream where they were not asked to, and don't where they were.
func (t *transfer) run() error {
	t.buf = make([]byte, 8<<10)
	t.resp.SetProgress(model.DefaultProgress)
	var b []byte
	var err error
	for len(b) == 0 && err == nil {
		var n int
		n, err = t.resp.Read(t.buf)
		// DeepSeek sends empty lines while a request waits for its turn.
		b = bytes.TrimLeft(t.buf[:n], " \t\r\n")
	}
	t.note(b)
	kind, _, _ := mime.ParseMediaType(t.resp.Header.Get("Content-Type"))
	switch {
	case len(b) == 0 && err == io.EOF:
		return &model.Error{Class: event.ClassIncomplete, Message: "the server closed the connection without a reply"}
	case len(b) == 0:
		return err
	case kind == "text/html", b[0] == '<':
		for err == nil && len(t.head) < headSize {
			var n int
			n, err = t.resp.Read(t.buf)
			t.note(t.buf[:n])
		}
		return BadReply(t.p.Reply, t.head, nil)
	case b[0] == '{', b[0] == '[':
		return t.whole(b, err)
	}
	return t.stream(b, err, kind == "text/event-stream")
}

// note keeps the body's beginning.
func (t *transfer) note(b []byte) {
	t.head = append(t.head, b[:min(len(b), headSize-len(t.head))]...)
}

// whole reads a reply of one JSON value, which begins with b. err is what the
// read that gave b returned.
func (t *transfer) whole(b []byte, err error) error {
	t.dec = t.p.Decoder(false, t.emit)
	t.resp.SetProgress(0) // every byte is some
	body := bytes.Clone(b)
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(t.resp)
		body = append(body, rest...)
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err := t.dec.Push("", body); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return &model.Error{Class: event.ClassIncomplete, Message: "the reply ends in mid-sentence", Err: err}
		}
		return err
	}
	switch {
	case t.dec.Complete():
		return nil
	case !t.dec.Begun():
		return BadReply(t.p.Reply, body, errors.New("it has nothing of a reply"))
	}
	return &model.Error{Class: event.ClassIncomplete, Message: "the reply has no " + t.p.Terminal}
}

// stream reads server-sent events, the first of which begin with b. err is what
// the read that gave b returned.
func (t *transfer) stream(b []byte, err error, declared bool) error {
	t.dec = t.p.Decoder(true, t.emit)
	var events sse.Parser
	half := false // the last event was cut off in the middle
	seen := 0
	take := func(e sse.Event) error {
		if e.Unterminated && !jsontext.Value(e.Data).IsValid(Lenient()) {
			half = !bytes.HasPrefix([]byte("[DONE]"), bytes.TrimSpace(e.Data)) // which is not needed
			return nil
		}
		return t.dec.Push(e.Name, e.Data)
	}
	for tail := false; ; {
		if e := events.Feed(b, take); e != nil {
			return t.unreadable(e)
		}
		if t.dec.Over() {
			t.drain()
			break
		}
		if n := events.Events(); n > seen {
			seen = n
			t.resp.SetProgress(model.DefaultProgress)
		}
		if complete := t.dec.Complete(); complete != tail {
			tail = complete
			if tail {
				t.resp.SetIdle(tailIdle)
			} else { // it goes on
				t.resp.SetIdle(t.idle)
			}
		}
		if err != nil {
			break
		}
		var n int
		n, err = t.resp.Read(t.buf)
		b = t.buf[:n]
		t.note(b)
	}
	if e := events.Close(take); e != nil {
		return t.unreadable(e)
	}
	if ender, ok := t.dec.(Ender); ok && err == io.EOF && !half {
		ender.End()
	}
	switch {
	case t.dec.Complete():
		return nil // however the connection ended
	case t.dec.Over():
		return &model.Error{Class: event.ClassIncomplete, Message: "the stream ended without a " + t.p.Terminal}
	case err != io.EOF:
		return err
	case events.Events() == 0 && !declared:
		return BadReply(t.p.Reply, t.head, nil)
	case half:
		return &model.Error{Class: event.ClassIncomplete, Message: "the stream ended in the middle of an event"}
	}
	return &model.Error{Class: event.ClassIncomplete, Message: "the stream ended before its " + t.p.Terminal}
}

// unreadable returns the error for events that cannot be split or understood.
func (t *transfer) unreadable(err error) error {
	var long *sse.TooLongError
	switch {
	case !errors.As(err, &long):
		return err
	case t.dec.Begun():
		return BadReply(t.p.Reply, t.head, LimitError(long.Error()))
	}
	return BadReply(t.p.Reply, t.head, long)
}

// drain reads the last bytes of a body whose content has ended.
func (t *transfer) drain() {
	t.resp.SetIdle(drainIdle)
	for range 4 {
		if _, err := t.resp.Read(t.buf); err != nil {
			return
		}
	}
}
