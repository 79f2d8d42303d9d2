package otel

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// modelCall is a model call that has no outcome yet.
type modelCall struct {
	seq      int64
	span     *span
	model    string // "provider/model"
	purpose  event.Purpose
	streamed bool
}

func (r *run) called(e *event.Event, d *event.ModelCalled) {
	r.reach(e, d.Step)
	var o struct {
		Stream bool `json:"stream"`
	}
	if len(d.Options) > 0 {
		_ = json.Unmarshal(d.Options, &o) // what cannot be read is not known
	}
	a := r.list()
	a.text(operationName, opChat)
	a.model(d.Model)
	a.text(conversationID, event.Top(r.id))
	if o.Stream {
		a.yes(requestStream)
	}
	if r.spec != nil {
		a.sampling(&r.spec.Sampling)
	}
	if r.shorter {
		a.yes(compacted)
	}
	a.int(reinStep, r.at)
	a.text(reinPurpose, string(d.Purpose))
	a.int(reinAttempt, d.Attempt)
	if c := r.context; c != nil && c.Purpose == d.Purpose {
		a.int(reinContextTokens, c.Tokens)
		a.int(reinContextMessages, c.Messages)
		if c.Budget > 0 {
			a.int(reinContextBudget, c.Budget)
		}
		for _, b := range c.Blocks {
			a.list = append(a.list, attribute.Int64(attributes[reinContextBlock].names[a.profile]+b.Name, b.Tokens))
		}
	}
	_, name := splitModel(d.Model)
	if r.models[d.ID] == nil {
		r.asked = append(r.asked, d.ID)
	}
	r.models[d.ID] = &modelCall{seq: e.Seq, model: d.Model, purpose: d.Purpose, streamed: o.Stream,
		span: r.start(r.span(opChat, name, trace.SpanKindClient, r.here(), e, a))}
}

// take takes a model call off those that have no outcome.
func (r *run) take(id string) *modelCall {
	m := r.models[id]
	if m != nil {
		delete(r.models, id)
		r.asked = slices.DeleteFunc(r.asked, func(s string) bool { return s == id })
	}
	return m
}

func (r *run) answered(e *event.Event, d *event.ModelAnswered) {
	m := r.take(d.ID)
	if m == nil {
		return
	}
	cost := r.priced(m.model, &d.Usage)
	r.spend(cost)
	r.sums.use(&d.Usage)
	r.sums.models++
	r.sums.finish = string(d.Finish)

	a := r.list()
	a.texts(finishReasons, string(d.Finish))
	a.text(reinRawFinish, d.RawFinish)
	a.text(responseID, d.ResponseID)
	a.text(responseModel, d.Model)
	if m.streamed {
		a.seconds(firstChunk, d.First)
	}
	a.usage(&d.Usage)
	a.count(usageReasoning, d.Usage.Reasoning)
	if d.Waited > 0 {
		a.int(reinWaited, d.Waited)
	}
	r.ends(e, m, a, &d.Message, string(d.Finish))
	m.span.end(e.Time, a.list, "", "")

	if r.measured() {
		k := r.measures(m, d.Model, "")
		ctx := m.span.within()
		r.t.o.meters.milliseconds(ctx, callTime, d.Latency, k)
		if first, ok := d.First.Get(); ok && m.streamed {
			r.t.o.meters.milliseconds(ctx, callFirst, first, k)
		}
		r.measureTokens(m, &d.Usage, cost, k)
	}
}

