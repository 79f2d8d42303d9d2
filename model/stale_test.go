package model

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A server that keeps connections open in words and closes them in deeds, as
// some do after each stream, costs no failure: the request goes out again on a
// fresh connection, once.
func TestStaleConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conns := make(chan int, 8)
	go func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- n
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for i := range 2 {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if _, err := io.Copy(io.Discard, r.Body); err != nil || i == 1 {
						return // the second request gets no answer
					}
					if _, ok := r.Header["Idempotency-Key"]; ok {
						t.Error("the header that only net/http is to see was sent")
					}
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=5\r\n\r\nok")
				}
			}()
		}
	}()
	client := NewHTTPClient()
	defer client.CloseIdleConnections()
	for i := range 3 {
		p := &Post{Client: client, URL: "http://" + l.Addr().String(), Header: http.Header{}, Body: [][]byte{[]byte("a"), []byte("bc")}}
		r, err := p.Send(t.Context())
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		body, err := io.ReadAll(r)
		if err != nil || !strings.Contains(string(body), "ok") {
			t.Errorf("request %d: %q, %v", i, body, err)
		}
		_ = r.Close()
	}
	if len(conns) < 2 {
		t.Error("the connection was never stale")
	}
}
