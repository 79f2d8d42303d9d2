// Package journal answers: where do a run's events live, and who may append them?
//
// A [Store] keeps the journals of many runs. Each run has at most one owner: a
// process that holds a lease, known by its [Owner] and a generation. The owner
// appends batches; everyone may read; without the lease others may only [Store]
// Post an input or an approval. The store assigns sequence numbers and hashes,
// so a journal has no gaps, no forks and no silent edits.
//
// Stores live in packages below this one; journaltest in this folder is the
// suite that each must pass.
package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Store keeps journals. All methods are safe for concurrent use.
type Store interface {
	// Join registers this process and returns its lease. The lease is renewed
	// by the store until Leave or Close.
	Join(ctx context.Context, owner Owner) (*Lease, error)
	// Leave gives up the lease and every run it owns.
	Leave(ctx context.Context, l *Lease) error

	// Create makes the journal of a new run, empty and owned by l. It fails
	// with [ErrExists] if there is one.
	Create(ctx context.Context, l *Lease, run string) error
	// Claim makes l the owner of an existing run and returns the head with the
	// new generation. It fails with a [*HeldError] while another live lease owns
	// it and with a [*NotFoundError] if there is no such run.
	Claim(ctx context.Context, l *Lease, run string) (Head, error)
	// Park gives up one run; events posted later wait for the next owner.
	Park(ctx context.Context, l *Lease, run string) error

	// Append adds a batch to a run that l owns, all of it or nothing, and
	// returns the new head. When it returns the batch is durable, unless
	// b.Async. It fails with a [*ConflictError] if the journal's end is not at
	// b.After (somebody posted), and with [ErrFenced] if l does not own the
	// run, or not any more. Outcomes (entries with a Command) that the journal
	// already holds are left out.
	Append(ctx context.Context, l *Lease, b Batch) (Head, error)
	// Post appends one input.received or approval.given, from any process. It
	// is durable when it returns.
	Post(ctx context.Context, run string, e Entry) (Head, error)
	// Sync returns when everything appended to the run so far is durable, or
	// with the error that made a batch fail. After an error the journal must be
	// read again. If another call does so first, Append fails with that error,
	// and appends nothing.
	Sync(ctx context.Context, run string) error

	// Head returns where the journal ends.
	Head(ctx context.Context, run string) (Head, error)
	// Read yields the events with Seq >= from, in order. It ends with an error
	// that is a [*DamageError] if the chain is broken, after the last sound
	// event.
	Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error]
	// Watch returns a channel that gets a value, perhaps late and perhaps for
	// nothing, after another process may have posted to a run that l owns. The
	// value is the run's id. The channel is the same for every call with one
	// lease, and is never closed.
	Watch(l *Lease) <-chan string
	// Runs yields a summary of each run, newest first.
	Runs(ctx context.Context) iter.Seq2[Summary, error]

	// PutBody stores a body out of line and returns its reference.
	PutBody(ctx context.Context, body []byte, mediaType string) (message.Ref, error)
	// Body returns a stored body, checked against its hash.
	Body(ctx context.Context, ref message.Ref) ([]byte, error)

	// Fork makes the journal of a new run that shares the events of from up to
	// and including seq, without copying them, owned by l. Read as the new
	// run's they have its id.
	Fork(ctx context.Context, l *Lease, from string, seq int64, run string) error
	// Family returns the runs that share events with run: those that it was forked
	// from and those that were forked from it or from them, however far, in no
	// particular order and at most [MaxFamily]. A run without any, as most are, costs
	// one look-up, whatever else the store holds.
	Family(ctx context.Context, run string) ([]Relative, error)

	// Close finishes what was appended, gives up the leases that were joined
	// here and closes the store; everything after fails with [ErrClosed].
	Close() error
}

// Owner says who a process is, so that others on the same host can tell at once
// whether it still lives.
type Owner struct {
	// Host is the boot id and pid namespace; processes of equal Host can see
	// each other.
	Host string
	PID  int
	// Start is the process's start time as the kernel gives it, against pid reuse.
	Start string
	// Name is for people.
	Name string
}

// Lease is a process's right to own runs. Its fields don't change.
type Lease struct {
	ID    int64
	Owner Owner
}

// Head is where a journal ends.
type Head struct {
	// Seq is the last event's sequence, 0 if there is none.
	Seq  int64
	Hash event.Hash
	// Generation counts the owners that the run has had.
	Generation int64
}

// Entry is an event to be appended.
type Entry struct {
	// Time in Unix milliseconds.
	Time int64
	// Command is the command whose outcome this is, or empty.
	Command string
	Data    event.Data
}

// Batch is a number of entries that are appended together.
type Batch struct {
	Run string
	// After is the sequence of the event that these follow. [Anywhere] puts
	// outcomes wherever the journal ends.
	After   int64
	Entries []Entry
	// Async returns before the batch is durable; Sync waits for it. Batches of
	// one run become durable in order.
	Async bool
}

// Anywhere as Batch.After takes whatever end the journal has.
const Anywhere int64 = -1

// Summary is one line of a list of runs.
type Summary struct {
	Run    string
	Agent  string
	Parent string
	// Events is the number of events; Started is the time of the first one, of a fork
	// that has gone on of the one with which it did, and Last that of the last one.
	Events, Started, Last int64
	// Status is "running" (owned by a live process), "paused", "finished" or
	// "interrupted" (owned by nobody in the middle of work).
	Status string
	// Reason or cause, of the last run.finished or run.paused.
	Reason string
}

// MaxFamily bounds what Store.Family returns.
const MaxFamily = 10_000

// Relative is a run that shares its first events with another.
type Relative struct {
	Run string
	// Shared is the last event that both have, at least 1.
	Shared int64
	// Live: a live process owns it.
	Live bool
	// Base: the other was forked from it, or from a fork of it inside what they share.
	Base bool
}

// ErrExists: there is already a run of that name.
var ErrExists = errors.New("a run with this id exists already")

// ErrFenced: the lease does not own the run (any more): another process has
// taken over. Whatever this process still does for the run must stop.
var ErrFenced = errors.New("another process owns this run now")

// ConflictError: the journal ends elsewhere than the batch expects.
type ConflictError struct {
	Run  string
	Want int64
	Head Head
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("journal of run %s ends at event %d, not %d: read the new events first", e.Run, e.Head.Seq, e.Want)
}

// HeldError: a live process owns the run.
type HeldError struct {
	Run   string
	Owner Owner
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("run %s is being carried out by %s (pid %d): wait for it, or stop it with rein stop %s", e.Run, e.Owner.Name, e.Owner.PID, e.Run)
}

// NotFoundError: no such run. Near are ids that look like it.
type NotFoundError struct {
	Run  string
	Near []string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no run %q", e.Run)
	for i, n := range e.Near {
		if i == 0 {
			s += "; did you mean "
		} else {
			s += ", "
		}
		s += n
	}
	return s
}

// DamageError: the journal is sound up to and including event Sound, and not
// after it.
type DamageError struct {
	Run   string
	Sound int64
	// Torn: only the last event is spoilt or the end is missing, as a crash
	// leaves it; else something in the middle was changed or lost.
	Torn bool
	Err  error
}

func (e *DamageError) Error() string {
	what := "damaged"
	if e.Torn {
		what = "cut off"
	}
	return fmt.Sprintf("journal of run %s is %s after event %d: %v", e.Run, what, e.Sound, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }
