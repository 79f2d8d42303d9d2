package sqlite

import (
	"context"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Cut removes a torn end.
func (s *Store) Cut(ctx context.Context, run string, after int64) (journal.Head, error) {
	seen, err := s.row(ctx, run)
	if err != nil {
		return journal.Head{}, err
	}
	var sound storekit.Progress
	var hash event.Hash
	err = s.read(ctx, seen, 1, func(e event.Event) bool {
		sound.Note(e.Time, e.Data)
		hash = e.Hash
		return true
	})
	if err := storekit.CheckCut(run, after, seen.baseSeq, err); err != nil {
		return journal.Head{}, err
	}
	if seen.base != 0 {
		sound.Parent = seen.progress.Parent
	}
	var head journal.Head
	err = s.do(ctx, &request{apply: func(w *writer) error {
		r, err := w.load(run)
		if err != nil {
			return err
		}
		if err := w.free(r, s.joined); err != nil {
			return err
		}
		if r.head.Seq != seen.head.Seq {
			return &journal.ConflictError{Run: run, Want: seen.head.Seq, Head: r.head}
		}
		if _, err := w.exec(&w.st.cut, rowID(r.no, after), rowID(r.no, maxSeq)); err != nil {
			return err
		}
		r.head.Seq, r.head.Hash = after, hash
		r.progress, r.changed = sound, true
		head = r.head
		return nil
	}})
	return s.result("cutting the journal of", run, head, err)
}
