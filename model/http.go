package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"rein.example/rein/event"
)

// What a call may take when neither the request nor the client says so.
const (
	// DefaultTimeout bounds a whole call. Other clients' defaults lie around
	// 10 minutes; a long answer of a slow local model needs more.
	DefaultTimeout = 15 * time.Minute
	// DefaultIdle bounds the time without any byte. Reasoning models of hosted
	// services are silent for minutes, and a local one while it reads a long
	// prompt.
	DefaultIdle = 5 * time.Minute
	// DefaultProgress bounds the time in which nothing but signs of life come, such
	// as the comments with which gateways keep a connection open. Some queue
	// requests for minutes like that.
	DefaultProgress = 10 * time.Minute
	// DefaultReplyLimit bounds the bytes of one reply.
	DefaultReplyLimit = 64 << 20
)

// NewHTTPClient returns a client made for model servers: connections are kept
// for many concurrent calls to few hosts, dead HTTP/2 connections are found by
// pings, bodies are not transparently decompressed, proxies come from the
// environment, and there is no overall timeout, since [Post] has its own. One
// client should be shared by everything that calls the same server.
func NewHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}}
}

// Post is one HTTP request to a model server, the same for every wire: it sends
// the pieces of a body, watches the clock and turns whatever goes wrong on the
// way into an [*Error]. It never follows a redirect, which would carry a key
// and a conversation to a place that nobody configured.
type Post struct {
	// Client sends it. Its transport must honour the request's context.
	Client *http.Client
	URL    string
	Header http.Header
	// Body is sent as it is; net/http may read it until some time after the
	// call, so it must never change.
	Body [][]byte
	// Stream says that the reply comes in pieces. Otherwise silence before its
	// first byte is expected, and only Timeout bounds it.
	Stream bool
	// Timeout bounds the whole exchange, Idle the time without any byte, and
	// Limit the bytes of the reply. Zero means the default.
	Timeout, Idle time.Duration
	Limit         int64
}

// Response is the reply to a [Post], whatever its status. It must be closed.
// It is for one goroutine.
type Response struct {
	Status int
	Header http.Header

	parent  context.Context // the caller's
	ctx     context.Context // parent, with the timers as further causes
	cancel  context.CancelCauseFunc
	total   *time.Timer
	idle    *time.Timer
	advance *time.Timer // nil while progress is not watched
	timeout time.Duration
	idleFor time.Duration
	mayRest time.Duration // without progress
	unwatch func() bool
	body    io.ReadCloser
	left    int64
}

// The causes with which a Post's own timers end its context.
var (
	errTotal = errors.New("the call's time is up")
	errIdle  = errors.New("no byte in time")
	errRest  = errors.New("no progress in time")
)

// Send sends the request and waits for the reply's headers. The error is an
// [*Error] of class network, timeout or cancelled.
func (p *Post) Send(ctx context.Context) (*Response, error) {
	r := &Response{
		parent: ctx, timeout: p.Timeout, idleFor: p.Idle, left: p.Limit,
		unwatch: func() bool { return true },
	}
	if r.timeout <= 0 {
		r.timeout = DefaultTimeout
	}
	if r.idleFor <= 0 {
		r.idleFor = DefaultIdle
	}
	if r.left <= 0 {
		r.left = DefaultReplyLimit
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.total = time.AfterFunc(r.timeout, func() { r.cancel(errTotal) })
	first := r.idleFor
	if !p.Stream {
		first = r.timeout
	}
	r.idle = time.AfterFunc(first, func() { r.cancel(errIdle) })

	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, p.URL, nil)
	if err != nil {
		r.Close()
		return nil, &Error{Class: event.ClassBadRequest, Message: "the server's address is not a URL: check the base URL", Err: bare(err)}
	}
	if h := p.Header.Clone(); h != nil { // a client with a cookie jar adds to it
		req.Header = h
	}
	for _, b := range p.Body {
		req.ContentLength += int64(len(b))
	}
	// With GetBody, and a key that is present but empty and so not sent, net/http
	// repeats a request on a fresh connection when a kept one ends before any
	// byte of an answer: servers close those without a word.
	req.Header["Idempotency-Key"] = nil
	req.GetBody = func() (io.ReadCloser, error) { return &pieces{all: p.Body}, nil }
	req.Body, _ = req.GetBody()

	client := *p.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		e := r.fault(err, req.URL)
		r.Close()
		return nil, e
	}
	r.Status, r.Header, r.body = resp.StatusCode, resp.Header, resp.Body
	r.idle.Reset(r.idleFor)
	// A standard transport ends Read with the context; this is for others.
	r.unwatch = context.AfterFunc(r.ctx, func() { resp.Body.Close() })
	return r, nil
}

