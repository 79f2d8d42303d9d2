package simtest

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// maxResumes is how often a provider may pause a reply.
const maxResumes = 8

// budgetAudit checks that no limit is passed by more than the call that is under
// way when it is reached and the one that is set aside for the answer, and that a
// run has one end.
type budgetAudit struct {
	steps    int64
	finals   int64 // replies to the last call
	purpose  event.Purpose
	finish   event.Finish
	resumed  int             // times in a row that a provider was to go on with its reply
	executed map[string]bool // calls
	byTool   map[string]int64
	output   int64
	input    int64 // the first
	cost     message.Count
	model    string
	last     bool // the last call was prepared
	finished event.Reason

	started, pausedAt, away, before int64
	paused                          bool
	timeUp                          bool

	// worked is the time in which a model (asked) or a tool (busy) was at work.
	worked int64
	asked  bool
	busy   map[string]bool
}

// work adds the time since the event before, if something was at work.
func (b *budgetAudit) work(e *event.Event, now int64) {
	_, resumed := e.Data.(*event.RunResumed)
	if !resumed && !b.paused && (b.asked || len(b.busy) > 0) {
		b.worked += now - b.before
	}
	waited := int64(0)
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		b.asked = true
	case *event.ModelAnswered:
		b.asked, waited = false, d.Waited
	case *event.ModelFailed:
		b.asked, waited = false, d.Waited
	case *event.ToolStarted:
		if d.Run == "" {
			b.busy[d.ID] = true
		}
	case *event.ToolFinished:
		delete(b.busy, d.ID)
		if d.Spent != nil {
			b.worked += d.Spent.Work
		}
	}
	if b.worked = max(b.worked-waited, 0); resumed {
		b.asked = false
		clear(b.busy)
	}
}

func (b *budgetAudit) add(a *audit, e *event.Event) {
	if b.executed == nil {
		b.executed, b.byTool, b.busy, b.cost = map[string]bool{}, map[string]int64{}, map[string]bool{}, message.Known(0)
	}
	now := max(e.Time, b.before)
	b.work(e, now)
	switch d := e.Data.(type) {
	case *event.RunStarted:
		b.started = e.Time
	case *event.ContextAssembled:
		b.assembled(a, d)
	case *event.ModelCalled:
		b.purpose, b.model = d.Purpose, d.Model
		if b.last && d.Purpose != event.PurposeFinal {
			a.fail("the model is called for a %s after the last call", d.Purpose)
		}
		if b.timeUp && d.Purpose == event.PurposeStep {
			a.fail("a step is begun although the time is used up")
		}
		if l := a.m.Spec().Limits.Work; l > 0 && b.worked >= l && d.Purpose == event.PurposeStep {
			a.fail("a model is called for a step after %d ms at work, and the limit is %d", b.worked, l)
		}
	case *event.ModelAnswered:
		b.output += d.Usage.Output.Or(d.Tokens.Or(0))
		b.spend(a, &d.Usage)
		b.finish = d.Finish
	case *event.ModelFailed:
		if d.Usage != (message.Usage{}) || d.Partial != "" {
			b.spend(a, &d.Usage)
		}
	case *event.ReplyParsed:
		if b.finish != event.FinishPause || len(d.Calls) > 0 || b.purpose != event.PurposeStep {
			b.resumed = 0
		} else if b.resumed++; b.resumed <= maxResumes {
			a.h.paused++
			break // the reply goes on
		}
		switch b.purpose {
		case event.PurposeStep:
			b.steps++
		case event.PurposeFinal:
			if b.finals++; b.finals > 1 {
				a.fail("there is a second last reply")
			}
		}
	case *event.ToolStarted:
		b.toolStarted(a, d)
	case *event.TimerFired:
		l := a.m.Spec().Limits.Wall
		b.timeUp = b.timeUp || l > 0 && e.Time >= b.started+b.away+l
	case *event.RunPaused:
		b.paused, b.pausedAt = true, now
	case *event.RunResumed:
		if !b.paused {
			b.pausedAt = b.before
		}
		b.away += now - b.pausedAt
		b.paused = false
	case *event.RunFinished:
		b.finished = d.Reason
	}
	b.before = now
}

// assembled checks that a step is only prepared while there is something left.
func (b *budgetAudit) assembled(a *audit, d *event.ContextAssembled) {
	l := a.m.Spec().Limits
	switch {
	case d.Purpose == event.PurposeFinal:
		b.last = true
		return
	case d.Purpose != event.PurposeStep:
	case b.last:
		a.fail("a step is prepared after the last call")
	case l.Steps > 0 && b.steps >= l.Steps:
		a.fail("step %d is prepared, and the limit is %d", b.steps+1, l.Steps)
	case l.ToolCalls > 0 && int64(len(b.executed)) >= l.ToolCalls:
		a.fail("a step is prepared after %d tool calls, and the limit is %d", len(b.executed), l.ToolCalls)
	case l.Tokens > 0 && b.output+b.input >= l.Tokens:
		a.fail("a step is prepared after at least %d tokens, and the limit is %d", b.output+b.input, l.Tokens)
	case l.Cost > 0 && b.cost.Or(l.Cost) >= l.Cost:
		a.fail("a step is prepared after a cost of %v, and the limit is %d", b.cost, l.Cost)
	case b.timeUp:
		a.fail("a step is prepared although the time is used up")
	case l.Work > 0 && b.worked >= l.Work:
		a.fail("a step is prepared after %d ms at work, and the limit is %d", b.worked, l.Work)
	}
	if b.input == 0 {
		b.input = d.Tokens
	}
}

// spend adds what a call has cost; one that is unknown makes the sum unknown.
func (b *budgetAudit) spend(a *audit, u *message.Usage) {
	c, ok := u.Cost(a.m.Spec().Price(b.model))
	if !ok {
		b.cost = message.Count(0)
		return
	}
	b.cost = b.cost.Add(message.Known(c.Total()))
}

// toolStarted checks that a call is only carried out while there is something
// left. What the harness asks by itself is not the model's to pay for.
func (b *budgetAudit) toolStarted(a *audit, d *event.ToolStarted) {
	if d.For != "" {
		return
	}
	if !b.executed[d.Call] {
		b.executed[d.Call] = true
		b.byTool[d.Tool]++
	}
	l := a.m.Spec().Limits
	if n := int64(len(b.executed)); l.ToolCalls > 0 && n > l.ToolCalls {
		a.fail("this is tool call %d, and the limit is %d", n, l.ToolCalls)
	}
	if t := a.toolSpec(d.Tool); t != nil && t.MaxCalls > 0 && b.byTool[d.Tool] > t.MaxCalls {
		a.fail("this is call %d of %s, and its limit is %d", b.byTool[d.Tool], d.Tool, t.MaxCalls)
	}
	if b.last {
		a.fail("call %s is carried out after the last request", d.Call)
	}
	if b.timeUp && (d.Run == "" || d.Attempt == 1) { // a run below has to come to its end
		a.fail("call %s is begun although the time is used up", d.Call)
	}
	if l.Work > 0 && b.worked >= l.Work && (d.Run == "" || d.Attempt == 1) {
		a.fail("call %s is begun after %d ms at work, and the limit is %d", d.Call, b.worked, l.Work)
	}
}
