package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// row is a run as the database has it or, in the writer, as it will.
type row struct {
	no            int64
	run           string
	base, baseSeq int64 // the run that holds the events up to baseSeq
	owner         int64
	head          journal.Head
	progress      storekit.Progress

	// changed: there are new events; moved: a new owner or generation.
	changed, moved bool
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func (r *row) scan(from scanner) error {
	var hash []byte
	var state string
	p := &r.progress
	err := from.Scan(&r.no, &r.run, &r.base, &r.baseSeq, &r.owner, &r.head.Generation, &r.head.Seq, &hash,
		&p.Agent, &p.Parent, &p.Started, &p.Last, &state, &p.Reason)
	p.State = storekit.State(state)
	if err == nil && copy(r.head.Hash[:], hash) != len(hash) {
		err = fmt.Errorf("run %s: the hash in its row has %d bytes", r.run, len(hash))
	}
	return err
}

// load returns a run's row inside a transaction.
func (w *writer) load(run string) (*row, error) {
	if r := w.rows[run]; r != nil {
		w.touched = append(w.touched, r)
		return r, nil
	}
	r := &row{}
	err := w.st.run.one(r.scan, run)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoRun
	}
	if err != nil {
		return nil, w.fail(err)
	}
	w.rows[run] = r
	w.touched = append(w.touched, r)
	return r, nil
}

// errNoRun: the caller makes a [*journal.NotFoundError] of it, outside the
// transaction.
var errNoRun = errors.New("there is no such run")

// owned returns the row of a run that l owns.
func (w *writer) owned(l *journal.Lease, run string) (*row, error) {
	r, err := w.load(run)
	if err != nil {
		return nil, err
	}
	if r.owner != l.ID {
		return nil, journal.ErrFenced
	}
	return r, nil
}

// insert makes the row of a new run, owned by l.
func (w *writer) insert(l *journal.Lease, r *row) error {
	if !w.s.joined(l.ID) {
		return fmt.Errorf("the lease has been given up: %w", journal.ErrFenced)
	}
	if _, err := w.load(r.run); err == nil {
		return journal.ErrExists
	} else if !errors.Is(err, errNoRun) {
		return err
	}
	return w.newRow(r, l.ID)
}

// newRow writes a new row with that owner.
func (w *writer) newRow(r *row, owner int64) error {
	r.owner, r.head.Generation = owner, 1
	p := &r.progress
	res, err := w.exec(&w.st.newRun, r.run, r.base, r.baseSeq, r.owner, r.head.Generation, r.head.Seq, r.head.Hash[:],
		p.Agent, p.Parent, p.Started, p.Last, string(p.State), p.Reason)
	if err != nil {
		return err
	}
	if r.no, err = res.LastInsertId(); err != nil {
		return w.fail(err)
	}
	w.rows[r.run] = r
	w.touched = append(w.touched, r)
	return nil
}

// update writes what has changed of a row.
func (w *writer) update(r *row) {
	if w.broken == nil && r.changed {
		p := &r.progress
		_, _ = w.exec(&w.st.progress, r.head.Seq, r.head.Hash[:], p.Agent, p.Parent, p.Started, p.Last, string(p.State), p.Reason, r.no)
	}
	if w.broken == nil && r.moved {
		_, _ = w.exec(&w.st.move, r.owner, r.head.Generation, r.no)
	}
	r.changed, r.moved = false, false
}

// append adds the entries of a batch to a run, but for outcomes that its journal
// holds already.
func (w *writer) append(r *row, after int64, entries []encoded) error {
	if after != journal.Anywhere && after != r.head.Seq {
		return &journal.ConflictError{Run: r.run, Want: after, Head: r.head}
	}
	if r.head.Seq+int64(len(entries)) > maxSeq {
		return fmt.Errorf("a journal holds at most %d events", int64(maxSeq))
	}
	for i := range entries {
		if err := w.add(r, &entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// add adds one entry. The table itself refuses a second outcome of a command in
// the run's own part of the journal.
func (w *writer) add(r *row, e *encoded) error {
	var command driver.Value
	if e.Command != "" {
		command = e.Command
		if shared, err := w.shared(r, e.Command); err != nil || shared {
			return err
		}
	}
	seq := r.head.Seq + 1
	hash := event.ComputeHashOfSum(r.head.Hash, seq, e.Time, e.typ, e.Command, e.sum)
	res, err := w.exec(&w.st.insert, rowID(r.no, seq), e.Time, string(e.typ), command, hash[:], e.data, e.body)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return w.fail(err)
	} else if n == 0 {
		return nil
	}
	r.head.Seq, r.head.Hash = seq, hash
	r.progress.Note(e.Time, e.Data)
	r.changed = true
	return nil
}

// shared reports whether the part of a journal that a run shares holds the
// outcome of a command.
func (w *writer) shared(r *row, command string) (bool, error) {
	base, upto := r.base, r.baseSeq
	for base != 0 {
		var seq int64
		err := w.st.outcome.one(ints(&seq), base, command)
		if err == nil && seq <= upto {
			return true, nil
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, w.fail(err)
		}
		if err := w.st.baseOf.one(ints(&base, &upto), base); err != nil {
			return false, w.fail(err)
		}
	}
	return false, nil
}
