package sqlite

import (
	"context"
	"sync"
	"sync/atomic"

	"rein.example/rein/journal"
)

// A request is something for the writer to do.
type request struct {
	// run is what it is about, or empty.
	run string
	// apply runs inside the transaction and may be nil. An error from it is the
	// request's own, and it must not have written anything then; errors of
	// writing go through writer.fail and make the whole transaction fail.
	apply func(w *writer) error
	// settle runs after the transaction, and may be nil: it gets the error with
	// which the transaction failed and returns the request's outcome.
	settle func(w *writer, err error) error
	// async: the request is answered as soon as it is ordered.
	async bool

	state   atomic.Int32
	done    chan error // has room for one
	ordered bool       // the writer has answered an async request
}

// The states of a request: it is the caller's to withdraw until it is taken.
const (
	waiting = iota
	taken
	withdrawn
)

// take makes the request the writer's, unless it was withdrawn.
func (r *request) take() bool { return r.state.CompareAndSwap(waiting, taken) }

// A queue holds requests in the order of their arrival.
type queue struct {
	wake chan struct{} // has room for one

	mu     sync.Mutex
	items  []*request
	closed bool
}

// put adds a request, or returns [journal.ErrClosed].
func (q *queue) put(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return journal.ErrClosed
	}
	q.items = append(q.items, r)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// get moves at most n requests to buf[:0].
func (q *queue) get(buf []*request, n int) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.items))
	buf = append(buf[:0], q.items[:n]...)
	rest := copy(q.items, q.items[n:])
	clear(q.items[rest:])
	q.items = q.items[:rest]
	return buf
}

// close refuses further requests.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// ended reports whether the queue is closed and empty.
func (q *queue) ended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && len(q.items) == 0
}

// do has the writer carry out a request and returns its outcome. While the
// request waits for its turn the end of ctx withdraws it; then nothing was done.
func (s *Store) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.w == nil {
		return s.onlyReads()
	}
	r.done = make(chan error, 1)
	if err := s.w.queue.put(r); err != nil {
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		return <-r.done
	}
}
