package otel_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

func since(t time.Time) int64 { return t.UnixMilli() - day }

// tree prints spans as the trees that they are, with all that they have.
func tree(spans tracetest.SpanStubs) string {
	var b strings.Builder
	known := map[trace.SpanID]bool{}
	for _, s := range spans {
		known[s.SpanContext.SpanID()] = true
	}
	var below func(parent trace.SpanID, indent string, top bool)
	below = func(parent trace.SpanID, indent string, top bool) {
		var list tracetest.SpanStubs
		for _, s := range spans {
			if p := s.Parent.SpanID(); p == parent || top && p.IsValid() && !known[p] {
				list = append(list, s)
			}
		}
		slices.SortStableFunc(list, func(x, y tracetest.SpanStub) int {
			if n := x.StartTime.Compare(y.StartTime); n != 0 {
				return n
			}
			return strings.Compare(number(x), number(y))
		})
		for _, s := range list {
			b.WriteString(span(s, indent))
			below(s.SpanContext.SpanID(), indent+"    ", false)
		}
	}
	below(trace.SpanID{}, "", true)
	return b.String()
}

// number is the event that a span begins with, for sorting.
func number(s tracetest.SpanStub) string {
	for _, kv := range s.Attributes {
		if kv.Key == "rein.event" {
			return fmt.Sprintf("%06d", kv.Value.AsInt64())
		}
	}
	return ""
}

func span(s tracetest.SpanStub, indent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s (%s, %d to %d ms)", indent, s.Name, s.SpanKind, since(s.StartTime), since(s.EndTime))
	if s.Status.Code == codes.Error {
		fmt.Fprintf(&b, " ERROR %s", s.Status.Description)
	}
	if p := s.Parent; indent == "" && p.IsValid() {
		fmt.Fprintf(&b, " below %s-%s", p.TraceID(), p.SpanID())
	}
	b.WriteByte('\n')
	b.WriteString(list(s.Attributes, indent+"  "))
	for _, e := range s.Events {
		fmt.Fprintf(&b, "%s  at %d ms: %s\n%s", indent, since(e.Time), e.Name, list(e.Attributes, indent+"    "))
	}
	for _, l := range s.Links {
		fmt.Fprintf(&b, "%s  after %s-%s\n", indent, l.SpanContext.TraceID(), l.SpanContext.SpanID())
	}
	return b.String()
}

func list(attrs []attribute.KeyValue, indent string) string {
	attrs = slices.Clone(attrs)
	slices.SortFunc(attrs, func(x, y attribute.KeyValue) int { return strings.Compare(string(x.Key), string(y.Key)) })
	var b strings.Builder
	for _, kv := range attrs {
		fmt.Fprintf(&b, "%s%s = %s\n", indent, kv.Key, kv.Value.String())
	}
	return b.String()
}

// metrics prints what was measured, sorted.
func metrics(rm *metricdata.ResourceMetrics) string {
	var out []string
	add := func(m metricdata.Metrics, set attribute.Set, text string) {
		out = append(out, fmt.Sprintf("%s (%s) {%s} %s\n", m.Name, m.Unit, set.Encoded(attribute.DefaultEncoder()), text))
	}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, fmt.Sprintf("%d times, %.6g together", p.Count, p.Sum))
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, fmt.Sprintf("%d times, %d together", p.Count, p.Sum))
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, fmt.Sprintf("%.6g", p.Value))
				}
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}
