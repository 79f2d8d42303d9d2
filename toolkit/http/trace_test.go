package http

import (
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

// A request says which trace it belongs to, if the call's context knows one: of pages,
// of calls, and of the operations of a document alike. A header that is configured stays.
func TestTraceIsHandedOn(t *testing.T) {
	state, err := trace.ParseTraceState("desk=1")
	if err != nil {
		t.Fatal(err)
	}
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 7}, SpanID: trace.SpanID{7: 9}, TraceFlags: trace.FlagsSampled, TraceState: state})
	const parent = "00-00000000000000000000000000000007-0000000000000009-01"
	var got http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header; _, _ = w.Write([]byte("{}")) })
	call := func(h http.Header) *Call {
		c := &Call{Name: "read_order", URL: url + "/orders", AllowPrivate: true, Header: h}
		c.Doc.What = "Reads the orders."
		return c
	}
	for _, c := range []struct {
		about         string
		known         bool
		header        http.Header
		parent, state string
	}{
		{"a known trace", true, nil, parent, "desk=1"},
		{"none", false, nil, "", ""},
		{"one that is configured", true, http.Header{"Traceparent": {"mine"}}, "mine", ""},
	} {
		x, err := NewCall(call(c.header))
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if c.known {
			ctx = trace.ContextWithSpanContext(ctx, sc)
		}
		if _, _, e := runIn(t, ctx, x, args{}); e != nil {
			t.Fatal(e)
		}
		if p, s := got.Get("traceparent"), got.Get("tracestate"); p != c.parent || s != c.state {
			t.Errorf("%s: sent %q and %q", c.about, p, s)
		}
	}
	pages := pagesOf(t, GetOptions{Hosts: []string{strings.TrimPrefix(url, "http://")}, AllowPrivate: true})
	if _, _, e := runIn(t, trace.ContextWithSpanContext(t.Context(), sc), pages, args{"url": url}); e != nil || got.Get("traceparent") != parent {
		t.Errorf("a page: sent %q, %v", got.Get("traceparent"), e)
	}
}
