package simtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// disk is where all processes of a history keep their journals. It knows what is
// durable and what was only handed over, and loses the latter when a process dies.
type disk struct {
	mu     sync.Mutex
	closed bool
	runs   map[string]*log
	order  []*log // as created
	leases map[int64]*lease
	last   int64 // the last lease's id
	bodies map[string][]byte

	// overtake: what others post does not wait for batches that were handed over,
	// so that a batch can turn out to be in conflict when it is about to be written.
	overtake bool
	// settled is told, with mu held, of each event that has become durable.
	settled func(l *log, seq int64)
	// given is told, with mu held, of each batch that is handed over.
	given func(l *log, entries []stored)
	// double is in how many of 100 cases an outcome is written twice.
	double int
	// hear is the longest time after which an owner hears of a post.
	hear time.Duration
	// roll returns the dice of a run.
	roll func(run string) dice
	// count counts things that leave no trace.
	count func(what string)
}

func newDisk() *disk {
	return &disk{runs: map[string]*log{}, leases: map[int64]*lease{}, bodies: map[string][]byte{}, count: func(string) {},
		roll: func(run string) dice { return roll(0, run) }}
}

// lease is a process's, as the disk knows it.
type lease struct {
	*journal.Lease
	// hung is when the process stopped renewing it, if it has.
	hung  time.Time
	watch chan string
}

// leaseTime is how long a lease lives without being renewed, as DESIGN has it.
const leaseTime = 45 * time.Second

func (l *lease) live() bool {
	return l != nil && !l.Owner.Dead() && (l.hung.IsZero() || time.Since(l.hung) < leaseTime)
}

// log is the journal of one run.
type log struct {
	id, parent string
	shared     int64 // events that a fork has from its parent
	owner      int64
	generation int64
	// events are durable. The last may be torn.
	events   []stored
	commands map[string]int64
	// queue are batches that are on their way to the disk, in order.
	queue []*batch
	// lost is why handed batches of a lease were not written, until it was told.
	lost map[int64]error
	// dice decide what happens to it.
	dice dice
	// doubled are the sequences of outcomes that were written a second time.
	doubled map[int64]bool
}

// stored is an event as it is on the disk.
type stored struct {
	event.Record
	from event.Data // what was encoded
}

// batch is what was given to the disk and is not durable.
type batch struct {
	by      int64
	after   int64
	entries []stored
	ready   time.Time // when it is written
	async   bool
	fail    error // what becomes of it instead
	ghost   error // it is written, and this is said

	done bool
	head journal.Head
	err  error
}

var (
	errTorn  = errors.New("the journal is torn: its owner has to cut it first")
	errAgain = errors.New("a batch that was handed over was not written: read the journal again")
)

// end is the sequence of the last durable event.
func (l *log) end() int64 { return int64(len(l.events)) }

// torn reports whether the last event is not whole.
func (l *log) torn() bool {
	n := len(l.events)
	return n > 0 && len(l.events[n-1].Data) > 0 && l.events[n-1].ComputeHash() != l.events[n-1].Hash
}

// ordered is the sequence after which the next batch stands if everything that
// was handed over is written.
func (l *log) ordered() int64 {
	n := l.end()
	for i, b := range l.queue {
		for k := range b.entries {
			if !l.known(b.entries[:k], i, b.entries[k].Command) {
				n++
			}
		}
	}
	return n
}

// known reports whether the outcome of a command is in the log, in the first n
// batches of the queue or in before.
func (l *log) known(before []stored, n int, command string) bool {
	if command == "" {
		return false
	}
	if _, ok := l.commands[command]; ok {
		return true
	}
	has := func(list []stored) bool {
		for i := range list {
			if list[i].Command == command {
				return true
			}
		}
		return false
	}
	for _, b := range l.queue[:n] {
		if has(b.entries) {
			return true
		}
	}
	return has(before)
}

// write adds events that have their place.
func (d *disk) write(l *log, entries []stored) {
	for i := range entries {
		e := entries[i]
		if _, ok := l.commands[e.Command]; ok && e.Command != "" {
			continue
		}
		d.put(l, e)
		if e.Command != "" {
			l.commands[e.Command] = l.end()
		}
	}
}

// repeat delivers an outcome of a batch once more, as somebody does who does not
// know that it has arrived, and who is not known by its command.
func (d *disk) repeat(l *log, entries []stored) {
	for _, e := range entries {
		if e.Command != "" && d.double > 0 && l.dice.chance(d.double) {
			e.Command = ""
			d.put(l, e)
			l.doubled[l.end()] = true
			return
		}
	}
}

func (d *disk) put(l *log, e stored) {
	e.Run, e.Seq, e.Prev = l.id, l.end()+1, event.Hash{}
	if n := len(l.events); n > 0 {
		e.Prev = l.events[n-1].Hash
	}
	e.Hash = e.ComputeHash()
	l.events = append(l.events, e)
	if d.settled != nil {
		d.settled(l, e.Seq)
	}
}

