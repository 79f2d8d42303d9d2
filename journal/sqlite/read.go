package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// pageSize is how many rows are read at once: a reader that takes its time holds
// no transaction, so the log can be checkpointed behind it.
const pageSize = 256

// row returns a run's row for a reader, with the async batches that this process
// has ordered before.
func (s *Store) row(ctx context.Context, run string) (*row, error) {
	if err := s.settled(ctx, run); err != nil {
		return nil, err
	}
	r := &row{}
	err := r.scan(s.q.run.QueryRowContext(ctx, run))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, s.notFound(run)
	}
	if err != nil {
		return nil, s.readError(err)
	}
	return r, nil
}

// readError says what went wrong with reading; a store that was closed in the
// middle of it is closed.
func (s *Store) readError(err error) error {
	if err == nil {
		return nil
	}
	if closed := s.open(context.Background()); closed != nil {
		return closed
	}
	return s.explain("reading", err)
}

// Head returns where the journal ends.
func (s *Store) Head(ctx context.Context, run string) (journal.Head, error) {
	r, err := s.row(ctx, run)
	if err != nil {
		return journal.Head{}, err
	}
	return r.head, nil
}

// Read yields the events with Seq >= from that are there when it begins. The
// chain is checked from there on; from the beginning if from is 1.
func (s *Store) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := s.row(ctx, run)
		if err == nil {
			err = s.read(ctx, r, max(from, 1), func(e event.Event) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(event.Event{}, err)
		}
	}
}

// segment is the part of a journal that one run holds: the events after lo up
// to and including hi.
type segment struct{ no, lo, hi int64 }

// segments returns the parts of a journal in order.
func (s *Store) segments(ctx context.Context, r *row) ([]segment, error) {
	parts := []segment{{r.no, r.baseSeq, r.head.Seq}}
	for base, hi := r.base, r.baseSeq; base != 0; {
		var b row
		if err := b.scan(s.q.runByNo.QueryRowContext(ctx, base)); err != nil {
			return nil, fmt.Errorf("run %s shares events of a run that is not there: %w", r.run, err)
		}
		parts = append(parts, segment{b.no, b.baseSeq, hi})
		base, hi = b.base, b.baseSeq
	}
	slices.Reverse(parts)
	return parts, nil
}

// errStop: the caller of Read has enough.
var errStop = errors.New("enough")

// read passes the events from the sequence from on to yield. It returns nil when
// all were read or yield returned false.
func (s *Store) read(ctx context.Context, r *row, from int64, yield func(event.Event) bool) error {
	if from > r.head.Seq {
		return nil
	}
	parts, err := s.segments(ctx, r)
	if err != nil {
		return s.readError(err)
	}
	return s.readParts(ctx, r, from, &reader{s: s, run: r.run, parts: parts, yield: yield})
}

// readParts lets a reader read from the sequence from on.
func (s *Store) readParts(ctx context.Context, r *row, from int64, rd *reader) error {
	rd.chain.Seq = from - 1
	if from > 1 {
		known, err := rd.start(ctx)
		if err != nil {
			return s.readError(err)
		}
		if !known { // find where it breaks
			rd.chain = event.Chain{}
			rd.raw, rd.yield = nil, func(event.Event) bool { return true }
		}
	}
	err := rd.all(ctx)
	switch {
	case errors.Is(err, errStop):
		return nil
	case err != nil:
		return err
	case rd.chain.Seq < r.head.Seq:
		return rd.missing(ctx)
	case rd.chain.Hash != r.head.Hash:
		return rd.damage(false, errors.New("the last event is not the one that the run's row names"))
	}
	return nil
}

// reader reads one journal.
type reader struct {
	s     *Store
	run   string
	parts []segment
	yield func(event.Event) bool
	raw   func(event.Record) bool // if not nil, in the place of yield
	chain event.Chain             // of what was read
}

// start sets the chain's hash, and reports whether there is the event.
func (rd *reader) start(ctx context.Context) (bool, error) {
	i := slices.IndexFunc(rd.parts, func(p segment) bool { return rd.chain.Seq <= p.hi })
	var h []byte
	err := rd.s.q.hash.QueryRowContext(ctx, rowID(rd.parts[i].no, rd.chain.Seq)).Scan(&h)
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(h) != len(rd.chain.Hash) {
		return false, nil
	}
	copy(rd.chain.Hash[:], h)
	return true, err
}

