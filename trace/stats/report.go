package stats

import "rein.example/rein/event"

// Report is what a table holds.
type Report struct {
	// By is what Groups are, and Zone where days begin and end, if By is day.
	By    By     `json:"by,omitempty"`
	Zone  string `json:"zone,omitempty"`
	Total Group  `json:"total"`
	// Groups are sorted: days by date, others by their number of runs, then by name.
	Groups []Group `json:"groups"`
	// Damaged are the journals that are not sound, by run.
	Damaged []Damage `json:"damaged"`
}

// Group is what runs have in common that are put together.
type Group struct {
	Name string `json:"name,omitempty"`
	// Runs are those that somebody has started, or forked; Below those that carry out
	// their calls of agents, which are no successes or failures of their own.
	Runs  Outcomes `json:"runs"`
	Below Outcomes `json:"runs_below"`
	// Forks is how many of them are forks: of each only what it did itself is counted.
	Forks int64 `json:"forks"`
	// Reasons says why Runs ended, or what they wait for, the most common first.
	Reasons []Reason `json:"reasons"`
	// Steps has the steps of each of Runs.
	Steps  Spread `json:"steps"`
	Tokens Tokens `json:"tokens"`
	Cost   Cost   `json:"cost"`
	// Calls counts the calls of tools by status: success, error, timeout, unknown,
	// denied, intercepted; and open, of those without an outcome.
	Calls []Status `json:"tool_calls"`
	// Models and Tools are sorted: models by their number of calls, tools by the time
	// that the 95th of 100 executions takes, the slowest first; then by name.
	Models []Model `json:"models"`
	Tools  []Tool  `json:"tools"`
}

// Reason is why a number of runs ended.
type Reason struct {
	// Reason is that of the end, "paused: CAUSE", or what the store says of the run.
	Reason string `json:"reason"`
	Runs   int64  `json:"runs"`
	// OK is how many of them ended well.
	OK int64 `json:"ok"`
}

// Status is a number of calls that ended alike.
type Status struct {
	Status string `json:"status"`
	Calls  int64  `json:"calls"`
}

// Errors is a number of calls that failed alike.
type Errors struct {
	// Type is the class of a model's error, or the error_type of a tool's.
	Type  string `json:"type"`
	Calls int64  `json:"calls"`
}

// Model is what was asked of one model.
type Model struct {
	Model string `json:"model"`
	// Calls are attempts: Answered, Failed, and Open without an outcome. Retries are
	// those that were not the first for their purpose.
	Calls    int64 `json:"calls"`
	Answered int64 `json:"answered"`
	Failed   int64 `json:"failed"`
	Open     int64 `json:"open"`
	Retries  int64 `json:"retries"`
	// Tokens and Cost leave out calls that failed before anything was charged.
	Tokens Tokens   `json:"tokens"`
	Cost   Cost     `json:"cost"`
	Errors []Errors `json:"errors"`
	// Latency is how long complete replies took, in milliseconds.
	Latency Spread `json:"latency_ms"`
}

// Tool is what was done with one tool.
type Tool struct {
	Tool string `json:"tool"`
	// Calls are those that models made, and those of confirm tools and undoings that
	// the harness made; Retries are executions after the first of one call.
	Calls    int64    `json:"calls"`
	Retries  int64    `json:"retries"`
	Statuses []Status `json:"statuses"`
	// Errors are by the error type of each call's last outcome.
	Errors []Errors `json:"errors"`
	// Latency is how long executions took, in milliseconds. Calls that were not
	// executed are not in it.
	Latency Spread `json:"latency_ms"`
}

// Failed returns how many calls ended in an error, a timeout or unknown.
func (t *Tool) Failed() int64 {
	var n int64
	for _, s := range t.Statuses {
		switch event.Status(s.Status) {
		case event.StatusError, event.StatusTimeout, event.StatusUnknown:
			n += s.Calls
		}
	}
	return n
}

// Report returns what was counted so far.
func (t *Table) Report() *Report {
	r := &Report{By: t.by, Total: t.total.report(""), Groups: []Group{}, Damaged: append([]Damage{}, t.bad...)}
	if t.by == ByDay {
		r.Zone = t.zone.String()
	}
	t.groups.sorted(func(name string, g *group) { r.Groups = append(r.Groups, g.report(name)) })
	if t.by != ByDay {
		byCount(r.Groups, func(g *Group) (int64, string) { return g.Runs.All + g.Below.All, g.Name })
	}
	byCount(r.Damaged, func(d *Damage) (int64, string) { return 0, d.Run })
	return r
}

// report returns what was counted in a group.
func (g *group) report(name string) Group {
	out := Group{Name: name, Runs: g.runs.rated(), Below: g.below.rated(), Forks: g.forks, Steps: g.steps.report(),
		Reasons: []Reason{}, Models: []Model{}, Tools: []Tool{}}
	g.reasons.sorted(func(name string, r *reason) { out.Reasons = append(out.Reasons, Reason{name, r.runs, r.ok}) })
	byCount(out.Reasons, func(r *Reason) (int64, string) { return r.Runs, r.Reason })
	var asked int64
	g.models.sorted(func(name string, m *modelTotal) {
		out.Tokens.merge(&m.tokens)
		out.Cost.merge(&m.cost)
		calls := m.answered + m.failed + m.open
		asked += calls
		out.Models = append(out.Models, Model{Model: name, Calls: calls, Answered: m.answered, Failed: m.failed,
			Open: m.open, Retries: m.retries, Tokens: m.tokens, Cost: m.cost.summed(calls), Errors: errorsOf(&m.errors), Latency: m.latency.report()})
	})
	out.Cost = out.Cost.summed(asked)
	byCount(out.Models, func(m *Model) (int64, string) { return m.Calls, m.Model })
	var calls named[tally]
	g.tools.sorted(func(name string, t *toolTotal) {
		merge(&calls, &t.statuses)
		out.Tools = append(out.Tools, Tool{Tool: name, Calls: t.calls, Retries: t.retries, Statuses: statusesOf(&t.statuses),
			Errors: errorsOf(&t.errors), Latency: t.latency.report()})
	})
	byCount(out.Tools, func(t *Tool) (int64, string) {
		if t.Latency.P95 == nil {
			return -1, t.Tool
		}
		return *t.Latency.P95, t.Tool
	})
	out.Calls = statusesOf(&calls)
	return out
}

// statusesOf returns tallies of statuses, the most common first.
func statusesOf(n *named[tally]) []Status {
	out := []Status{}
	n.sorted(func(name string, t *tally) {
		if name == "" {
			name = "open"
		}
		out = append(out, Status{name, t.n})
	})
	byCount(out, func(s *Status) (int64, string) { return s.Calls, s.Status })
	return out
}

// errorsOf returns tallies of errors, the most common first.
func errorsOf(n *named[tally]) []Errors {
	out := []Errors{}
	n.sorted(func(name string, t *tally) { out = append(out, Errors{name, t.n}) })
	byCount(out, func(e *Errors) (int64, string) { return e.Calls, e.Type })
	return out
}
