package openai

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
	"rein.example/rein/model"
)

const (
	// tailIdle bounds the silence after a reply is complete, while usage and
	// [DONE] may still come.
	tailIdle = 5 * time.Second
	// drainIdle bounds the wait for the end of the body after [DONE], so that
	// the connection can be used again.
	drainIdle = 50 * time.Millisecond
	// errorLimit bounds the body of an error.
	errorLimit = 256 << 10
	// headSize is how much of a reply's beginning is kept for an error message.
	headSize = 256
)

// call sends one request; its errors are not yet advised and redacted.
func (c *Client) call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	header := c.header.Clone()
	header.Set("Accept", "application/json")
	if req.Stream {
		header.Set("Accept", "text/event-stream, application/json")
	}
	post := &model.Post{
		Client: c.http, URL: c.url, Header: header, Body: req.Body, Stream: req.Stream,
		Timeout: orDefault(req.Timeout, c.timeout), Idle: orDefault(req.Idle, c.idle),
	}
	start := time.Now()
	resp, err := post.Send(ctx)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	if resp.Status < 200 || resp.Status > 299 {
		return nil, refusal(resp)
	}
	var first time.Duration
	t := transfer{resp: resp, opaque: c.encoder.opaque, emit: func(d model.Delta) {
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
			e.Partial, e.Usage = string(t.dec.text), t.dec.tokens.usage()
		}
		return nil, e
	}
	reply := t.dec.reply()
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
func refusal(resp *model.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp, errorLimit))
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Class == event.ClassCancelled {
		return e
	}
	wait := model.RetryAfter(resp.Status, resp.Header, time.Now())
	e := serverError(resp.Status, body, wait)
	if to := resp.Header.Get("Location"); resp.Status < 400 && to != "" {
		e.Message = fmt.Sprintf("the server redirects to %s, which is not followed: set the base URL to where it really is", limit(to, 200))
	}
	return e
}

// transfer reads the body of a reply that began well.
type transfer struct {
	resp   *model.Response
	opaque string
	emit   func(model.Delta)

	dec  *decoder
	buf  []byte
	head []byte // the body's beginning, for an error message
}

// run reads the reply to its end. What it is shows in its first byte: servers
// stream where they were not asked to, and don't where they were.
func (t *transfer) run() error {
	t.buf = make([]byte, 8<<10)
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
		return badReply(t.head, nil)
	case b[0] == '{', b[0] == '[':
		return t.whole(b, err)
	}
	return t.stream(b, err, kind == "text/event-stream")
}

// note keeps the body's beginning.
func (t *transfer) note(b []byte) {
	t.head = append(t.head, b[:min(len(b), headSize-len(t.head))]...)
}

// whole reads a reply of one JSON object, which begins with b. err is what the
// read that gave b returned.
func (t *transfer) whole(b []byte, err error) error {
	t.dec = newDecoder(false, t.opaque, t.emit)
	body := bytes.Clone(b)
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(t.resp)
		body = append(body, rest...)
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err := t.dec.push("", body); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return &model.Error{Class: event.ClassIncomplete, Message: "the reply ends in mid-sentence", Err: err}
		}
		return err
	}
	switch {
	case t.dec.finished():
		return nil
	case t.dec.choices == 0:
		return badReply(body, errors.New("it has no choices"))
	}
	return &model.Error{Class: event.ClassIncomplete, Message: "the reply has no finish_reason"}
}

// stream reads server-sent events, the first of which begin with b. err is what
// the read that gave b returned.
func (t *transfer) stream(b []byte, err error, declared bool) error {
	t.dec = newDecoder(true, t.opaque, t.emit)
	var events sse.Parser
	take := func(e sse.Event) error {
		if e.Unterminated && !jsontext.Value(e.Data).IsValid() {
			return nil // cut off in the middle, or [DONE], which is not needed
		}
		return t.dec.push(e.Name, e.Data)
	}
	for tail := false; ; {
		if e := events.Feed(b, take); e != nil {
			return t.unreadable(e)
		}
		if t.dec.done {
			t.drain()
			break
		}
		if t.dec.finished() && !tail {
			tail = true
			t.resp.SetIdle(tailIdle)
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
	switch {
	case t.dec.finished():
		return nil // however the connection ended
	case t.dec.done:
		return &model.Error{Class: event.ClassIncomplete, Message: "the stream ended without a finish_reason"}
	case err != io.EOF:
		return err
	case events.Events() == 0 && !declared:
		return badReply(t.head, nil)
	}
	return &model.Error{Class: event.ClassIncomplete, Message: "the stream ended before its finish_reason"}
}

// unreadable returns the error for events that cannot be split or understood.
func (t *transfer) unreadable(err error) error {
	var long *sse.TooLongError
	if errors.As(err, &long) {
		return badReply(t.head, long)
	}
	return err
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
