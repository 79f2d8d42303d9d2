package prometheus

import (
	"context"
	"strconv"
	"sync"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// mostWaiting is how many paused runs are told apart, by their ids; what pauses beyond
// that is not in rein_runs_waiting.
const mostWaiting = 100_000

// notOffered stands for all tools that models have called and that were not offered.
const notOffered = "(not offered)"

// run is what is known of a run while it is carried out.
type run struct {
	mu    sync.Mutex
	id    string
	below string // "true" if it carries out a call of another

	spec   *event.Spec
	agent  string
	tools  map[string]bool
	asked  map[string]modelCall    // without outcome, by command id
	after  map[string]event.Status // the last outcome of calls, by call id
	failed event.ErrorClass        // of the last attempt
	reply  parsing
	step   int64 // the last that counts
}

// modelCall is a call of a model under way.
type modelCall struct {
	model string
	step  int64
	steps bool // its reply may be a step
}

// parsing is a reply that was not read yet.
type parsing struct {
	modelCall
	id     string
	paused bool
}

// Begin says that a run is about to be carried out.
func (m *Metrics) Begin(_ context.Context, run string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active[run] = true
	return ""
}

// Context returns ctx.
func (m *Metrics) Context(ctx context.Context, _ string, _ int64, _ event.Type) context.Context {
	return ctx
}

// End says that a run has paused or finished, or cannot go on.
func (m *Metrics) End(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.active, run)
	for id := range m.runs {
		if id == run || event.Top(id) == event.Top(run) {
			delete(m.runs, id)
		}
	}
}

// Event counts what has happened. Of a run whose beginning was not observed the store is
// asked for that, once.
func (m *Metrics) Event(e event.Event) {
	m.mu.Lock()
	r := m.runs[e.Run]
	first := r == nil
	if first {
		_, below := event.Above(e.Run)
		r = &run{id: e.Run, below: strconv.FormatBool(below), asked: map[string]modelCall{}, after: map[string]event.Status{}}
		m.runs[e.Run] = r
	}
	m.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if first && e.Seq > 1 && m.store != nil {
		m.past(r, e.Seq)
	}
	m.count(r, &e)
	r.fold(&e)
}

// past folds what was in a run's journal before an event. What cannot be read stays
// unknown.
func (m *Metrics) past(r *run, before int64) {
	for e, err := range m.store.Read(context.Background(), r.id, 1) {
		if err != nil || e.Seq >= before {
			return
		}
		r.fold(&e)
	}
}

// fold keeps what is needed to count what comes later.
func (r *run) fold(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		r.spec, r.agent, r.tools = &d.Spec, d.Spec.Agent, map[string]bool{}
		for i := range d.Spec.Tools {
			r.tools[d.Spec.Tools[i].Name] = true
		}
	case *event.RunResumed:
		if d.Models != nil && r.spec != nil {
			r.spec = r.spec.With(d.Models)
		}
	case *event.ModelCalled:
		r.asked[d.ID] = modelCall{d.Model, d.Step, !d.Purpose.Aside()}
	case *event.ModelAnswered:
		r.reply = parsing{r.asked[d.ID], d.ID, d.Finish == event.FinishPause}
		delete(r.asked, d.ID)
	case *event.ModelFailed:
		r.failed = d.Class
		delete(r.asked, d.ID)
	case *event.ReplyParsed:
		if r.acts(d) {
			r.step = r.reply.step
		}
	case *event.ToolFinished:
		r.after[d.Call] = d.Status
	}
}

// acts reports whether a reply is a step: the harness has not asked for it for itself,
// and its provider does not go on with it.
func (r *run) acts(d *event.ReplyParsed) bool {
	p := &r.reply
	return p.id == d.ID && p.steps && p.step > r.step && !(p.paused && len(d.Calls) == 0)
}