// commit writes the first batch of the queue, or says why not.
func (d *disk) commit(l *log) {
	b := l.queue[0]
	l.queue = l.queue[1:]
	b.done = true
	switch {
	case l.lost[b.by] != nil && !b.async:
		b.err = l.lost[b.by]
		delete(l.lost, b.by)
	case l.lost[b.by] != nil:
		b.err = errAgain
	case l.owner != b.by || d.leases[b.by] == nil:
		b.err = fmt.Errorf("appending to run %s: %w", l.id, journal.ErrFenced)
	case b.after != journal.Anywhere && b.after != l.end():
		b.err = &journal.ConflictError{Run: l.id, Want: b.after, Head: d.head(l)}
	case b.fail != nil:
		b.err = b.fail
		if d.count("an append failed"); b.async {
			d.count("a handed batch lost")
		}
	default:
		d.write(l, b.entries)
		if b.ghost != nil {
			d.count("an append done that seemed to fail")
		}
		b.head, b.err = d.head(l), b.ghost
		d.repeat(l, b.entries)
	}
	if b.err != nil && b.async && l.lost[b.by] == nil {
		l.lost[b.by] = b.err
	}
}

// settle writes what has come to the disk by now.
func (d *disk) settle(l *log) {
	for len(l.queue) > 0 && !l.queue[0].ready.After(time.Now()) {
		d.commit(l)
	}
}

// flush writes everything.
func (d *disk) flush(l *log) {
	for len(l.queue) > 0 {
		d.commit(l)
	}
}

// die is the end of a process. Of what it had handed over the first kept batches
// reach the disk; with torn, a part of the next one does too: some events and a
// half.
func (d *disk) die(by int64, kept, torn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.order {
		d.settle(l)
		delete(l.lost, by)
		if len(l.queue) == 0 || l.queue[0].by != by {
			continue
		}
		for n := kept; n > 0 && len(l.queue) > 0; n-- {
			d.commit(l)
		}
		if torn >= 0 && len(l.queue) > 0 {
			d.tear(l, l.queue[0], torn)
		}
		for _, b := range l.queue {
			b.done, b.err = true, errDead
		}
		l.queue = nil
	}
	if l := d.leases[by]; l != nil {
		l.hung = time.Now().Add(-leaseTime) // its process is known to be dead
	}
}

// tear writes the beginning of a batch: n events at most, and half of the next.
func (d *disk) tear(l *log, b *batch, n int) {
	if b.after != journal.Anywhere && b.after != l.end() || b.fail != nil || l.lost[b.by] != nil || l.owner != b.by {
		return
	}
	n = min(n, len(b.entries)-1)
	if n < 0 {
		return
	}
	d.write(l, b.entries[:n])
	half := b.entries[n]
	if _, ok := l.commands[half.Command]; ok && half.Command != "" {
		return
	}
	settled := d.settled
	d.settled = nil // nothing that counts
	d.put(l, half)
	d.settled = settled
	last := &l.events[len(l.events)-1]
	last.Data = bytes.Clone(last.Data[:max(1, len(last.Data)/2)])
}

func (d *disk) head(l *log) journal.Head {
	h := journal.Head{Seq: l.end(), Generation: l.generation}
	if n := len(l.events); n > 0 {
		h.Hash = l.events[n-1].Hash
	}
	return h
}

// post appends what somebody says who does not own the run.
func (d *disk) post(run string, e stored) (journal.Head, error) {
	l, err := d.find(run)
	if err != nil {
		return journal.Head{}, err
	}
	if d.settle(l); !d.overtake {
		d.flush(l)
	}
	if l.torn() {
		return journal.Head{}, fmt.Errorf("posting to run %s: %w", run, errTorn)
	}
	before := l.end()
	d.write(l, []stored{e})
	if l.end() > before {
		d.tell(l)
	}
	return d.head(l), nil
}

// tell lets a run's owner hear of a post.
func (d *disk) tell(l *log) {
	owner := d.leases[l.owner]
	if owner == nil {
		return
	}
	send := func() {
		select {
		case owner.watch <- l.id:
		default: // it has not heard of many others yet, and will read all
		}
	}
	if d.hear == 0 {
		send()
		return
	}
	time.AfterFunc(l.dice.span(0, d.hear), send)
}

// find returns a run's log.
func (d *disk) find(run string) (*log, error) {
	if l := d.runs[run]; l != nil {
		return l, nil
	}
	var known []string
	for i := len(d.order) - 1; i >= 0; i-- {
		known = append(known, d.order[i].id)
	}
	return nil, journal.NotFound(run, known)
}

// intent returns the sequence of the last durable intent to execute a call, 0 for
// none, and whether the process with the lease owns the run.
func (d *disk) intent(run, call string, attempt int, key string, by int64) (seq int64, owned bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, err := d.find(run)
	if err != nil {
		return 0, false
	}
	d.settle(l)
	for i := len(l.events) - 1; i >= 0; i-- {
		if s, ok := l.events[i].from.(*event.ToolStarted); ok && s.Call == call && s.Attempt == int64(attempt) && s.Key == key {
			return l.events[i].Seq, l.owner == by
		}
	}
	return 0, l.owner == by
}
