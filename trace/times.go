package trace

import "rein.example/rein/event"

// Times says where a run's time has gone, in milliseconds. The parts don't overlap,
// and their sum is Wall: of things that go on at once, a model counts before tools,
// and these before a person who is asked.
type Times struct {
	// Wall is the time from the first event to the last. A fork's leaves out the time
	// between the last event that it shares and the one with which it goes on.
	Wall int64 `json:"wall_ms"`
	// Models is the time in which a model was at work, and Servers that of waiting for
	// a turn at its server and before another try.
	Models  int64 `json:"models_ms"`
	Servers int64 `json:"servers_ms"`
	// Tools is the time in which tools were at work, agents included.
	Tools int64 `json:"tools_ms"`
	// People is the time of waiting for a person: for an approval, an answer or the
	// next input.
	People int64 `json:"people_ms"`
	// Stopped is the time in which nobody carried the run out.
	Stopped int64 `json:"stopped_ms"`
	// Between is the rest: what the harness itself takes, retrieval and hooks.
	Between int64 `json:"between_ms"`
}

// clock attributes the time between events. Its zero value stands before the first.
type clock struct {
	times   Times
	now     int64
	began   bool
	paused  event.Cause
	models  map[string]bool // under way; only looked up and counted
	tools   map[string]bool
	asked   map[string]bool
	retries bool // a call of a model has failed, and may be tried again
}

// add takes the time up to an event, and notes what goes on after it.
func (c *clock) add(e *event.Event) {
	if !c.began {
		c.began, c.now = true, max(e.Time, 0)
		c.models, c.tools, c.asked = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	passed := max(e.Time-c.now, 0) // where a clock was set back nothing has passed
	c.now += passed
	if r, ok := e.Data.(*event.RunResumed); !ok || r.Fork == "" {
		*c.kind(e) += passed
		c.times.Wall += passed
	}
	c.note(e)
}

// kind returns what the time up to an event was spent with.
func (c *clock) kind(e *event.Event) *int64 {
	_, timer := e.Data.(*event.TimerFired)
	_, resumed := e.Data.(*event.RunResumed)
	t := &c.times
	switch {
	case c.paused == event.CauseInterrupted, resumed && c.paused == "":
		return &t.Stopped
	case c.paused != "":
		return &t.People
	case len(c.models) > 0:
		return &t.Models
	case len(c.tools) > 0:
		return &t.Tools
	case c.retries, timer:
		return &t.Servers
	case len(c.asked) > 0:
		return &t.People
	}
	return &t.Between
}

// note folds what goes on from an event on.
func (c *clock) note(e *event.Event) {
	retries := false
	switch d := e.Data.(type) {
	case *event.ModelCalled:
		c.models[d.ID] = true
	case *event.ModelAnswered:
		c.ended(d.ID, d.Waited)
	case *event.ModelFailed:
		c.ended(d.ID, d.Waited)
		retries = true
	case *event.ApprovalAsked:
		c.asked[d.Call] = true
	case *event.ApprovalGiven:
		delete(c.asked, d.Call)
	case *event.ToolStarted:
		c.tools[d.ID] = true
	case *event.ToolFinished:
		delete(c.tools, d.ID)
		delete(c.asked, d.Call)
	case *event.InputReceived:
		if c.paused == event.CauseTurnDone && d.Kind == event.InputText {
			c.paused = "" // it begins the next turn, with or without a resumption
		}
	case *event.RunPaused:
		c.paused = d.Cause
	case *event.RunResumed:
		c.paused = ""
		clear(c.models)
		clear(c.tools)
	}
	c.retries = retries
}

// ended folds the end of a model call, which has waited so long for its turn.
func (c *clock) ended(id string, waited int64) {
	if !c.models[id] {
		return
	}
	delete(c.models, id)
	waited = min(max(waited, 0), c.times.Models)
	c.times.Models -= waited
	c.times.Servers += waited
}
