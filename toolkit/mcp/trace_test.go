package mcp

import (
	"net/http"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func traced(t *testing.T) trace.SpanContext {
	t.Helper()
	state, err := trace.ParseTraceState("desk=1")
	if err != nil {
		t.Fatal(err)
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 7}, SpanID: trace.SpanID{7: 9}, TraceFlags: trace.FlagsSampled, TraceState: state})
}

const parentOfCall = "00-00000000000000000000000000000007-0000000000000009-01"

// A call says which trace it belongs to, over either transport, if its context knows one.
func TestTraceIsHandedOn(t *testing.T) {
	onBoth(t, "traced", func(t *testing.T, o Options, _ string) {
		s := open(t, o)
		if got, e, _ := callCtx(trace.ContextWithSpanContext(t.Context(), traced(t)), t, s, "tell_trace", "{}"); got != "<text>"+parentOfCall+" desk=1" {
			t.Errorf("sent %q, %v", got, e)
		}
		if got, e, _ := call(t, s, "tell_trace", "{}"); got != "<text><nil> <nil>" {
			t.Errorf("without a trace: sent %q, %v", got, e)
		}
	})
}

// Over HTTP the request that carries the call says so too, and the others, which belong
// to the connection, don't.
func TestTraceOfRequest(t *testing.T) {
	var with, all atomic.Int64
	w := serveWeb(t, "traced", t.TempDir(), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			all.Add(1)
			if r.Header.Get("traceparent") == parentOfCall && r.Header.Get("tracestate") == "desk=1" {
				with.Add(1)
			}
			h.ServeHTTP(w, r)
		})
	})
	s := open(t, Options{URL: "http://" + w.addr, Logger: logger(t)})
	if _, e, _ := callCtx(trace.ContextWithSpanContext(t.Context(), traced(t)), t, s, "tell_trace", "{}"); e != nil {
		t.Fatal(e)
	}
	if with.Load() != 1 || all.Load() < 2 {
		t.Errorf("%d of %d requests say which trace they belong to", with.Load(), all.Load())
	}
}
