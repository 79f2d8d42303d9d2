package rein

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"rein.example/rein/engine"
	"rein.example/rein/event"
)

// Observer is shown what happens in an agent's runs. Runs go on at the same time, so its
// methods are called from several goroutines at once; all must return soon. A panic in one
// is logged, once for each run, and touches neither the run nor other observers.
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

// observed returns a watch that shows a run to w, which may be nil, and to observers, the
// trace context of the caller, and what is to be called when the run has ended.
func observed(ctx context.Context, run string, w *engine.Watch, observers []Observer, log *slog.Logger) (_ *engine.Watch, parent string, end func()) {
	if len(observers) == 0 {
		return w, "", func() {}
	}
	var out engine.Watch
	if w != nil {
		out = *w
	}
	first := out.Event
	list := make([]guarded, len(observers))
	for i, o := range observers {
		list[i] = guarded{o: o, log: log, once: new(sync.Once)}
		parent = cmp.Or(parent, list[i].begin(ctx, run))
	}
	out.Event = func(e event.Event) {
		for _, o := range list {
			o.event(e)
		}
		if first != nil {
			first(e)
		}
	}
	out.Context = func(ctx context.Context, run string, seq int64, intent event.Type) context.Context {
		for _, o := range list {
			ctx = o.context(ctx, run, seq, intent)
		}
		return ctx
	}
	return &out, parent, func() {
		for _, o := range list {
			o.end(run)
		}
	}
}

// guarded calls an observer of one run, whose panics are its own affair.
type guarded struct {
	o    Observer
	log  *slog.Logger // may be nil
	once *sync.Once
}

func (g guarded) begin(ctx context.Context, run string) (parent string) {
	defer g.recover()
	return g.o.Begin(ctx, run)
}

func (g guarded) event(e event.Event) {
	defer g.recover()
	g.o.Event(e)
}

func (g guarded) context(ctx context.Context, run string, seq int64, intent event.Type) (out context.Context) {
	defer func() {
		if out == nil { // it panicked, or had none to give
			out = ctx
		}
	}()
	defer g.recover()
	return g.o.Context(ctx, run, seq, intent)
}

func (g guarded) end(run string) {
	defer g.recover()
	g.o.End(run)
}

func (g guarded) recover() {
	p := recover()
	if p == nil || g.log == nil {
		return
	}
	g.once.Do(func() {
		g.log.Error("an observer panicked; more panics of it in this run are not reported",
			slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	})
}
