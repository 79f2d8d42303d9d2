// Package memory answers: where do journals live that need not outlive the
// process?
//
// The [Store] keeps what a store on disk keeps — the encoded events and their
// hash chain, never the structs that were handed in — so that whatever works
// with it works with the others, and so that a run costs the memory of its
// journal and no more. Events are decoded when they are read.
//
// It is for tests, examples and runs that nobody wants back.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
	"rein.example/rein/message"
)

// Store keeps journals in memory. It implements [journal.Store], [journal.Finder]
// and [journal.Repairer].
//
// Leases live as long as their process or until Leave: a store that can be
// reached renews them by existing.
type Store struct {
	hub storekit.Hub

	mu     sync.RWMutex // guards what follows, and the owner and generation of runs
	closed bool
	runs   map[string]*run
	order  []*run // as created
	leases map[int64]*lease
	last   int64 // the last lease's id
	bodies map[string][]byte
}

var (
	_ journal.Store    = (*Store)(nil)
	_ journal.Finder   = (*Store)(nil)
	_ journal.Repairer = (*Store)(nil)
)

type lease struct {
	*journal.Lease
	// abandoned is when the lease stopped being renewed; only tests do that.
	abandoned time.Time
}

// New returns an empty store.
func New() *Store {
	return &Store{
		runs:   map[string]*run{},
		leases: map[int64]*lease{},
		bodies: map[string][]byte{},
	}
}

// Join registers a process.
func (s *Store) Join(ctx context.Context, owner journal.Owner) (*journal.Lease, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.last++
	l := &journal.Lease{ID: s.last, Owner: owner}
	s.leases[l.ID] = &lease{Lease: l}
	return l, nil
}

// Leave gives up the lease and its runs.
func (s *Store) Leave(ctx context.Context, l *journal.Lease) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.leases, l.ID)
	for _, r := range s.order {
		if r.owner == l.ID {
			r.owner = 0
		}
	}
	s.hub.Forget(l.ID)
	return nil
}

// Create makes the journal of a new run.
func (s *Store) Create(ctx context.Context, l *journal.Lease, id string) error {
	if err := storekit.CheckRun(id); err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return s.add(l, &run{id: id})
}

// add registers a new run, owned by l.
func (s *Store) add(l *journal.Lease, r *run) error {
	if s.leases[l.ID] == nil {
		return fmt.Errorf("creating run %s: the lease has been given up: %w", r.id, journal.ErrFenced)
	}
	if s.runs[r.id] != nil {
		return fmt.Errorf("creating run %s: %w", r.id, journal.ErrExists)
	}
	r.owner, r.generation = l.ID, 1
	s.register(r)
	return nil
}

// Claim makes l the owner of a run.
func (s *Store) Claim(ctx context.Context, l *journal.Lease, id string) (journal.Head, error) {
	if err := s.lock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.Unlock()
	r, err := s.find(id)
	if err != nil {
		return journal.Head{}, err
	}
	if s.leases[l.ID] == nil {
		return journal.Head{}, fmt.Errorf("claiming run %s: the lease has been given up: %w", id, journal.ErrFenced)
	}
	if r.imported {
		return journal.Head{}, &journal.ImportedError{Run: id}
	}
	if r.owner != l.ID && s.live(r.owner) {
		return journal.Head{}, &journal.HeldError{Run: id, Owner: s.leases[r.owner].Owner}
	}
	r.owner = l.ID
	r.generation++
	return r.head(), nil
}

// live reports whether a lease is there and its holder lives.
func (s *Store) live(id int64) bool {
	l := s.leases[id]
	if l == nil || l.Owner.Dead() {
		return false
	}
	return l.abandoned.IsZero() || time.Since(l.abandoned) < storekit.LeaseTime
}

// Park gives up one run.
func (s *Store) Park(ctx context.Context, l *journal.Lease, id string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	r, err := s.find(id)
	if err != nil {
		return err
	}
	if r.owner != l.ID {
		return fmt.Errorf("parking run %s: %w", id, journal.ErrFenced)
	}
	r.owner = 0
	return nil
}

// Append adds a batch. The returned head's hash is zero: the chain is computed
// when it is read, which keeps hashing out of a step's time.
func (s *Store) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	if err := storekit.CheckEntries(b.Entries); err != nil {
		return journal.Head{}, fmt.Errorf("appending to run %s: %w", b.Run, err)
	}
	if err := s.rlock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.RUnlock()
	r, err := s.find(b.Run)
	if err != nil {
		return journal.Head{}, err
	}
	if r.owner != l.ID {
		return journal.Head{}, fmt.Errorf("appending to run %s: %w", b.Run, journal.ErrFenced)
	}
	return r.append(b.After, b.Entries)
}

// Post appends an input or an approval from outside.
func (s *Store) Post(ctx context.Context, id string, e journal.Entry) (journal.Head, error) {
	if err := storekit.CheckPost(&e); err != nil {
		return journal.Head{}, fmt.Errorf("posting to run %s: %w", id, err)
	}
	if err := s.rlock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.RUnlock()
	r, err := s.find(id)
	if err != nil {
		return journal.Head{}, err
	}
	if r.imported {
		return journal.Head{}, &journal.ImportedError{Run: id}
	}
	h, err := r.append(journal.Anywhere, []journal.Entry{e})
	if err == nil {
		s.hub.Tell(r.owner, id)
	}
	return h, err
}

