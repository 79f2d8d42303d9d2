package portable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// Options say how an export is imported.
type Options struct {
	// As, if not empty, is the id that the run gets, and the runs below it with their
	// numbers; other runs keep theirs.
	As string
	// Check is called with each run's events in order before anything is written, and
	// refuses them with an error; nil: all that hangs together is taken.
	Check func(e *event.Event) error
}

// Imported says what has become of an export.
type Imported struct {
	// Program is what wrote it.
	Program string        `json:"program"`
	Runs    []ImportedRun `json:"runs"`
	Bodies  int64         `json:"bodies"`
	// Redacted is how many values had been taken out of it before.
	Redacted int64 `json:"redacted"`
	// Notes say what it lacks, in words for people.
	Notes []string `json:"notes"`
}

// ImportedRun is what has become of one run.
type ImportedRun struct {
	Run string `json:"run"`
	// Was is its id in the export where that is another.
	Was string `json:"was,omitzero"`
	// State is imported, continued (the store had its beginning from an earlier import),
	// or present (the store had all of it).
	State  string `json:"state"`
	Events int64  `json:"events"`
	// New are those of the events that the store did not have.
	New int64 `json:"new"`
	// Base and Shared say which run's events its first ones are, where the store has
	// them once.
	Base   string `json:"base,omitzero"`
	Shared int64  `json:"shared,omitzero"`
}

// The states.
const (
	StateImported  = "imported"
	StateContinued = "continued"
	StatePresent   = "present"
)

// ConflictError: the store has another run of that id.
type ConflictError struct {
	Run string
	// Own: it is carried out here, and the export has more of it.
	Own bool
}

func (e *ConflictError) Error() string {
	if e.Own {
		return fmt.Sprintf("run %s is one of this store, and the export goes on where it ends here: import it under another name with --as", e.Run)
	}
	return fmt.Sprintf("there is another run %s already: import this one under another name with --as", e.Run)
}

// Import reads an export twice: first it checks all of it against itself and against
// the store, then it imports its runs. Of an export that is damaged nothing is
// imported, with a [*FormatError]; nor if the store has another run of an id, with a
// [*ConflictError]. A run that the store has already is left as it is. The store must
// be a [journal.Archiver]. Should the writing be interrupted, the same import goes on
// where it was.
func Import(ctx context.Context, s journal.Store, in io.ReadSeeker, o Options) (*Imported, error) {
	a, ok := s.(journal.Archiver)
	if !ok {
		return nil, fmt.Errorf("a store of this kind (%T) cannot take journals as they are", s)
	}
	p := &planner{ctx: ctx, s: s, a: a, o: o, plans: map[string]*plan{}}
	first := &reader{begin: p.begin, event: p.event, end: p.end}
	p.in = first
	if err := first.read(in); err != nil {
		return nil, err
	}
	if first.missing > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%d of the bodies that its events refer to are not in the file: the store that it was exported from did not have them", first.missing))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read it again: %w", err)
	}
	w := &taker{ctx: ctx, s: s, a: a, plans: p.plans}
	second := &reader{begin: w.begin, event: w.event, end: w.end, body: w.body}
	if err := second.read(in); err != nil {
		return nil, err
	}
	out := &Imported{Program: first.program, Bodies: first.bodies, Redacted: first.last.Redacted, Notes: p.notes, Runs: []ImportedRun{}}
	for _, id := range p.order {
		out.Runs = append(out.Runs, p.plans[id].ImportedRun)
	}
	return out, nil
}

// plan is what is done about one run.
type plan struct {
	ImportedRun
	// after is the last event that is not written, since the store has it; base, if not
	// empty, is the run that has it.
	after int64
	base  string
}

// planner checks an export against a store.
type planner struct {
	ctx   context.Context
	s     journal.Store
	a     journal.Archiver
	o     Options
	in    *reader
	plans map[string]*plan // by the id in the export; looked up only
	order []string
	notes []string

	now    *plan
	head   journal.Head
	exists bool
	forked *forked
	shares bool
}

// rename returns the id that a run gets.
func (p *planner) rename(run string) string {
	if p.o.As == "" {
		return run
	}
	if rest, ok := strings.CutPrefix(run, p.in.main); ok && (rest == "" || event.Top(run) == event.Top(p.in.main) && rest[0] == '.') {
		return p.o.As + rest
	}
	return run
}

func (p *planner) begin(l *line) error {
	p.now = &plan{ImportedRun: ImportedRun{Run: p.rename(l.Run), State: StateImported}}
	if p.now.Run != l.Run {
		p.now.Was = l.Run
	}
	p.plans[l.Run] = p.now
	p.order = append(p.order, l.Run)
	p.forked, p.shares = l.Forked, false
	var missing *journal.NotFoundError
	var err error
	p.head, err = p.s.Head(p.ctx, p.now.Run)
	p.exists = err == nil
	if errors.As(err, &missing) {
		return nil
	}
	return err
}

