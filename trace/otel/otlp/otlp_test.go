package otlp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
	reinhttp "rein.example/rein/toolkit/http"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/otel/otlp"
)

// unset takes all of OpenTelemetry's variables that count here out of the environment.
func unset(t *testing.T) {
	for _, name := range []string{"OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
		"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
		"OTEL_SEMCONV_STABILITY_OPT_IN", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"} {
		t.Setenv(name, "")
	}
}

// collector notes which paths were posted to.
func collector(t *testing.T) (url string, got func() []string) {
	var mu sync.Mutex
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(paths, r.URL.Path) {
			paths = append(paths, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(paths)
		return paths
	}
}

// Which variables ask for what.
func TestEnvironment(t *testing.T) {
	all := "/v1/logs /v1/metrics /v1/traces"
	for _, c := range []struct{ about, env, want string }{
		{"nothing is asked for", "", ""},
		{"a collector", "OTEL_EXPORTER_OTLP_ENDPOINT=URL", all},
		{"nothing after all", "OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_SDK_DISABLED=true", ""},
		{"traces", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=URL/v1/traces", "/v1/traces"},
		{"metrics at another path", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=URL/m", "/m"},
		{"all but logs", "OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_LOGS_EXPORTER=none", "/v1/metrics /v1/traces"},
		{"no signal", "OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_LOGS_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_TRACES_EXPORTER=none", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			unset(t)
			url, got := collector(t)
			for kv := range strings.FieldsSeq(strings.ReplaceAll(c.env, "URL", url)) {
				k, v, _ := strings.Cut(kv, "=")
				t.Setenv(k, v)
			}
			live, err := otlp.FromEnv(t.Context(), otel.Options{})
			if err != nil || (live == nil) != (c.want == "") {
				t.Fatalf("%v, %v", live, err)
			}
			if live != nil {
				agent := newAgent(t, `turns: [{say: no, faults: [{status: 401}]}]`, rein.Options{Observers: []rein.Observer{live.Observer}})
				if r, err := agent.Run(t.Context(), "Say something."); err != nil || r.OK {
					t.Fatalf("%+v %v", r, err)
				}
				if err := live.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if paths := strings.Join(got(), " "); paths != c.want {
				t.Errorf("posted to %s, want %s", paths, c.want)
			}
		})
	}
}

// Wrong values are said, with those that can be used.
func TestEnvironmentIsWrong(t *testing.T) {
	for _, kv := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=maybe"} {
		unset(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		t.Setenv("OTEL_METRICS_EXPORTER", "none")
		name, v, _ := strings.Cut(kv, "=")
		t.Setenv(name, v)
		live, err := otlp.FromEnv(t.Context(), otel.Options{})
		if live != nil || err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%s: %v, %v", kv, live, err)
		}
	}
}

// Settings that cannot be read are refused with the name of the variable, and nowhere
// quoted, as the SDK would on stderr: they may be credentials. Nor does anything go to
// another collector than the one that was meant.
func TestUnreadable(t *testing.T) {
	const here = "http://127.0.0.1:1"
	for name, values := range map[string][]string{
		"OTEL_EXPORTER_OTLP_HEADERS":          {"hush-hush", "api-key=hush%zz", "the hush=1", "a=b,hush", "=hush"},
		"OTEL_EXPORTER_OTLP_LOGS_HEADERS":     {"hush-hush"},
		"OTEL_EXPORTER_OTLP_ENDPOINT":         {"http://hush:hush@127.0.0.1:1", "://hush", "hush:4318", "ftp://hush", here + "/%hush", here + "?key=hush"},
		"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT":    {"hush:4318"},
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":   {"hush"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":          {"hush", "10s"},
		"OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE": {"/gone/hush.pem"},
		"OTEL_RESOURCE_ATTRIBUTES":            {"hush", "a=%zzhush", "a=b,,c=hush", "=hush"},
		"OTEL_TRACES_SAMPLER":                 {"hush"},
	} {
		for _, v := range values {
			unset(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", here)
			t.Setenv(name, v)
			live, err := otlp.FromEnv(t.Context(), otel.Options{})
			if live != nil || err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s=%s: %v, %v", name, v, live, err)
			}
			t.Setenv(name, "")
		}
	}
	for sampler, arg := range map[string]string{"traceidratio": "2", "parentbased_traceidratio": "NaN", "TraceIDRatio ": "-0.5"} {
		t.Setenv("OTEL_TRACES_SAMPLER", sampler)
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", arg)
		if err := otlp.Settings(&otel.Options{}); err == nil {
			t.Errorf("%s with %s is taken", sampler, arg)
		}
	}
	unset(t)
	for _, to := range []string{"", "127.0.0.1:1", "localhost:4318", "http://", "http://hush:hush@127.0.0.1:1", "http://hush@127.0.0.1:1", "ftp://127.0.0.1:1", here + "/?key=hush"} {
		err := otlp.Send(t.Context(), memory.New(), "r1", otel.Options{}, to)
		if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:4318") && !strings.Contains(err.Error(), "not sent") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, v := range []string{"", " ", "api-key=x%20y, other = z", "a=b=="} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", here)
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", v)
		live, err := otlp.FromEnv(t.Context(), otel.Options{})
		if err != nil {
			t.Errorf("%q: %v", v, err)
		} else {
			_ = live.Close(t.Context()) // nothing was to be sent
		}
	}
}

// What is asked for of names and content.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		stability, content string
		profile            otel.Profile
		where              otel.Content
	}{
		{"", "", otel.Semconv, otel.NoContent},
		{"http/dup, gen_ai_latest_experimental", "NO_CONTENT", otel.GenAI, otel.NoContent},
		{"gen_ai_latest_experimental", "span_only", otel.GenAI, otel.ContentSpans},
		{"http", "EVENT_ONLY", otel.Semconv, otel.ContentEvents},
		{"", "SPAN_AND_EVENT", otel.Semconv, otel.ContentBoth},
		{"", "true", otel.Semconv, otel.ContentBoth},
		{"", "false", otel.Semconv, otel.NoContent},
	} {
		unset(t)
		t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", c.stability)
		t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", c.content)
		var o otel.Options
		if err := otlp.Settings(&o); err != nil || o.Profile != c.profile || o.Content != c.where {
			t.Errorf("%q, %q: %+v, %v", c.stability, c.content, o, err)
		}
	}
}

