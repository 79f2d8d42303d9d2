// Package collector answers: does a real collector of OpenTelemetry take what Rein
// exports? It is a module of its own, so that nobody who uses Rein gets the collector.
package collector

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/otel/otlp"
)

// sinks hold what a collector has received.
type sinks struct {
	traces  consumertest.TracesSink
	metrics consumertest.MetricsSink
	logs    consumertest.LogsSink
}

// free returns an address on this machine that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// collect starts a collector's OTLP receiver.
func collect(t *testing.T) (s *sinks, http, grpc string) {
	t.Helper()
	s, http, grpc = &sinks{}, free(t), free(t)
	f := otlpreceiver.NewFactory()
	cfg := f.CreateDefaultConfig()
	conf := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": http}, "grpc": map[string]any{"endpoint": grpc}}})
	if err := conf.Unmarshal(cfg); err != nil {
		t.Fatal(err)
	}
	set := receivertest.NewNopSettings(f.Type())
	traces, err := f.CreateTraces(t.Context(), set, cfg, &s.traces)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := f.CreateMetrics(t.Context(), set, cfg, &s.metrics)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := f.CreateLogs(t.Context(), set, cfg, &s.logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []interface {
		Start(context.Context, component.Host) error
		Shutdown(context.Context) error
	}{traces, metrics, logs} {
		if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return s, http, grpc
}

type order struct {
	ID string `json:"id"`
}

// desk carries a run out, with an agent below it, and returns its id. observers see it.
func desk(t *testing.T, ctx context.Context, store *memory.Store, observers ...rein.Observer) string {
	t.Helper()
	look := func(name string) tool.Tool {
		return tool.New(name, tool.Doc{What: "Reads an order.", When: "For one order.", Returns: "The order."},
			func(_ context.Context, in order) (string, error) {
				if in.ID == "" {
					return "", fmt.Errorf("no id was given")
				}
				return "order " + in.ID, nil
			}, &tool.Options{Effect: event.Read})
	}
	agent := func(text string, o rein.Options) *rein.Agent {
		s, err := script.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o.Store = store
		a, err := rein.New(script.New(s, nil), &o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	below := agent(`
turns:
  - call: {name: read_order, arguments: {id: A-2}}
  - say: A-2 is late.
`, rein.Options{Name: "clerk", Tools: []tool.Tool{look("read_order")}})
	top := agent(`
turns:
  - calls:
      - {name: read_order, arguments: {id: A-1}}
      - {name: read_order, arguments: {id: ""}}
  - call: {name: ask_clerk, arguments: {task: What of A-2?}}
  - say: A-1 is there, A-2 is late.
`, rein.Options{Name: "desk", Tools: []tool.Tool{look("read_order"),
		rein.AgentTool("ask_clerk", tool.Doc{What: "Asks the clerk.", When: "For other orders.", Returns: "Words."}, below, &rein.AgentOptions{Effect: event.Read})},
		Observers: observers})
	run := top.Start(ctx, "What of the orders?")
	if r, err := run.Result(); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	return run.ID()
}

// A collector gets a run while it goes on, over either protocol, and the same spans from
// the store later, sent to it or written to a file that it reads.
func TestCollector(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(strings.ReplaceAll(protocol, "/", " "), func(t *testing.T) {
			s, http, grpc := collect(t)
			endpoint := "http://" + http
			if protocol == "grpc" {
				endpoint = "http://" + grpc
			}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_SERVICE_NAME", "order-desk")
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=blue")
			t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "http,gen_ai_latest_experimental")
			store := memory.New()
			live, err := otlp.FromEnv(t.Context(), otel.Options{Store: store, Version: "1.2.3"})
			if err != nil {
				t.Fatal(err)
			}
			caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 15: 2}, SpanID: trace.SpanID{3, 7: 4}, TraceFlags: trace.FlagsSampled})
			run := desk(t, trace.ContextWithSpanContext(t.Context(), caller), store, live.Observer)
			if err := live.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := spans(s.traces.AllTraces()...)
			if n := strings.Count(got, " chat "); n != 5 {
				t.Errorf("%d model calls arrived:\n%s", n, got)
			}
			if !strings.Contains(got, "01000000000000000000000000000002/") || !strings.Contains(got, "/0300000000000004 ") {
				t.Errorf("the caller is nowhere:\n%s", got)
			}
			checkOrigin(t, s.traces.AllTraces())
			if n := s.metrics.DataPointCount(); n == 0 {
				t.Error("no metrics arrived")
			}
			if n := s.logs.LogRecordCount(); n != 1 {
				t.Errorf("%d log records arrived, and one call failed", n)
			}

			o := otel.Options{Profile: otel.GenAI, Version: "1.2.3"}
			s.traces.Reset()
			if err := otlp.Send(t.Context(), store, run, o, endpoint); err != nil {
				t.Fatal(err)
			}
			same(t, "sent later", spans(s.traces.AllTraces()...), got)
			checkOrigin(t, s.traces.AllTraces())

			var file bytes.Buffer
			if err := otlp.Write(t.Context(), &file, store, run, o); err != nil {
				t.Fatal(err)
			}
			var read []ptrace.Traces
			for line := range bytes.Lines(file.Bytes()) {
				x, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
				if err != nil {
					t.Fatalf("%v\n%s", err, line)
				}
				read = append(read, x)
			}
			same(t, "written", spans(read...), got)
			checkOrigin(t, read)
		})
	}
}

