// Package otlp answers: how do a run's spans, metrics and log records reach a collector?
//
// [FromEnv] exports what happens while it happens, as the environment says; [Write] and
// [Send] export a run that a store holds. What is exported is package trace/otel's to
// decide.
package otlp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"rein.example/rein/trace/otel"
)

// closeTime bounds how long the end of a program waits for a collector: 2 s, enough for
// one that is there.
const closeTime = 2 * time.Second

// sendTime is how long a span that has ended waits for company: 1 s, where the SDK has 5,
// since that is what is lost of a process that is killed.
const sendTime = time.Second

// Live exports what happens.
type Live struct {
	// Observer is for rein.Options.Observers.
	Observer *otel.Observer
	closers  []func(context.Context) error
	failed   *failure
}

// FromEnv returns what exports runs as the environment says, nil if it does not ask for
// that:
//
//   - OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, metrics and log records, and
//     OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS}_ENDPOINT for one of them;
//     OTEL_{TRACES,METRICS,LOGS}_EXPORTER=none does not want it, and OTEL_SDK_DISABLED=true
//     nothing.
//   - OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf (the default) or grpc.
//   - OTEL_SEMCONV_STABILITY_OPT_IN with gen_ai_latest_experimental among its values takes
//     the newest profile.
//   - OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT exports content: SPAN_ONLY,
//     EVENT_ONLY, or SPAN_AND_EVENT, which true means too.
//   - The SDK's own variables count as well: service, resource, headers, sampler, sizes.
//
// It fills in the options that follow from that. Nothing waits for the collector: what it
// does not take is dropped, and [Live.Close] says so.
func FromEnv(ctx context.Context, o otel.Options) (*Live, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	l := &Live{failed: &failure{}}
	if !asked("TRACES") && !asked("METRICS") && !asked("LOGS") {
		return nil, nil
	}
	err := Settings(&o)
	for _, export := range []func(context.Context, *otel.Options) error{l.traces, l.metrics, l.logs} {
		if err == nil {
			err = export(ctx, &o)
		}
	}
	if err == nil {
		l.Observer, err = otel.New(o)
	}
	if err != nil {
		_ = l.Close(ctx)
		return nil, fmt.Errorf("export telemetry: %w", err)
	}
	return l, nil
}

// Settings fills in the profile and what to do with content, as the environment says; see
// [FromEnv]. It fails if that cannot be read, as it does of the resource's attributes and
// the sampler, of which the SDK would write lines to stderr.
func Settings(o *otel.Options) error {
	if err := checkShared(); err != nil {
		return err
	}
	if slices.Contains(strings.Split(strings.ReplaceAll(os.Getenv("OTEL_SEMCONV_STABILITY_OPT_IN"), " ", ""), ","), "gen_ai_latest_experimental") {
		o.Profile = otel.GenAI
	}
	const name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
	switch v := os.Getenv(name); strings.ToUpper(v) {
	case "", "FALSE", "NO_CONTENT":
	case "SPAN_ONLY":
		o.Content = otel.ContentSpans
	case "EVENT_ONLY":
		o.Content = otel.ContentEvents
	case "SPAN_AND_EVENT", "TRUE":
		o.Content = otel.ContentBoth
	default:
		return fmt.Errorf("%s is %.40q: use SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT or NO_CONTENT", name, v)
	}
	return nil
}

// Close sends what was not sent yet, within 2 seconds, and returns what went wrong with
// sending, if anything did, also before.
func (l *Live) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range l.closers {
		all.Go(func() { l.failed.note(c(ctx)) })
	}
	all.Wait()
	if err := l.failed.get(); err != nil {
		return fmt.Errorf("telemetry was not exported, or not all of it: %w", err)
	}
	return nil
}

// asked reports whether the environment asks for a signal.
func asked(signal string) bool {
	if os.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return false
	}
	return named(signal)
}

// named reports whether the environment names a collector for a signal.
func named(signal string) bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// overGRPC reports which protocol the environment asks for, and refuses settings that
// cannot be used.
func overGRPC(signal string) (bool, error) {
	grpc, err := protocol(signal)
	if err == nil {
		err = checkEnv(signal, grpc)
	}
	return grpc, err
}