// Read reads the body. Any byte restarts the idle time. The error is io.EOF at
// the body's regular end, else an [*Error] of class incomplete, timeout,
// cancelled or, when the reply is longer than its limit, bad_reply.
func (r *Response) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		e := r.fault(err, nil)
		e.Status = r.Status
		return 0, e
	}
	n, err := r.body.Read(b)
	if n > 0 {
		r.idle.Reset(r.idleFor)
		if r.left -= int64(n); r.left < 0 {
			return 0, &Error{Class: event.ClassBadReply, Status: r.Status, Message: "the reply is longer than this client accepts"}
		}
	}
	if err != nil && err != io.EOF {
		e := r.fault(err, nil)
		e.Status = r.Status
		return n, e
	}
	return n, err
}

// SetIdle changes the time without any byte, from now on.
func (r *Response) SetIdle(d time.Duration) {
	r.idleFor = d
	r.idle.Reset(d)
}

// SetProgress bounds the time until it is called again, whatever bytes come. What is
// progress the reader knows. 0 lifts the bound.
func (r *Response) SetProgress(d time.Duration) {
	switch r.mayRest = d; {
	case r.advance == nil && d > 0:
		r.advance = time.AfterFunc(d, func() { r.cancel(errRest) })
	case r.advance != nil && d > 0:
		r.advance.Reset(d)
	case r.advance != nil:
		r.advance.Stop()
	}
}

// Close ends the exchange. It may be called more than once.
func (r *Response) Close() error {
	r.unwatch()
	r.total.Stop()
	r.idle.Stop()
	r.SetProgress(0)
	r.cancel(context.Canceled)
	if r.body == nil {
		return nil
	}
	return r.body.Close()
}

// fault says what err means: who ended the exchange, or what the network did.
// target is where the request went, if it failed before the headers came.
func (r *Response) fault(err error, target *url.URL) *Error {
	if r.parent.Err() != nil {
		return &Error{Class: event.ClassCancelled, Message: "the call was given up", Err: context.Cause(r.parent)}
	}
	switch context.Cause(r.ctx) {
	case errTotal:
		return &Error{Class: event.ClassTimeout, Message: fmt.Sprintf("no complete reply within %v", r.timeout), Err: errTotal}
	case errIdle:
		return &Error{Class: event.ClassTimeout, Message: fmt.Sprintf("no byte from the server for %v", r.idleFor), Err: errIdle}
	case errRest:
		return &Error{Class: event.ClassTimeout, Message: fmt.Sprintf("nothing but signs of life from the server for %v", r.mayRest), Err: errRest}
	}
	if target == nil {
		return &Error{Class: event.ClassIncomplete, Code: networkCode(err), Message: "the connection broke before the reply was complete", Err: bare(err)}
	}
	return networkError(err, target)
}

// pieces reads a body without copying it together.
type pieces struct {
	all  [][]byte
	next int // the piece that is being read
	done int // how much of it has been
}

func (p *pieces) Read(b []byte) (int, error) {
	n := 0
	for p.next < len(p.all) && n < len(b) {
		c := copy(b[n:], p.all[p.next][p.done:])
		n, p.done = n+c, p.done+c
		if p.done == len(p.all[p.next]) {
			p.next, p.done = p.next+1, 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (p *pieces) Close() error { return nil }
