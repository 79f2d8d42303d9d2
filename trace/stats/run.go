package stats

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Run folds the events of one run into what a [Table] counts of it. It keeps what it
// has to know of the run's calls, not the run's texts. It is not safe for concurrent
// use.
type Run struct {
	id     string
	shared int64

	spec    *event.Spec
	version string
	origin  *event.Origin
	started int64 // when the run itself began: of a fork, when it was forked
	end     *event.RunFinished
	cause   event.Cause
	status  string
	damaged bool

	steps   int64
	counted int64                 // the number of the last step that was
	reply   reply                 // the last one
	asked   map[string]*modelCall // without outcome, by command id
	models  named[modelTotal]
	calls   map[string]*toolCall // by call id
	order   []*toolCall
	tools   named[toolTotal]
}

// modelCall is a call of a model under way.
type modelCall struct {
	model   string
	purpose event.Purpose
	step    int64
	own     bool
}

// reply is a reply that was not parsed yet.
type reply struct {
	id            string
	step          int64
	steps, paused bool // it may be a step; its provider goes on
}

// toolCall is a call of a tool.
type toolCall struct {
	tool  string
	own   bool
	final event.Status // of the last outcome, empty before there is one
	err   string
}

// Begin returns the fold of a run. The events up to and including shared, 0 for none,
// are those of the run that it was forked from, as [journal.Relative] says: they are
// read and not counted, since that run has paid for them. What the events themselves say
// of that counts, too.
func Begin(run string, shared int64) *Run {
	return &Run{id: run, shared: shared, asked: map[string]*modelCall{}, calls: map[string]*toolCall{}}
}

// Add folds the next event.
func (r *Run) Add(e *event.Event) {
	own := e.Seq > r.shared
	if own && r.started == 0 {
		r.started = e.Time
	}
	switch d := e.Data.(type) {
	case *event.RunStarted:
		r.spec, r.version = &d.Spec, Version(&d.Spec)
		if own { // a fork of what was recorded elsewhere is carried out here
			r.origin = d.Origin
		}
	case *event.RunResumed:
		if d.Fork != "" && e.Seq-1 > r.shared {
			r.forked(e)
		}
		if d.Models != nil && r.spec != nil {
			r.spec = r.spec.With(d.Models)
			if d.Models.Agent != nil {
				r.version = Version(r.spec)
			}
		}
	case *event.RunPaused:
		r.cause = d.Cause
	case *event.RunFinished:
		if r.end == nil {
			r.end = d
		}
	case *event.ModelCalled:
		r.asked[d.ID] = &modelCall{d.Model, d.Purpose, d.Step, own}
		if own && d.Attempt > 1 {
			r.models.at(d.Model).retries++
		}
	case *event.ModelAnswered:
		r.answered(d, own)
	case *event.ReplyParsed:
		r.step(d, own)
	case *event.ModelFailed:
		r.failed(d, own)
	case *event.CallJudged:
		r.call(d.Call, d.Tool, own)
	case *event.ToolStarted:
		r.call(d.Call, d.Tool, own)
		if own && d.Attempt > 1 {
			r.tools.at(r.tool(d.Tool)).retries++
		}
	case *event.ToolFinished:
		r.finished(d, own)
	}
}

// forked leaves out what came before: the journal says that another run has done and
// paid for it, whether or not the store has that run, or had it when this one came.
func (r *Run) forked(e *event.Event) {
	r.shared, r.started, r.origin = e.Seq-1, e.Time, nil
	r.steps, r.models, r.tools = 0, named[modelTotal]{}, named[toolTotal]{}
	for _, c := range r.asked { // order: each is set alike
		c.own = false
	}
	for _, c := range r.order {
		c.own = false
	}
}

// answered counts a reply.
func (r *Run) answered(d *event.ModelAnswered, own bool) {
	c := r.asked[d.ID]
	if c == nil {
		return
	}
	delete(r.asked, d.ID)
	r.reply = reply{d.ID, c.step, !c.purpose.Aside(), d.Finish == event.FinishPause}
	if !own {
		return
	}
	t := r.models.at(c.model)
	t.answered++
	if r.timed() {
		t.latency.add(d.Latency)
	}
	r.charge(t, c.model, &d.Usage)
}