// Sync returns at once: memory has nothing to wait for.
func (s *Store) Sync(ctx context.Context, id string) error {
	if err := s.rlock(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	_, err := s.find(id)
	return err
}

// Head returns where the journal ends.
func (s *Store) Head(ctx context.Context, id string) (journal.Head, error) {
	if err := s.rlock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.RUnlock()
	r, err := s.find(id)
	if err != nil {
		return journal.Head{}, err
	}
	return r.head(), nil
}

// Read yields the events with Seq >= from that are there when it begins.
func (s *Store) Read(ctx context.Context, id string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if err := s.rlock(ctx); err != nil {
			yield(event.Event{}, err)
			return
		}
		r, err := s.find(id)
		s.mu.RUnlock()
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		r.read(ctx, max(from, 1), yield)
	}
}

// Watch returns the channel on which l hears of posts.
func (s *Store) Watch(l *journal.Lease) <-chan string { return s.hub.Watch(l.ID) }

// Runs yields a summary of each run, the one created last first.
func (s *Store) Runs(ctx context.Context) iter.Seq2[journal.Summary, error] {
	return func(yield func(journal.Summary, error) bool) {
		if err := s.rlock(ctx); err != nil {
			yield(journal.Summary{}, err)
			return
		}
		live := map[int64]bool{}
		for id := range s.leases {
			live[id] = s.live(id)
		}
		all := make([]journal.Summary, 0, len(s.order))
		for i := len(s.order) - 1; i >= 0; i-- {
			all = append(all, s.order[i].summary(live[s.order[i].owner]))
		}
		s.mu.RUnlock()
		for _, sum := range all {
			if !yield(sum, nil) {
				return
			}
		}
	}
}

// Find returns the runs whose ids begin with prefix, the one created last first.
func (s *Store) Find(ctx context.Context, prefix string, limit int) ([]string, error) {
	if err := s.rlock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var found []string
	for i := len(s.order) - 1; i >= 0 && len(found) < limit; i-- {
		if id := s.order[i].id; len(id) >= len(prefix) && id[:len(prefix)] == prefix {
			found = append(found, id)
		}
	}
	return found, nil
}

// PutBody keeps a copy of a body.
func (s *Store) PutBody(ctx context.Context, body []byte, mediaType string) (message.Ref, error) {
	ref := storekit.Ref(body, mediaType)
	if err := s.lock(ctx); err != nil {
		return message.Ref{}, err
	}
	defer s.mu.Unlock()
	if !bytes.Equal(s.bodies[ref.SHA256], body) || len(body) == 0 {
		s.bodies[ref.SHA256] = bytes.Clone(body)
	}
	return ref, nil
}

// Body returns a copy of a body.
func (s *Store) Body(ctx context.Context, ref message.Ref) ([]byte, error) {
	if err := s.rlock(ctx); err != nil {
		return nil, err
	}
	body, ok := s.bodies[ref.SHA256]
	s.mu.RUnlock()
	if !ok {
		return nil, &journal.BodyError{SHA256: ref.SHA256, Missing: true}
	}
	if err := storekit.CheckBody(ref, body); err != nil {
		return nil, err
	}
	return bytes.Clone(body), nil
}

// Fork makes a run that shares the beginning of another.
func (s *Store) Fork(ctx context.Context, l *journal.Lease, from string, seq int64, id string) error {
	if err := storekit.CheckRun(id); err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	base, err := s.find(from)
	if err != nil {
		return err
	}
	r, err := base.fork(ctx, seq, id)
	if err != nil {
		return err
	}
	return s.add(l, r)
}

// Family returns the runs that share events with one.
func (s *Store) Family(ctx context.Context, id string) ([]journal.Relative, error) {
	if err := s.rlock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	all, _ := storekit.Family(r, func(r *run) (direct []storekit.Kin[*run], _ error) {
		if r.base != nil {
			direct = append(direct, storekit.Kin[*run]{Run: r.base, Shared: r.baseSeq})
		}
		for _, f := range r.forks {
			direct = append(direct, storekit.Kin[*run]{Run: f, Shared: f.baseSeq})
		}
		return direct, nil
	})
	var out []journal.Relative
	for _, k := range all {
		out = append(out, journal.Relative{Run: k.Run.id, Shared: k.Shared, Live: s.live(k.Run.owner), Base: k.Run == r.base})
	}
	return out, nil
}

// Cut removes a torn end.
func (s *Store) Cut(ctx context.Context, id string, after int64) (journal.Head, error) {
	if err := s.lock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.Unlock()
	r, err := s.find(id)
	if err != nil {
		return journal.Head{}, err
	}
	return r.cut(ctx, after)
}

// Close forgets everything.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.runs, s.order, s.leases, s.bodies = nil, nil, nil, nil
	s.mu.Unlock()
	s.hub.Close()
	return nil
}

func (s *Store) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return journal.ErrClosed
	}
	return nil
}

func (s *Store) rlock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return journal.ErrClosed
	}
	return nil
}

func (s *Store) find(id string) (*run, error) {
	if r := s.runs[id]; r != nil {
		return r, nil
	}
	var known []string
	for i := len(s.order) - 1; i >= 0 && len(known) < storekit.MaxKnown; i-- {
		known = append(known, s.order[i].id)
	}
	return nil, journal.NotFound(id, known)
}
