package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/model"
)

// limiter lets the model calls of all runs through, as fast as the servers take
// them. What one run is told of a server's limit holds for all that share it: a run
// alone would find out by being refused, as would each of a thousand others.
//
// Calls that share a key (see [model.Keyed]) are in one lane. While no limit was
// met there, a call never waits. When the server refuses a call because of one, the
// lane is closed for as long as the server asks, and from then on half as many calls
// may be under way at once; each call that succeeds lets one more through (additive
// increase, multiplicative decrease: Chiu and Jain 1989). Who waits is let through
// in the order in which it came.
//
// It is safe for concurrent use, and starts no goroutine but for a moment when a
// pause is over.
type limiter struct {
	mu    sync.Mutex
	lanes map[string]*lane
}

// limits is the process's limiter: servers count by key, and not by engine.
var limits limiter

const (
	// mostOpen is how many calls may be under way in a lane at once: more than a
	// process has sockets for, so that nobody waits until a limit was met.
	mostOpen = 1 << 14
	// firstPause is the pause after a limit of which the server does not say when
	// it passes; it doubles with each further one. longestPause bounds it, and any
	// pause that a server asks for: a wrong one must not stop every run, and one
	// that is right is asked for again. Both are the retry policy's own numbers.
	firstPause   = time.Second
	longestPause = time.Minute
	// laneMemory is how long a limit is remembered that nobody meets any more.
	laneMemory = 10 * time.Minute
)

// lane is what calls with one key share.
type lane struct {
	key  string
	open int // how many calls may be under way
	busy int // how many are
	// closed is when the pause is over; timer lets the next through then.
	closed time.Time
	timer  *time.Timer
	// round counts how often a limit was met. What comes of a call that was begun
	// in an earlier one says nothing new: when many are refused at once, that is
	// one limit.
	round int64
	vain  int // rounds without a success
	first *waiter
	last  *waiter
	left  time.Time // when the last call ended
}

// waiter is a call that waits for its turn, in a list.
type waiter struct {
	turn       chan struct{} // closed when it may go
	prev, next *waiter
}

// permit is the right to make one call. It must be given back. The zero permit, of
// a call without a key, is for nothing.
type permit struct {
	of     *limiter
	lane   *lane
	round  int64
	waited time.Duration
}

// enter waits until a call with that key may be made, at most until ctx ends; then
// it returns the cause.
func (l *limiter) enter(ctx context.Context, key string) (permit, error) {
	if key == "" {
		return permit{}, nil
	}
	l.mu.Lock()
	n := l.lane(key)
	if n.first == nil && n.free(time.Now()) {
		n.busy++
		p := permit{of: l, lane: n, round: n.round}
		l.mu.Unlock()
		return p, nil
	}
	w := &waiter{turn: make(chan struct{})}
	n.append(w)
	n.pump(l)
	l.mu.Unlock()

	begun := time.Now()
	select {
	case <-w.turn:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		select {
		case <-w.turn: // both at once: the place goes to the next
			n.busy--
		default:
			n.remove(w)
		}
		n.settle(l)
		return permit{}, context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return permit{of: l, lane: n, round: n.round, waited: time.Since(begun)}, nil
}

// leave gives the permit back and learns from what came of the call.
func (p permit) leave(err error) {
	if p.lane == nil {
		return
	}
	l, n, now := p.of, p.lane, time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.round == n.round {
		n.learn(err, now)
	}
	n.busy--
	n.left = now
	n.settle(l)
}

// learn acts on what came of a call that is still under way.
func (n *lane) learn(err error, now time.Time) {
	var fault *model.Error
	switch {
	case err == nil:
		n.open, n.vain = min(n.open+1, mostOpen), 0
		return
	case !errors.As(err, &fault):
		return
	}
	wait, told := fault.RetryAfter.Get()
	pause := min(time.Duration(wait)*time.Millisecond, longestPause)
	if wait > longestPause.Milliseconds() {
		pause = longestPause
	}
	switch {
	case fault.Class == event.ClassRate:
		if !told {
			pause = min(firstPause<<min(n.vain, 10), longestPause)
		}
		n.open = max(min(n.open, n.busy)/2, 1)
		n.round++
		n.vain++
	case fault.Class != event.ClassServer || !told:
		return // nothing that others would meet as well, or not known for how long
	}
	if until := now.Add(pause); until.After(n.closed) {
		n.closed = until
	}
}

// lane returns the lane of a key, a new one if there is none.
func (l *limiter) lane(key string) *lane {
	now := time.Now()
	if n := l.lanes[key]; n != nil && !n.forgotten(now) {
		return n
	}
	if l.lanes == nil {
		l.lanes = map[string]*lane{}
	}
	for k, n := range l.lanes {
		if n.forgotten(now) {
			delete(l.lanes, k)
		}
	}
	n := &lane{key: key, open: mostOpen}
	l.lanes[key] = n
	return n
}

// forgotten reports whether nobody has used the lane for so long that what it has
// learned says nothing any more.
func (n *lane) forgotten(now time.Time) bool {
	return n.busy == 0 && n.first == nil && now.Sub(n.left) > laneMemory && now.After(n.closed)
}

// free reports whether a call may go.
func (n *lane) free(now time.Time) bool { return n.busy < n.open && !now.Before(n.closed) }

// settle lets through who may go, and drops a lane that has nothing to remember.
func (n *lane) settle(l *limiter) {
	n.pump(l)
	if n.busy == 0 && n.first == nil && n.open == mostOpen && !time.Now().Before(n.closed) && l.lanes[n.key] == n {
		delete(l.lanes, n.key)
	}
}

// pump lets through who may go. The timer runs while somebody waits for the end of
// a pause.
func (n *lane) pump(l *limiter) {
	now := time.Now()
	for n.first != nil && n.free(now) {
		w := n.first
		n.remove(w)
		n.busy++
		close(w.turn)
	}
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
	if pause := n.closed.Sub(now); n.first != nil && pause > 0 {
		n.timer = time.AfterFunc(pause, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			n.pump(l)
		})
	}
}

// append puts a waiter at the end of the list.
func (n *lane) append(w *waiter) {
	w.prev = n.last
	if n.last == nil {
		n.first = w
	} else {
		n.last.next = w
	}
	n.last = w
}

// remove takes a waiter off the list.
func (n *lane) remove(w *waiter) {
	if w.prev == nil {
		n.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		n.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
}
