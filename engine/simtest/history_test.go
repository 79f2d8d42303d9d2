package simtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"rein.example/rein/event"
)

// history is all that happens around one task: processes begin it, die, take it
// over from each other, until it is done or given up.
type history struct {
	seed  uint64
	agent *agent
	world *world
	disk  *disk
	ids   string // how the model makes ids of calls
	// temper is what kind of model it is.
	temper string
	known  map[string]bool // questions that people have seen; the disk's mu guards it

	mu    sync.Mutex
	talks map[string]int // how often the same was asked
	notes []note
	bad   []string
	// counts are things that have happened and stand in no journal.
	counts map[string]int
	done   bool
	paused int // replies that a provider went on with
}

// note is a line of the record of a history.
type note struct {
	at   time.Time
	text string
}

const (
	// maxProcs is how many processes a run may take to come to its end: nothing
	// happens to most of them.
	maxProcs = 40
	// maxQuiet is how long a process may go on, far longer than anything takes.
	maxQuiet = 48 * time.Hour
)

func newHistory(seed uint64) *history {
	d := roll(seed, "history")
	h := &history{seed: seed, agent: newAgent(seed, 0), talks: map[string]int{}, disk: newDisk(), known: map[string]bool{}, counts: map[string]int{}}
	h.world = &world{acts: map[string]*act{}, bad: h.violate}
	h.ids = one(d, "unique", "unique", "restart", "same", "none")
	h.temper = pick(d, []weighed[string]{{67, "busy"}, {14, "hasty"}, {8, "stubborn"}, {8, "clumsy"}, {3, "defiant"}})
	h.disk.settled = h.settled
	h.disk.count, h.disk.given = h.count, h.checkGiven
	h.disk.overtake = d.chance(40)
	h.disk.roll = func(run string) dice { return roll(seed, "log", run) }
	if h.disk.hear = 50 * time.Millisecond; d.chance(15) {
		h.disk.double = 8
	}
	return h
}

// note writes down what happens.
func (h *history) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, note{time.Now(), fmt.Sprintf(format, args...)})
}

// violate writes down that something happened which must not.
func (h *history) violate(format string, args ...any) {
	h.note("VIOLATION: "+format, args...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bad = append(h.bad, fmt.Sprintf(format, args...))
}

// count counts a thing that stands in no journal.
func (h *history) count(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[what]++
}

// over reports whether the history has come to its end.
func (h *history) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.done
}

// play lets it happen. It must run in a bubble.
func (h *history) play() {
	var all sync.WaitGroup
	all.Go(h.line(0, "r1").play)
	if d := roll(h.seed, "forks"); d.chance(15) {
		for n := range 1 + d.IntN(2) {
			all.Go(func() { h.branch(n+1, &all) })
		}
	}
	all.Wait()
	time.Sleep(2 * time.Minute) // whatever is still on its way arrives
	h.mu.Lock()
	h.done = true
	h.mu.Unlock()
	for _, l := range h.logs() {
		h.audit(l)
	}
	for _, l := range h.logs() {
		h.auditTree(l)
	}
}

// logs returns the journals, in the order of the runs' names.
func (h *history) logs() []*log {
	return slices.SortedFunc(slices.Values(h.disk.order), func(a, b *log) int { return cmp.Compare(a.id, b.id) })
}

// pause is how long it takes until somebody carries the run on.
func (h *history) pause(d dice, out outcome) time.Duration {
	if out.r != nil && (out.r.Cause == event.CauseWaitingApproval || out.r.Cause == event.CauseWaitingInput) && d.chance(80) {
		return d.span(0, 12*time.Minute) // perhaps it was answered meanwhile
	}
	return d.span(0, one(d, time.Millisecond, 3*time.Second, time.Minute))
}

// digest returns what came of the history, in one word: the same seed gives the
// same.
func (h *history) digest() string {
	sum := sha256.New()
	for _, l := range h.logs() {
		for i := range l.events {
			sum.Write(l.events[i].Hash[:])
		}
	}
	for _, n := range h.record() {
		sum.Write([]byte(n))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// record returns the notes in order, with their times.
func (h *history) record() []string {
	notes := slices.Clone(h.notes)
	slices.SortStableFunc(notes, func(a, b note) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.text, b.text)) })
	var out []string
	for _, n := range notes {
		out = append(out, n.at.UTC().Format("15:04:05.000000000 ")+n.text)
	}
	return out
}
