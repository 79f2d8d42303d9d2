package otel

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/event"
)

// Ids follow from the journal: so what is exported while a run goes on, what another
// process exports when it carries the run on, and what is exported later from the
// store are one trace, and nothing needs to be recorded for it.

// traceOf returns the id of the trace of a run that nobody gave one, and of those below.
func traceOf(run string) trace.TraceID {
	sum := sha256.Sum256([]byte("rein trace\n" + event.Top(run)))
	return trace.TraceID(sum[:16])
}

// spanOf returns the id of a span of a run, by its operation and the event that it
// begins with.
func spanOf(run, op string, seq int64) trace.SpanID {
	sum := sha256.Sum256([]byte("rein span\n" + op + "\n" + strconv.FormatInt(seq, 10) + "\n" + run))
	return trace.SpanID(sum[:8])
}

// IDGenerator gives the spans of an [Observer] the ids that follow from the journal, and
// other spans random ones. A tracer provider has to be made with it (WithIDGenerator of
// the SDK); with another one spans have random ids, and what is exported of a run in two
// parts are two traces, connected by links at best.
type IDGenerator struct{}

type idsKey struct{}

type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

func withIDs(ctx context.Context, t trace.TraceID, s trace.SpanID) context.Context {
	return context.WithValue(ctx, idsKey{}, ids{t, s})
}

// NewIDs returns the ids of a span that has no parent.
func (IDGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if given, ok := ctx.Value(idsKey{}).(ids); ok {
		return given.trace, given.span
	}
	var t trace.TraceID
	var s trace.SpanID
	_, _ = rand.Read(t[:]) // never fails: crypto/rand ends the process instead
	_, _ = rand.Read(s[:])
	return t, s
}

// NewSpanID returns the id of a span in a trace.
func (g IDGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, s := g.NewIDs(ctx)
	return s
}

// traceparent writes a span's context as W3C's header of that name has it, version 00.
func traceparent(sc trace.SpanContext) string {
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + (sc.TraceFlags() & trace.FlagsSampled).String()
}

// parseTraceparent reads such a header; what is none gives a context that is not valid.
// As the recommendation has it, later versions may have more behind a dash.
func parseTraceparent(s string) trace.SpanContext {
	var none trace.SpanContext
	if len(s) < 55 || strings.ToLower(s) != s || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return none
	}
	version := s[:2]
	if _, err := hex.DecodeString(version); err != nil || version == "ff" || version == "00" && len(s) > 55 || len(s) > 55 && s[55] != '-' {
		return none
	}
	t, err := trace.TraceIDFromHex(s[3:35])
	if err != nil {
		return none
	}
	id, err := trace.SpanIDFromHex(s[36:52])
	if err != nil {
		return none
	}
	flags, err := hex.DecodeString(s[53:55])
	if err != nil {
		return none
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: id, TraceFlags: trace.TraceFlags(flags[0]) & trace.FlagsSampled, Remote: true})
}
