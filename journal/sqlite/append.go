package sqlite

import (
	"context"
	"errors"
	"fmt"

	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Append adds a batch to a run that l owns. With b.Async it returns as soon as
// the batch has its place inside the transaction that is about to be committed,
// so that nothing but a failure of the disk can still undo it.
func (s *Store) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	if err := storekit.CheckEntries(b.Entries); err != nil {
		return journal.Head{}, fmt.Errorf("appending to run %s: %w", b.Run, err)
	}
	if err := s.open(ctx); err != nil {
		return journal.Head{}, err
	}
	entries, err := s.encode(ctx, b.Entries)
	if err != nil {
		return journal.Head{}, fmt.Errorf("appending to run %s: %w", b.Run, err)
	}
	var head journal.Head
	err = s.do(ctx, &request{run: b.Run, async: b.Async, apply: func(w *writer) error {
		r, err := w.owned(l, b.Run)
		if err != nil {
			return err
		}
		if err := w.tell(b.Run); err != nil {
			return err
		}
		err = w.append(r, b.After, entries)
		head = r.head
		return err
	}})
	return s.result("appending to", b.Run, head, err)
}

// Post appends an input or an approval from outside.
func (s *Store) Post(ctx context.Context, run string, e journal.Entry) (journal.Head, error) {
	if err := storekit.CheckPost(&e); err != nil {
		return journal.Head{}, fmt.Errorf("posting to run %s: %w", run, err)
	}
	if err := s.open(ctx); err != nil {
		return journal.Head{}, err
	}
	entries, err := s.encode(ctx, []journal.Entry{e})
	if err != nil {
		return journal.Head{}, fmt.Errorf("posting to run %s: %w", run, err)
	}
	var head journal.Head
	err = s.do(ctx, &request{run: run, apply: func(w *writer) error {
		r, err := w.load(run)
		if err != nil {
			return err
		}
		if r.owner == elsewhere {
			return &journal.ImportedError{Run: run}
		}
		before := r.head.Seq
		err = w.append(r, journal.Anywhere, entries)
		if head = r.head; err != nil || head.Seq == before {
			return err
		}
		return w.posted(r)
	}})
	return s.result("posting to", run, head, err)
}

// posted tells the owner of a run, here or in another process.
func (w *writer) posted(r *row) error {
	res, err := w.exec(&w.st.newPost, r.no)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return w.fail(err)
	}
	owner := r.owner
	w.after = append(w.after, func() {
		if !w.unseen {
			w.post = id // no other process has posted before
		}
		w.s.hub.Tell(owner, r.run)
	})
	return nil
}

// Sync returns when what was appended to the run so far is durable.
func (s *Store) Sync(ctx context.Context, run string) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	return s.do(ctx, &request{settle: func(w *writer, _ error) error { return w.tell(run) }})
}

// result finishes a call about a run: it says what was being done, and looks for
// similar ids where there is no such run.
func (s *Store) result(doing, run string, head journal.Head, err error) (journal.Head, error) {
	var conflict *journal.ConflictError
	var held *journal.HeldError
	var imported *journal.ImportedError
	switch {
	case err == nil:
		return head, nil
	case errors.Is(err, errNoRun):
		return journal.Head{}, s.notFound(run)
	case errors.As(err, &conflict), errors.As(err, &held), errors.As(err, &imported), errors.Is(err, journal.ErrClosed),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return journal.Head{}, err
	}
	return journal.Head{}, fmt.Errorf("%s run %s: %w", doing, run, err)
}