// count counts an event of a run, before it is folded.
func (m *Metrics) count(r *run, e *event.Event) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		m.add(runsStarted, 1, d.Spec.Agent, "new", r.below)
	case *event.RunResumed:
		how := "resumed"
		if d.Fork != "" {
			how = "forked"
		}
		m.add(runsStarted, 1, r.agent, how, r.below)
		m.wait(e.Run, "")
	case *event.RunPaused:
		m.add(runsPaused, 1, r.agent, string(d.Cause), r.below)
		m.wait(e.Run, d.Cause)
	case *event.RunFinished:
		m.add(runsFinished, 1, r.agent, string(d.Reason), strconv.FormatBool(d.OK), strconv.FormatBool(d.BestEffort), r.below)
		m.wait(e.Run, "")
	case *event.ContextCompacted:
		m.add(compactions, 1, d.Strategy)
		m.add(compactedTokens, max(d.Before-d.After, 0), d.Strategy)
	case *event.ModelCalled, *event.ModelAnswered, *event.ModelFailed, *event.ReplyParsed:
		m.model(r, d)
	case *event.CallJudged, *event.ToolStarted, *event.ToolFinished, *event.ApprovalAsked, *event.ApprovalGiven:
		m.call(r, d)
	case *event.NoticeAdded:
		m.add(notices, 1, d.Kind)
	}
}

// model counts what happens between a run and its models.
func (m *Metrics) model(r *run, d event.Data) {
	switch d := d.(type) {
	case *event.ModelCalled:
		if d.Attempt > 1 {
			m.add(retries, 1, "model", orLost(string(r.failed)))
		}
	case *event.ModelAnswered:
		m.charge(r, r.asked[d.ID].model, &d.Usage)
	case *event.ModelFailed:
		m.add(modelErrors, 1, r.asked[d.ID].model, string(d.Class))
		if d.Usage != (message.Usage{}) || d.Partial != "" { // else nothing was charged
			m.charge(r, r.asked[d.ID].model, &d.Usage)
		}
	case *event.ReplyParsed:
		if r.acts(d) {
			m.add(steps, 1, r.agent)
		}
		for i := range d.Calls {
			m.repaired(d.Calls[i].Repairs)
		}
	}
}

// call counts what happens between a run, its tools and people.
func (m *Metrics) call(r *run, d event.Data) {
	switch d := d.(type) {
	case *event.CallJudged:
		m.add(callsJudged, 1, string(d.Verdict))
		m.repaired(d.Repairs)
	case *event.ToolStarted:
		if d.Attempt > 1 {
			m.add(retries, 1, "tool", orLost(string(r.after[d.Call])))
		}
	case *event.ToolFinished:
		name := d.Tool
		if len(r.tools) > 0 && !r.tools[name] {
			name = notOffered
		}
		m.add(toolOutcomes, 1, name, string(d.Status))
	case *event.ApprovalAsked:
		about := "call"
		if d.Settle {
			about = "outcome"
		} else if d.Words {
			about = "words"
		}
		m.add(approvalsAsked, 1, about)
	case *event.ApprovalGiven:
		m.add(approvalsGiven, 1, string(d.Decision))
	}
}

// orLost names what an attempt came to; one without an outcome was lost with its process.
func orLost(outcome string) string {
	if outcome == "" {
		return "lost"
	}
	return outcome
}

// charge counts a call whose cost is unknown.
func (m *Metrics) charge(r *run, model string, u *message.Usage) {
	if _, ok := u.Cost(r.spec.Price(model)); !ok {
		m.add(costUnknown, 1, model)
	}
}

func (m *Metrics) repaired(list []event.Repair) {
	for _, x := range list {
		m.add(repairs, 1, x.Kind, strconv.FormatBool(x.Lossy))
	}
}

// wait takes note of what a run waits for; empty: nothing.
func (m *Metrics) wait(run string, cause event.Cause) {
	if _, below := event.Above(run); below {
		return // the one above it waits
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if cause == "" {
		delete(m.waiting, run)
	} else if len(m.waiting) < mostWaiting {
		m.waiting[run] = cause
	}
}
