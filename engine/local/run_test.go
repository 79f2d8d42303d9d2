package local_test

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// The journal of a whole run: a reading call, a writing call, an answer.
func TestRun(t *testing.T) {
	l := newLab(t, call("c1 look"), call("c2 change"), say("done"))
	l.tool("look", event.Read, returns("seen")).tool("change", event.Once, returns("changed"))
	r := l.start(t.Context(), l.engine())
	if r.Status != "finished" || r.Reason != event.ReasonAnswered || !r.OK || r.Answer != "done" || r.Steps != 3 || r.ToolCalls != 2 {
		t.Errorf("result %+v", r)
	}
	want(t, l.journal(), `
		1 run.started
		2 input.received text go
		3 context.assembled
		4 model.called 3.0 attempt 1, kept 0, added 1
		5 model.answered [3.0] "" 1 calls
		6 reply.parsed
		7 call.judged c1 allow
		8 tool.started 7.0 look(c1) attempt 1
		9 tool.finished [7.0] look(c1) success  seen
		10 context.assembled
		11 model.called 10.0 attempt 1, kept 1, added 2
		12 model.answered [10.0] "" 1 calls
		13 reply.parsed
		14 call.judged c2 allow
		15 tool.started 14.0 change(c2) attempt 1
		16 tool.finished [14.0] change(c2) success  changed
		17 context.assembled
		18 model.called 17.0 attempt 1, kept 3, added 2
		19 model.answered [17.0] "done" 0 calls
		20 reply.parsed
		21 run.finished answered true done
	`)
}

// What the run is given travels to the tool; what is counted, is counted once.
func TestWhatATooGets(t *testing.T) {
	l := newLab(t, call("c1 change a"), say("done"))
	var got *tool.Call
	l.tool("change", event.Repeatable, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = c
		return tool.Text("ok"), nil
	})
	type key struct{}
	l.start(context.WithValue(t.Context(), key{}, "v"), l.engine())
	if got == nil || got.Run != "r1" || got.ID != "c1" || string(got.Args) != `{"x":"a"}` || got.Key == "" || got.Attempt != 1 {
		t.Fatalf("the tool got %+v", got)
	}
	for _, ev := range l.events() {
		var n message.Count
		switch d := ev.Data.(type) {
		case *event.RunStarted:
			n = d.Spec.System[0].Tokens
			if _, ok := d.Spec.Tools[0].Tokens.Get(); !ok {
				t.Error("the tool's definition is not counted")
			}
		case *event.InputReceived:
			n = d.Tokens
		case *event.ModelAnswered:
			n = d.Tokens
		case *event.ToolFinished:
			n = d.Tokens
		default:
			continue
		}
		if size, ok := n.Get(); !ok || size <= 0 {
			t.Errorf("%s is not counted", ev.Data.Type())
		}
	}
	if l.spec.System[0].Tokens != 0 {
		t.Error("the caller's spec was changed")
	}
}

// Reads of one reply run side by side, at most eight at once, and what they
// return stands in the order of the calls.
func TestParallelReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids []string
		for _, c := range "abcdefghijkl" {
			ids = append(ids, string(c)+" look "+string(c))
		}
		l := newLab(t, call(ids...), say("done"))
		var running atomic.Int64
		release := make(chan struct{})
		l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			running.Add(1)
			<-release
			time.Sleep(time.Duration(c.ID[0]%5) * time.Second)
			return tool.Text("result of " + c.ID), nil
		})
		e := l.engine()
		done := make(chan *engine.Result, 1)
		go func() { done <- l.start(t.Context(), e) }()
		synctest.Wait()
		if n := running.Load(); n != 8 {
			t.Errorf("%d calls run at once", n)
		}
		close(release)
		if r := <-done; r.ToolCalls != 12 {
			t.Errorf("%d calls", r.ToolCalls)
		}
		body := string(l.model.sent()[1])
		at := 0
		for _, c := range "abcdefghijkl" {
			i := strings.Index(body, "result of "+string(c))
			if i < at {
				t.Errorf("the result of %c is missing or in the wrong place", c)
			}
			at = i
		}
	})
}

// Every command is started once and has one outcome, whatever else happens.
func (l *lab) checkOnce() {
	l.t.Helper()
	begun, ended := map[string]int{}, map[string]int{}
	for _, ev := range l.events() {
		switch d := ev.Data.(type) {
		case *event.ModelCalled:
			begun[d.ID]++
		case *event.ToolStarted:
			begun[d.ID]++
		}
		if ev.Command != "" {
			ended[ev.Command]++
		}
	}
	for id, n := range begun {
		if n != 1 {
			l.t.Errorf("command %s was started %d times\n%s", id, n, l.journal())
		}
	}
	for id, n := range ended {
		if n != 1 {
			l.t.Errorf("command %s has %d outcomes\n%s", id, n, l.journal())
		}
	}
}

// A run is refused before anything is written if it could not be carried out.
func TestRefusedAtTheStart(t *testing.T) {
	l := newLab(t, say("done"))
	l.tool("look", event.Read, returns("seen"))
	e := l.engine()
	for name, c := range map[string]struct {
		change func(*engine.Job)
		want   string
	}{
		"no id":    {func(j *engine.Job) { j.Run = "" }, "no id"},
		"no spec":  {func(j *engine.Job) { j.Spec = nil }, "Job.Spec"},
		"no tool":  {func(j *engine.Job) { j.Tools = nil }, `needs the tool "look"`},
		"no model": {func(j *engine.Job) { j.Model = nil }, "needs the model fake/m"},
	} {
		job := *l.ready()
		c.change(&job)
		if r, err := e.Start(t.Context(), &job); err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	for sum := range l.store.Runs(t.Context()) {
		t.Errorf("there is a run %s", sum.Run)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := e.Start(ended, l.ready()); err == nil || r != nil {
		t.Errorf("with an ended context: %v, %v", r, err)
	}
}

// A server that takes requests and then says nothing costs what the spec
// allows: each attempt its idle time, and the waits between them.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := reply{do: func(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
			select {
			case <-ctx.Done():
			case <-time.After(cmp.Or(req.Idle, model.DefaultIdle)):
			}
			return nil, &model.Error{Class: event.ClassTimeout, Message: "no byte"}
		}}
		l := newLab(t, silent)
		l.spec.Retry = event.RetrySpec{Tries: 3, Base: 500, Cap: 4_000, Idle: 60_000}
		begin := time.Now()
		r := l.start(t.Context(), l.engine())
		if r.Reason != event.ReasonModelError || !strings.Contains(r.Detail, "timeout after 3 attempts: no byte") {
			t.Errorf("result %+v", r)
		}
		if took := time.Since(begin); took < 3*time.Minute || took > 3*time.Minute+8*time.Second {
			t.Errorf("the run took %v, want 3 times a minute and two short waits", took)
		}
	})
}
