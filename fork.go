package rein

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// ForkPoint says how much of a run a fork of it has. The zero value is all that there
// is, but for the end of a run that has finished.
type ForkPoint struct {
	steps, event int64
	by           byte
}

const (
	bySteps byte = iota + 1
	byEvent
)

// AfterStep is the point at which a run's first n steps are done, and what became of
// the last of them is decided; the fork makes step n+1 anew. With 0 it has the task
// alone.
func AfterStep(n int64) ForkPoint { return ForkPoint{steps: n, by: bySteps} }

// AfterEvent is the point after an event of the run's journal, whatever goes on there:
// of calls that had begun and have no outcome by then, nobody knows what became.
func AfterEvent(seq int64) ForkPoint { return ForkPoint{event: seq, by: byEvent} }

// Fork returns a new run that begins like an existing one and goes its own way from a
// point on: with the model of this agent, which may be another than the run's, and
// with what it is told there, if input is not empty. The agent needs the run's tools.
// The run is not touched, and may go on meanwhile.
//
// The two share the history, which is not copied, and what was used. They share the
// ledger, too, with all other forks: what must not be done twice, and the other has
// done, is not done again; its outcome is told. Everything else is done anew, live.
//
// A conversation that another program has recorded has neither tools nor rules to go on
// with: of such a run the fork has those of this agent, and its limits count from there.
func (a *Agent) Fork(ctx context.Context, run string, at ForkPoint, input string) *Run {
	r := a.Resume(ctx, NewRunID(time.Now()))
	r.from, r.at = run, at
	if r.job.Models = a.asks(); r.err == nil {
		r.job.Models.Agent, r.err = a.spec(false)
	}
	if !utf8.ValidString(input) {
		r.err = errors.New("the input is not valid UTF-8 text: convert it first")
	}
	if at.by == bySteps && at.steps < 0 || at.by == byEvent && at.event < 1 {
		r.err = errors.New("there is no such point: steps count from 0, which is before the first, and events from 1")
	}
	if input != "" {
		r.job.Input = []message.Part{{Kind: message.Text, Text: input}}
	}
	return r
}

// fork carries out a run that is a fork.
func (r *Run) fork(ctx context.Context, job *engine.Job) (*Result, error) {
	at := r.at.event
	if r.at.by != byEvent {
		steps := int64(-1)
		if r.at.by == bySteps {
			steps = r.at.steps
		}
		var err error
		if at, err = engine.ForkPoint(ctx, r.agent.store, r.from, steps); err != nil {
			return nil, err
		}
	}
	return r.agent.engine.Fork(ctx, r.from, at, job)
}

// asks says which models the agent asks, and how.
func (a *Agent) asks() *event.ModelChange {
	c := &event.ModelChange{Model: a.models[0].Info().Name(), Calling: a.calls, Window: a.opts.windowSpec(a.models, a.counting),
		Sampling: a.opts.Sampling, Config: a.opts.Config, BaseDir: a.opts.BaseDir}
	for i, m := range a.models {
		info := m.Info()
		if i > 0 {
			c.Fallback = append(c.Fallback, info.Name())
		}
		if info.Price != nil {
			c.Prices = append(c.Prices, event.ModelPrice{Model: info.Name(), Price: *info.Price})
		}
	}
	return c
}
