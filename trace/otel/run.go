package otel

import (
	"cmp"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// run is the fold of one run's events.
type run struct {
	t    *tree
	id   string
	spec *event.Spec
	// live: what happens is exported; else it is only remembered. old: it happened some
	// time ago, so it is not measured.
	live, old bool
	last      int64 // time of the last event

	// parent is what stretches hang below; stretch is the span of the time from a start or
	// a resume to the pause or the end; before is that of the one before, or the last.
	parent  trace.SpanContext
	trace   trace.TraceID
	stretch *span
	began   int64 // the event that it began with
	before  trace.SpanContext
	step    *span
	at      int64 // the current step

	models  map[string]*modelCall // that have no outcome, by command id; in order of asked
	asked   []string
	calls   map[string]*toolCall // of the run, by call id; in order of made
	made    []string             // those that are executed
	context *event.ContextAssembled
	shorter bool // the context was compacted

	cost     message.Count // of the run so far
	stepCost message.Count
	sums     sums
}

// sums are those of a stretch.
type sums struct {
	usage        message.Usage
	any          bool // something is in usage
	models, runs int64
	finish       string // of the last model call
}

func (t *tree) add(id string) *run {
	r := &run{t: t, id: id, models: map[string]*modelCall{}, calls: map[string]*toolCall{}, cost: message.Known(0), stepCost: message.Known(0)}
	t.runs[id] = r
	return r
}

// list returns a list of attributes for the profile.
func (r *run) list() *attrs { return &attrs{profile: r.t.o.o.Profile} }

// span makes a span that begins with an event.
func (r *run) span(op, of string, kind trace.SpanKind, parent trace.SpanContext, e *event.Event, a *attrs) *span {
	name := op
	if of != "" {
		name += " " + of
	}
	a.text(reinRun, r.id)
	a.int(reinEvent, e.Seq)
	s := &span{t: r.t, name: name, kind: kind, begun: e.Time, parent: parent, trace: r.trace, id: spanOf(r.id, op, e.Seq), attrs: a.list}
	if parent.IsValid() {
		s.trace = parent.TraceID()
	}
	return s
}

// start begins a span, for real if that is exported.
func (r *run) start(s *span) *span {
	if r.live {
		s.begin()
	}
	return s
}

// wake begins for real what has begun and not ended in the past: whoever was there is
// gone, and has not exported it.
func (r *run) wake() {
	r.live = true
	for _, s := range r.open() {
		s.parent = r.parentOf(s)
		s.begin()
	}
}

// open returns the spans that have not ended, the outer ones first.
func (r *run) open() []*span {
	var out []*span
	for _, s := range []*span{r.stretch, r.step} {
		if s != nil {
			out = append(out, s)
		}
	}
	for _, id := range r.asked {
		out = append(out, r.models[id].span)
	}
	for _, id := range r.made {
		out = append(out, r.calls[id].span)
	}
	return out
}

// parentOf returns the context of a remembered span's parent, which may have become real.
func (r *run) parentOf(s *span) trace.SpanContext {
	switch {
	case s == r.stretch:
		return s.parent
	case r.step != nil && s != r.step:
		return r.step.context()
	case r.stretch != nil:
		return r.stretch.context()
	}
	return s.parent
}

// announced returns the span that begins with an event, if it has begun.
func (r *run) announced(seq int64) *span {
	if r == nil {
		return nil
	}
	for _, id := range r.asked {
		if m := r.models[id]; m.seq == seq {
			return m.span
		}
	}
	for _, id := range r.made {
		if c := r.calls[id]; c.seq == seq {
			return c.span
		}
	}
	return nil
}

// fold takes the next event.
func (r *run) fold(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		r.spec = &d.Spec
		r.begin(e, d.Traceparent, "")
	case *event.RunResumed:
		r.resumed(e, d)
	case *event.RunPaused:
		r.paused(e, d)
	case *event.RunFinished:
		r.finished(e, d)
	case *event.ContextAssembled:
		r.reach(e, d.Step)
		r.context = d
	case *event.ContextCompacted:
		r.shorter = true
		r.inside(e.Time, "rein.context.compacted", attribute.String("rein.context.strategy", d.Strategy),
			attribute.Int64("rein.context.before", d.Before), attribute.Int64("rein.context.after", d.After))
	case *event.ModelCalled:
		r.called(e, d)
	case *event.ModelAnswered:
		r.answered(e, d)
	case *event.ModelFailed:
		r.failed(e, d)
	case *event.ReplyParsed:
		r.parsed(d)
	case *event.CallJudged:
		r.judged(e, d)
	case *event.ToolStarted:
		r.executed(e, d)
	case *event.ToolFinished:
		r.returned(e, d)
	case *event.ApprovalAsked:
		r.inside(e.Time, "rein.approval.asked", attribute.String("rein.call", d.Call))
	case *event.ApprovalGiven:
		r.inside(e.Time, "rein.approval.given", attribute.String("rein.call", d.Call), attribute.String("rein.decision", string(d.Decision)))
	case *event.NoticeAdded:
		r.inside(e.Time, "rein.notice", attribute.String("rein.notice.kind", d.Kind))
	}
	r.last = e.Time
}