func (r *run) failed(e *event.Event, d *event.ModelFailed) {
	m := r.take(d.ID)
	if m == nil {
		return
	}
	cost, usage := message.Known(0), message.Usage{}
	if d.Usage != usage || d.Partial != "" { // else nothing was charged
		cost = r.priced(m.model, &d.Usage)
		r.sums.use(&d.Usage)
	}
	r.spend(cost)
	r.sums.models++
	r.sums.finish = string(event.FinishError)

	a := r.list()
	a.texts(finishReasons, string(event.FinishError))
	a.text(errorType, string(d.Class))
	a.usage(&d.Usage)
	a.count(usageReasoning, d.Usage.Reasoning)
	if d.Waited > 0 {
		a.int(reinWaited, d.Waited)
	}
	words := string(d.Class)
	if d.Status > 0 {
		words = fmt.Sprintf("%s (HTTP %d)", d.Class, d.Status)
	}
	var partial *message.Message
	if d.Partial != "" {
		said := message.NewText(message.Assistant, d.Partial)
		partial = &said
	}
	r.ends(e, m, a, partial, string(event.FinishError))
	m.span.end(e.Time, a.list, string(d.Class), words)
	r.exception(e, m.span, modelException, string(d.Class), d.Message)

	if r.measured() {
		k := r.measures(m, "", string(d.Class))
		r.t.o.meters.milliseconds(m.span.within(), callTime, d.Latency, k)
		if usage = d.Usage; usage.Input == 0 && usage.Output == 0 && d.Partial == "" {
			usage.Input, usage.Output = message.Known(0), message.Known(0) // counters want it said
			r.measureCounts(m, &usage, k)
			return
		}
		r.measureTokens(m, &usage, cost, k)
	}
}

// abandon ends what is under way and nobody waits for any more.
func (r *run) abandon(fault string) {
	for _, id := range r.asked {
		a := r.list()
		a.texts(finishReasons, string(event.FinishError))
		a.text(errorType, fault)
		r.models[id].span.end(r.last, a.list, fault, fault)
		r.sums.use(&message.Usage{}) // nobody knows what it used
		r.stepCost = 0
		r.sums.models++
		r.sums.finish = string(event.FinishError)
	}
	for _, id := range r.made {
		a := r.list()
		a.text(errorType, fault)
		r.calls[id].span.end(r.last, a.list, fault, fault)
		r.calls[id].span = nil
	}
	clear(r.models)
	r.asked, r.made = nil, nil
}

// priced returns what a call cost, unknown where a price or the usage is.
func (r *run) priced(model string, u *message.Usage) message.Count {
	if c, ok := u.Cost(r.spec.Price(model)); ok {
		return message.Known(c.Total())
	}
	return 0
}

// measures returns the attributes of a model call's metrics.
func (r *run) measures(m *modelCall, answered, fault string) []attribute.KeyValue {
	a := r.list()
	a.text(operationName, opChat)
	a.model(m.model)
	a.text(responseModel, answered)
	a.text(reinPurpose, string(m.purpose))
	a.text(errorType, fault)
	return a.list
}

// measureTokens records what one model call used. Only these calls are counted; what
// runs and runs above them used is made of it.
func (r *run) measureTokens(m *modelCall, u *message.Usage, spent message.Count, k []attribute.KeyValue) {
	ctx, x := m.span.within(), r.t.o.meters
	for _, t := range []struct {
		word string
		n    message.Count
		size meter
	}{{"input", u.Input, inputSizes}, {"output", u.Output, outputSizes}} {
		if n, ok := t.n.Get(); ok {
			a := attrs{x.profile, slices.Clone(k)}
			a.text(tokenType, t.word)
			x.size(ctx, callTokens, n, a.list)
			x.size(ctx, t.size, n, k)
		}
	}
	r.measureCounts(m, u, k)
	if n, ok := spent.Get(); ok {
		x.micros(ctx, n, k)
	}
}

func (r *run) measureCounts(m *modelCall, u *message.Usage, k []attribute.KeyValue) {
	a := attrs{r.t.o.meters.profile, slices.Clone(k)}
	a.text(tokenModality, "text")
	for _, t := range []struct {
		meter meter
		n     message.Count
	}{{inputTokens, u.Input}, {outputTokens, u.Output}, {cacheReadTokens, u.Cached}, {cacheWriteTokens, u.CacheWrite}, {reasoningTokens, u.Reasoning}} {
		if n, ok := t.n.Get(); ok {
			r.t.o.meters.count(m.span.within(), t.meter, n, a.list)
		}
	}
}

// parsed notes the calls of a reply, for their arguments.
func (r *run) parsed(d *event.ReplyParsed) {
	if r.t.o.o.Content&ContentSpans == 0 {
		return
	}
	for i := range d.Calls {
		r.call(d.Calls[i].ID).args = d.Calls[i].Args
	}
}

// paid returns what the run has cost so far, unknown while no call was charged: a
// server that has only failed has not said that it cost nothing.
func (r *run) paid() message.Count {
	if n, ok := r.cost.Get(); ok && n == 0 && !r.sums.any {
		return 0
	}
	return r.cost
}
