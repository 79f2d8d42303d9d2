package otel_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/event"
	"rein.example/rein/trace/otel"
)

var update = flag.Bool("update", false, "rewrite testdata and docs/telemetry.md from what the code does now")

// backend takes what an observer makes.
type backend struct {
	*otel.Observer
	t      *testing.T
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	logs   *logged
}

// watch returns an observer with a backend of its own.
func watch(t *testing.T, o otel.Options, more ...sdktrace.TracerProviderOption) *backend {
	t.Helper()
	b := &backend{t: t, spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), logs: &logged{}}
	more = append([]sdktrace.TracerProviderOption{sdktrace.WithSyncer(b.spans), sdktrace.WithIDGenerator(otel.IDGenerator{})}, more...)
	o.TracerProvider, o.MeterProvider = sdktrace.NewTracerProvider(more...), sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader))
	o.LoggerProvider = sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(b.logs)))
	var err error
	if b.Observer, err = otel.New(o); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *backend) feed(events []event.Event) *backend {
	for _, e := range events {
		b.Event(e)
	}
	return b
}

func (b *backend) measured() string {
	b.t.Helper()
	var rm metricdata.ResourceMetrics
	if err := b.reader.Collect(b.t.Context(), &rm); err != nil {
		b.t.Fatal(err)
	}
	return metrics(&rm)
}

// replayed returns the spans of a stored run.
func replayed(t *testing.T, s *story, run string, o otel.Options) tracetest.SpanStubs {
	t.Helper()
	b := watch(t, o)
	if err := b.Replay(t.Context(), s.store, run); err != nil {
		t.Fatal(err)
	}
	if got := b.measured(); got != "" {
		t.Errorf("the past is measured again:\n%s", got)
	}
	return b.spans.GetSpans()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, file, got, string(want))
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		x, y := "", ""
		if i < len(g) {
			x = g[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if x != y {
			t.Errorf("%s: line %d (rewrite it with -update if that is meant)\ngot  %s\nwant %s", what, i+1, x, y)
			return
		}
	}
}

var profiles = map[string]otel.Profile{"semconv": otel.Semconv, "genai": otel.GenAI}

// The whole of a run, in the names of each profile.
func TestGolden(t *testing.T) {
	for name, p := range profiles {
		s := desk(t)
		b := watch(t, otel.Options{Profile: p}).feed(s.events)
		golden(t, "testdata/desk."+name+".txt", tree(b.spans.GetSpans())+"\n"+b.measured())
	}
}

// What is exported while a run goes on, by the process that died and by the one that
// carried it on, and what is exported from the store later are the same spans.
func TestLiveAndLaterAreTheSame(t *testing.T) {
	s := desk(t)
	died := slices.IndexFunc(s.events, func(e event.Event) bool { return e.Data.Type() == event.TypeRunResumed })
	first, second := watch(t, otel.Options{Store: s.store}), watch(t, otel.Options{Store: s.store})
	first.feed(s.events[:died])
	second.feed(s.events[died:])
	live := append(first.spans.GetSpans(), second.spans.GetSpans()...)
	later := replayed(t, s, "r1", otel.Options{})
	same(t, "spans", tree(live), tree(later))

	ids := map[trace.SpanID]bool{}
	for _, x := range live {
		if ids[x.SpanContext.SpanID()] || x.SpanContext.TraceID() != later[0].SpanContext.TraceID() {
			t.Errorf("the span %s is there twice, or in another trace", x.Name)
		}
		ids[x.SpanContext.SpanID()] = true
	}
	for _, x := range later {
		if !ids[x.SpanContext.SpanID()] {
			t.Errorf("the span %s has another id later", x.Name)
		}
	}
}

