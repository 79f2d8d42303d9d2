package modeltest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"rein.example/rein/model"
)

// Plan says how a recording is played. The zero value plays it in one piece.
type Plan struct {
	// Cut ends the body after Cut-1 bytes, so that 0 cuts nothing and 1 leaves
	// no byte; Clean says that the connection then closes in order, as some
	// intermediaries do, instead of breaking.
	Cut   int
	Clean bool
	// Splits are offsets at which a read (over a socket: a packet) ends.
	// Bytewise ends one after every byte.
	Splits   []int
	Bytewise bool
	// Stall keeps silent at the end of the body instead of ending it.
	Stall bool
	// Pause is waited before each piece, and Alive is how often a comment comes
	// while nothing else does, for Play; 0 is none.
	Pause, Alive time.Duration
}

// Factory makes a client that sends its requests with hc to the server at base,
// such as "http://model.test/v1". The wire must need no more than that.
type Factory func(hc *http.Client, base string) (model.Client, error)

// Play returns an HTTP client inside the process that answers every request with
// the recording. Its bodies end reads when the request's context ends, like
// those of net/http.
func Play(r *Recording, p Plan) *http.Client {
	return &http.Client{Transport: &player{r, p}}
}

type player struct {
	r *Recording
	p Plan
}

// RoundTrip plays the recording.
func (t *player) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		req.Body.Close()
	}
	return &http.Response{
		StatusCode: t.r.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: t.r.Header.Clone(), ContentLength: -1, Request: req,
		Body: &body{ctx: req.Context(), rest: t.p.bytes(t.r.Body), plan: t.p},
	}, nil
}

// bytes returns what is left of b after the cut.
func (p Plan) bytes(b []byte) []byte {
	if p.Cut > 0 && p.Cut <= len(b) {
		return b[:p.Cut-1]
	}
	return b
}

// next returns how many of the bytes after offset come in one piece.
func (p Plan) next(offset, left int) int {
	if p.Bytewise {
		return min(1, left)
	}
	n := left
	for _, s := range p.Splits {
		if s > offset {
			n = min(n, s-offset)
		}
	}
	return n
}

type body struct {
	ctx    context.Context
	rest   []byte
	offset int
	plan   Plan
	rested time.Duration // of the pause before the next piece
}

// pause waits for that long in all, unless a comment comes before: then it returns
// that, and the next call waits for the rest.
func (b *body) pause(to []byte, whole time.Duration) (int, error) {
	d := whole - b.rested
	alive := b.plan.Alive > 0 && b.plan.Alive < d
	if alive {
		d = b.plan.Alive
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	if alive {
		b.rested += d
		return copy(to, ":\n"), nil
	}
	b.rested = 0
	return 0, nil
}

func (b *body) Read(to []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.rest) == 0 {
		switch {
		case b.plan.Stall && b.plan.Alive > 0:
			b.rested = 0
			return b.pause(to, 1<<62)
		case b.plan.Stall:
			<-b.ctx.Done()
			return 0, b.ctx.Err()
		case b.plan.Cut > 0 && !b.plan.Clean:
			return 0, io.ErrUnexpectedEOF
		}
		return 0, io.EOF
	}
	if b.plan.Pause > 0 {
		if n, err := b.pause(to, b.plan.Pause); n > 0 || err != nil {
			return n, err
		}
	}
	n := copy(to, b.rest[:b.plan.next(b.offset, len(b.rest))])
	b.rest, b.offset = b.rest[n:], b.offset+n
	return n, nil
}

func (b *body) Close() error { return nil }

// Serve starts a server that answers every request with the recording, over a
// real socket, and stops with the test.
func Serve(t testing.TB, r *Recording, p Plan) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		for name, values := range r.Header {
			w.Header()[name] = slices.Clone(values)
		}
		w.WriteHeader(r.Status)
		c := http.NewResponseController(w)
		b := p.bytes(r.Body)
		for offset := 0; offset < len(b); {
			n := p.next(offset, len(b)-offset)
			if _, err := w.Write(b[offset : offset+n]); err != nil {
				return
			}
			offset += n
			if err := c.Flush(); err != nil {
				return
			}
			if len(p.Splits) > 0 {
				time.Sleep(time.Millisecond) // so that it is a packet of its own
			}
		}
		switch {
		case p.Stall:
			<-req.Context().Done()
		case p.Cut > 0 && !p.Clean:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	return s
}
