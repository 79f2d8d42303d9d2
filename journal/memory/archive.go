package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Records yields the records with Seq >= from that are there when it begins.
func (s *Store) Records(ctx context.Context, id string, from int64) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		fail := func(err error) { yield(event.Record{}, err) }
		if err := s.rlock(ctx); err != nil {
			fail(err)
			return
		}
		r, err := s.find(id)
		s.mu.RUnlock()
		if err != nil {
			fail(err)
			return
		}
		r.records(ctx, max(from, 1), func(c *event.Chain, rec *event.Record) (bool, bool, error) {
			if err := c.Add(rec); err != nil {
				return true, true, err
			}
			rec.Data = bytes.Clone(rec.Data)
			return yield(*rec, nil), false, nil
		}, fail)
	}
}

// Imported reports whether a run is carried out elsewhere.
func (s *Store) Imported(ctx context.Context, id string) (bool, error) {
	if err := s.rlock(ctx); err != nil {
		return false, err
	}
	defer s.mu.RUnlock()
	r, err := s.find(id)
	return err == nil && r.imported, err
}

// Import adds a piece of the journal of a run that is carried out elsewhere.
func (s *Store) Import(ctx context.Context, p journal.Piece) (journal.Head, error) {
	if err := storekit.CheckRun(p.Run); err != nil {
		return journal.Head{}, err
	}
	if err := s.lock(ctx); err != nil {
		return journal.Head{}, err
	}
	defer s.mu.Unlock()
	r, known := s.runs[p.Run], true
	if r == nil {
		var err error
		if r, err = s.fresh(ctx, &p); err != nil {
			return journal.Head{}, err
		}
		known = false
	}
	if !r.imported {
		return journal.Head{}, fmt.Errorf("importing run %s: %w", p.Run, journal.ErrExists)
	}
	if err := r.take(&p); err != nil {
		return journal.Head{}, err
	}
	if !known {
		s.register(r)
	}
	return r.head(), nil
}

// fresh makes the run that a first piece begins. It is not registered.
func (s *Store) fresh(ctx context.Context, p *journal.Piece) (*run, error) {
	if p.Base == "" {
		return &run{id: p.Run, imported: true}, nil
	}
	base, err := s.find(p.Base)
	if err != nil {
		return nil, err
	}
	r, err := base.fork(ctx, p.After, p.Run)
	if err == nil {
		r.imported = true
	}
	return r, err
}

// register makes a run known.
func (s *Store) register(r *run) {
	s.runs[r.id] = r
	s.order = append(s.order, r)
	if r.base != nil {
		r.base.forks = append(r.base.forks, r)
	}
}

// take adds the records of a piece, all or none. The caller holds Store.mu.
func (r *run) take(p *journal.Piece) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, err := storekit.CheckPiece(p, r.headLocked())
	var conflict *journal.ConflictError
	if errors.As(err, &conflict) {
		return err
	}
	for i := 0; i < len(entries) && err == nil; i++ {
		if c := entries[i].Command; c != "" && r.done(c, r.end()) {
			err = storekit.Second(&p.Records[i])
		}
	}
	if err != nil {
		return fmt.Errorf("importing run %s: %w", p.Run, err)
	}
	for i := range entries {
		r.put(&entries[i], p.Records[i].Type, bytes.Clone(p.Records[i].Data))
	}
	return nil
}
