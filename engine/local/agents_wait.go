package local

import (
	"fmt"
	"math"
	"strings"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
)

// rested returns what came of the run of an agent that has come to rest without an
// end: nothing, unless it is given up.
func (a *actor) rested(f *flight, c *loop.StartRun, err error) event.Data {
	if err != nil {
		f.below.why = err.Error()
	}
	if cause := f.ctx.Err(); cause == errCalledOff || cause == errOverdue {
		return a.e.admit(a.ctx, a.failed(f, asTool(c), a.givenUpBelow(f, c), alive))
	}
	return nil
}

// tellBelow passes on to the run of an agent what the machine wants of it.
func (a *actor) tellBelow(f *flight, c *loop.StartRun) {
	b := f.below
	switch {
	case b == nil:
	case c.Cancel && f.open:
		f = a.again(f) // it has paused, and has to finish
		f.ctx.end(errCalledOff)
		a.fly(f)
		a.end(f, errCalledOff)
	case c.Cancel:
		a.end(f, errCalledOff)
	case c.Stop:
		a.end(f, engine.ErrStop)
	case c.Pause && !f.open:
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.pause && b.child != nil {
			b.child.box.tell(wished)
		}
		b.pause = true
	}
}

// again returns a flight like one that has come to rest, in its place.
func (a *actor) again(f *flight) *flight {
	b := f.below
	n := &flight{cmd: f.cmd, id: f.id, rests: f.rests, pass: f.pass, limit: f.limit, spec: f.spec, pages: f.pages, kin: f.kin,
		below: &below{job: b.job, err: b.err, seq: math.MaxInt64}}
	if b.job != nil {
		job := *b.job
		job.Watch, n.below.job = a.watchBelow(n.below), &job
	}
	for i := range a.flights {
		if a.flights[i] == f {
			a.flights[i] = n
		}
	}
	return n
}

// restBelow stops the runs of agents, to be resumed with this run, and reports
// whether one has not come to rest yet.
func (a *actor) restBelow() (busy bool) {
	for _, f := range a.flights {
		if f.below != nil && f.flies() {
			a.end(f, engine.ErrStop)
			busy = true
		}
	}
	return busy
}

// pausing reports whether the machine has decided to pause.
func pausing(data []event.Data) bool {
	for _, d := range data {
		if _, ok := d.(*event.RunPaused); ok {
			return true
		}
	}
	return false
}

// moved takes up the runs of agents again that have come to rest and to which
// something was said since, such as an answer to what they had asked. It reports
// whether there was one.
func (a *actor) moved() (found bool) {
	for _, f := range a.flights {
		if f.below == nil || !f.open || f.dropped || f.state.Load() == left {
			continue
		}
		head, err := a.e.store.Head(a.ctx, f.cmd.(*loop.StartRun).Run)
		if err == nil && head.Seq > f.below.seq {
			a.fly(a.again(f))
			found = true
		}
	}
	return found
}

// waitsBelow completes a pause with what the runs of agents wait for.
func (a *actor) waitsBelow(p *event.RunPaused) {
	var why []string
	for _, f := range a.flights {
		if f.below == nil || f.dropped {
			continue
		}
		c := f.cmd.(*loop.StartRun)
		cause, what := a.restsFor(f)
		if rank(cause) > rank(p.Cause) {
			p.Cause = cause
		}
		why = append(why, fmt.Sprintf("run %s of the agent %s, for call %s: %s", c.Run, c.Agent, c.Call, what))
	}
	p.Why = a.e.redact(strings.Join(why, "; "))
}

// restsFor says why the run of an agent rests.
func (a *actor) restsFor(f *flight) (cause event.Cause, why string) {
	b := f.below
	switch {
	case f.state.Load() == left: // what it has noted is still its goroutine's
		return event.CauseInterrupted, "it was told to stop, and does not"
	case b.rest != nil && b.rest.Status == "paused":
		a.questions = append(a.questions, b.rest.Pending...)
		return b.rest.Cause, "it has paused (" + string(b.rest.Cause) + ")"
	case b.why != "":
		return event.CauseInterrupted, b.why
	}
	return event.CauseInterrupted, "it was stopped"
}

// rank orders the causes of pauses: whoever is asked for words is asked for most.
func rank(c event.Cause) int {
	switch c {
	case event.CauseWaitingInput:
		return 3
	case event.CauseWaitingApproval:
		return 2
	case "":
		return 0
	}
	return 1
}

// listenBelow shows what has happened in the runs of agents.
func (a *actor) listenBelow(f *flight) {
	for _, show := range f.below.mail.take() {
		show(a.watch)
	}
}

// patienceFor is how long a flight may go on after its context has ended.
func (a *actor) patienceFor(f *flight) time.Duration {
	if f.below == nil {
		return patience
	}
	return time.Duration(max(maxDepth-a.depth, 1)) * agentPatience
}