// step counts a reply that is acted on. One that its provider goes on with is the same
// step as the next, and what the harness asks for itself is none.
func (r *Run) step(d *event.ReplyParsed, own bool) {
	if p := r.reply; own && p.id == d.ID && p.steps && p.step > r.counted && !(p.paused && len(d.Calls) == 0) {
		r.counted = p.step
		r.steps++
	}
}

// failed counts a call that gave no complete reply. One of which nothing had arrived,
// and whose server says nothing of its usage, was not charged.
func (r *Run) failed(d *event.ModelFailed, own bool) {
	c := r.asked[d.ID]
	delete(r.asked, d.ID)
	if c == nil || !own {
		return
	}
	t := r.models.at(c.model)
	t.failed++
	t.errors.at(string(d.Class)).n++
	if d.Usage != (message.Usage{}) || d.Partial != "" {
		r.charge(t, c.model, &d.Usage)
	}
}

// charge counts what a call took and cost.
func (r *Run) charge(t *modelTotal, model string, u *message.Usage) {
	t.tokens.add(u)
	t.cost.add(u, r.spec.Price(model))
}

// call takes note of a call.
func (r *Run) call(id, tool string, own bool) *toolCall {
	c := r.calls[id]
	if c == nil {
		c = &toolCall{tool: r.tool(tool), own: own}
		r.calls[id], r.order = c, append(r.order, c)
	}
	return c
}

// finished takes note of an outcome: the last one of a call counts. Time is taken of
// executions alone: what was answered from the journal or from another run's ledger
// was not executed, and would make a slow tool look fast.
func (r *Run) finished(d *event.ToolFinished, own bool) {
	c := r.call(d.Call, d.Tool, own)
	c.own, c.final, c.err = own, d.Status, d.ErrorType
	if own && d.ID != "" && d.Status != event.StatusIntercepted && r.timed() {
		r.tools.at(c.tool).latency.add(d.Latency)
	}
}

// timed reports whether it is known how long things took.
func (r *Run) timed() bool { return r.origin == nil || !r.origin.Untimed }

// tool returns the name under which a tool is counted: models call tools that nobody
// has offered, under any name.
func (r *Run) tool(name string) string {
	if r.spec == nil || len(r.spec.Tools) == 0 {
		return name
	}
	for i := range r.spec.Tools {
		if r.spec.Tools[i].Name == name {
			return name
		}
	}
	return NotOffered
}

// NotOffered stands for all tools that models have called and that were not offered.
const NotOffered = "(not offered)"

// settle counts what is left open when the last event was added.
func (r *Run) settle() {
	for _, c := range r.asked { // order: only counted, by model in the order of names
		if c.own {
			t := r.models.at(c.model)
			t.open++
			r.charge(t, c.model, &message.Usage{})
		}
	}
	clear(r.asked)
	for _, c := range r.order {
		if !c.own {
			continue
		}
		t := r.tools.at(c.tool)
		t.calls++
		t.statuses.at(string(c.final)).n++
		if c.err != "" && c.final != event.StatusSuccess && c.final != event.StatusIntercepted {
			t.errors.at(c.err).n++
		}
	}
	r.calls, r.order = nil, nil
}

// Model returns "provider/model" that the run asks, in the end; Agent the agent's
// name. Both are empty for a run that was killed before it began.
func (r *Run) Model() string {
	if r.spec == nil {
		return ""
	}
	return r.spec.Model
}

// Agent returns the name of the run's agent.
func (r *Run) Agent() string {
	if r.spec == nil {
		return ""
	}
	return r.spec.Agent
}

// Started returns when the run itself began, in Unix milliseconds, 0 if it has not.
// A fork began when it was forked.
func (r *Run) Started() int64 { return r.started }

// Imported reports whether another program carried the run out: its events were made
// of a recording, and not only those that it shares with the run it was forked from. Whether such runs are to be added up with others is the caller's to
// decide; how long things took is not counted where the recording has no times.
func (r *Run) Imported() bool { return r.origin != nil }
