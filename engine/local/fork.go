package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/window"
)

// ErrNothingLeft: a run would be over at once.
var ErrNothingLeft = errors.New("nothing is left to do there: say something, or fork it earlier")

// mixedMargin is the margin, in parts per million, of a run of which some was counted
// with another model's tokenizer than that which is asked now: that of a foreign one.
const mixedMargin = 650_000

// Fork makes a run of the beginning of another and carries it on; see [engine.Engine].
func (e *Engine) Fork(ctx context.Context, from string, at int64, job *engine.Job) (*engine.Result, error) {
	models, err := e.mayFork(ctx, from, at, job)
	if err != nil {
		return nil, fmt.Errorf("fork run %s after event %d: %w", from, at, err)
	}
	a, err := e.enter(ctx, job)
	if err != nil {
		return nil, err
	}
	defer e.leave(a)
	return a.carryOut(func() error { return a.fork(from, at, models) })
}

// mayFork finds out whether something can be done with a fork, before there is one,
// and returns the change of models that it begins with, nil for none.
func (e *Engine) mayFork(ctx context.Context, from string, at int64, job *engine.Job) (*event.ModelChange, error) {
	m, err := e.until(ctx, from, at, job.Run)
	if err != nil {
		return nil, err
	}
	if m.Status().Status == "finished" {
		return nil, fmt.Errorf("the run has come to its end there (%s): fork it earlier", m.Status().Reason)
	}
	models, err := e.changes(ctx, m, job.Models)
	if err != nil {
		return nil, err
	}
	first := &event.RunResumed{Fork: from, Models: models}
	if err := m.Apply(&event.Event{Run: job.Run, Seq: at + 1, Data: first}); err != nil {
		return nil, err
	}
	if err := check(job, m.Spec()); err != nil {
		return nil, err
	}
	if models != nil {
		if err := preflight(m.Spec()); err != nil {
			return nil, err
		}
	}
	if len(job.Input) > 0 {
		if err := m.Apply(&event.Event{Run: job.Run, Seq: at + 2, Data: &event.InputReceived{Kind: event.InputText, Parts: job.Input}}); err != nil {
			return nil, err
		}
	}
	if models != nil && models.Agent != nil && m.Idle() {
		return nil, fmt.Errorf("the conversation ends there with an answer: %w", ErrNothingLeft)
	}
	if next := m.Next(); len(next) > 0 {
		if end, ok := next[0].(*loop.Finish); ok {
			return nil, fmt.Errorf("it ends there (%s): %w", end.Data.Reason, ErrNothingLeft)
		}
	}
	return models, nil
}

// until folds a run's events up to and including one, as those of another.
func (e *Engine) until(ctx context.Context, run string, at int64, as string) (*loop.Machine, error) {
	m := loop.New(as)
	for ev, err := range e.store.Read(ctx, run, 1) {
		if torn(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if ev.Seq > at {
			break
		}
		if err := m.Apply(&ev); err != nil {
			return nil, fmt.Errorf("its journal cannot be followed: %w", err)
		}
	}
	if at < 1 || m.Seq() < at {
		return nil, fmt.Errorf("it has events 1 to %d", m.Seq())
	}
	return m, nil
}

// changes returns what a fork of a run begins with, nil for nothing: another agent of
// one that another program has recorded, else other models.
func (e *Engine) changes(ctx context.Context, m *loop.Machine, c *event.ModelChange) (*event.ModelChange, error) {
	if m.Recorded() == nil {
		return e.modelsOf(m.Spec(), c), nil
	}
	if c == nil || c.Agent == nil {
		return nil, errors.New("another program has recorded it, so that it has no agent to go on with: set Job.Models with an Agent")
	}
	if !m.BetweenSteps() {
		return nil, fmt.Errorf("calls of step %d have no outcome in the recording: fork it after step %d", m.Steps(), m.Steps()-1)
	}
	started := &event.RunStarted{Spec: *c.Agent}
	spec, st := &started.Spec, m.Status()
	if spec.Limits.Steps > 0 {
		spec.Limits.Steps += st.Steps
	}
	if spec.Limits.ToolCalls > 0 {
		spec.Limits.ToolCalls += st.ToolCalls
	}
	spec.Window = mixed(spec.Window, m.Spec())
	e.admit(ctx, started) // as that of a run that begins
	return &event.ModelChange{Model: spec.Model, Fallback: spec.Fallback, Prices: spec.Prices, Calling: spec.Calling, Window: spec.Window,
		Sampling: spec.Sampling, Config: spec.Config, BaseDir: spec.BaseDir, Agent: spec}, nil
}

// mixed returns a window of a run of which some was counted as another spec has it.
func mixed(w event.WindowSpec, before *event.Spec) event.WindowSpec {
	if w.Tokenizer != before.Window.Tokenizer {
		w.Margin, w.Tokenizer = min(w.Margin, mixedMargin), ""
	}
	return w
}

// modelsOf returns a change of models as it is recorded, nil if it changes nothing. Of
// the window it changes the size and how it is counted; what is done when it is nearly
// full stays the run's.
func (e *Engine) modelsOf(spec *event.Spec, c *event.ModelChange) *event.ModelChange {
	if c == nil || c.Model == spec.Model && slices.Equal(c.Fallback, spec.Fallback) {
		return nil
	}
	out := *c
	out.Fallback, out.Prices, out.Calling = slices.Clone(c.Fallback), slices.Clone(c.Prices), slices.Clone(c.Calling)
	out.Agent, out.Window = nil, spec.Window
	out.Window.Size, out.Window.Reserve = c.Window.Size, c.Window.Reserve
	counted := mixed(c.Window, spec)
	out.Window.Margin, out.Window.Tokenizer = counted.Margin, counted.Tokenizer
	e.guarded(func() {
		for i := range out.Calling {
			if text := window.Calling(out.Calling[i].Dialect, spec.Tools); text != "" {
				out.Calling[i].Tokens = message.Known(int64(e.counter.Count(text)))
			}
		}
	})
	return &out
}

// fork makes the journal of the run, and says in it what it is.
func (a *actor) fork(from string, at int64, models *event.ModelChange) error {
	if err := a.e.store.Fork(a.ctx, a.e.lease, from, at, a.job.Run); err != nil {
		return err
	}
	a.owned = true
	if err := a.fold(nil); err != nil {
		return err
	}
	if err := a.plant(); err != nil {
		return err
	}
	head, err := a.e.store.Head(a.ctx, a.job.Run)
	if err != nil {
		return err
	}
	first := &event.RunResumed{Generation: head.Generation, By: a.e.lease.Owner.Name, Fork: from, Models: models, Traceparent: a.job.Traceparent}
	if models == nil || models.Agent == nil { // whose tools are as they are now
		first.Changed = a.changed()
	}
	if err := a.keep(a.e.admit(a.ctx, first)); err != nil {
		return err
	}
	return a.input()
}
