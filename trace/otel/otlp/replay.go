package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"rein.example/rein/journal"
	"rein.example/rein/trace/otel"
)

// What is written or sent together: 512 spans, as the SDK's own batches are large, or
// fewer that have 2 MiB of text, since a receiver takes messages of 4 MiB over gRPC unless
// it is told otherwise, and each model call with content holds its whole request.
const (
	maxBatch      = 512
	maxBatchBytes = 2 << 20
)

// Write writes a stored run, with the runs that carry out its calls, to w: lines of
// OTLP/JSON, as the collector's file exporter writes and its otlpjsonfile receiver reads
// them. Each line is a whole request of at most 512 spans and, but for a single span that
// has more, some 2 MiB; memory is bounded by that. Of the options Profile, Content, Redact,
// Requests and Version count. A span in ctx is the parent of a run that nobody else gave
// one.
func Write(ctx context.Context, w io.Writer, s journal.Store, run string, o otel.Options) error {
	return replay(ctx, s, run, o, func(spans []sdktrace.ReadOnlySpan) error {
		b, err := line(spans)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	})
}

// Send sends a stored run to a collector, as Write writes it, by the protocol that the
// environment names. The endpoint is a URL such as http://127.0.0.1:4318, without
// credentials, which are headers; empty is the environment's, and it fails if that names
// none.
func Send(ctx context.Context, s journal.Store, run string, o otel.Options, endpoint string) error {
	if endpoint == "" && !named("TRACES") {
		return errors.New("the environment names no collector: set OTEL_EXPORTER_OTLP_ENDPOINT to a URL such as http://127.0.0.1:4318")
	}
	client, err := traceClient(endpoint)
	if err != nil {
		return fmt.Errorf("send spans to a collector: %w", err)
	}
	x, err := otlptrace.New(ctx, client)
	if err != nil {
		return fmt.Errorf("reach the collector: %w", err)
	}
	err = replay(ctx, s, run, o, func(spans []sdktrace.ReadOnlySpan) error {
		if err := x.ExportSpans(ctx, spans); err != nil {
			return fmt.Errorf("send spans to the collector: %w", err)
		}
		return nil
	})
	if serr := x.Shutdown(ctx); err == nil {
		err = serr
	}
	return err
}

func replay(ctx context.Context, s journal.Store, run string, o otel.Options, flush func([]sdktrace.ReadOnlySpan) error) error {
	b := &batch{flush: flush}
	limits := sdktrace.SpanLimits{AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1, LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithIDGenerator(otel.IDGenerator{}), sdktrace.WithRawSpanLimits(limits), sdktrace.WithResource(resourceOf(ctx, o.Version)))
	o.TracerProvider, o.MeterProvider, o.LoggerProvider = provider, nil, nil
	x, err := otel.New(o)
	if err != nil {
		return err
	}
	err = x.Replay(ctx, s, run)
	if berr := b.ForceFlush(ctx); berr != nil {
		return berr
	}
	return err
}

// batch passes on spans that have ended, some hundred together, in the order in which
// they ended. After an error nothing is passed on.
type batch struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
	bytes int // of text in them
	flush func([]sdktrace.ReadOnlySpan) error
	err   error
}

func (b *batch) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (b *batch) OnEnd(s sdktrace.ReadOnlySpan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := textOf(s)
	if b.bytes+n > maxBatchBytes {
		b.pass()
	}
	b.spans, b.bytes = append(b.spans, s), b.bytes+n
	if len(b.spans) == maxBatch {
		b.pass()
	}
}

// textOf returns how many bytes of text a span's attributes have.
func textOf(s sdktrace.ReadOnlySpan) (n int) {
	for _, kv := range s.Attributes() {
		if kv.Value.Type() == attribute.STRING {
			n += len(kv.Value.AsString())
		}
	}
	return n
}

func (b *batch) pass() {
	if b.err == nil && len(b.spans) > 0 {
		b.err = b.flush(b.spans)
	}
	b.spans, b.bytes = nil, 0
}

// ForceFlush passes on what is left.
func (b *batch) ForceFlush(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pass()
	return b.err
}

func (b *batch) Shutdown(ctx context.Context) error { return b.ForceFlush(ctx) }

// resourceOf says who exports: service.name rein and the program's version, and what the
// environment says (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES).
func resourceOf(ctx context.Context, version string) *resource.Resource {
	list := []attribute.KeyValue{attribute.String("service.name", "rein")}
	if version != "" {
		list = append(list, attribute.String("service.version", version))
	}
	// What the environment gives that cannot be read is left out, as the specification wants it.
	out, _ := resource.New(ctx, resource.WithAttributes(list...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	return out
}