// checkOrigin checks resource and scope.
func checkOrigin(t *testing.T, list []ptrace.Traces) {
	t.Helper()
	for _, x := range list {
		for _, rs := range x.ResourceSpans().All() {
			name, _ := rs.Resource().Attributes().Get("service.name")
			team, _ := rs.Resource().Attributes().Get("team")
			if name.Str() != "order-desk" || team.Str() != "blue" {
				t.Errorf("they come from %v", rs.Resource().Attributes().AsRaw())
			}
			for _, ss := range rs.ScopeSpans().All() {
				if ss.Scope().Name() != otel.Scope || ss.Scope().Version() != "1.2.3" || ss.SchemaUrl() != otel.GenAI.SchemaURL() {
					t.Errorf("the scope is %s %s, its schema %s", ss.Scope().Name(), ss.Scope().Version(), ss.SchemaUrl())
				}
			}
		}
	}
}

// spans prints spans, sorted, with all that they have but what says in which process
// their parents were.
func spans(list ...ptrace.Traces) string {
	var out []string
	for _, x := range list {
		for _, rs := range x.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					out = append(out, span(s))
				}
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func span(s ptrace.Span) string {
	trace, id, parent := s.TraceID(), s.SpanID(), s.ParentSpanID()
	text := fmt.Sprintf("%s/%s/%s %s %s, %s to %s, %s %q %s\n", hex.EncodeToString(trace[:]), hex.EncodeToString(id[:]), hex.EncodeToString(parent[:]),
		s.Name(), s.Kind(), stamp(s.StartTimestamp()), stamp(s.EndTimestamp()), s.Status().Code(), s.Status().Message(), s.TraceState().AsRaw())
	text += values(s.Attributes())
	for _, e := range s.Events().All() {
		text += fmt.Sprintf("  at %s %s\n%s", stamp(e.Timestamp()), e.Name(), values(e.Attributes()))
	}
	for _, l := range s.Links().All() {
		trace, id := l.TraceID(), l.SpanID()
		text += fmt.Sprintf("  link %x/%x\n", trace[:], id[:])
	}
	return text
}

func stamp(t pcommon.Timestamp) string { return t.AsTime().Format(time.RFC3339Nano) }

func values(m pcommon.Map) string {
	var out []string
	for k, v := range m.All() {
		out = append(out, fmt.Sprintf("    %s = %s %s\n", k, v.Type(), v.AsString()))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d\ngot  %s\nwant %s", what, i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
	}
}