func protocol(signal string) (grpc bool, err error) {
	name := "OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL"
	v := os.Getenv(name)
	if v == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
		v = os.Getenv(name)
	}
	switch v {
	case "", "http/protobuf":
		return false, nil
	case "grpc":
		return true, nil
	}
	return false, fmt.Errorf("%s is %.40q: use http/protobuf or grpc", name, v)
}

func (l *Live) traces(ctx context.Context, o *otel.Options) error {
	if !asked("TRACES") {
		return nil
	}
	client, err := traceClient("")
	if err != nil {
		return err
	}
	x, err := otlptrace.New(ctx, client)
	if err != nil {
		return err
	}
	var batch []sdktrace.BatchSpanProcessorOption
	if os.Getenv("OTEL_BSP_SCHEDULE_DELAY") == "" {
		batch = append(batch, sdktrace.WithBatchTimeout(sendTime))
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spanExporter{x, l.failed}, batch...), sdktrace.WithIDGenerator(otel.IDGenerator{}),
		sdktrace.WithResource(resourceOf(ctx, o.Version)))
	o.TracerProvider = p
	l.closers = append(l.closers, p.Shutdown)
	return nil
}

// traceClient returns what sends spans to an endpoint, or to the environment's.
func traceClient(endpoint string) (otlptrace.Client, error) {
	grpc, err := overGRPC("TRACES")
	if err == nil && endpoint != "" {
		err = checkURL(endpoint, grpc)
	}
	switch {
	case err != nil:
		return nil, err
	case grpc && endpoint != "":
		return otlptracegrpc.NewClient(otlptracegrpc.WithEndpointURL(endpoint)), nil
	case grpc:
		return otlptracegrpc.NewClient(), nil
	case endpoint != "":
		return otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(withPath(endpoint))), nil
	}
	return otlptracehttp.NewClient(), nil
}

// withPath adds OTLP's path to a URL that has none.
func withPath(endpoint string) string {
	_, rest, ok := strings.Cut(endpoint, "://")
	if !ok || strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		return endpoint
	}
	return strings.TrimSuffix(endpoint, "/") + "/v1/traces"
}

func (l *Live) metrics(ctx context.Context, o *otel.Options) error {
	if !asked("METRICS") {
		return nil
	}
	grpc, err := overGRPC("METRICS")
	if err != nil {
		return err
	}
	var x sdkmetric.Exporter
	if grpc {
		x, err = otlpmetricgrpc.New(ctx)
	} else {
		x, err = otlpmetrichttp.New(ctx)
	}
	if err != nil {
		return err
	}
	p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter{x, l.failed})), sdkmetric.WithResource(resourceOf(ctx, o.Version)))
	o.MeterProvider = p
	l.closers = append(l.closers, p.Shutdown)
	return nil
}

func (l *Live) logs(ctx context.Context, o *otel.Options) error {
	if !asked("LOGS") {
		return nil
	}
	grpc, err := overGRPC("LOGS")
	if err != nil {
		return err
	}
	var x sdklog.Exporter
	if grpc {
		x, err = otlploggrpc.New(ctx)
	} else {
		x, err = otlploghttp.New(ctx)
	}
	if err != nil {
		return err
	}
	p := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(logExporter{x, l.failed})), sdklog.WithResource(resourceOf(ctx, o.Version)))
	o.LoggerProvider = p
	l.closers = append(l.closers, p.Shutdown)
	return nil
}

// failure keeps the first thing that went wrong.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// The exporters below keep their errors for Close, instead of giving them to the SDK,
// whose handler of errors is global and writes a line each time.

type spanExporter struct {
	sdktrace.SpanExporter
	failed *failure
}

func (x spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	x.failed.note(x.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

type metricExporter struct {
	sdkmetric.Exporter
	failed *failure
}

func (x metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	x.failed.note(x.Exporter.Export(ctx, m))
	return nil
}

type logExporter struct {
	sdklog.Exporter
	failed *failure
}

func (x logExporter) Export(ctx context.Context, records []sdklog.Record) error {
	x.failed.note(x.Exporter.Export(ctx, records))
	return nil
}