// inside notes something that happened in the step, or between steps in the run.
func (r *run) inside(at int64, name string, list ...attribute.KeyValue) {
	if s := cmp.Or(r.step, r.stretch); s != nil {
		s.mark(name, at, list...)
	}
}

// begin begins a stretch. given is the trace context of whoever asked for it, if that is
// recorded; fork the run that this one is a fork of, if it begins with that.
func (r *run) begin(e *event.Event, given, fork string) {
	a := r.list()
	a.text(operationName, opRun)
	if r.spec != nil {
		a.model(r.spec.Model)
		a.text(agentName, r.spec.Agent)
		a.sampling(&r.spec.Sampling)
		if len(r.spec.Submit) > 0 {
			a.text(outputType, "json")
		}
	}
	a.text(conversationID, event.Top(r.id))
	var links []trace.Link
	if r.before.IsValid() {
		links = []trace.Link{{SpanContext: r.before}}
	}
	if fork != "" {
		a.text(reinForkRun, fork)
		a.int(reinForkEvent, e.Seq-1)
	}
	r.place(e, given)
	name := ""
	if r.spec != nil {
		name = r.spec.Agent
	}
	s := r.span(opRun, name, trace.SpanKindInternal, r.parent, e, a)
	s.links = links
	r.stretch, r.began, r.sums = r.start(s), e.Seq, sums{}
}

// place decides which trace a stretch belongs to, and below what it hangs: the call that
// the run carries out, whoever asked for the stretch, or as the one before.
func (r *run) place(e *event.Event, given string) {
	switch asked := parseTraceparent(given); {
	case len(r.t.calls[r.id]) > 0:
		r.parent = r.t.execution(r.id, e.Time)
	case asked.IsValid():
		if c := r.t.caller; r.live && c.TraceID() == asked.TraceID() && c.SpanID() == asked.SpanID() {
			asked = c // which has more: its state
		}
		r.parent = asked
	case !r.trace.IsValid() && r.old && r.t.caller.IsValid() && r.t.caller.TraceID() != (trace.TraceID{}):
		r.parent = r.t.caller // whoever exports it says where it belongs
	}
	if r.trace = r.parent.TraceID(); !r.trace.IsValid() {
		r.trace = traceOf(r.id)
	}
}

// execution returns the span of the call that a run carried out at a time.
func (t *tree) execution(run string, at int64) trace.SpanContext {
	var out *span
	for _, s := range t.calls[run] {
		if out == nil || s.begun <= at {
			out = s
		}
	}
	return out.context()
}

// resumed begins the next stretch. What had not ended before has not been ended by
// anybody: its process died.
func (r *run) resumed(e *event.Event, d *event.RunResumed) {
	if d.Fork != "" {
		r.forget(d.Fork)
	} else {
		r.abandon("interrupted")
		r.leave("interrupted", func(a *attrs) { a.text(reinStatus, "interrupted") }, "interrupted")
	}
	if d.Models != nil && r.spec != nil {
		r.spec = r.spec.With(d.Models)
	}
	r.begin(e, d.Traceparent, d.Fork)
}

// forget leaves what is not ended to the run that this one was forked from.
func (r *run) forget(from string) {
	if r.stretch != nil {
		r.before = r.stretch.context()
	}
	if r.before.IsValid() { // named as if it had been this run's
		r.before = r.before.WithSpanID(spanOf(from, opRun, r.began))
		if r.before.TraceID() == traceOf(r.id) {
			r.before = r.before.WithTraceID(traceOf(from))
		}
	}
	r.stretch, r.step, r.asked, r.made = nil, nil, nil, nil
	r.parent, r.trace = trace.SpanContext{}, trace.TraceID{}
	clear(r.models)
}

// paused ends the stretch, and what is still under way is given up.
func (r *run) paused(e *event.Event, d *event.RunPaused) {
	r.last = e.Time
	r.abandon("interrupted")
	r.leave("", func(a *attrs) { a.text(reinStatus, "paused"); a.text(reinCause, string(d.Cause)) }, "")
}

