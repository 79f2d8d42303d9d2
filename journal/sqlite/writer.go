package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rein.example/rein/journal/internal/storekit"
)

// groupSize is the most requests that share a transaction.
const groupSize = 1024

// writer is the one goroutine of a process that writes. Its fields are its own,
// but for the queue.
type writer struct {
	s     *Store
	queue queue
	ended chan struct{}
	err   error // once ended

	conn driver.ConnPrepareContext
	st   statements

	// rows are the runs as the database has them. They hold as long as no other
	// process has committed, which version (PRAGMA data_version) tells.
	rows    map[string]*row
	touched []*row // by the transaction
	version int64
	// unseen: there may be posts that findPosts has not seen.
	unseen bool
	// broken is why the transaction must be rolled back.
	broken error
	// lost is why async batches were not written, until somebody was told.
	lost map[string]error
	// after are what is to be done once the transaction is committed.
	after []func()
	// post is the last row of posts that was looked at.
	post int64
}

// newWriter starts the goroutine, which owns conn from then on.
func newWriter(ctx context.Context, s *Store, conn *sql.Conn) (*writer, error) {
	w := &writer{
		s:     s,
		queue: queue{wake: make(chan struct{}, 1)},
		ended: make(chan struct{}),
		rows:  map[string]*row{},
		lost:  map[string]error{},
	}
	var err error
	if s.codec, err = newCodec(); err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go func() {
		defer close(w.ended)
		w.err = errors.Join(conn.Raw(func(raw any) error { return w.run(ctx, raw, ready) }), conn.Close())
	}()
	if err := <-ready; err != nil {
		<-w.ended
		return nil, errors.Join(err, s.codec.close())
	}
	return w, nil
}

// close stops the writer when it has done what is in its queue.
func (w *writer) close() error {
	w.queue.close()
	<-w.ended
	return w.err
}

// run prepares the statements, says on ready whether that went well, and
// carries out requests until the queue is closed.
func (w *writer) run(ctx context.Context, raw any, ready chan<- error) (err error) {
	var ok bool
	if w.conn, ok = raw.(driver.ConnPrepareContext); !ok {
		ready <- fmt.Errorf("the driver's connection is a %T, which does not prepare statements", raw)
		return nil
	}
	if err := w.st.prepare(ctx, w.conn); err != nil {
		ready <- err
		return nil
	}
	defer func() { err = errors.Join(err, w.st.close()) }()
	err = w.st.lastPost.one(ints(&w.post))
	ready <- err
	if err != nil {
		return nil
	}
	w.loop()
	return errors.Join(w.untold(), w.leave())
}

// tell returns why async batches of a run were not written, once.
func (w *writer) tell(run string) error {
	lost := w.lost[run]
	if lost == nil {
		return nil
	}
	delete(w.lost, run)
	return fmt.Errorf("a batch of run %s was not written: read the journal again: %w", run, lost)
}

// untold returns what nobody was told yet.
func (w *writer) untold() error {
	var errs []error
	for _, run := range slices.Sorted(maps.Keys(w.lost)) {
		errs = append(errs, w.tell(run))
	}
	return errors.Join(errs...)
}

// loop takes requests until the queue is closed and empty.
func (w *writer) loop() {
	poll := time.NewTicker(storekit.PollEvery)
	defer poll.Stop()
	renew := time.NewTicker(storekit.RenewEvery)
	defer renew.Stop()
	var items []*request
	for !w.queue.ended() {
		select {
		case <-w.queue.wake:
		case <-poll.C:
			if w.s.hub.Active() {
				_ = w.look() // the next one finds what this one did not
			}
			continue
		case <-renew.C:
			w.renew()
			continue
		}
		for {
			if items = w.queue.get(items, groupSize); len(items) == 0 {
				break
			}
			w.group(items)
			clear(items)
		}
	}
}

// group carries out requests in one transaction.
func (w *writer) group(items []*request) {
	writes := false
	for _, r := range items {
		writes = writes || r.apply != nil
	}
	err := w.begin(writes)
	var late []*request // those that are answered when all is durable
	for _, r := range items {
		if r.take() {
			late = w.apply(r, err, late)
		}
	}
	if err == nil && writes {
		err = w.commit()
	}
	if err != nil {
		err = w.s.explain("writing to", err)
	}
	w.settle(late, err)
}

