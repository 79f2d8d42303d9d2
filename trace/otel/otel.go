// Package otel answers: how does a run look to OpenTelemetry?
//
// An [Observer] folds the events of runs into spans, metrics and log records of the
// conventions for generative AI: a span for the run, below it one for each step, below
// that one for each model call (chat) and each tool call (execute_tool); below a call of
// a tool that is an agent stands the run that carries it out. It can be fed while runs
// go on, or with what a store holds ([Observer.Replay]): the spans are the same, with
// the same ids and times. What names things have is data, one table for each release of
// the conventions that is supported; see [Profile].
//
// The package needs only OpenTelemetry's API; package otel/otlp has what exports.
// Nothing global is read or set.
package otel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/log"
	nolog "go.opentelemetry.io/otel/log/noop"
	"go.opentelemetry.io/otel/metric"
	nometric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	notrace "go.opentelemetry.io/otel/trace/noop"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// Scope is the name of the instrumentation scope.
const Scope = "rein.example/rein/trace/otel"

// Content says where what was said is exported: messages, arguments, results, and the
// words of errors. It may be private, and is left out unless asked for.
type Content int

// Where content goes.
const (
	NoContent     Content = 0
	ContentSpans  Content = 1
	ContentEvents Content = 2
	ContentBoth           = ContentSpans | ContentEvents
)

// Request is what a model was asked.
type Request struct {
	// System are the leading system messages, Messages what comes after them.
	System, Messages []message.Message
	Tools            []event.ToolSpec
}

// Options say what an observer is to make, and of what. Nil providers make nothing.
type Options struct {
	// TracerProvider should have been made with [IDGenerator].
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// LoggerProvider gets what the conventions call events.
	LoggerProvider log.LoggerProvider
	Profile        Profile
	Content        Content
	// Redact is what all content goes through, from several goroutines at once. Nil: it
	// stays as it is in the journal, where registered secrets are names.
	Redact func(string) string
	// Requests finds out what the model was asked in the request that the event seq of a
	// run announces, for content. Nil: requests are left out of it.
	Requests func(ctx context.Context, run string, seq int64) (*Request, error)
	// Store is where runs are that the observer has not seen from their beginning. Nil:
	// of a resumed or forked run only what happens from then on is known.
	Store journal.Store
	// Version is that of the program, for the scope.
	Version string
}

// Observer makes spans, metrics and log records of events. It is safe for concurrent use;
// what happens in one run, and in those below it, has to come in order.
type Observer struct {
	o      Options
	tracer trace.Tracer
	logger log.Logger
	meters *recorder

	mu    sync.Mutex
	trees map[string]*tree // by the run at the top; looked up only
}

