package prometheus

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"rein.example/rein/event"
)

// counter is a metric that only grows.
type counter int

const (
	runsStarted counter = iota
	runsFinished
	runsPaused
	steps
	costUnknown
	modelErrors
	retries
	callsJudged
	toolOutcomes
	approvalsAsked
	approvalsGiven
	repairs
	notices
	compactions
	compactedTokens
	counters
)

// Gauges.
const (
	runsActive  = "rein.runs.active"
	runsWaiting = "rein.runs.waiting"
)

// Metric is one of the package's own metrics, for documentation.
type Metric struct {
	// Name is as Prometheus has it; Type counter or gauge.
	Name, Type string
	// Unit is what is counted.
	Unit   string
	Labels []string
	// About says what is counted, and what the labels' values are.
	About string
}

// row is a row of the table of counters. Labels are given in this order.
type row struct {
	name, unit, about string
	labels            []attribute.Key
}

var table = [counters]row{
	runsStarted:     {"rein.runs.started", "run", "runs that began or were taken up; how is new, resumed or forked, below is true for those that carry out a call of an agent", []attribute.Key{"agent", "how", "below"}},
	runsFinished:    {"rein.runs.finished", "run", "runs that have ended, by reason; ok says whether well, best_effort that a limit was reached and there is an answer", []attribute.Key{"agent", "reason", "ok", "best_effort", "below"}},
	runsPaused:      {"rein.runs.paused", "run", "pauses, by cause: interrupted, waiting_approval, waiting_input, turn_done", []attribute.Key{"agent", "cause", "below"}},
	steps:           {"rein.steps", "step", "replies acted on", []attribute.Key{"agent"}},
	costUnknown:     {"rein.cost.unknown", "call", "model calls that rein_cost does not have, since their price or what they used is unknown", []attribute.Key{"model"}},
	modelErrors:     {"rein.model.errors", "call", "model calls that gave no complete reply, by class of error", []attribute.Key{"model", "class"}},
	retries:         {"rein.retries", "attempt", "further attempts of a model's (of=model) or a tool's (of=tool) call, by the class of error or the status of the attempt before", []attribute.Key{"of", "after"}},
	callsJudged:     {"rein.calls.judged", "call", "what the guard said of calls: allow, ask, intercept, deny, halt", []attribute.Key{"verdict"}},
	toolOutcomes:    {"rein.tool.outcomes", "outcome", "what came of calls of tools, each execution and each answer without one: success, error, timeout, unknown, denied, intercepted; a tool that was not offered is (not offered)", []attribute.Key{"tool", "status"}},
	approvalsAsked:  {"rein.approvals.asked", "question", "questions to people; about is call (may it run), outcome (what became of it) or words (the model asks)", []attribute.Key{"about"}},
	approvalsGiven:  {"rein.approvals.given", "answer", "answers of people: approve, reject, done, not_done", []attribute.Key{"decision"}},
	repairs:         {"rein.repairs", "repair", "changes made so that what a model wrote could be read, by kind; lossy says that something was lost", []attribute.Key{"kind", "lossy"}},
	notices:         {"rein.notices", "notice", "what the harness has told models, by kind", []attribute.Key{"kind"}},
	compactions:     {"rein.compactions", "rewrite", "rewrites of the context, by strategy", []attribute.Key{"strategy"}},
	compactedTokens: {"rein.compacted", "token", "tokens by which rewrites have made requests smaller", []attribute.Key{"strategy"}},
}

// gauges are what is so now.
var gauges = [...]row{
	{runsActive, "run", "runs that this process carries out now, without those below them", nil},
	{runsWaiting, "run", "runs that have paused in this process and were not taken up again in it, by cause", []attribute.Key{"cause"}},
}

// Table returns the package's own metrics, counters first.
func Table() []Metric {
	var out []Metric
	add := func(r *row, kind, suffix string) {
		m := Metric{Name: strings.ReplaceAll(r.name, ".", "_") + suffix, Type: kind, Unit: r.unit, About: r.about}
		for _, l := range r.labels {
			m.Labels = append(m.Labels, string(l))
		}
		out = append(out, m)
	}
	for i := range table {
		add(&table[i], "counter", "_total")
	}
	for i := range gauges {
		add(&gauges[i], "gauge", "")
	}
	return out
}

// instruments makes the instruments of the table.
func (m *Metrics) instruments() error {
	meter := m.provider.Meter(Scope)
	var err error
	for i := range table {
		r := &table[i]
		if m.counters[i], err = meter.Int64Counter(r.name, metric.WithDescription(r.about), metric.WithUnit("{"+r.unit+"}")); err != nil {
			return fmt.Errorf("make the instrument %s: %w", r.name, err)
		}
	}
	for i, now := range []metric.Int64Callback{m.nowActive, m.nowWaiting} {
		r := &gauges[i]
		if _, err = meter.Int64ObservableGauge(r.name, metric.WithDescription(r.about), metric.WithUnit("{"+r.unit+"}"), metric.WithInt64Callback(now)); err != nil {
			return fmt.Errorf("make the instrument %s: %w", r.name, err)
		}
	}
	return nil
}

// add counts n more of something; values are those of the counter's labels, in order.
func (m *Metrics) add(c counter, n int64, values ...string) {
	list := make([]attribute.KeyValue, len(values))
	for i, v := range values {
		list[i] = table[c].labels[i].String(v)
	}
	m.counters[c].Add(context.Background(), n, metric.WithAttributes(list...))
}

// nowActive says how many runs are carried out.
func (m *Metrics) nowActive(_ context.Context, o metric.Int64Observer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.Observe(int64(len(m.active)))
	return nil
}

// nowWaiting says how many runs wait, for each cause.
func (m *Metrics) nowWaiting(_ context.Context, o metric.Int64Observer) error {
	m.mu.Lock()
	count := map[event.Cause]int64{event.CauseInterrupted: 0, event.CauseWaitingApproval: 0, event.CauseWaitingInput: 0, event.CauseTurnDone: 0}
	for _, cause := range m.waiting {
		count[cause]++
	}
	m.mu.Unlock()
	for cause, n := range count {
		o.Observe(n, metric.WithAttributes(gauges[1].labels[0].String(string(cause))))
	}
	return nil
}