// A collector that is not there changes nothing but what is said in the end.
func TestNobodyCollects(t *testing.T) {
	unset(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	live, err := otlp.FromEnv(t.Context(), otel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agent := newAgent(t, `turns: [{say: Hello.}]`, rein.Options{Observers: []rein.Observer{live.Observer}})
	if r, err := agent.Run(t.Context(), "Say something."); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	if err := live.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "not exported") {
		t.Errorf("nothing is said: %v", err)
	}
}

func newAgent(t *testing.T, text string, o rein.Options) *rein.Agent {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := rein.New(script.New(s, nil), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// A server that a tool asks is told the span of the call, or where nobody exports, the
// caller's.
func TestHandedOnToServers(t *testing.T) {
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told <- r.Header.Get("traceparent")
		_, _ = w.Write([]byte(`{"late":2}`))
	}))
	defer server.Close()
	call := &reinhttp.Call{Name: "late_orders", URL: server.URL + "/late", AllowPrivate: true,
		Doc: tool.Doc{What: "Counts late orders.", When: "Once.", Returns: "A number."}}
	late, err := reinhttp.NewCall(call)
	if err != nil {
		t.Fatal(err)
	}
	const text = `
turns:
  - call: {name: late_orders, arguments: {}}
  - say: Two.
`
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 15: 2}, SpanID: trace.SpanID{3, 7: 4}, TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithSpanContext(t.Context(), caller)
	for _, sampled := range []bool{true, false} {
		exporter := tracetest.NewInMemoryExporter()
		sampler := sdktrace.NeverSample()
		if sampled {
			sampler = sdktrace.AlwaysSample()
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(otel.IDGenerator{}), sdktrace.WithSampler(sampler))
		observer, err := otel.New(otel.Options{TracerProvider: provider})
		if err != nil {
			t.Fatal(err)
		}
		agent := newAgent(t, text, rein.Options{Tools: []tool.Tool{late}, Observers: []rein.Observer{observer}})
		if r, err := agent.Run(ctx, "How many orders are late?"); err != nil || !r.OK {
			t.Fatalf("%+v %v", r, err)
		}
		got := <-told
		if !sampled {
			if !strings.HasPrefix(got, "00-"+caller.TraceID().String()) || !strings.HasSuffix(got, "-00") || len(exporter.GetSpans()) != 0 {
				t.Errorf("of a trace that is not sampled the server is told %s", got)
			}
			continue
		}
		i := slices.IndexFunc(exporter.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name == "execute_tool late_orders" })
		if i < 0 {
			t.Fatal("the call has no span")
		}
		sc := exporter.GetSpans()[i].SpanContext
		if want := "00-" + caller.TraceID().String() + "-" + sc.SpanID().String() + "-01"; got != want {
			t.Errorf("the server is told %s, and the call's span is %s", got, want)
		}
	}
	agent := newAgent(t, text, rein.Options{Tools: []tool.Tool{late}})
	if r, err := agent.Run(ctx, "How many orders are late?"); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	if got, want := <-told, "00-"+caller.TraceID().String()+"-"+caller.SpanID().String()+"-01"; got != want {
		t.Errorf("without an exporter the server is told %s, want %s", got, want)
	}
}

