package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// span is a span that has not ended. While the events of the past are read it is only
// remembered: whoever was there has exported it if it has ended.
type span struct {
	t     *tree
	name  string
	kind  trace.SpanKind
	begun int64 // Unix milliseconds
	// parent is not valid at the root; trace and id are those that follow from the
	// journal.
	parent trace.SpanContext
	trace  trace.TraceID
	id     trace.SpanID
	links  []trace.Link
	attrs  []attribute.KeyValue
	marks  []mark
	live   trace.Span // nil while it is only remembered
}

// mark is something that happened in a span.
type mark struct {
	name  string
	at    int64
	attrs []attribute.KeyValue
}

// context is what spans below it, and those who are called, have to know of it.
func (s *span) context() trace.SpanContext {
	if s.live != nil {
		return s.live.SpanContext()
	}
	flags := trace.FlagsSampled
	if s.parent.IsValid() {
		flags = s.parent.TraceFlags()
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: s.trace, SpanID: s.id, TraceFlags: flags, Remote: true})
}

// begin makes the span a real one.
func (s *span) begin() {
	ctx := trace.ContextWithSpanContext(s.t.ctx, s.parent)
	_, s.live = s.t.o.tracer.Start(withIDs(ctx, s.trace, s.id), s.name, trace.WithTimestamp(instant(s.begun)),
		trace.WithSpanKind(s.kind), trace.WithAttributes(s.attrs...), trace.WithLinks(s.links...))
	s.t.known = s.live.SpanContext()
	s.t.derived = s.t.known.SpanID() == s.id
	for _, m := range s.marks {
		s.live.AddEvent(m.name, trace.WithTimestamp(instant(m.at)), trace.WithAttributes(m.attrs...))
	}
}

// mark notes something that happened in it.
func (s *span) mark(name string, at int64, list ...attribute.KeyValue) {
	if s.live == nil {
		s.marks = append(s.marks, mark{name, at, list})
		return
	}
	s.live.AddEvent(name, trace.WithTimestamp(instant(at)), trace.WithAttributes(list...))
}

// end ends it. fault, if not empty, is the type of error that it ended with; words say
// more.
func (s *span) end(at int64, list []attribute.KeyValue, fault, words string) {
	if s.live == nil {
		return
	}
	s.live.SetAttributes(list...)
	if fault != "" {
		s.live.SetStatus(codes.Error, words)
	}
	s.live.End(trace.WithTimestamp(instant(max(at, s.begun))))
}

// within returns a context in which log records belong to the span.
func (s *span) within() context.Context {
	return trace.ContextWithSpanContext(s.t.ctx, s.context())
}

func instant(ms int64) time.Time { return time.UnixMilli(ms) }
