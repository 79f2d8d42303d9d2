package sqlite

import (
	"context"

	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// Family returns the runs that share events with run.
func (s *Store) Family(ctx context.Context, run string) ([]journal.Relative, error) {
	r, err := s.row(ctx, run)
	if err != nil {
		return nil, err
	}
	rows := map[int64]*row{r.no: r} // that were read, by their numbers; looked up only
	all, err := storekit.Family(r.no, func(no int64) ([]storekit.Kin[int64], error) { return s.kin(ctx, rows, no) })
	if err != nil || len(all) == 0 {
		return nil, s.readError(err)
	}
	live, err := s.live(ctx)
	if err != nil {
		return nil, s.readError(err)
	}
	out := make([]journal.Relative, len(all))
	for i, k := range all {
		o := rows[k.Run]
		out[i] = journal.Relative{Run: o.run, Shared: k.Shared, Live: live[o.owner], Base: o.no == r.base}
	}
	return out, nil
}

// kin returns the run that holds the first events of one in rows, if another does,
// and those whose first events it holds.
func (s *Store) kin(ctx context.Context, rows map[int64]*row, no int64) (out []storekit.Kin[int64], err error) {
	if r := rows[no]; r.base != 0 {
		b := &row{}
		if err := b.scan(s.q.runByNo.QueryRowContext(ctx, r.base)); err != nil {
			return nil, err
		}
		rows[b.no] = b
		out = append(out, storekit.Kin[int64]{Run: b.no, Shared: r.baseSeq})
	}
	found, err := s.q.forks.QueryContext(ctx, no, journal.MaxFamily)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		f := &row{}
		if err := f.scan(found); err != nil {
			return nil, err
		}
		rows[f.no] = f
		out = append(out, storekit.Kin[int64]{Run: f.no, Shared: f.baseSeq})
	}
	return out, found.Err()
}
