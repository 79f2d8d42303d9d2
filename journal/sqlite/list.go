package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"math"

	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Runs yields a summary of each run, the one created last first.
func (s *Store) Runs(ctx context.Context) iter.Seq2[journal.Summary, error] {
	return func(yield func(journal.Summary, error) bool) {
		if err := s.open(ctx); err != nil {
			yield(journal.Summary{}, err)
			return
		}
		live, err := s.live(ctx)
		for last := int64(math.MaxInt64); err == nil; {
			var page []row
			if page, err = s.runs(ctx, last); len(page) == 0 {
				break
			}
			for i := range page {
				r := &page[i]
				if !yield(r.progress.Summary(r.run, r.head.Seq, live[r.owner]), nil) {
					return
				}
				last = r.no
			}
		}
		if err != nil {
			yield(journal.Summary{}, s.readError(err))
		}
	}
}

// live returns the leases that hold.
func (s *Store) live(ctx context.Context) (map[int64]bool, error) {
	all, err := holders(s.q.leases.QueryContext(ctx))
	live := map[int64]bool{}
	for _, h := range all {
		live[h.id] = h.live(s.now())
	}
	return live, err
}

func (s *Store) runs(ctx context.Context, before int64) ([]row, error) {
	rows, err := s.q.runs.QueryContext(ctx, before, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []row
	for rows.Next() {
		var r row
		if err := r.scan(rows); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}

// Find returns the runs whose ids begin with prefix, the one created last first.
func (s *Store) Find(ctx context.Context, prefix string, limit int) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	// No byte of UTF-8 is 0xff: it comes after all that begins with prefix.
	ids, err := texts(s.q.find.QueryContext(ctx, prefix, prefix+"\xff", limit))
	return ids, s.readError(err)
}

// notFound returns the error for a run that is not there.
func (s *Store) notFound(run string) error {
	known, err := texts(s.q.known.QueryContext(context.Background(), storekit.MaxKnown))
	if err != nil {
		known = nil // the error stays true without suggestions
	}
	return journal.NotFound(run, known)
}

func texts(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}
