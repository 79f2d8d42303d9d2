package prometheus_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/prometheus"
)

var _ rein.Observer = (*prometheus.Metrics)(nil)

// metrics returns metrics, and what scrapes them over HTTP and holds the answer to the
// format.
func metrics(t *testing.T, o *prometheus.Options) (*prometheus.Metrics, func() map[string]*dto.MetricFamily) {
	t.Helper()
	m, err := prometheus.New(o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	return m, func() map[string]*dto.MetricFamily {
		t.Helper()
		resp, err := http.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
			t.Fatalf("%s, %s", resp.Status, resp.Header.Get("Content-Type"))
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(resp.Body)
		if err != nil {
			t.Fatalf("what is served is not the text format: %v", err)
		}
		return families
	}
}

// feed gives the events of a run to an observer.
func feed(o interface{ Event(event.Event) }, run string, from int64, data ...event.Data) {
	for i, d := range data {
		o.Event(event.Event{Run: run, Seq: from + int64(i), Time: 1_790_000_000_000 + int64(i), Data: d})
	}
}

// value returns a series in the form that its page has, such as name{a="b"}, or -1.
func value(families map[string]*dto.MetricFamily, series string) int64 {
	name, _, _ := strings.Cut(series, "{")
	f := families[name]
	if f == nil {
		return -1
	}
	for _, x := range f.Metric {
		var labels []string
		for _, l := range x.Label {
			labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
		full := name
		if len(labels) > 0 {
			full += "{" + strings.Join(labels, ",") + "}"
		}
		if full == series {
			return int64(x.GetCounter().GetValue() + x.GetGauge().GetValue())
		}
	}
	return -1
}

// spec is an agent whose model has a price, and whose other has none.
func spec() event.Spec {
	return event.Spec{Agent: "desk", Model: "a/b", Prices: []event.ModelPrice{{Model: "a/b", Price: message.Price{Input: 1, Output: 1}}}, Tools: []event.ToolSpec{{Name: "read"}}}
}

// Every metric of the table counts what it says.
func TestMetrics(t *testing.T) {
	m, scrape := metrics(t, nil)
	if f := scrape(); value(f, "rein_runs_active") != 0 || value(f, `rein_runs_waiting{cause="waiting_approval"}`) != 0 {
		t.Errorf("before anything: %v", f)
	}
	used := message.Usage{Input: message.Known(10), Output: message.Known(1)}
	m.Begin(t.Context(), "r1")
	feed(m, "r1", 1,
		&event.RunStarted{Spec: spec()},
		&event.ContextCompacted{Strategy: "layered", Before: 900, After: 300},
		&event.ModelCalled{ID: "1", Step: 1, Attempt: 1, Model: "a/b"}, &event.ModelFailed{ID: "1", Class: event.ClassRate},
		&event.ModelCalled{ID: "2", Step: 1, Attempt: 2, Model: "a/b"}, &event.ModelAnswered{ID: "2", Usage: used},
		&event.ReplyParsed{ID: "2", Calls: []event.ParsedCall{{ID: "c1", Name: "read", Repairs: []event.Repair{{Kind: "fence"}}}}},
		&event.CallJudged{Call: "c1", Tool: "read", Verdict: event.Ask}, &event.ApprovalAsked{Call: "c1", Tool: "read"}, &event.RunPaused{Cause: event.CauseWaitingApproval})
	m.End("r1")
	for series, want := range map[string]int64{
		`rein_runs_started_total{agent="desk",below="false",how="new"}`:               1,
		`rein_runs_paused_total{agent="desk",below="false",cause="waiting_approval"}`: 1,
		`rein_runs_waiting{cause="waiting_approval"}`:                                 1,
		"rein_runs_active":                                                                 0,
		`rein_compactions_total{strategy="layered"}`:                                       1,
		`rein_compacted_total{strategy="layered"}`:                                         600,
		`rein_retries_total{after="rate_limit",of="model"}`:                                1,
		`rein_model_errors_total{class="rate_limit",model="a/b"}`:                          1,
		`rein_steps_total{agent="desk"}`:                                                   1,
		`rein_repairs_total{kind="fence",lossy="false"}`:                                   1,
		`rein_calls_judged_total{verdict="ask"}`:                                           1,
		`rein_approvals_asked_total{about="call"}`:                                         1,
		`rein_cost_unknown_total{model="a/b"}`:                                             -1, // a price is known
		`rein_runs_finished_total{agent="desk",below="false",reason="answered",ok="true"}`: -1,
	} {
		if got := value(scrape(), series); got != want {
			t.Errorf("%s is %d, want %d", series, got, want)
		}
	}
	m.Begin(t.Context(), "r1")
	if f := scrape(); value(f, "rein_runs_active") != 1 {
		t.Error("a run that is carried out is not active")
	}
	feed(m, "r1", 11,
		&event.ApprovalGiven{Call: "c1", Decision: event.Approved}, &event.RunResumed{},
		&event.ToolStarted{ID: "3", Call: "c1", Tool: "read", Attempt: 1}, &event.ToolFinished{ID: "3", Call: "c1", Tool: "read", Status: event.StatusTimeout},
		&event.ToolStarted{ID: "4", Call: "c1", Tool: "read", Attempt: 2}, &event.ToolFinished{ID: "4", Call: "c1", Tool: "read", Status: event.StatusSuccess},
		&event.CallJudged{Call: "c2", Tool: "teleport", Verdict: event.Intercept}, &event.ToolFinished{Call: "c2", Tool: "teleport", Status: event.StatusIntercepted},
		&event.NoticeAdded{Kind: "repetition", Text: "again"},
		&event.ModelCalled{ID: "5", Step: 2, Attempt: 1, Model: "c/free"}, &event.ModelAnswered{ID: "5", Usage: used}, &event.ReplyParsed{ID: "5"},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true})
	m.End("r1")
	f := scrape()
	for series, want := range map[string]int64{
		`rein_runs_started_total{agent="",below="false",how="resumed"}`:                                    1, // without a store nobody knows whose it is
		`rein_approvals_given_total{decision="approve"}`:                                                   1,
		`rein_runs_waiting{cause="waiting_approval"}`:                                                      0,
		`rein_retries_total{after="timeout",of="tool"}`:                                                    1,
		`rein_tool_outcomes_total{status="timeout",tool="read"}`:                                           1,
		`rein_tool_outcomes_total{status="success",tool="read"}`:                                           1,
		`rein_calls_judged_total{verdict="intercept"}`:                                                     1,
		`rein_notices_total{kind="repetition"}`:                                                            1,
		`rein_cost_unknown_total{model="c/free"}`:                                                          1,
		`rein_runs_finished_total{agent="",below="false",best_effort="false",ok="true",reason="answered"}`: 1,
	} {
		if got := value(f, series); got != want {
			t.Errorf("%s is %d, want %d", series, got, want)
		}
	}
	// What the table says is what is served.
	for _, row := range prometheus.Table() {
		family := f[row.Name]
		if family == nil {
			t.Errorf("%s was not served", row.Name)
			continue
		}
		if got := strings.ToLower(family.GetType().String()); got != row.Type {
			t.Errorf("%s is a %s, not a %s", row.Name, got, row.Type)
		}
		known := map[string]bool{}
		for _, l := range row.Labels {
			known[l] = true
		}
		for _, l := range family.Metric[0].Label {
			if !known[l.GetName()] {
				t.Errorf("%s has a label %s", row.Name, l.GetName())
			}
		}
		if len(family.Metric[0].Label) != len(row.Labels) || row.About == "" || row.Unit == "" {
			t.Errorf("%+v has labels %v", row, family.Metric[0].Label)
		}
	}
}

// Of a run that is taken up the store says whose it is, what its models cost and which
// tools it has; what it did before is not counted again.
func TestResumedRun(t *testing.T) {
	s := memory.New()
	defer s.Close()
	journaltest.Record(t, s, "r1", journal.Entry{Time: 1, Data: &event.RunStarted{Spec: spec()}}, journal.Entry{Time: 2, Data: &event.ModelCalled{ID: "1", Step: 1, Model: "a/b"}},
		journal.Entry{Time: 3, Data: &event.ModelFailed{ID: "1", Class: event.ClassServer}}, journal.Entry{Time: 4, Data: &event.RunPaused{Cause: event.CauseInterrupted}})
	m, scrape := metrics(t, &prometheus.Options{Store: s})
	feed(m, "r1", 5, &event.RunResumed{}, &event.ModelCalled{ID: "2", Step: 1, Attempt: 2, Model: "a/b"}, &event.ToolFinished{Call: "c", Tool: "fly", Status: event.StatusError})
	f := scrape()
	for series, want := range map[string]int64{
		`rein_runs_started_total{agent="desk",below="false",how="resumed"}`: 1, `rein_retries_total{after="server",of="model"}`: 1,
		`rein_tool_outcomes_total{status="error",tool="(not offered)"}`: 1, `rein_model_errors_total{class="server",model="a/b"}`: -1,
	} {
		if got := value(f, series); got != want {
			t.Errorf("%s is %d, want %d", series, got, want)
		}
	}
}

// Metrics are recorded whatever becomes of traces (openllmetry 4445: a span that was not
// sampled took the token counts with it), on one page with those of package otel.
func TestMetricsWithoutTraces(t *testing.T) {
	m, scrape := metrics(t, nil)
	o, err := otel.New(otel.Options{MeterProvider: m.MeterProvider(), TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []rein.Observer{m, o} {
		x.Begin(t.Context(), "r1")
		feed(x, "r1", 1, &event.RunStarted{Spec: spec()}, &event.ModelCalled{ID: "1", Step: 1, Attempt: 1, Model: "a/b", Purpose: event.PurposeStep},
			&event.ModelAnswered{ID: "1", Latency: 1500, Usage: message.Usage{Input: message.Known(1000), Output: message.Known(100)}}, &event.ReplyParsed{ID: "1"}, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})
		x.End("r1")
	}
	f := scrape()
	tokens := map[string]float64{}
	for _, x := range f["gen_ai_client_token_usage"].GetMetric() {
		for _, l := range x.Label {
			if l.GetName() == "gen_ai_token_type" {
				tokens[l.GetValue()] = x.GetHistogram().GetSampleSum()
			}
		}
	}
	if tokens["input"] != 1000 || tokens["output"] != 100 {
		t.Errorf("tokens %v", tokens)
	}
	if d := f["gen_ai_client_operation_duration_seconds"].GetMetric(); len(d) != 1 || d[0].GetHistogram().GetSampleSum() != 1.5 {
		t.Errorf("durations %v", d)
	}
	if value(f, `rein_steps_total{agent="desk"}`) != 1 {
		t.Error("the step is missing")
	}
}

// No run's or call's id is ever a label, and names that a model makes up are no labels
// either: what is served does not grow with what is run.
func TestFewSeries(t *testing.T) {
	m, scrape := metrics(t, nil)
	for i := range 50 {
		run, call := fmt.Sprintf("run-%d", i), fmt.Sprintf("call-%d", i)
		m.Begin(t.Context(), run)
		feed(m, run, 1, &event.RunStarted{Spec: spec()}, &event.ModelCalled{ID: "1", Step: 1, Attempt: 1, Model: "a/b"}, &event.ModelAnswered{ID: "1", ResponseID: run, Model: "made-" + run},
			&event.ReplyParsed{ID: "1"}, &event.CallJudged{Call: call, Tool: "tool-" + call, Verdict: event.Deny}, &event.ToolFinished{Call: call, Tool: "tool-" + call, Status: event.StatusDenied, ErrorType: "type-" + call},
			&event.RunFinished{Reason: event.ReasonDenied, Detail: run})
		m.End(run)
	}
	n := 0
	for name, family := range scrape() {
		for _, x := range family.Metric {
			n++
			for _, l := range x.Label {
				if strings.Contains(l.GetValue(), "run-") || strings.Contains(l.GetValue(), "call-") {
					t.Errorf("%s has a label %s=%q", name, l.GetName(), l.GetValue())
				}
			}
		}
	}
	if n > 20 {
		t.Errorf("%d series of 50 runs that are alike", n)
	}
}

// Two instances share nothing, whoever asks for OpenMetrics gets them, and the process's
// own metrics come on demand.
func TestServing(t *testing.T) {
	a, scrapeA := metrics(t, &prometheus.Options{Process: true, Version: "1.2.3"})
	_, scrapeB := metrics(t, nil)
	feed(a, "r1", 1, &event.RunStarted{Spec: spec()})
	if f := scrapeA(); f["rein_runs_started_total"] == nil || f["go_goroutines"] == nil || value(f, `target_info{service_name="rein",service_version="1.2.3"}`) != 1 {
		t.Errorf("%v", f)
	}
	if f := scrapeB(); f["rein_runs_started_total"] != nil || f["go_goroutines"] != nil {
		t.Errorf("another instance has %v", f)
	}
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, req)
	body, err := io.ReadAll(w.Body)
	if err != nil || !strings.HasSuffix(string(body), "# EOF\n") || !strings.Contains(string(body), "# TYPE rein_runs_started counter") {
		t.Errorf("%v\n%s", err, body)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if scrapeA()["rein_runs_started_total"] != nil {
		t.Error("something is served after the end")
	}
	if ctx := context.Background(); a.Context(ctx, "r1", 1, event.TypeModelCalled) != ctx {
		t.Error("the context was changed")
	}
}

// BenchmarkStep is what observing one step with a call costs: 7 events.
func BenchmarkStep(b *testing.B) {
	m, err := prometheus.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	feed(m, "r1", 1, &event.RunStarted{Spec: spec()})
	b.ReportAllocs()
	for n := int64(1); b.Loop(); n++ {
		id, call := fmt.Sprint(n), fmt.Sprint("c", n)
		feed(m, "r1", 7*n, &event.ContextAssembled{Step: n}, &event.ModelCalled{ID: id, Step: n, Attempt: 1, Model: "a/b"}, &event.ModelAnswered{ID: id}, &event.ReplyParsed{ID: id},
			&event.CallJudged{Call: call, Tool: "read", Verdict: event.Allow}, &event.ToolStarted{ID: id + "t", Call: call, Tool: "read", Attempt: 1}, &event.ToolFinished{ID: id + "t", Call: call, Tool: "read", Status: event.StatusSuccess})
	}
}
