package otel_test

import (
	"fmt"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"rein.example/rein/event"
	"rein.example/rein/trace/otel"
)

// BenchmarkStep is what a step of one model call and one tool call costs the run's
// goroutine, in a run of 1,000 steps: without providers, and with spans that go into the
// SDK's queue.
func BenchmarkStep(b *testing.B) {
	const steps = 1000
	spec := orderDesk()
	events := []event.Event{{Run: "r", Seq: 1, Data: &event.RunStarted{Format: 1, Root: "r", Spec: spec}}}
	add := func(d event.Data) {
		n := int64(len(events))
		events = append(events, event.Event{Run: "r", Seq: n + 1, Time: day + n, Data: d})
	}
	for i := range int64(steps) {
		id, call := fmt.Sprint(i, ".0"), fmt.Sprint("c", i)
		add(&event.ContextAssembled{Purpose: event.PurposeStep, Step: i + 1, Tokens: 900})
		add(&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: i + 1, Attempt: 1, Model: "gemini/flash"})
		add(&event.ModelAnswered{ID: id, Finish: event.FinishToolCalls, Usage: usage(1000, 900, 50), Latency: 1})
		add(&event.ReplyParsed{ID: id, Format: "native"})
		add(&event.CallJudged{Call: call, Tool: "find_orders", Verdict: event.Allow})
		add(&event.ToolStarted{ID: id + "t", Call: call, Tool: "find_orders", Attempt: 1})
		add(&event.ToolFinished{ID: id + "t", Call: call, Tool: "find_orders", Status: event.StatusSuccess, Latency: 1})
	}
	for name, o := range map[string]otel.Options{
		"none": {},
		"sdk": {TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()),
			sdktrace.WithIDGenerator(otel.IDGenerator{}))},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i += steps {
				x, err := otel.New(o)
				if err != nil {
					b.Fatal(err)
				}
				for _, e := range events {
					x.Event(e)
				}
				x.End("r")
			}
		})
	}
}
