// Package http answers: how does an agent use web pages and web services?
//
// [Get] makes the tool http_get, which reads pages of a list of hosts. [NewCall]
// makes a tool of one configured request, [API] makes tools of the operations of an
// OpenAPI document. All of them send through one kind of client:
//
//   - It goes to hosts of a list only, checked at each redirect too, and never to an
//     address that is link-local, multicast or reserved; to a private one only where
//     that is allowed. The address is checked when the connection is made, after the
//     name was resolved, so that a name cannot lead elsewhere than it did when it was
//     looked at. Proxies of the environment are not used.
//   - Sizes (as sent, and unpacked), times and redirects have bounds.
//   - What writes is sent once: not again on another connection, not to where an
//     answer redirects.
//
// A request that writes carries the idempotency key in a header, the same at each
// try. What an answer means for the run (done, not done, unknown) is said in
// [NewCall].
package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"rein.example/rein/tool"
)

// Bounds of a request.
const (
	// DefaultBody bounds the body of an answer, in bytes, as sent and unpacked.
	DefaultBody = 4 << 20
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 256 << 10
	// maxRedirects bounds how often one request is led elsewhere.
	maxRedirects = 3
	// maxURL bounds a URL, in bytes.
	maxURL = 8 << 10
	// dialTimeout bounds making a connection.
	dialTimeout = 15 * time.Second
)

// client sends requests to some hosts. It is safe for concurrent use.
type client struct {
	hosts   []hostRule
	private bool
	body    int64
	// reads keeps connections. writes does not: on a connection that was used
	// before, package net/http sends a request again by itself when the connection
	// breaks, if the request has an idempotency key or no body.
	reads, writes *http.Transport
}

// newClient returns a client for the hosts.
func newClient(hosts []string, private bool, body int64) (*client, error) {
	if len(hosts) == 0 {
		return nil, errors.New("name the hosts that requests may go to, such as docs.example.com")
	}
	c := &client{private: private, body: body}
	if c.body <= 0 {
		c.body = DefaultBody
	}
	for _, h := range hosts {
		r, err := parseHost(h)
		if err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, r)
	}
	c.reads, c.writes = c.transport(), c.transport()
	c.writes.DisableKeepAlives = true
	return c, nil
}

func (c *client) transport() *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, ControlContext: c.control}
	return &http.Transport{
		Proxy:                  nil, // the proxy would resolve names, unchecked
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        60 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // unpacked here, with a bound
	}
}

// control refuses a connection to an address that requests may not go to.
func (c *client) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return &addressError{"only TCP is used"}
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{"that is no address"}
	}
	return checkAddress(ap.Addr(), c.private)
}

// refusedError says why a URL is not asked for.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// allowed checks where a URL leads, as far as that can be seen from it.
func (c *client) allowed(u *url.URL) error {
	p, err := placeOf(u)
	if err != nil {
		return &refusedError{err.Error()}
	}
	if !slices.ContainsFunc(c.hosts, func(r hostRule) bool { return r.matches(p, u.Scheme) }) {
		return &refusedError{fmt.Sprintf("the host %s is not among those that may be asked", p)}
	}
	if a, err := netip.ParseAddr(p.host); err == nil {
		return checkAddress(a, c.private)
	}
	return nil
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	// url is where the answer came from, after redirects.
	url *url.URL
	// more: the body goes on beyond the bound. cut: it ended too early, with err.
	more bool
	cut  error
}

// sending is a request and what has become of it.
type sending struct {
	*http.Request
	// follow says that redirects are followed, each of them checked; same that
	// they have to stay at the scheme, host and port of the request.
	follow, same bool
	// sent: something of it may have reached a server.
	sent atomic.Bool
}

// errRedirects: there were too many.
var errRedirects = fmt.Errorf("there were more than %d redirects", maxRedirects)