// New returns an observer. It fails if an instrument cannot be made.
func New(o Options) (*Observer, error) {
	if o.Profile < 0 || o.Profile >= profiles {
		return nil, fmt.Errorf("there is no profile %d", o.Profile)
	}
	if o.TracerProvider == nil {
		o.TracerProvider = notrace.NewTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = nometric.NewMeterProvider()
	}
	if o.LoggerProvider == nil {
		o.LoggerProvider = nolog.NewLoggerProvider()
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	url := o.Profile.SchemaURL()
	x := &Observer{o: o, trees: map[string]*tree{},
		tracer: o.TracerProvider.Tracer(Scope, trace.WithSchemaURL(url), trace.WithInstrumentationVersion(o.Version)),
		logger: o.LoggerProvider.Logger(Scope, log.WithSchemaURL(url), log.WithInstrumentationVersion(o.Version))}
	var err error
	x.meters, err = newRecorder(o.Profile, o.MeterProvider.Meter(Scope, metric.WithSchemaURL(url), metric.WithInstrumentationVersion(o.Version)))
	return x, err
}

// tree is a run with those below it.
type tree struct {
	o *Observer
	// ctx has the values of the caller's context, which never ends here; caller is the
	// span in it.
	ctx    context.Context
	caller trace.SpanContext
	users  int // Begins without an End

	mu   sync.Mutex
	runs map[string]*run // looked up only
	// calls are the executions that runs below carry out, by those; looked up only.
	calls map[string][]*span
	// known is the context of the span that began last; derived: it has the id that it
	// was to have.
	known   trace.SpanContext
	derived bool
}

func (o *Observer) tree(id string) *tree {
	o.mu.Lock()
	defer o.mu.Unlock()
	top := event.Top(id)
	t := o.trees[top]
	if t == nil {
		t = &tree{o: o, ctx: context.Background(), runs: map[string]*run{}, calls: map[string][]*span{}}
		o.trees[top] = t
	}
	return t
}

// Begin says that a run is about to be carried out, and by whom it was asked for: the
// span in ctx is the parent of the run's. It returns that span's W3C trace context for
// the journal, empty if there is none.
func (o *Observer) Begin(ctx context.Context, run string) string {
	t := o.tree(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	caller := trace.SpanContextFromContext(ctx)
	if t.users++; t.users == 1 { // else it is being carried out, and another try of that fails
		t.ctx, t.caller = context.WithoutCancel(ctx), caller
	}
	return traceparent(caller)
}

// Event takes the next event of a run. If it is not the first that the observer sees of
// the run, and not the first of the run, what came before is read from the store.
func (o *Observer) Event(e event.Event) {
	t := o.tree(e.Run)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[e.Run]
	if r == nil {
		r = t.add(e.Run)
		t.past(r, e.Seq)
		if d, ok := e.Data.(*event.RunResumed); !ok || d.Fork == "" { // what a fork comes from is not its own
			r.wake()
		}
		r.live = true
	}
	r.fold(&e)
}

// past folds what a run's journal holds before an event. What cannot be read is not
// known then.
func (t *tree) past(r *run, before int64) {
	if before <= 1 || t.o.o.Store == nil {
		return
	}
	for e, err := range t.o.o.Store.Read(t.ctx, r.id, 1) {
		if err != nil || e.Seq >= before {
			return
		}
		r.fold(&e)
	}
}

// Context returns ctx with the span of a call in it, which the event seq of a run
// announces, so that those who are called can be told; see package rein's Observer. If
// no span is made, ctx stays as it is.
func (o *Observer) Context(ctx context.Context, run string, seq int64, intent event.Type) context.Context {
	t := o.tree(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[run]
	if s := r.announced(seq); s != nil && s.live != nil {
		if t.derived || s.live.IsRecording() {
			return trace.ContextWithSpan(ctx, s.live)
		}
		return ctx
	}
	switch {
	case t.derived: // its span begins when the event comes
		op := opTool
		if intent == event.TypeModelCalled {
			op = opChat
		}
		return trace.ContextWithSpanContext(ctx, t.known.WithSpanID(spanOf(run, op, seq)))
	case r != nil && r.stretch != nil && r.stretch.live != nil && r.stretch.live.IsRecording():
		return trace.ContextWithSpan(ctx, r.stretch.live)
	}
	return ctx
}

// End says that a run has paused or finished, or cannot go on. Spans that have not ended
// do so, and say that their end is not known.
func (o *Observer) End(run string) {
	t := o.tree(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users > 0 {
		return
	}
	t.close()
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.trees, event.Top(run))
}

// close ends what has not ended, the runs below first.
func (t *tree) close() {
	var names []string
	for name := range t.runs { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) {
		t.runs[name].cut()
	}
}

// Replay makes spans and log records of a run that a store holds, and of the runs that
// carry out its calls. No metrics: they were recorded when it happened. It must not be
// fed with the same run otherwise meanwhile. It fails if a journal cannot be read; what
// was read until then is exported.
func (o *Observer) Replay(ctx context.Context, s journal.Store, id string) error {
	t := &tree{o: o, ctx: context.WithoutCancel(ctx), caller: trace.SpanContextFromContext(ctx), runs: map[string]*run{}, calls: map[string][]*span{}}
	defer t.close()
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		below, err := t.replay(ctx, s, queue[0])
		var none *journal.NotFoundError
		if errors.As(err, &none) && queue[0] != id {
			continue // its process died before it began, or it is not in the store
		}
		if err != nil {
			return fmt.Errorf("export run %s: %w", queue[0], err)
		}
		queue = append(queue, below...)
	}
	return nil
}

// replay exports one run, and returns those that carry out its calls.
func (t *tree) replay(ctx context.Context, s journal.Store, id string) (below []string, err error) {
	forked, err := forkPoint(ctx, s, id)
	if err != nil {
		return nil, err
	}
	r := t.add(id)
	r.old = true
	for e, err := range s.Read(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		r.live = e.Seq > forked
		if d, ok := e.Data.(*event.ToolStarted); ok && r.live && d.Run != "" && !slices.Contains(below, d.Run) {
			below = append(below, d.Run)
		}
		r.fold(&e)
	}
	r.cut()
	return below, nil
}

// forkPoint returns the last event that a run has from one that it was forked from, 0 for
// none: what happened until then is not its own.
func forkPoint(ctx context.Context, s journal.Store, run string) (seq int64, err error) {
	family, err := s.Family(ctx, run)
	for _, r := range family {
		if r.Base {
			seq = max(seq, r.Shared)
		}
	}
	return seq, err
}