func (r *run) finished(e *event.Event, d *event.RunFinished) {
	r.last = e.Time
	r.abandon("interrupted")
	fault := ""
	if !d.OK {
		fault = string(d.Reason)
	}
	r.leave(fault, func(a *attrs) { a.text(reinStatus, "finished"); a.text(reinReason, string(d.Reason)) }, string(d.Reason))
}

// reach begins a step, unless it is under way. What asks again for an earlier one belongs
// to the current.
func (r *run) reach(e *event.Event, step int64) {
	if r.step != nil && step <= r.at {
		return
	}
	r.leaveStep("", nil)
	r.at = max(step, r.at, 1)
	a := r.list()
	a.int(reinStep, r.at)
	r.step = r.start(r.span(opStep, "", trace.SpanKindInternal, r.above(), e, a))
	r.stepCost = message.Known(0)
}

// above is what steps, and what happens beside them, hang below.
func (r *run) above() trace.SpanContext {
	if r.stretch != nil {
		return r.stretch.context()
	}
	return r.before
}

// here is what calls hang below.
func (r *run) here() trace.SpanContext {
	if r.step != nil {
		return r.step.context()
	}
	return r.above()
}

func (r *run) leaveStep(fault string, more func(*attrs)) {
	if r.step == nil {
		return
	}
	a := r.list()
	a.dollars(reinCostStep, r.stepCost)
	a.dollars(reinCostTotal, r.paid())
	a.text(errorType, fault)
	if more != nil {
		more(a)
	}
	r.step.end(r.last, a.list, fault, fault)
	r.step = nil
}

// leave ends the stretch with what more adds; fault is the type of error that it ended
// with. reason is for the metrics, which know no pauses.
func (r *run) leave(fault string, more func(*attrs), reason string) {
	interrupted := ""
	if fault == "interrupted" {
		interrupted = fault
	}
	r.leaveStep(interrupted, nil)
	s := r.stretch
	if s == nil {
		return
	}
	a := r.list()
	more(a)
	a.text(errorType, fault)
	if r.sums.finish != "" {
		a.texts(finishReasons, r.sums.finish)
	}
	if r.sums.any {
		a.usage(&r.sums.usage)
		a.yes(reinRollup)
	}
	a.dollars(reinCostTotal, r.paid())
	s.end(r.last, a.list, fault, fault)
	r.before, r.stretch = s.context(), nil
	if r.measured() {
		r.measureRun(s, fault, reason)
	}
}

// cut ends what has not ended, as far as the journal goes.
func (r *run) cut() {
	open := func(a *attrs) { a.yes(reinIncomplete) }
	for _, id := range r.asked {
		r.models[id].span.end(r.last, r.incomplete(), "", "")
	}
	for _, id := range r.made {
		r.calls[id].span.end(r.last, r.incomplete(), "", "")
	}
	r.asked, r.made = nil, nil
	r.leaveStep("", open)
	if s := r.stretch; s != nil {
		s.end(r.last, r.incomplete(), "", "")
		r.stretch = nil
	}
}

func (r *run) incomplete() []attribute.KeyValue {
	a := r.list()
	a.yes(reinIncomplete)
	return a.list
}

// measured reports whether metrics are recorded: of what happens now, once.
func (r *run) measured() bool { return r.live && !r.old }

func (r *run) measureRun(s *span, fault, reason string) {
	a := r.list()
	if r.spec != nil {
		a.text(agentName, r.spec.Agent)
	}
	m, ctx := r.t.o.meters, s.within()
	m.size(ctx, runModelCalls, r.sums.models, a.list)
	m.size(ctx, runToolCalls, r.sums.runs, a.list)
	a.text(errorType, fault)
	a.text(reinReason, reason)
	m.milliseconds(ctx, runTime, max(r.last-s.begun, 0), a.list)
}

// spend adds what something cost, unknown if that is not known.
func (r *run) spend(c message.Count) {
	r.cost, r.stepCost = r.cost.Add(c), r.stepCost.Add(c)
}

// use adds to the sums of the stretch.
func (s *sums) use(u *message.Usage) {
	if !s.any {
		s.usage, s.any = *u, true
		return
	}
	s.usage.Input, s.usage.Output = s.usage.Input.Add(u.Input), s.usage.Output.Add(u.Output)
	s.usage.Cached, s.usage.CacheWrite = s.usage.Cached.Add(u.Cached), s.usage.CacheWrite.Add(u.CacheWrite)
}