// Wherever a process dies: what it had exported, what the next one exports and what is
// exported later are the same.
func TestDeathAnywhere(t *testing.T) {
	for died := 1; ; died++ {
		whole := desk(t)
		resumed := slices.IndexFunc(whole.events, func(e event.Event) bool { return e.Data.Type() == event.TypeRunResumed })
		if died >= resumed {
			return
		}
		s := newStory(t)
		for i, e := range whole.events[:died] {
			if i > 0 {
				s.at = whole.events[i-1].Time
			}
			s.says(e.Run, e.Time-s.at, e.Data)
		}
		s.says("r1", 60_000, &event.RunResumed{Generation: 2})
		if s.seq["r1.1"] > 0 && s.events[died-1].Run == "r1.1" && s.events[died-1].Data.Type() != event.TypeRunFinished {
			s.says("r1", 1, &event.ToolStarted{ID: "24.1", Call: "c4", Tool: "research", Effect: event.Read, ArgsHash: event.Hash{4}, Attempt: 2, Run: "r1.1"})
			s.says("r1.1", 1, &event.RunResumed{Generation: 2})
			s.says("r1.1", 5, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})
		}
		s.says("r1", 10, &event.RunFinished{Reason: event.ReasonCancelled})
		first, second := watch(t, otel.Options{Store: s.store}), watch(t, otel.Options{Store: s.store})
		first.feed(s.events[:died])
		second.feed(s.events[died:])
		live := append(first.spans.GetSpans(), second.spans.GetSpans()...)
		if same(t, "after event "+string(s.events[died-1].Data.Type()), tree(live), tree(replayed(t, s, "r1", otel.Options{}))); t.Failed() {
			return
		}
	}
}

// Every model call says how it ended: an empty one, one that failed and one that was
// given up too.
func TestEveryModelCallHasAFinishReason(t *testing.T) {
	calls, reasons := 0, map[string]int{}
	for _, s := range replayed(t, desk(t), "r1", otel.Options{}) {
		if strings.HasPrefix(s.Name, "chat ") {
			calls++
			reasons[strings.Join(attr(s, "gen_ai.response.finish_reasons").AsStringSlice(), ",")]++
		}
	}
	if calls != 9 || reasons["error"] != 3 || reasons["stop"] != 3 || reasons["tool_calls"] != 3 {
		t.Errorf("%d model calls ended so: %v", calls, reasons)
	}
}

// Only model calls count: whoever adds up what spans have, but for those that say that
// theirs is a sum, gets what was used.
func TestUsageIsNotCountedTwice(t *testing.T) {
	s := desk(t)
	var want, got, rolled int64
	for _, e := range s.events {
		if d, ok := e.Data.(*event.ModelAnswered); ok {
			want += d.Usage.Input.Or(0)
		}
	}
	for _, x := range replayed(t, s, "r1", otel.Options{}) {
		n := attr(x, "gen_ai.usage.input_tokens").AsInt64()
		if attr(x, "rein.usage.rollup").AsBool() {
			if strings.HasPrefix(x.Name, "chat") {
				t.Errorf("%s is no sum", x.Name)
			}
			rolled++
			continue
		}
		got += n
	}
	if got != want || rolled != 3 {
		t.Errorf("spans have %d input tokens, and %d are sums; %d were used", got, rolled, want)
	}
	b := watch(t, otel.Options{Profile: otel.GenAI}).feed(s.events)
	var measured int64
	for line := range strings.SplitSeq(b.measured(), "\n") {
		if rest, ok := strings.CutPrefix(line, "gen_ai.client.inference.usage.input_tokens "); ok {
			_, n, _ := strings.Cut(rest, "} ")
			measured += number64(t, n)
		}
	}
	if measured != want {
		t.Errorf("%d input tokens are measured; %d were used", measured, want)
	}
}

// What is measured does not depend on what is sampled.
func TestMetricsWithoutSampling(t *testing.T) {
	for _, p := range profiles {
		all := watch(t, otel.Options{Profile: p}).feed(desk(t).events)
		none := watch(t, otel.Options{Profile: p}, sdktrace.WithSampler(sdktrace.NeverSample())).feed(desk(t).events)
		if n := len(none.spans.GetSpans()); n != 0 {
			t.Errorf("%d spans are exported of a trace that is not sampled", n)
		}
		same(t, "metrics", none.measured(), all.measured())
	}
}

