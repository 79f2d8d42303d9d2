package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// met is a limit that the server says passes after that long; less than 0 says
// nothing of how long.
func met(after time.Duration) error {
	e := &model.Error{Class: event.ClassRate, Status: 429}
	if after >= 0 {
		e.RetryAfter = message.Known(after.Milliseconds())
	}
	return e
}

// gate is a limiter that many calls go through, and notes who went when.
type gate struct {
	t     *testing.T
	l     limiter
	begun time.Time
	mu    sync.Mutex
	went  []string
}

func newGate(t *testing.T) *gate { return &gate{t: t, begun: time.Now()} }

// enter goes in at once, or fails the test.
func (g *gate) enter(key string) permit {
	g.t.Helper()
	begun := time.Now()
	p, err := g.l.enter(g.t.Context(), key)
	if err != nil || p.waited != 0 || time.Since(begun) != 0 {
		g.t.Fatalf("a call of %q did not go at once: %+v, %v", key, p, err)
	}
	return p
}

// call goes in when it may, takes that long and comes to err, all beside the
// others.
func (g *gate) call(name string, takes time.Duration, err error) {
	go func() {
		p, e := g.l.enter(g.t.Context(), "key")
		if e != nil {
			g.t.Errorf("%s: %v", name, e)
			return
		}
		g.mu.Lock()
		g.went = append(g.went, fmt.Sprint(name, " at ", time.Since(g.begun)))
		g.mu.Unlock()
		time.Sleep(takes)
		p.leave(err)
	}()
	synctest.Wait() // so that calls come in a known order
}

// want compares who went when. Calls have names in the order in which they go.
func (g *gate) want(went ...string) {
	g.t.Helper()
	synctest.Wait()
	slices.Sort(g.went) // of those that go at the same time any may note it first
	if !slices.Equal(g.went, went) {
		g.t.Errorf("went %s\nwant %s", strings.Join(g.went, ", "), strings.Join(went, ", "))
	}
}

func (g *gate) open() int {
	g.l.mu.Lock()
	defer g.l.mu.Unlock()
	if n := g.l.lanes["key"]; n != nil {
		return n.open
	}
	return mostOpen
}

// Until a limit was met nobody waits, and nothing is kept of who came.
func TestNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		var all []permit
		for i := range 1000 {
			all = append(all, g.enter([]string{"key", "other", ""}[i%3]))
		}
		for i, p := range all {
			p.leave([]error{nil, &model.Error{Class: event.ClassServer}, &model.Error{Class: event.ClassQuota}, errors.New("odd")}[i%4])
		}
		if len(g.l.lanes) != 0 {
			t.Errorf("%d lanes are kept", len(g.l.lanes))
		}
	})
}

// What one call is told holds back all that share its key, and nobody else.
func TestSharedPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		first, second := g.enter("key"), g.enter("key")
		first.leave(met(20 * time.Second))
		g.call("a", time.Second, nil)
		g.enter("other").leave(nil)
		g.enter("").leave(nil)
		time.Sleep(5 * time.Second)
		second.leave(nil) // had begun before: it does not end the pause
		g.call("b", time.Second, nil)
		time.Sleep(time.Minute)
		// One call was to be under way at a time; a's success allows one more.
		g.want("a at 20s", "b at 21s")
	})
}

// Each limit halves what may be under way, each success adds one.
func TestOpenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		var all []permit
		for range 8 {
			all = append(all, g.enter("key"))
		}
		for _, p := range all { // one limit, however many are told of it
			p.leave(met(time.Second))
		}
		if g.open() != 4 {
			t.Fatalf("%d calls may be under way after 8 met a limit", g.open())
		}
		for i := range 6 {
			g.call(fmt.Sprint(i), 10*time.Second, nil)
		}
		time.Sleep(15 * time.Second)
		g.want("0 at 1s", "1 at 1s", "2 at 1s", "3 at 1s", "4 at 11s", "5 at 11s")
		if g.open() != 8 {
			t.Errorf("%d calls may be under way after 4 successes", g.open())
		}
		time.Sleep(time.Minute)
		for range 10 {
			g.enter("key").leave(met(0))
		}
		if g.open() != 1 {
			t.Errorf("%d calls may be under way after many limits", g.open())
		}
	})
}

// A limit that has no end yet ends after a second, two, four, and so on up to a
// minute; a success forgets them.
func TestPauseNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		pause := func(err error) time.Duration {
			begun := time.Now()
			p, e := g.l.enter(t.Context(), "key")
			if e != nil {
				t.Fatal(e)
			}
			p.leave(err)
			return time.Since(begun)
		}
		var got []time.Duration
		for range 9 {
			got = append(got, pause(met(-1)))
		}
		got = append(got, pause(nil), pause(met(-1)), pause(nil))
		s := time.Second
		if want := []time.Duration{0, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 60 * s, 0, s}; !slices.Equal(got, want) {
			t.Errorf("pauses %v, want %v", got, want)
		}
	})
}

