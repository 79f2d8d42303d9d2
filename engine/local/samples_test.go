package local_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// slowModel takes a second for each call, fails as it is told, and notes how many calls
// are under way.
type slowModel struct {
	model.Client
	mu         sync.Mutex
	n          int
	busy, most int
	first      int // how many were under way while the first call was
	fails      func(n int) error
	bodies     []string
}

func (m *slowModel) Call(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.mu.Lock()
	m.n++
	n := m.n
	m.busy++
	m.most = max(m.most, m.busy)
	m.bodies = append(m.bodies, string(req.Body[0]))
	m.mu.Unlock()
	defer func() { m.mu.Lock(); m.busy--; m.mu.Unlock() }()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, &model.Error{Class: event.ClassCancelled, Err: ctx.Err()}
	}
	if n == 1 {
		m.mu.Lock()
		m.first = m.n
		m.mu.Unlock()
	}
	if m.fails != nil {
		if err := m.fails(n); err != nil {
			return nil, err
		}
	}
	return &model.Reply{Message: message.NewText(message.Assistant, "yes")}, nil
}

var fastRetry = event.RetrySpec{Tries: 3, Base: 500, Cap: 4_000, Idle: 60_000}

// Each sample is a call of its own; the first is sent alone, and then four at once.
func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slowModel{}
		began := time.Now()
		seen := map[int64]bool{}
		local.Samples(t.Context(), m, &engine.Rerun{Body: []byte("body")}, 10, fastRetry, func(s *local.Sample) {
			seen[s.N] = true
			if s.Err != nil || s.Latency != 1000 {
				t.Errorf("%+v", s)
			}
		})
		if m.n != 10 || len(seen) != 10 || m.first != 1 || m.most != 4 || time.Since(began) != 4*time.Second {
			t.Errorf("%d calls for %d samples, %d with the first, at most %d at once, in %v", m.n, len(seen), m.first, m.most, time.Since(began))
		}
		for _, body := range m.bodies {
			if body != "body" {
				t.Errorf("sent %q", body)
			}
		}
	})
}

// A failure that may pass is tried again after a pause, as long as the server asks within
// bounds; one that may not is the sample's outcome at once.
func TestSamplesRetry(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
		least time.Duration
	}{
		"a limit":          {&model.Error{Class: event.ClassRate}, 3, 3*time.Second + 1500*time.Millisecond},
		"a limit of 2 s":   {&model.Error{Class: event.ClassRate, RetryAfter: message.Known(2000)}, 3, 7 * time.Second},
		"a limit of a day": {&model.Error{Class: event.ClassRate, RetryAfter: message.Known(86_400_000)}, 3, 11 * time.Second},
		"no reply at all":  {&model.Error{Class: event.ClassBadReply}, 2, 2 * time.Second},
		"a wrong key":      {&model.Error{Class: event.ClassAuth}, 1, time.Second},
		"no certificate":   {&model.Error{Class: event.ClassNetwork, Code: "certificate"}, 1, time.Second},
		"a strange client": {errors.New("what?"), 1, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &slowModel{fails: func(int) error { return c.err }}
			began := time.Now()
			n := 0
			local.Samples(t.Context(), m, &engine.Rerun{Body: []byte("x")}, 1, fastRetry, func(s *local.Sample) {
				if n++; s.Err == nil || len(s.Failures) != c.calls-1 {
					t.Errorf("%s: %+v", name, s)
				}
			})
			if took := time.Since(began); m.n != c.calls || n != 1 || took < c.least || took > c.least*3/2+time.Second {
				t.Errorf("%s: %d calls in %v, %d samples", name, m.n, took, n)
			}
		})
	}
}

// When its context ends, what is under way is given up and nothing else is begun.
func TestSamplesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slowModel{}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		n := 0
		local.Samples(ctx, m, &engine.Rerun{Body: []byte("x")}, 50, fastRetry, func(*local.Sample) { n++ })
		if n != 5 || m.busy != 0 || m.n > 9+4 {
			t.Errorf("%d samples of %d calls, %d still under way", n, m.n, m.busy)
		}
	})
}