// What has ended is exported at once, not when the run is over.
func TestVisibleWhileItGoesOn(t *testing.T) {
	s := desk(t)
	b := watch(t, otel.Options{})
	for _, e := range s.events {
		b.Event(e)
		switch d := e.Data.(type) {
		case *event.ModelAnswered, *event.ModelFailed:
			if x := last(b.spans); !strings.HasPrefix(x.Name, "chat ") || since(x.EndTime) != e.Time-day {
				t.Errorf("after event %d the last span is %s", e.Seq, x.Name)
			}
		case *event.ToolFinished:
			if x := last(b.spans); x.Name != "execute_tool "+d.Tool {
				t.Errorf("after event %d the last span is %s", e.Seq, x.Name)
			}
		}
	}
}

func last(x *tracetest.InMemoryExporter) tracetest.SpanStub {
	spans := x.GetSpans()
	if len(spans) == 0 {
		return tracetest.SpanStub{}
	}
	return spans[len(spans)-1]
}

// The caller's span is the parent, whatever process exports it: the journal says which it
// was. A later stretch belongs to the same trace.
func TestParent(t *testing.T) {
	const asked = "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, SpanID: trace.SpanID{1, 2, 3, 4, 5, 6, 7, 8}, TraceFlags: trace.FlagsSampled})
	s := newStory(t)
	s.says("r2", 0, &event.RunStarted{Format: 1, Root: "r2", Traceparent: asked, Spec: orderDesk()})
	s.says("r2", 1, &event.RunPaused{Cause: event.CauseTurnDone})
	s.says("r2", 1, &event.RunResumed{Generation: 2})
	s.says("r2", 1, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})
	b := watch(t, otel.Options{})
	if got := b.Begin(trace.ContextWithSpanContext(t.Context(), caller), "r2"); got != asked {
		t.Errorf("the journal is given %s", got)
	}
	b.feed(s.events)
	for what, spans := range map[string]tracetest.SpanStubs{"live": b.spans.GetSpans(), "later": replayed(t, s, "r2", otel.Options{})} {
		for _, x := range spans {
			if x.SpanContext.TraceID() != caller.TraceID() || x.Parent.SpanID() != caller.SpanID() {
				t.Errorf("%s: %s", what, span(x, ""))
			}
		}
		if len(spans) != 2 || len(spans[1].Links) != 1 || spans[1].Links[0].SpanContext.SpanID() != spans[0].SpanContext.SpanID() {
			t.Errorf("%s: the second stretch is not linked to the first:\n%s", what, tree(spans))
		}
	}
	if got := watch(t, otel.Options{}).Begin(context.Background(), "r2"); got != "" {
		t.Errorf("nobody asked, and the journal is given %s", got)
	}
}

// A fork has a trace of its own, with a link to what it comes from, and no span of what
// it shares with that.
func TestFork(t *testing.T) {
	s := desk(t)
	if err := s.store.Fork(t.Context(), s.lease, "r1", 9, "f1"); err != nil {
		t.Fatal(err)
	}
	s.seq["f1"] = 9
	before := len(s.events)
	s.says("f1", 10, &event.RunResumed{Generation: 1, Fork: "r1"})
	s.asks("f1", "10.0", 1, event.PurposeStep, 1)
	s.says("f1", 10, &event.ModelAnswered{ID: "10.0", Finish: event.FinishStop, Usage: usage(1, 0, 1), Latency: 10})
	s.says("f1", 1, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})

	origin := replayed(t, s, "r1", otel.Options{})
	later := replayed(t, s, "f1", otel.Options{})
	live := watch(t, otel.Options{Store: s.store}).feed(s.events[before:]).spans.GetSpans()
	same(t, "spans", tree(live), tree(later))
	if len(later) != 3 {
		t.Fatalf("got\n%s", tree(later))
	}
	top := later[len(later)-1]
	if top.SpanContext.TraceID() == origin[0].SpanContext.TraceID() || len(top.Links) != 1 {
		t.Fatalf("got\n%s", tree(later))
	}
	to := top.Links[0].SpanContext
	if !slices.ContainsFunc(origin, func(x tracetest.SpanStub) bool {
		return x.Name == "invoke_agent order-desk" && x.SpanContext.TraceID() == to.TraceID() && x.SpanContext.SpanID() == to.SpanID()
	}) {
		t.Errorf("it is linked to %v, which nobody exports", to)
	}
}