// apply carries out one request and adds it to late if it is to be answered
// later. The transaction has failed already if begin is not nil.
func (w *writer) apply(r *request, begin error, late []*request) []*request {
	if begin != nil || r.apply == nil || w.broken != nil {
		return append(late, r)
	}
	switch err := r.apply(w); {
	case w.broken != nil:
		return append(late, r)
	case err != nil:
		r.done <- err
		return late
	case r.async:
		r.ordered = true
		w.s.addPending(r.run)
		r.done <- nil
	}
	return append(late, r)
}

// settle answers the requests of a transaction that ended with err.
func (w *writer) settle(late []*request, err error) {
	if err == nil {
		for _, f := range w.after {
			f()
		}
	}
	clear(w.after)
	w.after = w.after[:0]
	for _, r := range late {
		if r.ordered {
			if err != nil && w.lost[r.run] == nil {
				w.lost[r.run] = err
			}
			w.s.endPending(r.run)
			continue
		}
		out := err
		if r.settle != nil {
			out = r.settle(w, err)
		}
		if out != nil && out == w.lost[r.run] {
			delete(w.lost, r.run) // now somebody knows
		}
		r.done <- out
	}
}

// begin starts a transaction that no other process can write beside.
func (w *writer) begin(writes bool) error {
	if !writes {
		return nil
	}
	if _, err := w.st.begin.exec(); err != nil {
		return err
	}
	if err := w.look(); err != nil {
		return w.rollback(err)
	}
	return nil
}

// look finds out whether another process has committed since the last time. If
// so it forgets the rows, and tells owners of this process about posts.
func (w *writer) look() error {
	var v int64
	if err := w.st.version.one(ints(&v)); err != nil {
		return err
	}
	if v != w.version {
		w.version = v
		clear(w.rows)
		w.unseen = true
	}
	if w.unseen && w.s.hub.Active() {
		if err := w.findPosts(); err != nil {
			return err
		}
		w.unseen = false
	}
	return nil
}

// commit writes the changed rows and makes everything durable, or nothing.
func (w *writer) commit() error {
	for _, r := range w.touched {
		w.update(r)
	}
	if w.broken != nil {
		return w.rollback(w.broken)
	}
	if _, err := w.st.commit.exec(); err != nil {
		return w.rollback(err)
	}
	for _, r := range w.touched {
		if !w.s.joined(r.owner) {
			delete(w.rows, r.run)
		}
	}
	clear(w.touched)
	w.touched = w.touched[:0]
	return nil
}

// rollback undoes the transaction and returns why.
func (w *writer) rollback(why error) error {
	w.broken = nil
	clear(w.touched)
	w.touched = w.touched[:0]
	clear(w.rows)
	clear(w.after)
	w.after = w.after[:0]
	// SQLite has rolled back by itself after some errors; then this one fails,
	// which says nothing new.
	_, _ = w.st.rollback.exec()
	return why
}

// fail makes the transaction fail with an error of the database.
func (w *writer) fail(err error) error {
	if w.broken == nil {
		w.broken = err
	}
	return err
}

// exec writes; an error makes the transaction fail.
func (w *writer) exec(st *stmt, args ...driver.Value) (driver.Result, error) {
	res, err := st.exec(args...)
	if err != nil {
		return nil, w.fail(err)
	}
	return res, nil
}

// findPosts tells owners of this process about posts to their runs.
func (w *writer) findPosts() error {
	return w.st.posts.query(func(from scanner) error {
		var id, owner int64
		var run string
		if err := from.Scan(&id, &run, &owner); err != nil {
			return err
		}
		w.post = id
		w.s.hub.Tell(owner, run)
		return nil
	}, w.post)
}

// addPending notes an async batch that is ordered.
func (s *Store) addPending(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[run]++
}

func (s *Store) endPending(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[run]--; s.pending[run] == 0 {
		delete(s.pending, run)
	}
}

// settled waits until the async batches of a run that were ordered before are
// durable or lost, so that readers see what was appended.
func (s *Store) settled(ctx context.Context, run string) error {
	s.mu.Lock()
	some, closed := s.pending[run] > 0, s.closed
	s.mu.Unlock()
	if closed {
		return s.open(ctx)
	}
	if !some {
		return ctx.Err()
	}
	return s.do(ctx, &request{settle: func(*writer, error) error { return nil }})
}
