package modeltest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"rein.example/rein/model"
)

// connections are what becomes of the connection itself.
func (w *Wire) connections(t *testing.T) {
	r := stream(w.hello())
	half := r.Body[:len(r.Body)/2]
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for _, c := range []struct {
		name string
		// answer is what a server writes after a request, before it hangs up.
		answer string
		want   string
	}{
		{"hung up before it answered", "", "error network\n"},
		{"hung up in the headers", head, "error network\n"},
		{"shorter than announced", head + "Content-Length: 1000000\r\n\r\n" + string(half), "error incomplete\n"},
		{"cut in a chunk", head + "Transfer-Encoding: chunked\r\n\r\n" + "ffff\r\n" + string(half), "error incomplete\n"},
		{"cut between chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + "3\r\n: x\r\n", "error incomplete\n"},
		{"a chunk that is none", head + "Transfer-Encoding: chunked\r\n\r\n" + "what?\r\n", "error incomplete\n"},
		{"closed in order before the end", head + "Connection: close\r\n\r\n" + string(half), "error incomplete\n"},
		{"something else than HTTP", "SSH-2.0-OpenSSH_9.9\r\n", "error network\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply, err := w.served(t, raw(t, c.answer), true)
			if got := Format(reply, err); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s", got)
			}
		})
	}
	for _, c := range []struct {
		name   string
		server func(c *frames, n int)
		want   string
	}{
		{"HTTP/2", func(c *frames, _ int) { c.headers(); c.data(r.Body, true) }, "finish stop"},
		{"an HTTP/2 stream reset before it answered", func(c *frames, _ int) { c.reset() }, "error network\ncode http2\n"},
		{"an HTTP/2 stream reset in the middle", func(c *frames, _ int) { c.headers(); c.data(half, false); c.reset() }, "error incomplete\nstatus 200\ncode http2\n"},
		{"an HTTP/2 stream that ends in order before its end", func(c *frames, _ int) { c.headers(); c.data(half, true) }, "error incomplete\n"},
		{"an HTTP/2 server that goes away in the middle", func(c *frames, _ int) { c.headers(); c.data(half, false); c.goAway(c.stream); c.conn.Close() }, "error incomplete\n"},
		{"an HTTP/2 server that went away before it took the request", func(c *frames, n int) {
			if n == 1 {
				c.goAway(0)
				return
			}
			c.headers()
			c.data(r.Body, true)
		}, "finish stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, hc := http2Server(t, c.server)
			reply, err := call(t.Context(), w.New, hc, url+"/v1", true, nil)
			if got := Format(reply, err); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// reuse checks that a connection serves the next call, whatever way the reply ended.
func (w *Wire) reuse(t *testing.T) {
	for _, r := range []*Recording{stream(w.hello()), w.recording(t, w.Whole)} {
		conns := map[string]bool{}
		s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
			conns[req.RemoteAddr] = true // one call after the other
			for name, values := range r.Header {
				out.Header()[name] = values
			}
			_, _ = out.Write(r.Body)
		}))
		hc := model.NewHTTPClient()
		for range 5 {
			if _, err := call(t.Context(), w.New, hc, s.URL+"/v1", r.Stream, nil); err != nil {
				t.Error(err)
			}
		}
		hc.CloseIdleConnections()
		s.Close()
		if len(conns) != 1 {
			t.Errorf("stream %v: 5 calls took %d connections", r.Stream, len(conns))
		}
	}
}

// raw starts a server that reads one request on each connection, writes answer and
// hangs up.
func raw(t *testing.T, answer string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}))
	t.Cleanup(s.Close)
	return s
}

// frames writes the frames of HTTP/2 (RFC 9113) for one request of a connection.
type frames struct {
	conn   net.Conn
	stream uint32
}

// The types of frames, and the flags, that are used here.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7
	flagEnd, flagAck, flagEndHeaders                                = 1, 1, 4
	internalError                                                   = 2
)

func (c *frames) write(kind, flags byte, stream uint32, payload []byte) {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = binary.BigEndian.AppendUint32(append(b, flags), stream)
	_, _ = c.conn.Write(append(b, payload...))
}

// headers answers with 200 and an event stream, in HPACK (RFC 7541): an entry of
// its table, and a name of its table with a value.
func (c *frames) headers() {
	const kind = "text/event-stream"
	c.write(frameHeaders, flagEndHeaders, c.stream, append([]byte{0x88, 0x5f, byte(len(kind))}, kind...))
}

func (c *frames) data(b []byte, end bool) {
	var flags byte
	if end {
		flags = flagEnd
	}
	c.write(frameData, flags, c.stream, b)
}

func (c *frames) reset() {
	c.write(frameReset, 0, c.stream, binary.BigEndian.AppendUint32(nil, internalError))
}

// goAway says that no request after the last one is taken.
func (c *frames) goAway(last uint32) {
	c.write(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
}

// serve reads the frames of a connection and answers each request.
func (c *frames) serve(answer func(*frames)) {
	preface := make([]byte, len(http2Preface))
	if _, err := io.ReadFull(c.conn, preface); err != nil || string(preface) != http2Preface {
		return
	}
	c.write(frameSettings, 0, 0, nil)
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(c.conn, head); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head) >> 8
		if _, err := io.CopyN(io.Discard, c.conn, int64(size)); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])&(1<<31-1)
		switch {
		case kind == frameSettings && flags&flagAck == 0:
			c.write(frameSettings, flagAck, 0, nil)
		case (kind == frameData || kind == frameHeaders) && flags&flagEnd != 0:
			c.stream = stream
			answer(c)
		}
	}
}

const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// http2Server starts a server of HTTP/2 that does what net/http's never would:
// answer gets every request, with the number of its connection, from 1. The client
// trusts its certificate.
func http2Server(t *testing.T, answer func(c *frames, n int)) (url string, hc *http.Client) {
	t.Helper()
	other := httptest.NewTLSServer(nil) // for its certificate
	other.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: other.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var conns atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n := int(conns.Add(1))
			go func() {
				defer conn.Close()
				(&frames{conn: conn}).serve(func(c *frames) { answer(c, n) })
			}()
		}
	}()
	hc = model.NewHTTPClient()
	trusted := x509.NewCertPool()
	trusted.AddCert(other.Certificate())
	hc.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	t.Cleanup(hc.CloseIdleConnections)
	return "https://" + l.Addr().String(), hc
}
