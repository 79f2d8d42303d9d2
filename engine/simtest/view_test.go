package simtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// view is the disk as one process has it: a [journal.Store].
type view struct {
	*disk
	// p is the process; nil for a view that nothing happens to.
	p *proc
}

var (
	_ journal.Store    = (*view)(nil)
	_ journal.Repairer = (*view)(nil)
)

// errDead: the process of the view is dead.
var errDead = errors.New("the process is dead")

// enter begins a call that takes no time.
func (v *view) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if v.p != nil && v.p.gone() {
		return errDead
	}
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return journal.ErrClosed
	}
	return nil
}

// Join registers a process.
func (v *view) Join(ctx context.Context, owner journal.Owner) (*journal.Lease, error) {
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.mu.Unlock()
	v.last++
	l := &lease{Lease: &journal.Lease{ID: v.last, Owner: owner}, watch: make(chan string, 64)}
	v.leases[l.ID] = l
	if v.p != nil {
		v.p.lease = l.ID
	}
	return l.Lease, nil
}

// Leave gives up the lease and its runs.
func (v *view) Leave(ctx context.Context, l *journal.Lease) error {
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.mu.Unlock()
	for _, r := range v.order {
		if r.owner == l.ID {
			v.flush(r)
			r.owner = 0
		}
	}
	delete(v.leases, l.ID)
	return nil
}

// Create makes the journal of a new run.
func (v *view) Create(ctx context.Context, l *journal.Lease, run string) error {
	if err := checkRun(run); err != nil {
		return err
	}
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.mu.Unlock()
	return v.add(l, &log{id: run, commands: map[string]int64{}, doubled: map[int64]bool{}})
}

func (v *view) add(l *journal.Lease, r *log) error {
	if v.leases[l.ID] == nil {
		return fmt.Errorf("creating run %s: %w", r.id, journal.ErrFenced)
	}
	if v.runs[r.id] != nil {
		return fmt.Errorf("creating run %s: %w", r.id, journal.ErrExists)
	}
	r.owner, r.generation, r.lost, r.dice = l.ID, 1, map[int64]error{}, v.roll(r.id)
	v.runs[r.id] = r
	v.order = append(v.order, r)
	return nil
}

func checkRun(id string) error {
	bad := strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
	if id == "" || len(id) > 200 || !utf8.ValidString(id) || bad >= 0 {
		return fmt.Errorf("%.20q cannot name a run", id)
	}
	return nil
}

// Claim makes l the owner of a run.
func (v *view) Claim(ctx context.Context, l *journal.Lease, run string) (journal.Head, error) {
	if err := v.enter(ctx); err != nil {
		return journal.Head{}, err
	}
	defer v.mu.Unlock()
	r, err := v.find(run)
	if err != nil {
		return journal.Head{}, err
	}
	if v.leases[l.ID] == nil {
		return journal.Head{}, fmt.Errorf("claiming run %s: %w", run, journal.ErrFenced)
	}
	if owner := v.leases[r.owner]; r.owner != l.ID && owner.live() {
		return journal.Head{}, &journal.HeldError{Run: run, Owner: owner.Owner}
	}
	v.settle(r)
	old := r.owner
	r.owner = l.ID
	r.generation++
	if old != l.ID {
		v.flush(r) // which fails: its owner is another
	}
	return v.disk.head(r), nil
}

// Park gives up one run.
func (v *view) Park(ctx context.Context, l *journal.Lease, run string) error {
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.mu.Unlock()
	r, err := v.find(run)
	if err != nil {
		return err
	}
	v.settle(r)
	if r.owner != l.ID {
		return fmt.Errorf("parking run %s: %w", run, journal.ErrFenced)
	}
	v.flush(r)
	r.owner = 0
	return nil
}

