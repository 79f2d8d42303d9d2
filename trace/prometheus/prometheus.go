// Package prometheus answers: how does a Prometheus server see what runs do?
//
// [Metrics] observes runs and serves what it has counted over HTTP:
//
//	m, err := prometheus.New(&prometheus.Options{Store: store})
//	agent, err := rein.New(client, &rein.Options{Store: store, Observers: []rein.Observer{m}})
//	mux.Handle("/metrics", m.Handler())
//
// It counts what the conventions of OpenTelemetry have no word for: runs by reason, runs
// that wait, steps, retries, interceptions, rewrites of the context. What they have words
// for — durations of model calls and tools, tokens — and cost are the metrics of package
// trace/otel, recorded on this package's [Metrics.MeterProvider], so that both are served
// together. Neither looks at spans: sampling traces loses no metric.
//
// Labels have few values: names of agents, models, tools that were offered, and words of
// closed sets; never the id of a run or a call. Every registry is the instance's own, and
// nothing global is read or set.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// Scope is the name of the instrumentation scope.
const Scope = "rein.example/rein/trace/prometheus"

// Scraping is bounded: so many scrapes at once, each in so much time.
const (
	mostScrapes = 4
	scrapeTime  = 10 * time.Second
)

// MostSeries is the most combinations of label values that one metric has; what comes
// after them is counted together, with the label otel_metric_overflow="true".
const MostSeries = 2000

// Options are settings. The zero value of each field is its default.
type Options struct {
	// Store is where runs are that were not observed from their beginning: what agent a
	// resumed run is of, what its models cost. Nil: that is unknown of such runs.
	Store journal.Store
	// Process adds metrics of the process and of Go's runtime: process_*, go_*.
	Process bool
	// Version is that of the program, for target_info.
	Version string
}

// Metrics counts what happens in runs. It is a rein.Observer, and safe for concurrent
// use; what happens in one run has to come in order.
type Metrics struct {
	store    journal.Store
	registry *client.Registry
	provider *sdk.MeterProvider
	counters [counters]metric.Int64Counter

	mu      sync.Mutex
	runs    map[string]*run        // that are carried out, and those below them; looked up only
	active  map[string]bool        // that are carried out; counted only
	waiting map[string]event.Cause // that have paused; counted only
}

// New returns metrics with a registry of their own. A nil *Options is the defaults. It
// fails if an instrument cannot be made.
func New(o *Options) (*Metrics, error) {
	if o == nil {
		o = &Options{}
	}
	m := &Metrics{store: o.Store, registry: client.NewRegistry(), runs: map[string]*run{}, active: map[string]bool{}, waiting: map[string]event.Cause{}}
	reader, err := exporter.New(exporter.WithRegisterer(m.registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("make the exporter: %w", err)
	}
	service := []attribute.KeyValue{attribute.String("service.name", "rein")}
	if o.Version != "" {
		service = append(service, attribute.String("service.version", o.Version))
	}
	m.provider = sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithCardinalityLimit(MostSeries), sdk.WithResource(resource.NewSchemaless(service...)))
	if err := m.instruments(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if o.Process {
		for _, c := range []client.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
			if err := m.registry.Register(c); err != nil {
				return nil, errors.Join(fmt.Errorf("register the process's metrics: %w", err), m.Close())
			}
		}
	}
	return m, nil
}

// Handler returns what serves the metrics, in the text format or as OpenMetrics, as the
// client asks. It asks nobody who they are: mount it where only those come who may.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: mostScrapes, Timeout: scrapeTime,
		ErrorHandling: promhttp.ContinueOnError})
}

// MeterProvider returns what others may record on, to be served with the rest: such as
// package trace/otel.
func (m *Metrics) MeterProvider() metric.MeterProvider { return m.provider }

// Close ends the recording. The handler then serves no more than target_info and the
// process's metrics.
func (m *Metrics) Close() error {
	if err := m.provider.Shutdown(context.Background()); err != nil {
		return fmt.Errorf("close the metrics: %w", err)
	}
	return nil
}
