package otel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meter is an instrument, whatever its name.
type meter int

const (
	runTime meter = iota
	runModelCalls
	runToolCalls
	callTime
	callFirst
	callTokens
	inputTokens
	outputTokens
	cacheReadTokens
	cacheWriteTokens
	reasoningTokens
	inputSizes
	outputSizes
	toolTime
	mcpTime
	cost
	meters
)

// instrument is a row of the table of metrics. One without bounds is a counter.
type instrument struct {
	names  names
	unit   string
	bounds []float64
	about  string
}

// The bounds of the buckets are those that the conventions advise; of the counts of
// calls they are what others use, and of sizes those of gen_ai.client.token.usage, as
// the conventions say nothing there.
var (
	secondsOfCalls = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	secondsOfRuns  = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
	secondsOfMCP   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	numbersOfCalls = []float64{1, 2, 4, 8, 16, 32, 64, 128}
	sizesInTokens  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

var instruments = [meters]instrument{
	runTime:          {names{"rein.invoke_agent.duration", "gen_ai.invoke_agent.duration"}, "s", secondsOfRuns, "a run, from its start or resume to its pause or end"},
	runModelCalls:    {names{"rein.invoke_agent.inference_calls", "gen_ai.invoke_agent.inference_calls"}, "{inference_call}", numbersOfCalls, "model calls in that time, failed ones included"},
	runToolCalls:     {names{"rein.invoke_agent.tool_calls", "gen_ai.invoke_agent.tool_calls"}, "{tool_call}", numbersOfCalls, "executed tool calls in that time"},
	callTime:         {names{"gen_ai.client.operation.duration", "gen_ai.client.inference.duration"}, "s", secondsOfCalls, "a model call, without the time that it waited for its turn"},
	callFirst:        {names{"gen_ai.client.operation.time_to_first_chunk", "gen_ai.client.inference.time_to_first_chunk"}, "s", secondsOfCalls, "until the first piece of a streamed reply"},
	callTokens:       {names{"gen_ai.client.token.usage", ""}, "{token}", sizesInTokens, "tokens of a model call"},
	inputTokens:      {names{"", "gen_ai.client.inference.usage.input_tokens"}, "{token}", nil, "input tokens"},
	outputTokens:     {names{"", "gen_ai.client.inference.usage.output_tokens"}, "{token}", nil, "output tokens"},
	cacheReadTokens:  {names{"", "gen_ai.client.inference.usage.cache_read.input_tokens"}, "{token}", nil, "input tokens that came from a cache"},
	cacheWriteTokens: {names{"", "gen_ai.client.inference.usage.cache_write.input_tokens"}, "{token}", nil, "input tokens that were put into a cache"},
	reasoningTokens:  {names{"", "gen_ai.client.inference.usage.reasoning.output_tokens"}, "{token}", nil, "output tokens of reasoning"},
	inputSizes:       {names{"", "gen_ai.client.inference.operation.input_tokens"}, "{token}", sizesInTokens, "input tokens of a model call"},
	outputSizes:      {names{"", "gen_ai.client.inference.operation.output_tokens"}, "{token}", sizesInTokens, "output tokens of a model call"},
	toolTime:         {names{"rein.execute_tool.duration", "gen_ai.execute_tool.duration"}, "s", secondsOfCalls, "one execution of a tool"},
	mcpTime:          {both("mcp.client.operation.duration"), "s", secondsOfMCP, "one call of a tool of an MCP server"},
	cost:             {both("rein.cost"), "{USD}", nil, "what model calls cost; those of unknown price are not in it"},
}

// recorder has the instruments of a profile. Nothing in it asks whether a span is
// recorded.
type recorder struct {
	profile Profile
	times   [meters]metric.Float64Histogram
	sizes   [meters]metric.Int64Histogram
	sums    [meters]metric.Float64Counter
	counts  [meters]metric.Int64Counter
}

func newRecorder(p Profile, m metric.Meter) (*recorder, error) {
	r := &recorder{profile: p}
	for k, row := range instruments {
		name := row.names[p]
		if name == "" {
			continue
		}
		var err error
		switch {
		case row.unit == "s":
			r.times[k], err = m.Float64Histogram(name, metric.WithUnit(row.unit), metric.WithDescription(row.about), metric.WithExplicitBucketBoundaries(row.bounds...))
		case row.bounds != nil:
			r.sizes[k], err = m.Int64Histogram(name, metric.WithUnit(row.unit), metric.WithDescription(row.about), metric.WithExplicitBucketBoundaries(row.bounds...))
		case row.unit == "{USD}":
			r.sums[k], err = m.Float64Counter(name, metric.WithUnit(row.unit), metric.WithDescription(row.about))
		default:
			r.counts[k], err = m.Int64Counter(name, metric.WithUnit(row.unit), metric.WithDescription(row.about))
		}
		if err != nil {
			return nil, fmt.Errorf("make the instrument %s: %w", name, err)
		}
	}
	return r, nil
}

// milliseconds records a time.
func (r *recorder) milliseconds(ctx context.Context, k meter, ms int64, list []attribute.KeyValue) {
	if h := r.times[k]; h != nil {
		h.Record(ctx, float64(ms)/1e3, metric.WithAttributes(list...))
	}
}

// size records a number in a histogram.
func (r *recorder) size(ctx context.Context, k meter, n int64, list []attribute.KeyValue) {
	if h := r.sizes[k]; h != nil {
		h.Record(ctx, n, metric.WithAttributes(list...))
	}
}

// count adds to a counter.
func (r *recorder) count(ctx context.Context, k meter, n int64, list []attribute.KeyValue) {
	if c := r.counts[k]; c != nil {
		c.Add(ctx, n, metric.WithAttributes(list...))
	}
}

// micros adds an amount in millionths of a dollar.
func (r *recorder) micros(ctx context.Context, n int64, list []attribute.KeyValue) {
	if c := r.sums[cost]; c != nil {
		c.Add(ctx, float64(n)/1e6, metric.WithAttributes(list...))
	}
}
