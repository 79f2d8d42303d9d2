package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// forgetAfter is how long after it expired a lease is removed. Until then its
// process, if it only slept, goes on with the runs that nobody has claimed.
const forgetAfter = 24 * time.Hour

// holder is a row of leases.
type holder struct {
	id      int64
	owner   journal.Owner
	expires int64
}

func (h *holder) scan(from scanner) error {
	return from.Scan(&h.id, &h.owner.Host, &h.owner.PID, &h.owner.Start, &h.owner.Name, &h.expires)
}

// live reports whether the lease holds at the given time, in Unix milliseconds.
func (h *holder) live(now int64) bool { return h.expires > now && !h.owner.Dead() }

// now returns the store's time in Unix milliseconds.
func (s *Store) now() int64 { return s.clock().UnixMilli() }

// expiry returns when a lease ends that is renewed now.
func (s *Store) expiry() int64 { return s.now() + storekit.LeaseTime.Milliseconds() }

// Join registers a process and returns its lease.
func (s *Store) Join(ctx context.Context, owner journal.Owner) (*journal.Lease, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	l := &journal.Lease{Owner: owner}
	err := s.do(ctx, &request{
		apply: func(w *writer) error {
			if err := w.sweep(); err != nil {
				return err
			}
			res, err := w.exec(&w.st.newLease, owner.Host, int64(owner.PID), owner.Start, owner.Name, s.expiry())
			if err != nil {
				return err
			}
			if l.ID, err = res.LastInsertId(); err != nil {
				return w.fail(err)
			}
			return nil
		},
		settle: func(w *writer, err error) error {
			if err == nil {
				s.mu.Lock()
				s.leases[l.ID] = l
				s.mu.Unlock()
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// sweep removes leases that nobody will use again.
func (w *writer) sweep() error {
	var all []holder
	err := w.st.leases.query(func(from scanner) error {
		var h holder
		err := h.scan(from)
		all = append(all, h)
		return err
	})
	if err != nil {
		return w.fail(err)
	}
	now := w.s.now()
	for _, h := range all {
		if h.owner.Dead() || h.expires < now-forgetAfter.Milliseconds() {
			if err := w.release(h.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func holders(rows *sql.Rows, err error) ([]holder, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []holder
	for rows.Next() {
		var h holder
		if err := h.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// release removes a lease and frees its runs.
func (w *writer) release(id int64) error {
	if _, err := w.exec(&w.st.free, id); err != nil {
		return err
	}
	for _, r := range w.rows {
		if r.owner == id {
			r.owner = 0
		}
	}
	_, err := w.exec(&w.st.endLease, id)
	return err
}

// Leave gives up the lease and every run it owns.
func (s *Store) Leave(ctx context.Context, l *journal.Lease) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	err := s.do(ctx, &request{
		apply: func(w *writer) error { return w.release(l.ID) },
		settle: func(w *writer, err error) error {
			if err == nil {
				s.forget(l.ID)
			}
			return err
		},
	})
	return err
}

// forget ends the renewal of a lease.
func (s *Store) forget(id int64) {
	s.mu.Lock()
	delete(s.leases, id)
	s.mu.Unlock()
	s.hub.Forget(id)
}

// renew extends the leases that were joined here. One that was removed while
// this process slept is made again; its runs are gone.
func (w *writer) renew() {
	leases := w.s.joinedLeases()
	if len(leases) == 0 {
		return
	}
	w.group([]*request{{
		done: make(chan error, 1), // nobody waits: the next renewal tries again
		apply: func(w *writer) error {
			for _, l := range leases {
				o := l.Owner
				if _, err := w.exec(&w.st.renew, l.ID, o.Host, int64(o.PID), o.Start, o.Name, w.s.expiry()); err != nil {
					return err
				}
			}
			return nil
		},
	}})
}

// leave gives up all leases when the store is closed.
func (w *writer) leave() error {
	leases := w.s.joinedLeases()
	if len(leases) == 0 {
		return nil
	}
	r := &request{
		done: make(chan error, 1),
		apply: func(w *writer) error {
			for _, l := range leases {
				if err := w.release(l.ID); err != nil {
					return err
				}
			}
			return nil
		},
	}
	w.group([]*request{r})
	return <-r.done
}

func (s *Store) joinedLeases() []*journal.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*journal.Lease, 0, len(s.leases))
	for _, l := range s.leases {
		all = append(all, l)
	}
	return all
}

// Create makes the journal of a new run.
func (s *Store) Create(ctx context.Context, l *journal.Lease, run string) error {
	if err := storekit.CheckRun(run); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	err := s.do(ctx, &request{apply: func(w *writer) error { return w.insert(l, &row{run: run}) }})
	_, err = s.result("creating", run, journal.Head{}, err)
	return err
}

// Claim makes l the owner of a run that no live lease owns.
func (s *Store) Claim(ctx context.Context, l *journal.Lease, run string) (journal.Head, error) {
	if err := s.open(ctx); err != nil {
		return journal.Head{}, err
	}
	var head journal.Head
	err := s.do(ctx, &request{apply: func(w *writer) error {
		r, err := w.load(run)
		if err != nil {
			return err
		}
		if !s.joined(l.ID) {
			return fmt.Errorf("the lease has been given up: %w", journal.ErrFenced)
		}
		if r.owner == elsewhere {
			return &journal.ImportedError{Run: run}
		}
		if err := w.free(r, func(id int64) bool { return id == l.ID }); err != nil {
			return err
		}
		r.owner, r.moved = l.ID, true
		r.head.Generation++
		delete(w.lost, run) // whoever claims it reads what is there
		head = r.head
		return nil
	}})
	return s.result("claiming", run, head, err)
}

// free returns a [*journal.HeldError] if a live lease owns the run for which
// mine is not true.
func (w *writer) free(r *row, mine func(id int64) bool) error {
	if r.owner == 0 || mine(r.owner) {
		return nil
	}
	var h holder
	err := w.st.lease.one(h.scan, r.owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return w.fail(err)
	case h.live(w.s.now()):
		return &journal.HeldError{Run: r.run, Owner: h.owner}
	}
	return nil
}

// Park gives up one run. It fails if a batch was lost that nobody was told
// about; the run is given up all the same.
func (s *Store) Park(ctx context.Context, l *journal.Lease, run string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	err := s.do(ctx, &request{
		apply: func(w *writer) error {
			r, err := w.owned(l, run)
			if err != nil {
				return err
			}
			r.owner, r.moved = 0, true
			return nil
		},
		settle: func(w *writer, err error) error { return errors.Join(err, w.tell(run)) },
	})
	_, err = s.result("parking", run, journal.Head{}, err)
	return err
}

// Fork makes a run that shares the beginning of another.
func (s *Store) Fork(ctx context.Context, l *journal.Lease, from string, seq int64, run string) error {
	if err := storekit.CheckRun(run); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	last, err := s.last(ctx, from, seq)
	if err != nil {
		return err
	}
	err = s.do(ctx, &request{apply: func(w *writer) error {
		src, err := w.load(from)
		if err != nil {
			return err
		}
		f := &row{run: run}
		if err := w.share(f, src, last); err != nil {
			return err
		}
		return w.insert(l, f)
	}})
	_, err = s.result("forking "+from+" into", run, journal.Head{}, err)
	return err
}

// share lets a new row have the events of another run up to and including last.
func (w *writer) share(f, src *row, last *event.Event) error {
	f.base, f.baseSeq, f.progress = src.no, last.Seq, src.progress.Fork(src.run, last)
	f.head.Seq, f.head.Hash = last.Seq, last.Hash
	for base, baseSeq := src.base, src.baseSeq; base != 0 && last.Seq <= baseSeq; {
		f.base = base // the run that holds the event itself
		if err := w.st.baseOf.one(ints(&base, &baseSeq), base); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// last returns the event at which a run is forked.
func (s *Store) last(ctx context.Context, from string, seq int64) (*event.Event, error) {
	head, err := s.Head(ctx, from)
	if err != nil {
		return nil, err
	}
	if seq < 1 || seq > head.Seq {
		return nil, fmt.Errorf("forking run %s after event %d: it has events 1 to %d", from, seq, head.Seq)
	}
	for e, err := range s.Read(ctx, from, seq) {
		return &e, err
	}
	return nil, fmt.Errorf("forking run %s: event %d cannot be read", from, seq)
}

// Watch returns the channel on which l hears of posts.
func (s *Store) Watch(l *journal.Lease) <-chan string { return s.hub.Watch(l.ID) }
