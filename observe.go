package rein

import (
	"cmp"
	"context"

	"rein.example/rein/engine"
	"rein.example/rein/event"
)

// Observer is shown what happens in an agent's runs. Runs go on at the same time, so its
// methods are called from several goroutines at once; all must return soon.
type Observer interface {
	// Begin is called before a run is carried out (started, resumed or forked), with the
	// caller's context. It returns the W3C trace context of the caller, for the journal,
	// or nothing.
	Begin(ctx context.Context, run string) (traceparent string)
	// Event gets each event of the run, in order, and each of the runs below that carry
	// out its calls of agents.
	Event(e event.Event)
	// Context returns the context in which a call of a model or a tool is carried out: ctx,
	// or one derived from it. seq is the event that announces the call, a model.called or
	// a tool.started; Event may not have got it yet.
	Context(ctx context.Context, run string, seq int64, intent event.Type) context.Context
	// End is called when the run has paused or finished, or cannot go on. No event of it
	// comes after, unless it is carried out again.
	End(run string)
}

// observed returns a watch that shows a run to w, which may be nil, and to observers,
// and the trace context of the caller. A panic of one is seen to by the engine.
func observed(ctx context.Context, run string, w *engine.Watch, observers []Observer) (*engine.Watch, string) {
	if len(observers) == 0 {
		return w, ""
	}
	var out engine.Watch
	if w != nil {
		out = *w
	}
	parent, first := "", out.Event
	for _, o := range observers {
		parent = cmp.Or(parent, o.Begin(ctx, run))
	}
	out.Event = func(e event.Event) {
		for _, o := range observers {
			o.Event(e)
		}
		if first != nil {
			first(e)
		}
	}
	out.Context = func(ctx context.Context, run string, seq int64, intent event.Type) context.Context {
		for _, o := range observers {
			ctx = o.Context(ctx, run, seq, intent)
		}
		return ctx
	}
	return &out, parent
}
