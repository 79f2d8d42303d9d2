package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/model"
)

// samplesAtOnce is how many samples are under way at once, beyond the first: as many
// as most servers of one's own work on at a time (Ollama's usual 4).
const samplesAtOnce = 4

// Sample is one try of a request that is sent several times.
type Sample struct {
	// N counts from 1.
	N int64
	engine.Tried
}

// Samples sends a request n times with a client and calls each with what came of it,
// one sample at a time, in the order in which they end. Each sample is a call of its
// own, through the limits that this process knows of the server; the first is sent by
// itself, so that the others may find what they have in common in the server's cache,
// and then up to four at once. A failure that may pass is tried again as retry says.
//
// It writes nothing, and returns when ctx has ended and the calls that were under way
// are over: each is not called for those that ctx has ended, or that were not begun.
func Samples(ctx context.Context, client model.Client, r *engine.Rerun, n int64, retry event.RetrySpec, each func(*Sample)) {
	var mu sync.Mutex
	one := func(i int64) {
		s := &Sample{N: i, Tried: try(ctx, client, r, retry)}
		if s.Err != nil && ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		each(s)
	}
	if n < 1 || ctx.Err() != nil {
		return
	}
	one(1)
	var wg sync.WaitGroup
	turn := make(chan int64)
	for range min(n-1, samplesAtOnce) {
		wg.Go(func() {
			for i := range turn {
				one(i)
			}
		})
	}
	for i := int64(2); i <= n && ctx.Err() == nil; i++ {
		turn <- i
	}
	close(turn)
	wg.Wait()
}

// try sends a request until there is a reply or it has failed for good.
func try(ctx context.Context, client model.Client, r *engine.Rerun, retry event.RetrySpec) (t engine.Tried) {
	for {
		t.Reply, t.Latency, t.Err = once(ctx, client, r, retry)
		var fault *model.Error
		if t.Err == nil || !errors.As(t.Err, &fault) {
			return t
		}
		failures := int64(len(t.Failures)) + 1
		if failures >= triesOf(fault, retry) || !pauseFor(ctx, pauseAfter(fault, retry, failures)) {
			return t
		}
		t.Failures = append(t.Failures, fault)
	}
}

// once makes one call, once the limits of its server let it through.
func once(ctx context.Context, client model.Client, r *engine.Rerun, retry event.RetrySpec) (reply *model.Reply, latency int64, err error) {
	permit, err := limits.enter(ctx, model.LimitKey(client))
	if err != nil {
		return nil, 0, &model.Error{Class: event.ClassCancelled, Message: "it was given up while it waited for the limit of its server to pass", Err: err}
	}
	defer func() {
		if p := recover(); p != nil {
			err = &model.Error{Class: event.ClassInternal, Code: "panic", Message: fmt.Sprintf("the client of model %s failed inside: %v", r.Model, p)}
		}
		permit.leave(err)
	}()
	begun := time.Now()
	reply, err = client.Call(ctx, &model.Request{Body: [][]byte{r.Body}, Stream: r.Stream, Idle: time.Duration(retry.Idle) * time.Millisecond}, nil)
	return reply, time.Since(begun).Milliseconds(), err
}

// triesOf returns how often a call that fails so is made: as a run does, but that
// nobody knows here whether a server has ever answered.
func triesOf(fault *model.Error, retry event.RetrySpec) int64 {
	switch fault.Class {
	case event.ClassRate, event.ClassServer, event.ClassTimeout, event.ClassIncomplete:
		return retry.Tries
	case event.ClassNetwork:
		if fault.Code == "certificate" || fault.Code == "tls" {
			return 1
		}
		return retry.Tries
	case event.ClassBadReply:
		return min(retry.Tries, 2)
	}
	return 1
}

// pauseAfter returns how long to wait after a failure: what the server asked for within
// the policy's bounds, else exponential, with jitter.
func pauseAfter(fault *model.Error, retry event.RetrySpec, failures int64) time.Duration {
	wait := retry.Base
	if asked := fault.RetryAfter.Or(0); asked > 0 {
		wait = max(wait, asked)
	} else {
		for i := int64(1); i < failures && wait < retry.Cap; i++ {
			wait *= 2
		}
	}
	wait = min(wait, retry.Cap)
	return time.Duration(wait+rand.Int64N(wait/10+1)) * time.Millisecond
}
