// Package stats answers: how do an agent's runs go, over many of them?
//
// [Begin] folds the events of one run, and a [Table] adds up what many folds found:
// how runs ended, steps, tokens, cost, errors by tool and by model, and how long tools
// take. A fold is thrown away when it is added, so that memory grows with the number
// of groups, tools and models, and not with the number of runs.
//
// What is counted, and what is not:
//
//   - Every run is in the denominator: one whose model failed, whose journal is
//     damaged, or that is still open is no success ([Outcomes]).
//   - What a run shares with the run that it was forked from is counted there and
//     nowhere else; what a run below another spends is counted as that run's, and not
//     again as the spending of the call that it carries out.
//   - What nobody has reported is counted as unknown, never as 0 ([Sum], [Cost]).
//   - How long a tool takes is known from executions. Outcomes that came from the
//     journal, from a ledger or from a rule are none.
//
// The package is pure, and computes with whole numbers only.
package stats

import (
	"cmp"
	"slices"
	"time"

	"rein.example/rein/event"
)

// By is what runs are put together by.
type By string

// What runs can be grouped by.
const (
	// ByDay is the day on which a run began.
	ByDay By = "day"
	// ByAgent is the agent's name.
	ByAgent By = "agent"
	// ByVersion is the agent's name and version, see [Version].
	ByVersion By = "version"
	// ByModel is the model that a run asks (after a change, in the end); what other
	// models took, such as those that it fell back to, is in the same group.
	ByModel By = "model"
)

// Unnamed is the group of runs whose agent has no name; NotBegun of those that were
// killed before they began.
const (
	Unnamed  = "(unnamed)"
	NotBegun = "(not begun)"
)

// Table adds up runs. It is not safe for concurrent use.
type Table struct {
	by     By
	zone   *time.Location
	total  group
	groups named[group]
	bad    []Damage
}

// NewTable returns an empty table. by is empty for no groups; zone is where days begin
// and end, nil for UTC.
func NewTable(by By, zone *time.Location) *Table {
	if zone == nil {
		zone = time.UTC
	}
	return &Table{by: by, zone: zone}
}

// Damage is a journal that is not sound.
type Damage struct {
	Run string `json:"run"`
	// Sound is the last event that is in order: what comes before is counted.
	Sound   int64  `json:"sound"`
	Problem string `json:"problem"`
}

// Add counts a run after its last event, and makes its fold unusable. status is what
// the store says of it ([journal.Summary]); damage is nil if its journal is sound.
func (t *Table) Add(r *Run, status string, damage *Damage) {
	r.status, r.damaged = status, damage != nil
	if r.damaged {
		t.bad = append(t.bad, *damage)
	}
	r.settle()
	t.total.add(r)
	if t.by != "" {
		t.groups.at(t.groupOf(r)).add(r)
	}
}

// groupOf returns the name of the group that a run belongs to.
func (t *Table) groupOf(r *Run) string {
	if r.spec == nil {
		return NotBegun
	}
	switch t.by {
	case ByDay:
		return time.UnixMilli(r.started).In(t.zone).Format(time.DateOnly)
	case ByModel:
		return r.spec.Model
	}
	agent := cmp.Or(r.spec.Agent, Unnamed)
	if t.by == ByVersion {
		return agent + "@" + r.version
	}
	return agent
}

// group is what runs have in common that are put together.
type group struct {
	runs, below Outcomes
	forks       int64
	reasons     named[reason]
	steps       spread
	models      named[modelTotal]
	tools       named[toolTotal]
}

// reason is why runs stand where they stand.
type reason struct{ runs, ok int64 }

// add counts a run whose fold is settled.
func (g *group) add(r *Run) {
	if _, below := event.Above(r.id); below {
		g.below.add(r)
	} else {
		g.runs.add(r)
		why := g.reasons.at(r.why())
		why.runs++
		if r.end != nil && r.end.OK && !r.damaged {
			why.ok++
		}
		g.steps.add(r.steps)
	}
	if r.shared > 0 {
		g.forks++
	}
	r.models.sorted(func(name string, t *modelTotal) { g.models.at(name).merge(t) })
	r.tools.sorted(func(name string, t *toolTotal) { g.tools.at(name).merge(t) })
}

// why returns the reason for which a run finished, or what it does or waits for.
func (r *Run) why() string {
	switch {
	case r.damaged:
		return "damaged"
	case r.end != nil:
		return string(r.end.Reason)
	case r.status == "paused" && r.cause != "":
		return "paused: " + string(r.cause)
	}
	return r.status
}

// byCount sorts what was counted most first, and what was counted as often by name.
func byCount[T any](list []T, of func(*T) (int64, string)) {
	slices.SortFunc(list, func(a, b T) int {
		n, an := of(&a)
		m, bn := of(&b)
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(an, bn))
	})
}