// do sends a request and reads the answer. An error means that there is none.
func (c *client) do(s *sending, writes bool) (*answer, error) {
	if err := c.allowed(s.URL); err != nil {
		return nil, err
	}
	ctx := httptrace.WithClientTrace(s.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.sent.Store(true) }})
	h := &http.Client{Transport: c.reads, CheckRedirect: func(to *http.Request, via []*http.Request) error { return c.redirected(s, to, via) }}
	if writes {
		h.Transport = c.writes
	}
	req := s.Request.WithContext(ctx)
	handOn(ctx, req.Header)
	req.Header.Set("Accept-Encoding", "gzip")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "rein")
	}
	resp, err := h.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header, url: resp.Request.URL}
	a.read(resp, c.body)
	return a, nil
}

// handOn says which trace the request belongs to, in W3C's headers traceparent and
// tracestate, if the context knows one. Those that are configured, or that are a
// parameter of the tool, stay.
func handOn(ctx context.Context, h http.Header) {
	if h.Get("Traceparent") == "" && h.Get("Tracestate") == "" {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
	}
}

// redirected decides whether a redirect is followed.
func (c *client) redirected(s *sending, to *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case !s.follow:
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return &refusedError{errRedirects.Error()}
	case from.Scheme == "https" && to.URL.Scheme == "http":
		return &refusedError{"it redirects from https to http, where anybody on the way could answer"}
	case s.same && (to.URL.Scheme != s.URL.Scheme || to.URL.Host != s.URL.Host):
		return &refusedError{"it redirects to another place, " + short(to.URL.Scheme+"://"+to.URL.Host, 100) + ": if the service is there now, that has to be configured"}
	}
	to.Header.Del("Referer")
	if err := c.allowed(to.URL); err != nil {
		return &refusedError{"it redirects to where no request may go: " + err.Error()}
	}
	return nil
}

// read reads the body, at most most bytes as sent and as many unpacked.
func (a *answer) read(resp *http.Response, most int64) {
	sent := &io.LimitedReader{R: resp.Body, N: most + 1}
	var from io.Reader = sent
	switch coding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(sent)
		if err != nil {
			if !errors.Is(err, io.EOF) { // an empty body is one
				a.cut = fmt.Errorf("the body is no gzip: %w", err)
			}
			return
		}
		from = z
	default:
		a.cut = fmt.Errorf("the body is packed in a way that was not asked for (%s)", short(coding, 40))
		return
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(from, most+1))
	a.body = out.Bytes()
	if n > most || sent.N <= 0 {
		a.body, a.more = a.body[:min(n, most)], true
		return
	}
	a.cut = err
}

// unsent turns an error into one for the model, if nothing has reached a server.
// It returns nil if something may have.
func (s *sending) unsent(err error) *tool.Error {
	var refused *refusedError
	var address *addressError
	switch {
	case errors.As(err, &refused): // before anything was sent, or at a redirect of what only reads
		return &tool.Error{Type: typeRefused, Message: refused.why, NoEffect: true, Hint: "go on without it, or ask for something else"}
	case errors.As(err, &address):
		return &tool.Error{Type: typeRefused, NoEffect: true, Message: "no request may go to " + short(s.URL.Host, 80) + ": " + address.why,
			Hint: "go on without it; who set up this agent can allow private addresses for servers of their own"}
	case s.sent.Load():
		return nil
	case s.Context().Err() != nil:
		return nil // the harness knows
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound {
		return &tool.Error{Type: typeNotFound, Message: "there is no host " + short(s.URL.Host, 80), NoEffect: true, Hint: "nothing was sent; check the name, or go on without it"}
	}
	e := tool.ErrorOf(err)
	return &tool.Error{Type: e.Type, Message: "there is no connection to " + short(s.URL.Host, 80) + ": " + reason(err), NoEffect: true,
		Retryable: e.Retryable, Hint: "nothing was sent; go on without it, or try again later"}
}

// reason returns an error without the URL, which may hold what is secret.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return short(err.Error(), 300)
}

// Types of errors beside those of package tool.
const (
	typeRefused      = "refused"
	typeInvalid      = "invalid_arguments"
	typeNotFound     = "not_found"
	typeUnauthorized = "unauthorized"
	typeConflict     = "conflict"
	typeRateLimited  = "rate_limited"
	typeRejected     = "rejected"
	typeServer       = "server_error"
	typeRedirected   = "redirected"
	typeUnreadable   = "unreadable_answer"
)