// Append adds a batch: a part of what happens to it is the process's fate.
func (v *view) Append(ctx context.Context, l *journal.Lease, b journal.Batch) (journal.Head, error) {
	entries, err := encode(b.Entries)
	if err != nil {
		return journal.Head{}, fmt.Errorf("appending to run %s: %w", b.Run, err)
	}
	var f fate
	if v.p != nil {
		f = v.p.fate(b.Run, b.Async)
	}
	if f.before {
		v.p.die(f.kept, -1)
	}
	if err := v.enter(ctx); err != nil {
		return journal.Head{}, err
	}
	r, err := v.find(b.Run)
	if err != nil {
		v.mu.Unlock()
		return journal.Head{}, err
	}
	given := &batch{by: l.ID, after: b.After, entries: entries, ready: time.Now().Add(f.takes), async: b.Async, fail: f.fail, ghost: f.ghost}
	if err := v.place(r, given); err != nil {
		v.mu.Unlock()
		return journal.Head{}, err
	}
	if b.Async && !f.after {
		h := journal.Head{Seq: r.ordered(), Generation: r.generation}
		v.mu.Unlock()
		return h, nil
	}
	v.mu.Unlock()
	if f.after {
		v.p.die(f.kept, f.torn)
		return journal.Head{}, errDead
	}
	v.await(r, given.ready)
	defer v.mu.Unlock()
	if !given.done {
		return journal.Head{}, errDead
	}
	return given.head, given.err
}

// place puts a batch into the queue, or says why it cannot stand there.
func (v *view) place(r *log, b *batch) error {
	v.settle(r)
	if err := r.lost[b.by]; err != nil {
		delete(r.lost, b.by)
		return err
	}
	if r.owner != b.by || v.leases[b.by] == nil {
		return fmt.Errorf("appending to run %s: %w", r.id, journal.ErrFenced)
	}
	if b.after != journal.Anywhere && b.after != r.ordered() {
		return &journal.ConflictError{Run: r.id, Want: b.after, Head: v.disk.head(r)}
	}
	if n := len(r.queue); n > 0 && r.queue[n-1].ready.After(b.ready) {
		b.ready = r.queue[n-1].ready
	}
	if v.given != nil {
		v.given(r, b.entries)
	}
	r.queue = append(r.queue, b)
	v.settle(r)
	return nil
}

// await waits until everything that stood in the queue at a time is settled, and
// returns with mu locked.
func (v *view) await(r *log, until time.Time) {
	time.Sleep(time.Until(until))
	v.mu.Lock()
	v.settle(r)
}

// maxData is the longest data of an event that can be read again.
const maxData = event.MaxLine - 64<<10

// encode returns entries as they are kept.
func encode(entries []journal.Entry) ([]stored, error) {
	out := make([]stored, len(entries))
	for i, e := range entries {
		if e.Data == nil {
			return nil, errors.New("an entry has no data")
		}
		out[i] = stored{Record: event.Record{Time: e.Time, Type: e.Data.Type(), Command: e.Command, Data: e.Data.AppendJSON(nil)}, from: e.Data}
		if len(out[i].Data) > maxData {
			return nil, errors.New("an event is too long")
		}
	}
	return out, nil
}

// Post appends one input or approval.
func (v *view) Post(ctx context.Context, run string, e journal.Entry) (journal.Head, error) {
	switch e.Data.(type) {
	case *event.InputReceived, *event.ApprovalGiven:
	default:
		return journal.Head{}, fmt.Errorf("%T cannot be posted", e.Data)
	}
	if err := v.enter(ctx); err != nil {
		return journal.Head{}, err
	}
	defer v.mu.Unlock()
	entries, err := encode([]journal.Entry{e})
	if err != nil {
		return journal.Head{}, err
	}
	return v.post(run, entries[0])
}

