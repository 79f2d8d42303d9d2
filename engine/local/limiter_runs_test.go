package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// keyedModel is a client that shares its server's limits with others of that key.
type keyedModel struct {
	*fakeModel
	key  string
	info model.Info
}

func (k *keyedModel) LimitKey() string { return k.key }
func (k *keyedModel) Info() model.Info { return k.info }

// keys are new in each run of a test: what is known of a limit is the process's.
var keys atomic.Int64

func newKey() string { return fmt.Sprint("key ", keys.Add(1)) }

// answers is a model of that key whose replies do what they are told.
func answers(key string, do func(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error)) *keyedModel {
	return &keyedModel{fakeModel: &fakeModel{replies: []reply{{do: do}}}, key: key}
}

// runOf is a job of the lab's spec for a run of that name.
func (l *lab) runOf(run string, m model.Client) *engine.Job {
	l.t.Helper()
	job := *l.ready()
	job.Run, job.Model = run, func(string) (model.Client, error) { return m, nil }
	return &job
}

// When one run is told to wait, the others of its key wait as well, in whatever
// engine they are; and waiting is no part of what a call took.
func TestRunsShareLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var mu sync.Mutex
		var calls []string
		refused := false
		server := func(name string) func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			return func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
				mu.Lock()
				calls = append(calls, fmt.Sprint(name, " at ", time.Since(begun).Round(time.Second)))
				refuse := !refused
				refused = true
				mu.Unlock()
				if refuse {
					return nil, &model.Error{Class: event.ClassRate, Status: 429, RetryAfter: message.Known(30_000)}
				}
				time.Sleep(2 * time.Second)
				return say("done").reply(), nil
			}
		}
		l := newLab(t)
		first, second := l.engine(), l.engine()
		var runs sync.WaitGroup
		start := func(e *local.Engine, name, key string) {
			runs.Go(func() {
				r, err := e.Start(t.Context(), l.runOf(name, answers(key, server(name))))
				if err != nil || r.Reason != event.ReasonAnswered {
					t.Errorf("%s: %+v, %v", name, r, err)
				}
			})
			time.Sleep(time.Second)
		}
		key := newKey()
		start(first, "a", key)
		start(first, "b", key)
		start(second, "c", key)
		start(first, "d", newKey())
		runs.Wait()
		mu.Lock()
		defer mu.Unlock()
		// b goes when the limit has passed, c when that has shown that it has; a is
		// late by the jitter of its own wait.
		got := strings.Join(calls[:4], ", ")
		if got != "a at 0s, d at 3s, b at 30s, c at 32s" && got != "a at 0s, d at 3s, b at 30s, a at 32s" {
			t.Errorf("calls: %s", strings.Join(calls, ", "))
		}
		l.job.Run = "b"
		for _, ev := range l.events() {
			if d, ok := ev.Data.(*event.ModelAnswered); ok && d.Latency != 2000 {
				t.Errorf("the call took %d ms, waiting included", d.Latency)
			}
		}
	})
}

// Whoever stops a run does not wait for a limit to pass, and a client that panics
// does not keep its place.
func TestLimitsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey()
		l := newLab(t)
		l.spec.Retry.Tries = 1
		e := l.engine()
		run := func(name string, do func(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error), ctx context.Context) *engine.Result {
			t.Helper()
			r, err := e.Start(ctx, l.runOf(name, answers(key, do)))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		run("limited", func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			return nil, &model.Error{Class: event.ClassRate, RetryAfter: message.Known(50_000)}
		}, t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		r := run("stopped", func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			t.Error("it was asked though the limit had not passed")
			return say("x").reply(), nil
		}, ctx)
		if took := time.Since(begun); r.Reason != event.ReasonCancelled || took != time.Second {
			t.Errorf("it ended after %v: %+v", took, r)
		}
		time.Sleep(time.Minute)
		run("panics", func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { panic("oops") }, t.Context())
		r = run("after", func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
			return say("through").reply(), nil
		}, t.Context())
		if r.Answer != "through" {
			t.Errorf("got %+v", r)
		}
	})
}

// Replies are streamed even if nobody watches, unless the client says that its
// server cannot; the journal says which it was, so that the request can be built
// again.
func TestStreamsWithoutWatcher(t *testing.T) {
	for _, c := range []struct {
		name string
		info model.Info
		want bool
	}{{"as ever", model.Info{}, true}, {"a server without streams", model.Info{NoStream: true}, false}} {
		t.Run(c.name, func(t *testing.T) {
			var asked *model.Request
			m := answers("", func(_ context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
				asked = req
				if sink != nil {
					t.Error("pieces are wanted by nobody")
				}
				return say("done").reply(), nil
			})
			m.info = c.info
			l := newLab(t)
			l.model = m.fakeModel
			l.job.Model = func(string) (model.Client, error) { return m, nil }
			l.start(t.Context(), l.engine())
			if asked.Stream != c.want || strings.Contains(string(m.sent()[0]), `"stream":true`) != c.want {
				t.Errorf("a stream was asked for: %v, in %s", asked.Stream, m.sent()[0])
			}
			l.checkBodies()
		})
	}
}