func (p *planner) event(r *event.Record, e *event.Event) error {
	if p.exists && r.Seq == p.head.Seq && r.Hash != p.head.Hash {
		return &ConflictError{Run: p.now.Run}
	}
	if p.forked != nil && !p.exists && r.Seq == p.forked.Events {
		same, err := p.has(p.forked.Run, r.Seq, r.Hash)
		if err != nil {
			return err
		}
		p.shares = same
	}
	if p.o.Check != nil {
		renamed := *e
		renamed.Run = p.now.Run
		if err := p.o.Check(&renamed); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	return nil
}

// has reports whether a run of the store has that event.
func (p *planner) has(run string, seq int64, hash event.Hash) (bool, error) {
	var missing *journal.NotFoundError
	var damage *journal.DamageError
	for r, err := range p.a.Records(p.ctx, run, seq) {
		if errors.As(err, &missing) || errors.As(err, &damage) {
			return false, nil
		}
		return err == nil && r.Seq == seq && r.Hash == hash, err
	}
	return false, nil
}

func (p *planner) end(l *line) error {
	p.now.Events, p.now.New = l.Events, l.Events
	if l.Damage != "" {
		p.notes = append(p.notes, "of run "+p.now.Run+" only its beginning was exported: "+l.Damage)
	}
	if !p.exists {
		if p.shares && l.Events > p.forked.Events {
			p.now.base, p.now.after = p.forked.Run, p.forked.Events
			p.now.Base, p.now.Shared, p.now.New = p.forked.Run, p.forked.Events, l.Events-p.forked.Events
		} else if p.forked != nil {
			p.notes = append(p.notes, fmt.Sprintf("the first %d events of run %s are those of run %s, which is not here: what they cost was paid there", p.forked.Events, p.now.Run, p.forked.Run))
		}
		return nil
	}
	if p.head.Seq >= l.Events {
		same, err := p.has(p.now.Run, l.Events, p.in.chain.Hash)
		if err == nil && !same {
			err = &ConflictError{Run: p.now.Run}
		}
		p.now.State, p.now.New, p.now.after = StatePresent, 0, l.Events
		return err
	}
	imported, err := p.a.Imported(p.ctx, p.now.Run)
	if err == nil && !imported {
		err = &ConflictError{Run: p.now.Run, Own: true}
	}
	p.now.State, p.now.after, p.now.New = StateContinued, p.head.Seq, l.Events-p.head.Seq
	return err
}

// taker writes an export that was checked into a store.
type taker struct {
	ctx   context.Context
	s     journal.Store
	a     journal.Archiver
	plans map[string]*plan // looked up only

	now   *plan
	after int64
	piece []event.Record
	size  int
	data  []byte // of a body of which more comes
}

// What is written at once: as much as is worth a transaction.
const (
	pieceEvents = 512
	pieceBytes  = 4 << 20
)

func (w *taker) begin(l *line) error {
	if w.now = w.plans[l.Run]; w.now == nil {
		return errors.New("the file has changed since it was checked")
	}
	w.after = w.now.after
	return nil
}

func (w *taker) event(r *event.Record, _ *event.Event) error {
	if r.Seq <= w.now.after {
		return nil
	}
	keep := *r
	keep.Run, keep.Data = w.now.Run, []byte(string(r.Data)) // the line is read over
	w.piece = append(w.piece, keep)
	if w.size += len(keep.Data); len(w.piece) >= pieceEvents || w.size >= pieceBytes {
		return w.flush()
	}
	return nil
}

func (w *taker) flush() error {
	if len(w.piece) == 0 {
		return nil
	}
	p := journal.Piece{Run: w.now.Run, After: w.after, Records: w.piece}
	if w.after == w.now.after {
		p.Base = w.now.base
	}
	head, err := w.a.Import(w.ctx, p)
	w.after, w.piece, w.size = head.Seq, w.piece[:0], 0
	return err
}

func (w *taker) end(*line) error { return w.flush() }

// body stores a body when its last piece has come.
func (w *taker) body(l *line, piece []byte, last bool) error {
	if !last || len(w.data) > 0 {
		w.data = append(w.data, piece...)
		piece = w.data
	}
	if !last {
		return nil
	}
	ref, err := w.s.PutBody(w.ctx, piece, l.MediaType)
	if w.data = nil; err == nil && ref.SHA256 != l.SHA256 {
		err = fmt.Errorf("the body %s was stored as %s", l.SHA256, ref.SHA256)
	}
	return err
}

// Put imports a run that was made here of something else, from its events; they must
// be a whole journal. It is a [*ConflictError] if the store has another run of that id;
// if it has this one, it is left as it is.
func Put(ctx context.Context, s journal.Store, run string, events []event.Event) (*ImportedRun, error) {
	a, ok := s.(journal.Archiver)
	if !ok {
		return nil, fmt.Errorf("a store of this kind (%T) cannot take journals as they are", s)
	}
	p := &planner{ctx: ctx, s: s, a: a, plans: map[string]*plan{}, in: &reader{}}
	if err := p.begin(&line{Run: run}); err != nil {
		return nil, err
	}
	records := make([]event.Record, len(events))
	for i := range events {
		e := &events[i]
		records[i] = event.Record{Run: run, Seq: e.Seq, Time: e.Time, Type: e.Data.Type(), Command: e.Command, Prev: e.Prev, Hash: e.Hash, Data: e.Data.AppendJSON(nil)}
		if err := p.in.chain.Add(&records[i]); err != nil {
			return nil, err
		}
		if err := p.event(&records[i], e); err != nil {
			return nil, err
		}
	}
	if err := p.end(&line{Run: run, Events: int64(len(events))}); err != nil {
		return nil, err
	}
	w := &taker{ctx: ctx, s: s, a: a, now: p.now, after: p.now.after}
	for i := range records {
		if err := w.event(&records[i], nil); err != nil {
			return nil, err
		}
	}
	return &p.now.ImportedRun, w.flush()
}