// all checks, decodes and yields the events, while the next page is fetched.
func (rd *reader) all(ctx context.Context) error {
	for page, err := range ahead(ctx, rd.pages(rd.chain.Seq)) {
		if err != nil {
			return rd.unreadable(err)
		}
		for i := range page {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := rd.event(ctx, &page[i]); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// stored is a row of events. err says why its data is not whole.
type stored struct {
	record event.Record
	err    error
}

// pages returns a function that yields the rows after a sequence, page by page.
func (rd *reader) pages(after int64) func(ctx context.Context, yield func([]stored, error) bool) {
	return func(ctx context.Context, yield func([]stored, error) bool) {
		for _, p := range rd.parts {
			for at := max(after, p.lo); at < p.hi; {
				page, err := rd.s.page(ctx, rowID(p.no, at), rowID(p.no, p.hi))
				if len(page) == 0 && err == nil {
					break
				}
				if !yield(page, err) || err != nil {
					return
				}
				at = page[len(page)-1].record.Seq
			}
		}
	}
}

// page returns the rows after one id up to another, at most [pageSize].
func (s *Store) page(ctx context.Context, after, upto int64) ([]stored, error) {
	rows, err := s.q.events.QueryContext(ctx, after, upto, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := make([]stored, 0, min(pageSize, upto-after))
	for rows.Next() {
		var x stored
		var command sql.NullString
		var data any
		var hash, body sql.RawBytes
		r := &x.record
		if err := rows.Scan(&r.Seq, &r.Time, &r.Type, &command, &hash, &data, &body); err != nil {
			return nil, err
		}
		r.Command = command.String
		copy(r.Hash[:], hash)
		r.Data, x.err = s.decode(data, body)
		page = append(page, x)
	}
	return page, rows.Err()
}

// ahead returns the pages of a source, each fetched by a goroutine while the
// caller works on the one before. The goroutine has ended when the loop over the
// pages ends.
func ahead(ctx context.Context, source func(context.Context, func([]stored, error) bool)) iter.Seq2[[]stored, error] {
	type result struct {
		page []stored
		err  error
	}
	return func(yield func([]stored, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages := make(chan result, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer close(pages)
			source(ctx, func(page []stored, err error) bool {
				select {
				case pages <- result{page, err}:
					return true
				case <-ctx.Done():
					return false
				}
			})
		}()
		defer func() {
			cancel()
			<-done
		}()
		for r := range pages {
			if !yield(r.page, r.err) {
				return
			}
		}
	}
}

// event checks, decodes and yields one event.
func (rd *reader) event(ctx context.Context, x *stored) error {
	r := &x.record
	if r.Seq != rd.chain.Seq+1 {
		return rd.missing(ctx)
	}
	e, torn, err := event.Event{}, true, x.err
	if err == nil {
		r.Run, r.Prev = rd.run, rd.chain.Hash
		if rd.raw == nil {
			e, torn, err = storekit.Decode(&rd.chain, r)
		} else {
			err = rd.chain.Add(r)
		}
	}
	if err != nil {
		rd.chain.Seq = r.Seq - 1
		later, lerr := rd.later(ctx)
		if lerr != nil {
			return lerr
		}
		return rd.damage(torn && !later, err)
	}
	if rd.raw != nil && !rd.raw(*r) || rd.raw == nil && !rd.yield(e) {
		return errStop
	}
	return nil
}

// later reports whether there is any event after the next one.
func (rd *reader) later(ctx context.Context) (bool, error) {
	after := rd.chain.Seq + 1
	for _, p := range rd.parts {
		if after >= p.hi {
			continue
		}
		var n int
		if err := rd.s.q.later.QueryRowContext(ctx, rowID(p.no, max(after, p.lo)), rowID(p.no, p.hi)).Scan(&n); err != nil {
			return false, rd.unreadable(err)
		}
		if n > 0 {
			return true, nil
		}
	}
	return false, nil
}

// missing returns the error for the next event not being there.
func (rd *reader) missing(ctx context.Context) error {
	later, err := rd.later(ctx)
	if err != nil {
		return err
	}
	return rd.damage(!later, fmt.Errorf("event %d is missing", rd.chain.Seq+1))
}

// unreadable returns the error for what SQLite could not read.
func (rd *reader) unreadable(err error) error {
	explained := rd.s.readError(err)
	if errors.Is(explained, journal.ErrDamaged) {
		return rd.damage(false, explained)
	}
	return explained
}

func (rd *reader) damage(torn bool, err error) error {
	return &journal.DamageError{Run: rd.run, Sound: rd.chain.Seq, Torn: torn, Err: err}
}
