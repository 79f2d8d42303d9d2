package local_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// Each way in which a tool can fail has a type of its own, and says truly whether
// trying again may help and whether something may have happened.
func TestTypesOfErrors(t *testing.T) {
	type body = func(context.Context, *tool.Call) (*tool.Result, error)
	fails := func(err error) body {
		return func(context.Context, *tool.Call) (*tool.Result, error) { return nil, err }
	}
	reset := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for _, c := range []struct {
		what       string
		run        body
		read, once string // status, type, r: retryable, and how often it was executed
	}{
		{"an error", fails(errors.New("no")), "error tool_error ×1", "error tool_error ×1"},
		{"an error for the model", fails(&tool.Error{Type: "not_found"}), "error not_found ×1", "error not_found ×1"},
		{"one that may pass", fails(&tool.Error{Type: "busy", Retryable: true}), "error busy r ×3", "error busy ×1"},
		{"one that may pass and did nothing", fails(&tool.Error{Type: "busy", Retryable: true, NoEffect: true}), "error busy r ×3", "error busy r ×3"},
		{"one that does not know", fails(&tool.Error{Type: "odd", Unknown: true}), "unknown odd ×1", "unknown odd ×1"},
		{"a lost connection", fails(reset), "error connection_lost r ×3", "unknown connection_lost ×1"},
		{"a time limit of its own", fails(fmt.Errorf("ask: %w", context.DeadlineExceeded)), "error timeout r ×3", "unknown timeout ×1"},
		{"a panic", func(context.Context, *tool.Call) (*tool.Result, error) { panic("bug") }, "error panic ×1", "unknown panic ×1"},
		{"the time limit", obey, "timeout timeout r ×3", "unknown timeout ×1"},
		{"the time limit, ignored", nil, "timeout abandoned r ×1", "unknown abandoned ×1"},
	} {
		for effect, want := range map[event.Effect]string{event.Read: c.read, event.Once: c.once} {
			t.Run(c.what+"/"+string(effect), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLab(t, call("c1 work"), say("done"))
					var ran atomic.Int64
					end := make(chan struct{})
					defer close(end)
					l.tool("work", effect, func(ctx context.Context, k *tool.Call) (*tool.Result, error) {
						if ran.Add(1); c.run == nil {
							return hang(end)(ctx, k)
						}
						return c.run(ctx, k)
					})
					l.start(t.Context(), l.engine())
					d, runs := l.last("c1"), ran.Load()
					got := strings.TrimSpace(string(d.Status) + " " + d.ErrorType)
					if d.Retryable {
						got += " r"
					}
					if got += fmt.Sprintf(" ×%d", runs); got != want {
						t.Errorf("got %s, want %s\n%s", got, want, l.journal())
					}
					if told := plain(d.Parts); runs > 1 && !strings.Contains(told, fmt.Sprintf("tried %d times", runs)) {
						t.Errorf("the model is not told how often: %s", told)
					}
				})
			})
		}
	}
}

// last returns the last outcome of a call.
func (l *lab) last(call string) *event.ToolFinished {
	l.t.Helper()
	var last *event.ToolFinished
	for _, ev := range l.events() {
		if d, ok := ev.Data.(*event.ToolFinished); ok && d.Call == call {
			last = d
		}
	}
	if last == nil {
		l.t.Fatalf("call %s has no outcome\n%s", call, l.journal())
	}
	return last
}

// Between executions the run waits; every one of them stands in the journal, and
// a tool's own word on how long to wait counts.
func TestWaitsBetweenExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, call("c1 work"), say("done"))
		var at []time.Duration
		begin := time.Now()
		l.tool("work", event.Repeatable, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			at = append(at, time.Since(begin))
			switch c.Attempt {
			case 1:
				return nil, &tool.Error{Type: "busy", Message: "busy", Retryable: true}
			case 2:
				return nil, &tool.Error{Type: "busy", Message: "busy", Retryable: true, RetryAfter: 20 * time.Second}
			}
			return tool.Text("written"), nil
		})
		l.start(t.Context(), l.engine())
		if len(at) != 3 || at[1]-at[0] < 100*time.Millisecond || at[1]-at[0] > 200*time.Millisecond || at[2]-at[1] < 20*time.Second || at[2]-at[1] > 22*time.Second {
			t.Errorf("executed after %v", at)
		}
		want(t, l.journal(), `
			1 run.started
			2 input.received text go
			3 context.assembled
			4 model.called …
			5 model.answered …
			6 reply.parsed
			7 call.judged c1 allow
			8 tool.started 7.0 work(c1) attempt 1
			9 tool.finished [7.0] work(c1) error busy …
			10 timer.fired [9.0]
			11 tool.started 10.0 work(c1) attempt 2
			12 tool.finished [10.0] work(c1) error busy …
			13 timer.fired [12.0]
			14 tool.started 13.0 work(c1) attempt 3
			15 tool.finished [13.0] work(c1) success  written
			16 context.assembled
			17 model.called …
			18 model.answered …
			19 reply.parsed
			20 run.finished answered true done
		`)
		keys := map[string]bool{}
		for _, ev := range l.events() {
			if d, ok := ev.Data.(*event.ToolStarted); ok {
				keys[d.Key] = true
			}
		}
		if len(keys) != 1 {
			t.Errorf("the executions have the keys %v", keys)
		}
		l.checkOnce()
	})
}

// A run that is resumed with another definition of a pinned tool asks before that
// is used, and puts what is asked under a hash of the new definition.
func TestChangedDefinition(t *testing.T) {
	l := newLab(t, call("c1 query a"), say("done"))
	asked := ""
	stop := func() {}
	l.tool("query", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		if stop != nil {
			stop()
			<-ctx.Done()
			return nil, &tool.Error{Type: "busy", Message: "not now", Retryable: true}
		}
		return tool.Text("rows"), nil
	})
	def := &l.tools[0].(*fakeTool).def
	def.Pin = "sha256:one"
	ctx, cancel := context.WithCancelCause(t.Context())
	stop = func() { cancel(engine.ErrStop) }
	e := l.engine()
	l.start(ctx, e)
	stop = nil
	def.Pin = "sha256:two"
	l.job.Approve = func(_ context.Context, q engine.Question) (engine.Answer, bool) {
		asked = q.Why
		return engine.Answer{Decision: event.Approved}, true
	}
	l.resume(t.Context(), e)
	if !strings.Contains(asked, "definition of query is not the one that the run began with") || l.last("c1").Status != event.StatusSuccess {
		t.Errorf("asked %q\n%s", asked, l.journal())
	}
}