// A run that one process pauses and another carries on is one trace, and later the same.
func TestResumedElsewhere(t *testing.T) {
	store := memory.New()
	send := tool.New("send_note", tool.Doc{What: "Sends a note.", When: "Once.", Returns: "That it was sent."},
		func(context.Context, struct{}) (string, error) { return "sent", nil }, nil)
	exporter := tracetest.NewInMemoryExporter()
	process := func(approve rein.Approver) *rein.Agent {
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(otel.IDGenerator{}))
		observer, err := otel.New(otel.Options{TracerProvider: provider, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		return newAgent(t, `{turns: [{call: {name: send_note}}, {say: It is sent.}]}`,
			rein.Options{Name: "clerk", Tools: []tool.Tool{send}, Store: store, Approve: approve, Observers: []rein.Observer{observer}})
	}
	first := process(nil)
	run := first.Start(t.Context(), "Send it.")
	if r, err := run.Result(); err != nil || r.Status != "paused" {
		t.Fatalf("%+v %v", r, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := process(func(context.Context, engine.Question) (engine.Answer, bool) {
		return engine.Answer{Decision: event.Approved, By: "ada"}, true
	})
	if r, err := second.Resume(t.Context(), run.ID()).Result(); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	var live []string
	for _, s := range exporter.GetSpans() {
		live = append(live, s.SpanContext.TraceID().String()+" "+s.SpanContext.SpanID().String()+" "+s.Parent.SpanID().String()+" "+s.Name)
	}
	var out bytes.Buffer
	if err := otlp.Write(t.Context(), &out, store, run.ID(), otel.Options{}); err != nil {
		t.Fatal(err)
	}
	var line file
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	var later []string
	for _, s := range line.ResourceSpans[0].ScopeSpans[0].Spans {
		if s.ParentSpanID == "" {
			s.ParentSpanID = strings.Repeat("0", 16)
		}
		later = append(later, s.TraceID+" "+s.SpanID+" "+s.ParentSpanID+" "+s.Name)
	}
	if !slices.Equal(live, later) || strings.Count(strings.Join(live, "\n"), "invoke_agent clerk") != 2 {
		t.Errorf("live:\n%s\nlater:\n%s", strings.Join(live, "\n"), strings.Join(later, "\n"))
	}
}

// file is what counts here of a line of OTLP/JSON.
type file struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			SchemaURL string `json:"schemaUrl"`
			Spans     []struct{ TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano string }
		}
	}
}

// failing takes some bytes, and then no more.
type failing struct{ left int }

var errFull = errors.New("full")

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// A file is lines of JSON, each a whole request; that it cannot be written is said.
func TestWrite(t *testing.T) {
	unset(t)
	store := memory.New()
	agent := newAgent(t, `turns: [{say: "Hello, \u2028 <you>."}]`, rein.Options{Name: "greeter", Store: store})
	run := agent.Start(t.Context(), "Say something.")
	if r, err := run.Result(); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	var out bytes.Buffer
	if err := otlp.Write(t.Context(), &out, store, run.ID(), otel.Options{Content: otel.ContentSpans}); err != nil {
		t.Fatal(err)
	}
	var line file
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v\n%s", err, &out)
	}
	spans := line.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 3 || spans[2].Name != "invoke_agent greeter" || len(spans[0].TraceID) != 32 || spans[0].ParentSpanID != spans[1].SpanID || len(spans[0].StartTimeUnixNano) != 19 {
		t.Errorf("%+v", spans)
	}
	if err := otlp.Write(t.Context(), &failing{10}, store, run.ID(), otel.Options{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	if err := otlp.Write(context.Background(), &out, store, "none", otel.Options{}); err == nil {
		t.Error("there is no such run, and it is exported")
	}
}