// Sync waits until what was appended is durable.
func (v *view) Sync(ctx context.Context, run string) error {
	var f fate
	if v.p != nil {
		if f = v.p.fate(run, false); f.before {
			v.p.die(f.kept, f.torn)
		}
	}
	if err := v.enter(ctx); err != nil {
		return err
	}
	r, err := v.find(run)
	if err != nil {
		v.mu.Unlock()
		return err
	}
	v.wait(r)
	defer v.mu.Unlock()
	if f.after || v.p != nil && v.p.gone() {
		v.mu.Unlock()
		if f.after {
			v.p.die(f.kept, -1)
		}
		v.mu.Lock()
		return errDead
	}
	by := v.mine()
	if err := r.lost[by]; err != nil {
		delete(r.lost, by)
		return err
	}
	return nil
}

// mine is the id of the process's lease; without a process any is.
func (v *view) mine() int64 {
	if v.p != nil {
		return v.p.lease
	}
	return v.last
}

// wait settles, in time, all that is in the queue. It is called and returns with
// mu locked.
func (v *view) wait(r *log) {
	if n := len(r.queue); n > 0 {
		until := r.queue[n-1].ready
		v.mu.Unlock()
		v.await(r, until)
	}
}

// Head returns where the journal ends.
func (v *view) Head(ctx context.Context, run string) (journal.Head, error) {
	if err := v.enter(ctx); err != nil {
		return journal.Head{}, err
	}
	defer v.mu.Unlock()
	r, err := v.find(run)
	if err != nil {
		return journal.Head{}, err
	}
	v.wait(r)
	return v.disk.head(r), nil
}

// Read yields the durable events, those of this process included that were on
// their way.
func (v *view) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if err := v.enter(ctx); err != nil {
			yield(event.Event{}, err)
			return
		}
		r, err := v.find(run)
		if err != nil {
			v.mu.Unlock()
			yield(event.Event{}, err)
			return
		}
		if v.p == nil || r.owner == v.p.lease {
			v.wait(r)
		}
		v.settle(r)
		events := r.events
		v.mu.Unlock()
		yieldAll(run, events, max(from, 1), yield)
	}
}

// yieldAll yields events from a sequence on, checking the chain.
func yieldAll(run string, events []stored, from int64, yield func(event.Event, error) bool) {
	if from > int64(len(events)) {
		return
	}
	chain := event.Chain{Seq: from - 1}
	if from > 1 {
		chain.Hash = events[from-2].Hash
	}
	for i := from - 1; i < int64(len(events)); i++ {
		rec := events[i].Record
		rec.Run = run
		err := chain.Add(&rec)
		if err != nil {
			if !jsontext.Value(rec.Data).IsValid() {
				err = fmt.Errorf("event %d is not complete JSON: %w", rec.Seq, err)
			}
			torn := true
			for _, later := range events[i+1:] {
				torn = torn && len(later.Data) == 0
			}
			yield(event.Event{}, &journal.DamageError{Run: run, Sound: i, Torn: torn, Err: err})
			return
		}
		e, err := rec.Event()
		if err != nil {
			yield(event.Event{}, &journal.DamageError{Run: run, Sound: i, Err: err})
			return
		}
		if !yield(e, nil) {
			return
		}
	}
}

// Cut removes a torn end.
func (v *view) Cut(ctx context.Context, run string, after int64) (journal.Head, error) {
	if err := v.enter(ctx); err != nil {
		return journal.Head{}, err
	}
	defer v.mu.Unlock()
	r, err := v.find(run)
	if err != nil {
		return journal.Head{}, err
	}
	if owner := v.leases[r.owner]; owner.live() && v.p != nil && r.owner != v.p.lease {
		return journal.Head{}, &journal.HeldError{Run: run, Owner: owner.Owner}
	}
	var found error
	yieldAll(run, r.events, 1, func(_ event.Event, err error) bool { found = err; return true })
	var damage *journal.DamageError
	if found == nil {
		return journal.Head{}, fmt.Errorf("the journal of run %s is sound", run)
	}
	if !errors.As(found, &damage) || !damage.Torn || damage.Sound != after {
		return journal.Head{}, fmt.Errorf("it cannot be cut after event %d: %w", after, found)
	}
	v.count("a torn journal cut")
	r.events = r.events[:after:after]
	for c, seq := range r.commands {
		if seq > after {
			delete(r.commands, c)
		}
	}
	return v.disk.head(r), nil
}

