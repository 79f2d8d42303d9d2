// Package logs answers: what does a run write into a log?
//
// An [Observer] turns each event of a run into one record of log/slog, with the run, the
// step and the event's number on every one, so that what many runs write at the same time
// can be told apart and found again in their journals:
//
//	agent, err := rein.New(client, &rein.Options{Observers: []rein.Observer{logs.New(logger, nil)}})
//
// What is logged at which level is one table ([Table]). What people, models and tools
// have said is not logged unless asked for; secrets are names in events already. There is
// no global logger.
package logs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/journal"
)

// MaxContent is the most bytes of an event's data that are logged; the journal has all.
const MaxContent = 16 << 10

// Options are settings. The zero value of each field is its default.
type Options struct {
	// Content logs the whole data of each event, up to MaxContent bytes, as the attribute
	// "data": also what was said, arguments and results.
	Content bool
	// Store is where runs are that were not observed from their beginning, for the number
	// of their step. Nil: it is 0 until a model is called.
	Store journal.Store
}

// Observer logs what happens. It is a rein.Observer, and safe for concurrent use.
type Observer struct {
	h slog.Handler
	o Options

	mu    sync.Mutex
	steps map[string]int64 // by run; looked up only
}

// New returns what logs to l. A nil *Options is the defaults.
func New(l *slog.Logger, o *Options) *Observer {
	x := &Observer{h: l.Handler(), steps: map[string]int64{}}
	if o != nil {
		x.o = *o
	}
	return x
}

// Begin notes nothing.
func (o *Observer) Begin(context.Context, string) string { return "" }

// Context returns ctx.
func (o *Observer) Context(ctx context.Context, _ string, _ int64, _ event.Type) context.Context {
	return ctx
}

// End forgets a run and those below it.
func (o *Observer) End(run string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range o.steps {
		if id == run || event.Top(id) == event.Top(run) {
			delete(o.steps, id)
		}
	}
}

// Event logs an event, at the time at which it happened. What the logger makes of it is
// the logger's business: an error of its handler is dropped.
func (o *Observer) Event(e event.Event) {
	step := o.step(&e)
	ctx := context.Background()
	row := rowOf(e.Data)
	level := row.levelOf(e.Data)
	if !o.h.Enabled(ctx, level) {
		return
	}
	r := slog.NewRecord(time.UnixMilli(e.Time), level, row.Message, 0)
	r.AddAttrs(slog.String("run", e.Run), slog.Int64("step", step), slog.Int64("seq", e.Seq), slog.String("event", string(e.Data.Type())))
	if row.attrs != nil {
		r.AddAttrs(row.attrs(e.Data)...)
	}
	if o.o.Content {
		r.AddAttrs(slog.String("data", clip(e.Data.AppendJSON(nil))))
	}
	_ = o.h.Handle(ctx, r)
}

// step returns the number of the step that an event belongs to.
func (o *Observer) step(e *event.Event) int64 {
	o.mu.Lock()
	step, known := o.steps[e.Run]
	o.mu.Unlock()
	if !known && e.Seq > 1 && o.o.Store != nil {
		for old, err := range o.o.Store.Read(context.Background(), e.Run, 1) {
			if err != nil || old.Seq >= e.Seq {
				break
			}
			step = stepAfter(step, old.Data)
		}
	}
	step = stepAfter(step, e.Data)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps[e.Run] = step
	return step
}

// stepAfter returns the step that an event belongs to, given that of the one before: a
// step begins when its request is put together.
func stepAfter(step int64, d event.Data) int64 {
	switch d := d.(type) {
	case *event.ContextAssembled:
		return d.Step
	case *event.ModelCalled:
		return d.Step
	}
	return step
}

// clip returns the beginning of a text.
func clip(text []byte) string {
	if len(text) <= MaxContent {
		return string(text)
	}
	return string(text[:cut.Down(text, MaxContent)]) + "…"
}
