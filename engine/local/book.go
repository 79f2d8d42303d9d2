package local

import (
	"bytes"
	"context"
	"errors"
	"math"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// book is the end of a run's journal: what was applied to the machine, and is
// on its way into the store.
type book struct {
	e   *Engine
	run string
	// seen is told of every event that the store was given.
	seen func(*event.Event)

	now  int64 // the time that events get, in Unix milliseconds
	next int64 // sequence of the event to come
	// tail are the events that were applied and are not known to be durable;
	// the store has the first handed of them.
	tail   []entry
	handed int
	spare  []journal.Entry // scratch, while no batch is on its way
}

// entry is an event with what its place in the journal rests on.
type entry struct {
	ev event.Event
	// rests is the sequence of the intent that an outcome belongs to: while that
	// is in the journal, the outcome is true wherever it stands. The zero value
	// is for what the machine decided, which is true only in its place.
	rests int64
}

// always is what events rest on that are true in any case: input, and that the
// run was resumed. never is beyond every journal.
const (
	always int64 = -1
	never  int64 = math.MaxInt64
)

// add stamps an event and returns it, to be applied. It is valid until the next
// call.
func (b *book) add(en entry) *event.Event {
	if en.ev.Time == 0 {
		en.ev.Time = b.now
	}
	en.ev.Run, en.ev.Seq = b.run, b.next
	b.next++
	b.tail = append(b.tail, en)
	return &b.tail[len(b.tail)-1].ev
}

// start sets where the journal ends.
func (b *book) start(last int64) {
	b.next, b.tail, b.handed, b.spare = last+1, nil, 0, nil
}

// waiting reports whether there are events that the store was not given yet.
func (b *book) waiting() bool { return b.handed < len(b.tail) }

// flush makes everything durable.
func (b *book) flush(ctx context.Context) error {
	if !b.waiting() {
		return b.sync(ctx)
	}
	if err := b.append(ctx, false); err != nil {
		return err
	}
	b.settled()
	return nil
}

// hand gives the store everything that it has not got, and does not wait until
// it is durable.
func (b *book) hand(ctx context.Context) error {
	if !b.waiting() {
		return nil
	}
	return b.append(ctx, true)
}

func (b *book) append(ctx context.Context, async bool) error {
	fresh := b.tail[b.handed:]
	entries := b.spare[:0]
	if b.handed > 0 {
		entries = nil // the store may still be reading the scratch
	}
	for i := range fresh {
		ev := &fresh[i].ev
		entries = append(entries, journal.Entry{Time: ev.Time, Command: ev.Command, Data: ev.Data})
	}
	if b.handed == 0 {
		b.spare = entries
	}
	batch := journal.Batch{Run: b.run, After: fresh[0].ev.Seq - 1, Entries: entries, Async: async}
	if _, err := b.e.store.Append(ctx, b.e.lease, batch); err != nil {
		return err
	}
	b.handed = len(b.tail)
	for i := range fresh {
		b.seen(&fresh[i].ev)
	}
	return nil
}

// sync waits until everything that the store was given is durable.
func (b *book) sync(ctx context.Context) error {
	if b.handed == 0 {
		return nil
	}
	if err := b.e.store.Sync(ctx, b.run); err != nil {
		return err
	}
	b.settled()
	return nil
}

// settled forgets what is durable.
func (b *book) settled() {
	n := copy(b.tail, b.tail[b.handed:])
	clear(b.tail[n:])
	b.tail, b.handed = b.tail[:n], 0
}

// is reports whether an event of the journal is this one.
func (en *entry) is(ev *event.Event) bool {
	mine := &en.ev
	return mine.Seq == ev.Seq && mine.Time == ev.Time && mine.Command == ev.Command && mine.Data.Type() == ev.Data.Type() &&
		bytes.Equal(mine.Data.AppendJSON(nil), ev.Data.AppendJSON(nil))
}

// conflict reports whether an error says that somebody else has appended to the
// journal.
func conflict(err error) bool {
	if err == nil {
		return false
	}
	var c *journal.ConflictError
	return errors.As(err, &c)
}