// Watch returns the channel on which l hears of posts.
func (v *view) Watch(l *journal.Lease) <-chan string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.leases[l.ID]; known != nil {
		return known.watch
	}
	return make(chan string)
}

// Runs yields a summary of each run.
func (v *view) Runs(ctx context.Context) iter.Seq2[journal.Summary, error] {
	return func(yield func(journal.Summary, error) bool) {
		if err := v.enter(ctx); err != nil {
			yield(journal.Summary{}, err)
			return
		}
		var all []journal.Summary
		for i := len(v.order) - 1; i >= 0; i-- {
			all = append(all, v.summary(v.order[i]))
		}
		v.mu.Unlock()
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (v *view) summary(r *log) journal.Summary {
	s := journal.Summary{Run: r.id, Parent: r.parent, Events: r.end(), Status: "interrupted"}
	if v.leases[r.owner].live() {
		s.Status = "running"
	}
	finished := false
	state := ""
	for i := range r.events {
		e := &r.events[i]
		if i == 0 {
			s.Started = e.Time
		}
		s.Last = e.Time
		if start, ok := e.from.(*event.RunStarted); ok {
			if s.Agent = start.Spec.Agent; s.Parent == "" {
				s.Parent = start.Parent
			}
		}
		if finished || e.Seq < r.shared {
			continue // what a fork shares is its own only where it stands
		}
		switch d := e.from.(type) {
		case *event.RunPaused:
			state, s.Reason = "paused", string(d.Cause)
		case *event.RunFinished:
			finished, state, s.Reason = true, "finished", string(d.Reason)
		case *event.InputReceived, *event.ApprovalGiven:
		default:
			state = ""
		}
	}
	if state != "" {
		s.Status = state
	}
	return s
}

// PutBody keeps a body.
func (v *view) PutBody(ctx context.Context, body []byte, mediaType string) (message.Ref, error) {
	if v.p != nil && v.p.full(body) {
		return message.Ref{}, journal.ErrFull
	}
	if err := v.enter(ctx); err != nil {
		return message.Ref{}, err
	}
	defer v.mu.Unlock()
	sum := sha256.Sum256(body)
	ref := message.Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body)), MediaType: mediaType}
	v.bodies[ref.SHA256] = bytes.Clone(body)
	return ref, nil
}

// Body returns a body.
func (v *view) Body(ctx context.Context, ref message.Ref) ([]byte, error) {
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.mu.Unlock()
	body, ok := v.bodies[ref.SHA256]
	if !ok {
		return nil, &journal.BodyError{SHA256: ref.SHA256, Missing: true}
	}
	if int64(len(body)) != ref.Bytes {
		return nil, &journal.BodyError{SHA256: ref.SHA256, Err: errors.New("it has another size")}
	}
	return bytes.Clone(body), nil
}

// Fork makes a run that begins like another.
func (v *view) Fork(ctx context.Context, l *journal.Lease, from string, seq int64, run string) error {
	if err := checkRun(run); err != nil {
		return err
	}
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.mu.Unlock()
	base, err := v.find(from)
	if err != nil {
		return err
	}
	v.flush(base)
	if seq < 1 || seq > base.end() {
		return fmt.Errorf("run %s has no event %d", from, seq)
	}
	f := &log{id: run, parent: from, shared: seq, events: base.events[:seq:seq], commands: map[string]int64{}, doubled: maps.Clone(base.doubled)}
	maps.DeleteFunc(f.doubled, func(at int64, _ bool) bool { return at > seq })
	for c, at := range base.commands {
		if at <= seq {
			f.commands[c] = at
		}
	}
	return v.add(l, f)
}

// Close ends the store for all.
func (v *view) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	return nil
}
