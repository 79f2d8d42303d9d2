package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
)

// transport is a server inside the process.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// replies with a body.
func replies(body io.Reader) transport {
	return func(r *http.Request) (*http.Response, error) {
		rc, ok := body.(io.ReadCloser)
		if !ok {
			rc = io.NopCloser(body)
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: rc, Request: r}, nil
	}
}

// silent blocks in Read until it is closed, and ignores every context.
type silent struct{ closed chan struct{} }

func (s *silent) Read([]byte) (int, error) { <-s.closed; return 0, errors.New("closed") }
func (s *silent) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

func post(f transport) *Post {
	return &Post{Client: &http.Client{Transport: f}, URL: "http://model.test/v1/x", Body: [][]byte{[]byte("a"), nil, []byte("bc")}, Stream: true}
}

// class returns the class of err, which must be an *Error.
func class(t *testing.T, err error) event.ErrorClass {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not a model error: %v", err)
	}
	return e.Class
}

func TestBodyIsSentInPieces(t *testing.T) {
	var got []byte
	var length int64
	p := post(func(r *http.Request) (*http.Response, error) {
		length = r.ContentLength
		for range 2 { // as net/http does after a stale connection
			body, _ := r.GetBody()
			b, err := io.ReadAll(iotest.OneByteReader(body))
			if err != nil {
				t.Error(err)
			}
			got = append(got, b...)
		}
		return replies(strings.NewReader("ok"))(r)
	})
	r, err := p.Send(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if string(got) != "abcabc" || length != 3 {
		t.Errorf("sent %q, announced %d bytes", got, length)
	}
	if err := iotest.TestReader(&pieces{all: [][]byte{nil, []byte("hello"), {}, []byte(" world"), nil}}, []byte("hello world")); err != nil {
		t.Error(err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	calls := 0
	p := post(func(r *http.Request) (*http.Response, error) {
		calls++
		return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"http://elsewhere.test/"}}, Body: http.NoBody, Request: r}, nil
	})
	r, err := p.Send(t.Context())
	if err != nil || r.Status != 307 || calls != 1 {
		t.Fatalf("status %v, %d calls, %v", r, calls, err)
	}
	r.Close()
}

func TestReplyLimit(t *testing.T) {
	p := post(replies(strings.NewReader("0123456789")))
	p.Limit = 9
	r, err := p.Send(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); class(t, err) != event.ClassBadReply {
		t.Errorf("got %v", err)
	}
}

// The clock of these is synctest's: time passes only where everyone waits.
func TestTimers(t *testing.T) {
	slow := func(pause time.Duration, n int) transport {
		return func(r *http.Request) (*http.Response, error) {
			pr, pw := io.Pipe()
			go func() {
				defer pw.Close()
				for range n {
					select {
					case <-time.After(pause):
						pw.Write([]byte(":\n"))
					case <-r.Context().Done():
						pw.CloseWithError(r.Context().Err()) // as net/http does
						return
					}
				}
			}()
			return replies(pr)(r)
		}
	}
	for _, c := range []struct {
		name   string
		f      transport
		set    func(*Post)
		cancel time.Duration // when the caller gives up; 0 is never
		want   event.ErrorClass
		after  time.Duration
	}{
		{name: "bytes keep it alive", f: slow(40*time.Second, 10), after: 400 * time.Second},
		{name: "silence", f: slow(2*time.Minute, 2), want: event.ClassTimeout, after: time.Minute},
		{name: "whole call", f: slow(40*time.Second, 1000), want: event.ClassTimeout, after: 10 * time.Minute},
		{name: "caller gives up", f: slow(40*time.Second, 1000), cancel: 90 * time.Second, want: event.ClassCancelled, after: 90 * time.Second},
		{name: "a body that ignores the context", cancel: 30 * time.Second, want: event.ClassCancelled, after: 30 * time.Second, f: func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: &silent{make(chan struct{})}, Request: r}, nil
		}},
		{name: "silence before the headers", want: event.ClassTimeout, after: time.Minute, f: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}},
		{name: "silence before the headers of a reply in one piece", after: 5 * time.Minute, set: func(p *Post) { p.Stream = false }, f: func(r *http.Request) (*http.Response, error) {
			time.Sleep(5 * time.Minute)
			return replies(strings.NewReader("ok"))(r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				why := errors.New("stopped by hand")
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, func() { cancel(why) })
				}
				p := post(c.f)
				p.Idle, p.Timeout = time.Minute, 10*time.Minute
				if c.set != nil {
					c.set(p)
				}
				start := time.Now()
				r, err := p.Send(ctx)
				if err == nil {
					_, err = io.ReadAll(r)
					r.Close()
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("ended after %v, want %v", took, c.after)
				}
				if c.want == "" {
					if err != nil {
						t.Errorf("got %v", err)
					}
					return
				}
				if got := class(t, err); got != c.want {
					t.Errorf("got %v: %v", got, err)
				}
				if c.want == event.ClassCancelled && !errors.Is(err, why) {
					t.Errorf("the cause is lost: %v", err)
				}
			})
		})
	}
}

