package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"
)

const (
	// streamPatience is how long the answer to the request for a stream of the
	// server's own messages may take. Some servers answer only when they have one;
	// they are taken to have no such stream.
	streamPatience = 5 * time.Second
	// maxResumes is how often in a row a stream that broke is taken up again.
	maxResumes = 2
)

// attempt is what is known of one sending of a call: of the request that carries it,
// not of those that are made to take up the stream of its answer again.
type attempt struct {
	// sent: something of it may have reached the server.
	sent atomic.Bool
	// status is the HTTP status that answered it, 0 for none; stale says that the
	// server does not know the session, and after how long to try again.
	status atomic.Int64
	stale  atomic.Bool
	after  atomic.Int64 // nanoseconds; 0: nobody has said so
}

type attemptKey struct{}

func withAttempt(ctx context.Context, a *attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

func attemptFrom(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// http returns the transport to a server that is reached over HTTP.
func (l *link) http() mcp.Transport {
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // a bound on bytes is one on memory
	}
	l.hang = base.CloseIdleConnections
	client := &http.Client{
		Transport: &roundTripper{link: l, base: base},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error {
			return fmt.Errorf("the server redirects to %s: if that is its place now, set it as the URL", place(to.URL))
		},
	}
	return &mcp.StreamableClientTransport{Endpoint: l.s.o.URL, HTTPClient: client, MaxRetries: maxResumes, MaxEventSize: maxFrame}
}

// place returns a URL without what may be secret.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// roundTripper sends the requests of one connection.
type roundTripper struct {
	link *link
	base *http.Transport
}

const (
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method" // of protocol versions without sessions
	listen        = "subscriptions/listen"
)

// RoundTrip sends a request with the configured header, and notes what came of it.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	parent := req.Context()
	a := attemptFrom(parent)
	ctx, cancel := context.WithCancel(parent)
	var timer *time.Timer
	if a != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }})
	}
	if req.Method == http.MethodGet {
		timer = time.AfterFunc(streamPatience, cancel)
	}
	req = req.Clone(ctx)
	if a != nil { // the request of a call is part of its trace, apart from what it holds
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	}
	for name, values := range r.link.s.o.Header {
		req.Header[name] = values
	}
	resp, err := r.base.RoundTrip(req)
	if timer != nil && !timer.Stop() && parent.Err() == nil {
		if err == nil {
			resp.Body.Close()
		}
		cancel()
		return noStream(req), nil
	}
	if err != nil {
		cancel()
		return nil, err
	}
	if a != nil {
		a.answered(req, resp)
	}
	resp.Body = r.bounded(req, resp, cancel)
	return resp, nil
}

// noStream is the answer of a server that has no messages of its own.
func noStream(req *http.Request) *http.Response {
	return &http.Response{Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req}
}

// answered notes the answer to a call. With 404, and in practice 400, a server
// says that it does not know the session, and so has not looked at the call.
func (a *attempt) answered(req *http.Request, resp *http.Response) {
	if req.Method != http.MethodPost || !a.status.CompareAndSwap(0, int64(resp.StatusCode)) {
		return
	}
	if s := resp.StatusCode; (s == http.StatusNotFound || s == http.StatusBadRequest) && req.Header.Get(headerSession) != "" {
		a.stale.Store(true)
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(resp.Header.Get("Retry-After")), 10, 32); err == nil && n > 0 {
		a.after.Store(n * int64(time.Second))
	}
}

// refused reports whether the server has turned the call away unread.
func (a *attempt) refused() bool {
	s := a.status.Load()
	return s >= 400 && s < 500 && s != http.StatusRequestTimeout && s != http.StatusConflict
}

// bounded returns the body of an answer: one that is read whole is bounded, and
// the end of a stream of the server's own messages raises doubt.
func (r *roundTripper) bounded(req *http.Request, resp *http.Response, cancel func()) io.ReadCloser {
	b := &body{ReadCloser: resp.Body, cancel: cancel, left: -1}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		b.left = maxFrame
	}
	if req.Method == http.MethodGet || req.Header.Get(headerMethod) == listen {
		b.ended = func() { r.link.doubt.Store(true) }
	}
	return b
}

// body is a response's body.
type body struct {
	io.ReadCloser
	cancel func()
	left   int64  // bytes that may still come; negative: no bound
	ended  func() // called once when it has ended; may be nil
	once   sync.Once
}

var errTooLong = errors.New("the answer is too long")

// Read reads from the body, up to its bound.
func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errTooLong
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if err != nil {
		b.over()
	}
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	b.over()
	return err
}

func (b *body) over() {
	b.once.Do(func() {
		if b.ended != nil {
			b.ended()
		}
	})
}