// Calls are told the span that is exported of them, also if they are made before the
// event that announces them comes, and in the runs below.
func TestContext(t *testing.T) {
	s := desk(t)
	for _, early := range []bool{false, true} {
		b := watch(t, otel.Options{})
		told := map[trace.SpanID]string{}
		for _, e := range s.events {
			ask := func() {
				ctx := b.Context(t.Context(), e.Run, e.Seq, e.Data.Type())
				told[trace.SpanContextFromContext(ctx).SpanID()] = string(e.Data.Type())
			}
			calls := e.Data.Type() == event.TypeModelCalled || e.Data.Type() == event.TypeToolStarted
			if calls && early {
				ask()
			}
			b.Event(e)
			if calls && !early {
				ask()
			}
		}
		for _, x := range b.spans.GetSpans() {
			is := told[x.SpanContext.SpanID()]
			executed := attr(x, "rein.tool.status").AsString() != "denied"
			if want := map[string]event.Type{"chat": event.TypeModelCalled, "execute_tool": event.TypeToolStarted}[strings.Fields(x.Name)[0]]; executed && is != string(want) {
				t.Errorf("early %v: the call of %s was told %q", early, x.Name, is)
			}
		}
	}
	// Without a provider the context stays as it is, and whoever asked is handed on.
	none, err := otel.New(otel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	ctx := trace.ContextWithSpanContext(t.Context(), caller)
	none.Begin(ctx, "r1")
	for _, e := range s.events[:8] {
		none.Event(e)
		if got := trace.SpanContextFromContext(none.Context(ctx, "r1", e.Seq, event.TypeToolStarted)); !got.Equal(caller) {
			t.Errorf("the call is told %v", got)
		}
	}
}

// An event that comes again at another place, as when somebody else has written to the
// journal first, is no second call; and another try to carry the run out, which fails,
// ends nothing.
func TestAgain(t *testing.T) {
	s := newStory(t)
	s.says("r1", 0, &event.RunStarted{Format: 1, Root: "r1", Spec: orderDesk()})
	s.asks("r1", "3.0", 1, event.PurposeStep, 1)
	s.says("r1", 9, &event.ModelAnswered{ID: "3.0", Finish: event.FinishToolCalls, Latency: 9})
	s.says("r1", 1, &event.CallJudged{Call: "c1", Tool: "find_orders", Verdict: event.Allow})
	s.says("r1", 1, &event.ToolStarted{ID: "5.0", Call: "c1", Tool: "find_orders", Attempt: 1})
	s.says("r1", 1, &event.ToolFinished{ID: "5.0", Call: "c1", Tool: "find_orders", Status: event.StatusSuccess, Latency: 1})
	s.says("r1", 1, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})
	b := watch(t, otel.Options{Store: s.store})
	b.Begin(t.Context(), "r1")
	for _, e := range s.events {
		b.Event(e)
		switch e.Data.(type) {
		case *event.ToolStarted, *event.ModelCalled, *event.ModelAnswered, *event.ToolFinished:
			e.Seq += 100
			b.Event(e)
		case *event.CallJudged:
			b.Begin(t.Context(), "r1")
			b.End("r1")
		}
	}
	b.End("r1")
	var names []string
	for _, x := range b.spans.GetSpans() {
		names = append(names, x.Name)
		if attr(x, "rein.incomplete").AsBool() || len(x.Events) > 0 {
			t.Errorf("got %s", span(x, ""))
		}
	}
	if got := strings.Join(names, ", "); got != "chat flash, execute_tool find_orders, step, invoke_agent order-desk" {
		t.Errorf("spans: %s", got)
	}
}
