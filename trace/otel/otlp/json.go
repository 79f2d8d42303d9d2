package otlp

import (
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The types below are OTLP's in its JSON form, where ids are hexadecimal, 64-bit numbers
// are text and enumerations are numbers.

type request struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   jsonResource `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
	SchemaURL  string       `json:"schemaUrl,omitzero"`
}

type jsonResource struct {
	Attributes []keyValue `json:"attributes"`
}

type scopeSpans struct {
	Scope     scope      `json:"scope"`
	Spans     []jsonSpan `json:"spans"`
	SchemaURL string     `json:"schemaUrl,omitzero"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
}

type jsonSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	TraceState string      `json:"traceState,omitzero"`
	ParentID   string      `json:"parentSpanId,omitzero"`
	Flags      uint32      `json:"flags,omitzero"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []keyValue  `json:"attributes,omitzero"`
	Events     []jsonEvent `json:"events,omitzero"`
	Links      []jsonLink  `json:"links,omitzero"`
	Status     jsonStatus  `json:"status"`
}

type jsonEvent struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []keyValue `json:"attributes,omitzero"`
}

type jsonLink struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	TraceState string     `json:"traceState,omitzero"`
	Flags      uint32     `json:"flags,omitzero"`
	Attributes []keyValue `json:"attributes,omitzero"`
}

type jsonStatus struct {
	Code    int    `json:"code,omitzero"`
	Message string `json:"message,omitzero"`
}

type keyValue struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// anyValue has exactly one member.
type anyValue struct {
	String *string     `json:"stringValue,omitzero"`
	Bool   *bool       `json:"boolValue,omitzero"`
	Int    *string     `json:"intValue,omitzero"`
	Double *float64    `json:"doubleValue,omitzero"`
	Array  *arrayValue `json:"arrayValue,omitzero"`
}

type arrayValue struct {
	Values []anyValue `json:"values"`
}

// line returns spans as one line of JSON: an ExportTraceServiceRequest, as the
// collector's file exporter writes it. The spans are of one resource.
func line(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	res := spans[0].Resource()
	out := resourceSpans{Resource: jsonResource{resourceValues(res)}, SchemaURL: res.SchemaURL()}
	at := map[instrumentation.Scope]int{}
	for _, s := range spans {
		from := s.InstrumentationScope()
		i, ok := at[from]
		if !ok {
			i = len(out.ScopeSpans)
			at[from] = i
			out.ScopeSpans = append(out.ScopeSpans, scopeSpans{Scope: scope{from.Name, from.Version}, SchemaURL: from.SchemaURL})
		}
		out.ScopeSpans[i].Spans = append(out.ScopeSpans[i].Spans, spanValue(s))
	}
	b, err := json.Marshal(request{[]resourceSpans{out}}, jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	return append(b, '\n'), err
}

func resourceValues(r *resource.Resource) []keyValue { return values(r.Attributes()) }

func spanValue(s sdktrace.ReadOnlySpan) jsonSpan {
	sc := s.SpanContext()
	out := jsonSpan{TraceID: sc.TraceID().String(), SpanID: sc.SpanID().String(), TraceState: sc.TraceState().String(),
		Flags: flags(sc.TraceFlags(), s.Parent()), Name: s.Name(), Kind: int(s.SpanKind()), Start: nanos(s.StartTime().UnixNano()), End: nanos(s.EndTime().UnixNano()),
		Attributes: values(s.Attributes())}
	if p := s.Parent().SpanID(); p.IsValid() {
		out.ParentID = hex.EncodeToString(p[:])
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, jsonEvent{nanos(e.Time.UnixNano()), e.Name, values(e.Attributes)})
	}
	for _, l := range s.Links() {
		out.Links = append(out.Links, jsonLink{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String(), l.SpanContext.TraceState().String(),
			flags(l.SpanContext.TraceFlags(), l.SpanContext), values(l.Attributes)})
	}
	switch st := s.Status(); st.Code {
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status = jsonStatus{2, st.Description}
	}
	return out
}

// flags returns the trace flags with, as OTLP has it, bit 8 for that it is known whether
// the other span is of another process, and bit 9 if it is.
func flags(f trace.TraceFlags, other trace.SpanContext) uint32 {
	out := uint32(f) | 1<<8
	if other.IsRemote() {
		out |= 1 << 9
	}
	return out
}

func nanos(n int64) string { return strconv.FormatInt(n, 10) }

func values(list []attribute.KeyValue) []keyValue {
	var out []keyValue
	for _, kv := range list {
		out = append(out, keyValue{string(kv.Key), valueOf(kv.Value)})
	}
	return out
}

func valueOf(v attribute.Value) anyValue {
	switch v.Type() {
	case attribute.BOOL:
		b := v.AsBool()
		return anyValue{Bool: &b}
	case attribute.INT64:
		return anyValue{Int: ptr(nanos(v.AsInt64()))}
	case attribute.FLOAT64:
		return anyValue{Double: ptr(v.AsFloat64())}
	case attribute.STRING:
		return anyValue{String: ptr(v.AsString())}
	case attribute.STRINGSLICE:
		a := &arrayValue{}
		for _, s := range v.AsStringSlice() {
			a.Values = append(a.Values, anyValue{String: ptr(s)})
		}
		return anyValue{Array: a}
	}
	return anyValue{String: ptr(v.String())} // no other type is used
}

func ptr[T any](v T) *T { return &v }