// What servers say is taken with care.
func TestPauses(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"a limit", met(1500 * time.Millisecond), 1500 * time.Millisecond},
		{"a limit that is over", met(0), 0},
		{"a limit of a day", met(24 * time.Hour), longestPause},
		{"a limit beyond all numbers", &model.Error{Class: event.ClassRate, RetryAfter: message.MaxCount}, longestPause},
		{"overloaded for some time", &model.Error{Class: event.ClassServer, RetryAfter: message.Known(3000)}, 3 * time.Second},
		{"overloaded", &model.Error{Class: event.ClassServer}, 0},
		{"no money left", &model.Error{Class: event.ClassQuota, RetryAfter: message.Known(3000)}, 0},
		{"a wrapped limit", fmt.Errorf("through a proxy: %w", met(time.Second)), time.Second},
		{"something else", errors.New("odd"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(t)
				g.enter("key").leave(c.err)
				begun := time.Now()
				p, err := g.l.enter(t.Context(), "key")
				if took := time.Since(begun); err != nil || took != c.want || p.waited != c.want {
					t.Errorf("waited %v, says %v, %v; want %v", took, p.waited, err, c.want)
				}
				p.leave(nil)
			})
		})
	}
}

// Who waits goes in the order in which it came, and whoever gives up is passed
// over at once.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.enter("key").leave(met(10 * time.Second))
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := make(chan error, 3)
		for i := range 5 {
			g.call(fmt.Sprint(i), time.Second, &model.Error{Class: event.ClassTimeout}) // the room stays as it is
			if i%2 == 0 {
				go func() {
					_, err := g.l.enter(ctx, "key")
					gone <- err
				}()
				synctest.Wait()
			}
		}
		time.Sleep(time.Second)
		why := errors.New("stopped by hand")
		cancel(why)
		for range 3 {
			if err := <-gone; !errors.Is(err, why) {
				t.Errorf("who gave up got %v", err)
			}
		}
		if took := time.Since(g.begun); took != time.Second {
			t.Errorf("who gave up waited %v", took)
		}
		time.Sleep(time.Minute)
		g.want("0 at 10s", "1 at 11s", "2 at 12s", "3 at 13s", "4 at 14s")
	})
}

// What was learned long ago says nothing any more.
func TestLimitIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.enter("key").leave(met(0))
		time.Sleep(laneMemory)
		if g.open() != 1 {
			t.Error("the limit is forgotten too early")
		}
		time.Sleep(time.Second)
		g.enter("other").leave(nil)
		if len(g.l.lanes) != 0 {
			t.Error("the limit is remembered for ever")
		}
	})
}

// Whatever comes of the calls, and whoever gives up: each call that is under way is
// counted until it ends, and everybody who waits gets in.
func TestLimiterUnderAnything(t *testing.T) {
	for seed := range int64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewSource(seed))
			l := &limiter{}
			const calls = 300
			ended := make(chan bool, calls)
			for i := range calls {
				ctx, cancel := context.WithCancel(t.Context())
				takes, after := time.Duration(random.Intn(2000))*time.Millisecond, time.Duration(random.Intn(60_000))*time.Millisecond
				gives := random.Intn(4) == 0
				var err error
				switch random.Intn(6) {
				case 0:
					err = met(time.Duration(random.Intn(5)-1) * time.Second)
				case 1:
					err = &model.Error{Class: event.ClassNetwork}
				}
				if gives {
					time.AfterFunc(after+time.Duration(random.Intn(3000))*time.Millisecond, cancel)
				}
				go func() {
					defer cancel()
					time.Sleep(after)
					p, e := l.enter(ctx, "key")
					if e != nil {
						if !gives {
							t.Errorf("seed %d: call %d: %v", seed, i, e)
						}
						ended <- false
						return
					}
					l.mu.Lock()
					if n := l.lanes["key"]; n == nil || n.busy < 1 {
						t.Errorf("seed %d: call %d is under way and not counted", seed, i)
					}
					l.mu.Unlock()
					time.Sleep(takes)
					p.leave(err)
					ended <- true
				}()
			}
			for range calls {
				<-ended
			}
			if n := l.lanes["key"]; n != nil && (n.busy != 0 || n.first != nil || n.last != nil) {
				t.Errorf("seed %d: at the end %d are under way, and waiting: %v", seed, n.busy, n.first != nil)
			}
		})
	}
}

// 1,000 runs wait on a key that takes 8 calls at once. An operation is one call:
// what a run does to wait for its turn, go in and come out.
func BenchmarkLimiter(b *testing.B) {
	for _, waiting := range []int{0, 1000} {
		b.Run(fmt.Sprintf("waiting-%d", waiting), func(b *testing.B) {
			b.ReportAllocs()
			l := &limiter{}
			if waiting > 0 {
				n := l.lane("key")
				n.open = 8
				l.mu.Lock()
				n.busy++ // so that the lane stays
				l.mu.Unlock()
			}
			other := &model.Error{Class: event.ClassNetwork} // the room stays as it is
			left := make(chan struct{}, waiting+1)
			work := make(chan struct{})
			for range waiting + 1 {
				go func() {
					for range work {
						p, err := l.enter(context.Background(), "key")
						if err != nil {
							b.Error(err)
						}
						p.leave(other)
					}
					left <- struct{}{}
				}()
			}
			b.ResetTimer()
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			for range waiting + 1 {
				<-left
			}
		})
	}
}
