package memory

import (
	"context"
	"fmt"
	"sync"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/internal/storekit"
)

// run is one journal. Its records are in blocks of fixed size and their data in
// chunks, so that appending copies nothing that is there already.
type run struct {
	id string
	// base holds the events up to baseSeq, for a fork.
	base    *run
	baseSeq int64

	owner, generation int64  // guarded by Store.mu
	imported          bool   // it is carried out elsewhere; guarded by Store.mu
	forks             []*run // whose base it is, as they were made; guarded by Store.mu

	mu       sync.Mutex // guards what follows; a fork's before its base's
	blocks   []*block
	n        int64 // records
	hashed   int64 // records whose hash is computed
	chunk    []byte
	commands map[string]int64 // the sequence of each outcome
	progress storekit.Progress
}

const blockSize = 32

type block [blockSize]record

type record struct {
	time    int64
	typ     event.Type
	command string
	data    []byte // the encoded event
	hash    event.Hash
}

// The sizes of chunks: small for a run that hardly begins, then doubling.
const (
	minChunk = 2 << 10
	maxChunk = 32 << 10
	// spare is the room that a chunk must still have for another event to be
	// put there; a longer one gets a slice of its own.
	spare = 512
)

// record returns the record of an own event. The caller holds mu, or knows that
// the event was there when it did.
func (r *run) record(seq int64) *record {
	i := seq - r.baseSeq - 1
	return &r.blocks[i/blockSize][i%blockSize]
}

// end returns the last sequence. The caller holds mu.
func (r *run) end() int64 { return r.baseSeq + r.n }

// append adds the entries, all or none.
func (r *run) append(after int64, entries []journal.Entry) (journal.Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after != journal.Anywhere && after != r.end() {
		return journal.Head{}, &journal.ConflictError{Run: r.id, Want: after, Head: r.headLocked()}
	}
	n, progress := r.n, r.progress
	for i := range entries {
		if err := r.add(&entries[i]); err != nil {
			r.progress = progress
			r.truncate(n)
			return journal.Head{}, fmt.Errorf("appending to run %s: %w", r.id, err)
		}
	}
	return journal.Head{Seq: r.end(), Generation: r.generation}, nil
}

// add adds one entry. The caller holds mu.
func (r *run) add(e *journal.Entry) error {
	if e.Command != "" && r.done(e.Command, r.end()) {
		return nil
	}
	typ := e.Data.Type()
	data := r.encode(e.Data)
	if err := storekit.CheckSize(typ, len(data)); err != nil {
		return err
	}
	r.put(e, typ, data)
	return nil
}

// put adds the record of an entry whose data is encoded. The caller holds mu.
func (r *run) put(e *journal.Entry, typ event.Type, data []byte) {
	if r.n%blockSize == 0 {
		r.blocks = append(r.blocks, new(block))
	}
	r.n++
	rec := r.record(r.end())
	rec.time, rec.typ, rec.command, rec.data = e.Time, typ, e.Command, data
	r.progress.Note(e.Time, e.Data)
	if e.Command != "" {
		if r.commands == nil {
			r.commands = map[string]int64{}
		}
		r.commands[e.Command] = r.end()
	}
}

// truncate removes the records after the first n. Readers keep the blocks that
// they have. The caller holds mu.
func (r *run) truncate(n int64) {
	if n == r.n {
		return
	}
	r.n = n
	r.hashed = min(r.hashed, n)
	keep := r.blocks[: (n+blockSize-1)/blockSize : (n+blockSize-1)/blockSize]
	if n%blockSize != 0 {
		last := *keep[len(keep)-1]
		clear(last[n%blockSize:])
		keep = append(keep[:len(keep)-1:len(keep)-1], &last)
	}
	r.blocks = keep
	for c, seq := range r.commands {
		if seq > r.end() {
			delete(r.commands, c)
		}
	}
}

// encode returns the event's JSON, in the chunk if it fits.
func (r *run) encode(d event.Data) []byte {
	if cap(r.chunk)-len(r.chunk) < spare {
		r.chunk = make([]byte, 0, max(minChunk, min(2*cap(r.chunk), maxChunk)))
	}
	at := len(r.chunk)
	out := d.AppendJSON(r.chunk[at:at:cap(r.chunk)])
	if len(out) <= cap(r.chunk)-at {
		r.chunk = r.chunk[:at+len(out)]
	}
	return out[:len(out):len(out)]
}

// done reports whether the journal holds the outcome of a command at or before
// seq. The caller holds mu.
func (r *run) done(command string, seq int64) bool {
	if at, ok := r.commands[command]; ok && at <= seq {
		return true
	}
	if r.base == nil {
		return false
	}
	r.base.mu.Lock()
	defer r.base.mu.Unlock()
	return r.base.done(command, min(seq, r.baseSeq))
}

// head returns where the journal ends, with its hash. The caller holds
// Store.mu.
func (r *run) head() journal.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.headLocked()
}

func (r *run) headLocked() journal.Head {
	return journal.Head{Seq: r.end(), Hash: r.hashAt(r.end()), Generation: r.generation}
}