func TestNetworkErrors(t *testing.T) {
	op := func(e error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: e} }
	for _, c := range []struct {
		err   error
		code  string
		class event.ErrorClass
		says  string
	}{
		{op(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), "dns", event.ClassNetwork, "check the base URL"},
		{op(&net.DNSError{Err: "timed out", Name: "x", IsTimeout: true}), "timeout", event.ClassTimeout, "was not looked up in time"},
		{op(syscall.ECONNREFUSED), "refused", event.ClassNetwork, "is the server running there?"},
		{op(syscall.ENETUNREACH), "unreachable", event.ClassNetwork, "no route"},
		{op(syscall.ECONNRESET), "reset", event.ClassNetwork, "hung up"},
		{op(syscall.EPIPE), "reset", event.ClassNetwork, "hung up"},
		{x509.UnknownAuthorityError{}, "certificate", event.ClassNetwork, "add the signer's certificate"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.test"}}, Host: "b.test"}}, "certificate", event.ClassNetwork, "for another host: check the base URL"},
		{x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}, "certificate", event.ClassNetwork, "clock"},
		{&tls.CertificateVerificationError{Err: errors.New("odd")}, "certificate", event.ClassNetwork, "not trusted"},
		{errors.New("http: server gave HTTP response to HTTPS client"), "tls", event.ClassNetwork, "https://"},
		{streamError{Code: 2}, "http2", event.ClassNetwork, "hung up"},
		{errors.New("http2: server sent GOAWAY and closed the connection"), "http2", event.ClassNetwork, "hung up"},
		{errors.New("http: server closed idle connection"), "reset", event.ClassNetwork, "hung up"},
		{io.EOF, "eof", event.ClassNetwork, "hung up"},
		{context.DeadlineExceeded, "timeout", event.ClassTimeout, "did not answer"},
		{errors.New("odd"), "", event.ClassNetwork, "failed"},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			p := post(func(*http.Request) (*http.Response, error) { return nil, c.err })
			p.URL = "http://model.test:1234/v1?key=sesame"
			_, err := p.Send(t.Context())
			e, ok := err.(*Error)
			if !ok || e.Code != c.code || e.Class != c.class || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v (code %q)", err, e.Code)
			}
			var u *url.Error
			if strings.Contains(fmt.Sprintf("%v %+v", e, e.Err), "sesame") || errors.As(err, &u) {
				t.Errorf("the address's query shows: %v", err)
			}
		})
	}
}

// Real connections: what the table above assumes about net/http is true.
func TestNetworkErrorsOverRealConnections(t *testing.T) {
	send := func(t *testing.T, url string, c *http.Client) *Error {
		t.Helper()
		p := &Post{Client: c, URL: url, Body: [][]byte{[]byte("{}")}, Stream: true}
		r, err := p.Send(t.Context())
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		e, ok := err.(*Error)
		if !ok {
			t.Fatalf("got %v", err)
		}
		return e
	}
	hang := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/late" {
			w.Write(bytes.Repeat([]byte("x"), 100))
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	h1 := httptest.NewServer(http.HandlerFunc(hang))
	defer h1.Close()
	h2 := httptest.NewUnstartedServer(http.HandlerFunc(hang))
	h2.EnableHTTP2 = true
	h2.Config.ErrorLog = log.New(io.Discard, "", 0)
	h2.StartTLS()
	defer h2.Close()
	gone := httptest.NewServer(nil)
	gone.Close()

	client := NewHTTPClient()
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		name, url string
		client    *http.Client
		class     event.ErrorClass
		code      string
	}{
		{"refused", gone.URL, client, event.ClassNetwork, "refused"},
		{"hangs up before the headers", h1.URL, client, event.ClassNetwork, "eof"},
		{"hangs up in the body", h1.URL + "/late", client, event.ClassIncomplete, "eof"},
		{"HTTP/2 reset before the headers", h2.URL, h2.Client(), event.ClassNetwork, "http2"},
		{"HTTP/2 reset in the body", h2.URL + "/late", h2.Client(), event.ClassIncomplete, "http2"},
		{"plain server behind https", strings.Replace(h1.URL, "http:", "https:", 1), client, event.ClassNetwork, "tls"},
		{"own certificate", h2.URL, client, event.ClassNetwork, "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := send(t, c.url, c.client)
			if e.Class != c.class || e.Code != c.code {
				t.Errorf("got %v (code %q)", e, e.Code)
			}
		})
	}
}
