package simtest

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/schema"
)

// ledgerAudit checks that a once act is not begun again unless it is known that it
// was not done.
type ledgerAudit struct {
	acts map[string]*ledgerLine // by key
	runs map[string]*loop.RunTool
}

// ledgerLine is a once act that has begun.
type ledgerLine struct {
	call, tool string
	args       jsontext.Value
	released   bool
	// abandoned: it may be going on; ended: it is not. denied is when its confirm
	// tool first said that it was not done.
	abandoned, ended bool
	denied           int64
}

func (g *ledgerAudit) init() {
	g.acts, g.runs = map[string]*ledgerLine{}, map[string]*loop.RunTool{}
}

func (g *ledgerAudit) add(a *audit, e *event.Event, next []loop.Command) {
	switch d := e.Data.(type) {
	case *event.ToolStarted:
		run := execution(next, d.ID)
		if run == nil {
			return
		}
		copied := run.RunTool
		g.runs[d.ID] = &copied
		if d.Run != "" && d.Attempt > 1 {
			return // the run that carries it out goes on: it is not begun again
		}
		if d.Effect == event.Once && d.For == "" {
			if l := g.acts[d.Key]; l != nil && !l.released {
				a.fail("the once call %s is carried out again (key %s) although it may have been done by %s", d.Call, d.Key, l.call)
			}
			g.acts[d.Key] = &ledgerLine{call: d.Call, tool: d.Tool, args: copied.Args}
		}
	case *event.ToolFinished:
		if run := g.runs[d.ID]; run != nil {
			g.finished(a, e, d, run)
		}
	case *event.ApprovalGiven:
		if d.Decision == event.NotDone {
			g.notDone(a, d)
		}
	}
}

// finished notes what an outcome says of acts.
func (g *ledgerAudit) finished(a *audit, e *event.Event, d *event.ToolFinished, run *loop.RunTool) {
	if l := g.acts[run.Key]; l != nil && run.For == "" {
		l.released = l.released || d.Status == event.StatusError && d.NoEffect
		l.abandoned, l.ended = d.ErrorType == "abandoned", d.Ended
	}
	done, ok := schema.BoolField(d.Result, "done")
	if !ok || done || d.Status != event.StatusSuccess {
		return
	}
	for _, l := range g.acts { // order: each by itself
		spec := a.toolSpec(l.tool)
		if spec.Confirm != run.Tool || run.For != "" && run.For != l.call || run.For == "" && !schema.Agree(run.Args, l.args) || l.abandoned {
			continue
		}
		if l.denied == 0 {
			l.denied = e.Time
		}
		wait := settles(time.Duration(spec.Timeout) * time.Millisecond)
		l.released = l.released || l.ended || e.Time-l.denied >= wait.Milliseconds()
	}
}

// notDone notes that a person says so of a call, or of what one asks for again.
func (g *ledgerAudit) notDone(a *audit, d *event.ApprovalGiven) {
	for _, l := range g.acts { // order: each by itself
		l.released = l.released || l.call == d.Call
	}
	for _, q := range a.m.Status().Pending {
		if !q.Settle || q.Call != d.Call || q.Hash != d.Hash {
			continue
		}
		for _, l := range g.acts { // those of the tool: which of them has the key is the machine's to know
			l.released = l.released || l.tool == q.Tool
		}
	}
}