// hashAt returns the hash of the event seq, computing the chain up to the end
// where that has not been done. The caller holds mu.
func (r *run) hashAt(seq int64) event.Hash {
	if seq <= r.baseSeq {
		if r.base == nil {
			return event.Hash{}
		}
		r.base.mu.Lock()
		defer r.base.mu.Unlock()
		return r.base.hashAt(seq)
	}
	for r.hashed < r.n {
		at := r.baseSeq + r.hashed + 1
		var prev event.Hash
		if r.hashed > 0 {
			prev = r.record(at - 1).hash
		} else {
			prev = r.hashAt(at - 1)
		}
		rec := r.record(at)
		rec.hash = event.ComputeHash(prev, at, rec.time, rec.typ, rec.command, rec.data)
		r.hashed++
	}
	return r.record(seq).hash
}

// segment is the part of a journal that one run holds: the events after lo up
// to and including hi.
type segment struct {
	blocks []*block
	lo, hi int64
}

// segments returns the parts of the journal up to seq, from the beginning, with
// all hashes computed. The caller holds mu.
func (r *run) segments(seq int64) []segment {
	var below []segment
	if r.base != nil {
		r.base.mu.Lock()
		below = r.base.segments(min(seq, r.baseSeq))
		r.base.mu.Unlock()
	}
	if seq > r.baseSeq {
		r.hashAt(seq)
		below = append(below, segment{blocks: r.blocks, lo: r.baseSeq, hi: seq})
	}
	return below
}

// read yields the events from the sequence from on, checking the chain.
func (r *run) read(ctx context.Context, from int64, yield func(event.Event, error) bool) {
	r.records(ctx, from, func(c *event.Chain, rec *event.Record) (bool, bool, error) {
		e, torn, err := storekit.Decode(c, rec)
		return err != nil || yield(e, nil), torn, err
	}, func(err error) { yield(event.Event{}, err) })
}

// records calls each with the records from the sequence from on, until it returns
// false, and fail with the error that it returns or that keeps them from being read;
// torn is as that of [storekit.Decode].
func (r *run) records(ctx context.Context, from int64, each func(*event.Chain, *event.Record) (more, torn bool, err error), fail func(error)) {
	r.mu.Lock()
	end := r.end()
	parts := r.segments(end)
	var prev event.Hash
	if from <= end {
		prev = r.hashAt(from - 1)
	}
	r.mu.Unlock()
	chain := event.Chain{Seq: from - 1, Hash: prev}
	for _, p := range parts {
		for seq := max(from, p.lo+1); seq <= p.hi; seq++ {
			if err := ctx.Err(); err != nil {
				fail(err)
				return
			}
			i := seq - p.lo - 1
			rec := &p.blocks[i/blockSize][i%blockSize]
			more, torn, err := each(&chain, &event.Record{
				Run: r.id, Seq: seq, Time: rec.time, Type: rec.typ, Command: rec.command,
				Prev: chain.Hash, Hash: rec.hash, Data: rec.data,
			})
			if err != nil {
				fail(&journal.DamageError{Run: r.id, Sound: seq - 1, Torn: torn && last(parts, seq), Err: err})
				return
			}
			if !more {
				return
			}
		}
	}
}

// last reports whether no event after seq has any data.
func last(parts []segment, seq int64) bool {
	for _, p := range parts {
		for at := max(seq, p.lo) + 1; at <= p.hi; at++ {
			i := at - p.lo - 1
			if len(p.blocks[i/blockSize][i%blockSize].data) > 0 {
				return false
			}
		}
	}
	return true
}

func (r *run) summary(owned bool) journal.Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress.Summary(r.id, r.end(), owned)
}

// fork returns a run that shares the events up to seq.
func (r *run) fork(ctx context.Context, seq int64, id string) (*run, error) {
	base := r
	for base.base != nil && seq <= base.baseSeq {
		base = base.base
	}
	r.mu.Lock()
	end := r.end()
	r.mu.Unlock()
	if seq < 1 || seq > end {
		return nil, fmt.Errorf("forking run %s after event %d: it has events 1 to %d", r.id, seq, end)
	}
	f := &run{id: id, base: base, baseSeq: seq}
	var err error
	base.read(ctx, seq, func(e event.Event, rerr error) bool {
		if err = rerr; err == nil {
			f.progress = base.progress.Fork(r.id, &e)
		}
		return false
	})
	return f, err
}

// cut removes the own events after the given one if they are a torn end.
func (r *run) cut(ctx context.Context, after int64) (journal.Head, error) {
	var found error
	var sound storekit.Progress
	r.read(ctx, 1, func(e event.Event, err error) bool {
		if found = err; err == nil {
			sound.Note(e.Time, e.Data)
		}
		return err == nil
	})
	if err := storekit.CheckCut(r.id, after, r.baseSeq, found); err != nil {
		return journal.Head{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base != nil {
		sound.Parent = r.progress.Parent
	}
	r.progress = sound
	r.truncate(after - r.baseSeq)
	return r.headLocked(), nil
}
