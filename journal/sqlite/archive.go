package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// elsewhere is the owner of runs that were imported: no lease has this id.
const elsewhere = -1

// Records yields the records with Seq >= from that are there when it begins.
func (s *Store) Records(ctx context.Context, run string, from int64) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		from := max(from, 1)
		r, err := s.row(ctx, run)
		if err == nil && from <= r.head.Seq {
			var parts []segment
			if parts, err = s.segments(ctx, r); err != nil {
				err = s.readError(err)
			} else {
				err = s.readParts(ctx, r, from, &reader{s: s, run: run, parts: parts,
					raw: func(rec event.Record) bool { return yield(rec, nil) }})
			}
		}
		if err != nil {
			yield(event.Record{}, err)
		}
	}
}

// Imported reports whether a run is carried out elsewhere.
func (s *Store) Imported(ctx context.Context, run string) (bool, error) {
	r, err := s.row(ctx, run)
	return err == nil && r.owner == elsewhere, err
}

// Import adds a piece of the journal of a run that is carried out elsewhere.
func (s *Store) Import(ctx context.Context, p journal.Piece) (journal.Head, error) {
	if err := storekit.CheckRun(p.Run); err != nil {
		return journal.Head{}, err
	}
	if err := s.open(ctx); err != nil {
		return journal.Head{}, err
	}
	head, last, err := s.before(ctx, &p)
	if err != nil {
		return journal.Head{}, err
	}
	entries, err := storekit.CheckPiece(&p, head)
	if err != nil {
		return s.result("importing", p.Run, head, err)
	}
	all := make([]encoded, len(entries))
	for i, e := range entries {
		if all[i], err = s.encoded(ctx, e, p.Records[i].Type, p.Records[i].Data); err != nil {
			return s.result("importing", p.Run, head, err)
		}
	}
	err = s.do(ctx, &request{run: p.Run, apply: func(w *writer) error {
		r, err := w.load(p.Run)
		if errors.Is(err, errNoRun) {
			r, err = w.adopt(&p, last)
		}
		switch {
		case err != nil:
			return err
		case r.owner != elsewhere:
			return journal.ErrExists
		case r.head.Seq != p.After:
			return &journal.ConflictError{Run: p.Run, Want: p.After, Head: r.head}
		}
		err = w.take(r, &p, all)
		head = r.head
		return err
	}})
	return s.result("importing", p.Run, head, err)
}

// before returns where the journal ends that a piece follows and, if the piece begins
// a run that shares its first events, the last of these.
func (s *Store) before(ctx context.Context, p *journal.Piece) (journal.Head, *event.Event, error) {
	var missing *journal.NotFoundError
	head, err := s.Head(ctx, p.Run)
	switch {
	case err == nil || !errors.As(err, &missing):
		return head, nil, err
	case p.Base == "":
		return journal.Head{}, nil, nil
	}
	last, err := s.last(ctx, p.Base, p.After)
	if err != nil {
		return journal.Head{}, nil, err
	}
	return journal.Head{Seq: last.Seq, Hash: last.Hash}, last, nil
}

// adopt makes the row of a run that is carried out elsewhere; last is the last event
// that it shares with p.Base, if it does.
func (w *writer) adopt(p *journal.Piece, last *event.Event) (*row, error) {
	r := &row{run: p.Run}
	if last != nil {
		src, err := w.load(p.Base)
		if err != nil {
			return nil, err
		}
		if err := w.share(r, src, last); err != nil {
			return nil, err
		}
	}
	return r, w.newRow(r, elsewhere)
}

// take adds the records of a piece. They were checked; should one be an outcome that
// the journal holds already, nothing of the transaction is kept.
func (w *writer) take(r *row, p *journal.Piece, all []encoded) error {
	if r.head.Seq+int64(len(all)) > maxSeq {
		return fmt.Errorf("a journal holds at most %d events", int64(maxSeq))
	}
	for i := range all {
		rec := &p.Records[i]
		if err := w.add(r, &all[i]); err != nil {
			return err
		}
		if r.head.Seq != rec.Seq || r.head.Hash != rec.Hash {
			return w.fail(storekit.Second(rec))
		}
	}
	return nil
}
