package main

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/trace"
)

// looks are what the table of a run shows besides the trace's fields. The zero
// value is ready.
type looks struct {
	// steps is the step that the last model call was for.
	steps int64
	// asked has the model of each attempt as it was asked for, by the sequence
	// of its model.called; looked up only, as all maps here.
	asked map[int64]string
	// open are the attempts without an outcome, by command id; lost those whose
	// process had ended before there was one, by sequence.
	open map[string]int64
	lost map[int64]bool
	// reported is what the server called the model last.
	reported string
	// first is what a server called each model first, by the name that was asked for;
	// renamed what it said of an attempt where it has not always said the same, by
	// sequence.
	first   map[string]calledBy
	renamed map[int64]string
	calls   map[string]*callLook
}

// calledBy is what a server called the model of an attempt.
type calledBy struct {
	attempt int64
	model   string
}

// names notes what a server calls the model that an attempt was for. That it is not the
// name that was asked for says nothing; that it changes within a run does.
func (l *looks) names(attempt int64, model string) {
	asked := l.asked[attempt]
	first, seen := l.first[asked]
	switch {
	case attempt == 0:
		return
	case !seen:
		l.first[asked] = calledBy{attempt, model}
		return
	case model != first.model && l.renamed[first.attempt] == "":
		l.renamed[first.attempt] = first.model
	case l.renamed[first.attempt] == "":
		return
	}
	l.renamed[attempt] = model
}

// callLook is what is known of a call besides its row.
type callLook struct {
	args     string
	format   string // where it was found in the reply
	repairs  []string
	asked    bool
	decision event.Decision
	started  bool
	done     bool
}

func (l *looks) add(e *event.Event) {
	if l.calls == nil {
		l.first, l.renamed = map[string]calledBy{}, map[int64]string{}
		l.asked, l.open, l.lost, l.calls = map[int64]string{}, map[string]int64{}, map[int64]bool{}, map[string]*callLook{}
	}
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		l.steps = d.Step
		l.asked[e.Seq], l.open[d.ID] = d.Model, e.Seq
	case *event.ModelAnswered:
		if d.Model != "" {
			l.reported = d.Model
			l.names(l.open[d.ID], d.Model)
		}
		delete(l.open, d.ID)
	case *event.ModelFailed:
		delete(l.open, d.ID)
	case *event.ReplyParsed:
		for _, c := range d.Calls {
			l.calls[c.ID] = &callLook{args: c.Args, format: d.Format, repairs: kinds(c.Repairs)}
		}
	case *event.CallJudged:
		c := l.call(d.Call)
		if d.Args != "" {
			c.args = d.Args
		}
		c.repairs = append(c.repairs, kinds(d.Repairs)...)
	case *event.ApprovalAsked:
		l.call(d.Call).asked = true
	case *event.ApprovalGiven:
		l.call(d.Call).decision = d.Decision
	case *event.ToolStarted:
		l.call(d.Call).started = true
	case *event.ToolFinished:
		l.call(d.Call).done = true
	case *event.RunResumed:
		l.ended()
	}
}

// ended: the process that carried the run out is gone, and with it whatever it
// waited for.
func (l *looks) ended() {
	for id, seq := range l.open { // order: all of them go
		l.lost[seq] = true
		delete(l.open, id)
	}
}

func (l *looks) call(id string) *callLook {
	c := l.calls[id]
	if c == nil {
		c = &callLook{}
		l.calls[id] = c
	}
	return c
}

func kinds(repairs []event.Repair) []string {
	var out []string
	for _, r := range repairs {
		out = append(out, strings.ReplaceAll(r.Kind, "_", " "))
	}
	return out
}

// notes say what was not as it should be with a call, though it went well.
func (c *callLook) notes() []string {
	var out []string
	if c.format != "" && c.format != "native" {
		out = append(out, "written as text ("+strings.ReplaceAll(c.format, "_", " ")+")")
	}
	if len(c.repairs) > 0 {
		out = append(out, "arguments repaired ("+strings.Join(c.repairs, ", ")+")")
	}
	return out
}

// state says where a call without an outcome stands. alive: a process carries
// the run out.
func (c *callLook) state(call string, open []loop.Pending, alive bool) string {
	for _, p := range open {
		if p.Call == call && p.Settle {
			return "outcome unknown (" + call + ")"
		}
		if p.Call == call && p.Words {
			return "waits for an answer (" + call + ")"
		}
		if p.Call == call {
			return "waits for approval (" + call + ")"
		}
	}
	resumed := ", not yet resumed"
	if alive {
		resumed = ""
	}
	switch {
	case c.decision == event.Approved && !c.started:
		return "approved" + resumed
	case c.decision == event.Rejected:
		return "rejected" + resumed
	case c.decision == event.Done:
		return "settled as done" + resumed
	case c.decision == event.NotDone:
		return "settled as not done" + resumed
	case c.started && alive:
		return "running"
	case c.started:
		return lostText
	case c.asked:
		return "to be asked for"
	}
	return "not yet run"
}

// lostText stands for the outcome of what nobody waits for any more.
const lostText = "lost (process ended)"

// modelState says where a model call without an outcome stands.
func (l *looks) modelState(r *trace.Row) string {
	if l.lost[r.Event] {
		return lostText
	}
	return "no reply yet"
}
