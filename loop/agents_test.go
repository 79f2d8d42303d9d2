package loop_test

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
)

// startRun appends the intent to have a call carried out by a run of its own. At most
// eight go on at once, whatever is outstanding.
func (s *script) startRun(c *loop.StartRun) bool {
	s.say("started", command(c))
	if was, again := s.keys[c.Call]; again && was != c.Key {
		s.t.Errorf("call %s is taken up again under another key", c.Call)
	}
	if was, again := s.children[c.Call]; again && was != c.Run {
		s.t.Errorf("call %s is taken up again by run %s, not %s", c.Call, c.Run, was)
	}
	s.keys[c.Call], s.children[c.Call] = c.Key, c.Run
	s.add("", &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, Run: c.Run})
	return true
}

// ended is what came of a run below: result CALL [status=…] [error=TYPE] [no_effect]
// [steps=N] [calls=N] [used=N] [work=MS] [cost=MICROS].
func (s *script) ended(d *datadriven.TestData, r *loop.StartRun) {
	f := &event.ToolFinished{ID: r.ID, Call: r.Call, Tool: r.Tool, Status: event.Status(arg(d, "status", "success")), ErrorType: arg(d, "error", ""),
		Parts: filled(d, "[rein: run "+r.Run+"]\n"+d.Input), Tokens: count(d, "tokens", 15), NoEffect: d.HasArg("no_effect"), Retryable: d.HasArg("retryable")}
	if f.Status != event.StatusSuccess {
		f.ErrorMessage = d.Input
	}
	f.Spent = &event.Spent{Steps: number(d, "steps", 1), ToolCalls: number(d, "calls", 0), Tokens: number(d, "used", 100), Work: number(d, "work", 0),
		Cost: count(d, "cost", 0), Usage: message.Usage{Input: message.Known(90), Output: message.Known(10)}}
	s.add(r.ID, f)
}

// parked prints what the run waits for while the runs of these calls have paused.
func (s *script) parked(d *datadriven.TestData) {
	var ids []string
	for _, c := range s.m.Next() {
		for _, a := range d.CmdArgs {
			if r, ok := c.(*loop.StartRun); ok && r.Call == a.Key {
				ids = append(ids, r.ID)
			}
		}
	}
	cause, waits := s.m.Waiting(ids...)
	s.say("parked,", strings.TrimSpace(fmt.Sprintf("waits %v %s", waits, cause)))
}

// startedRun renders a StartRun without its id.
func startedRun(c *loop.StartRun) string {
	s := fmt.Sprintf("run %s(%s) %s as %s", c.Tool, c.Call, c.Effect, c.Run)
	if c.Attempt > 1 {
		s += fmt.Sprintf(", attempt %d", c.Attempt)
	}
	l := c.Limits
	for _, b := range []struct {
		n    int64
		what string
	}{{l.Steps, "steps"}, {l.ToolCalls, "calls"}, {l.Tokens, "tokens"}, {l.Cost, "micros"}, {l.Wall, "ms"}, {l.Work, "ms of work"}} {
		if b.n > 0 {
			s += fmt.Sprintf(", %d %s", b.n, b.what)
		}
	}
	for _, f := range []struct {
		set  bool
		what string
	}{{c.Pause, "pause"}, {c.Stop, "stop"}, {c.Cancel, "cancel"}} {
		if f.set {
			s += ", " + f.what
		}
	}
	return s
}
