// Package diff answers: where do two runs part, and what had one context there that
// the other had not?
//
// A [Fold] makes a [Run] of each journal; [New] aligns their steps and names the two
// requests whose contexts are to be compared, and [Comparison.Report] says what is
// different, in words first. [Requests] does the same for two requests of one run.
//
// It is pure, and takes time as the journals are long: sequences of any length are
// compared with bounded work, and where that was not enough, this is said.
package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Comparison is two runs, aligned.
type Comparison struct {
	// Shared is the last event that both runs have because of a fork, 0 for none. New
	// sets it where one run is a fork of the other; whoever knows more may change it.
	Shared int64

	a, b  *Run
	pairs []Pair
	exact bool
	// alike is how many steps from the first are the same but for outcomes.
	alike int
	// first is the first step that differs in anything, -1 for none.
	first int

	found []Finding
	diffs map[Kind]int // how many texts were compared, looked up only
	// paired are the calls that are findings together; looked up only.
	paired map[*Call]bool
	// reported are the findings about outcomes of calls of A; looked up only.
	reported map[*Call]int
	// The contexts, nil where they are not known.
	seenA, seenB *Context
	same         bool // they are the same
	// rewroteA and rewroteB: the context was rewritten as the other one's was not;
	// rewritten is the index of that finding, followed how much follows from it.
	rewroteA, rewroteB  bool
	rewritten, followed int
	redacted            []string
}

// New aligns two runs.
func New(a, b *Run) *Comparison {
	c := &Comparison{a: a, b: b, first: -1, reported: map[*Call]int{}, redacted: []string{}, paired: map[*Call]bool{}, diffs: map[Kind]int{}}
	c.pairs, c.exact = Align(a.Steps, b.Steps)
	switch {
	case a.Fork != "" && a.Fork == b.ID:
		c.Shared = a.Shared
	case b.Fork != "" && b.Fork == a.ID:
		c.Shared = b.Shared
	}
	for c.alike < min(len(a.Steps), len(b.Steps)) {
		x, y := &a.Steps[c.alike], &b.Steps[c.alike]
		if x.acts() != y.acts() {
			break
		}
		if c.first < 0 && kind(x, y) != Same {
			c.first = c.alike
		}
		c.alike++
	}
	if c.first < 0 && c.parts() {
		c.first = c.alike
	}
	return c
}

// parts reports whether one run has done something that the other has not.
func (c *Comparison) parts() bool { return c.alike < max(len(c.a.Steps), len(c.b.Steps)) }

// place returns the index of the steps whose contexts are compared, -1 for none: those
// where the runs part, else the last that both have.
func (c *Comparison) place() int {
	return min(c.alike, len(c.a.Steps)-1, len(c.b.Steps)-1)
}

// Requests returns the sequences of the two model.called whose contexts are to be
// compared, 0 and 0 where a run has none.
func (c *Comparison) Requests() (a, b int64) {
	i := c.place()
	if i < 0 {
		return 0, 0
	}
	return c.a.Steps[i].Event, c.b.Steps[i].Event
}

// Report says what is different. The contexts are those of the two requests that
// Requests names; nil where they cannot be had. It is to be called once.
func (c *Comparison) Report(seenA, seenB *Context) *Report {
	r := &Report{RunA: c.a.ID, RunB: c.b.ID, A: c.a.outline(), B: c.b.outline(), SharedEvents: c.Shared, Exact: c.exact}
	for i := range c.a.Steps {
		if c.a.Steps[i].Event <= c.Shared {
			r.SharedSteps++
		}
	}
	if i := c.place(); i >= 0 && seenA != nil && seenB != nil {
		c.seenA, c.seenB = seenA, seenB
		a, b := &c.a.Steps[i], &c.b.Steps[i]
		r.Contexts = &Place{StepA: a.Number, StepB: b.Number, EventA: a.Event, EventB: b.Event}
	}
	c.started()
	c.served()
	c.outcomes()
	c.steadied()
	if r.Contexts != nil {
		c.contexts()
		r.Contexts.Same = c.same
	}
	c.differently()
	c.after()
	c.ended()
	r.Findings = sorted(c.found)
	r.FirstDivergence, r.Parting = c.firstDivergence(), c.parting()
	r.Steps, r.Redacted = c.steps(), c.redacted
	r.Same = r.FirstDivergence == nil && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind != KindTimings })
	return r
}

func (r *Run) outline() Outline {
	o := Outline{Status: r.Status, Reason: r.Reason, Steps: int64(len(r.Steps)), ForkOf: r.Fork}
	if r.Spec != nil {
		o.Agent, o.Model = r.Spec.Agent, r.Spec.Model
	}
	return o
}

// find adds a finding.
func (c *Comparison) find(f Finding) {
	if f.Diff == nil {
		f.Diff = []string{}
	}
	f.Follows = []string{}
	c.found = append(c.found, f)
}

// has reports whether there is a finding of that kind.
func (c *Comparison) has(k Kind) bool {
	for i := range c.found {
		if c.found[i].Kind == k {
			return true
		}
	}
	return false
}

// firstDivergence says where anything differs for the first time.
func (c *Comparison) firstDivergence() *Divergence {
	if c.first < 0 || c.first >= c.alike {
		return c.parting()
	}
	a, b := &c.a.Steps[c.first], &c.b.Steps[c.first]
	d := &Divergence{Kind: "outcome", StepA: ptr(a.Number), StepB: ptr(b.Number)}
	if kind(a, b) == Said {
		d.Kind, d.Text = "input", "before "+at(a, b)+" they were told something else"
		if c.first == 0 {
			d.Kind, d.Text = "task", "they had different tasks"
		}
		return d
	}
	var list []string
	for i := range a.Calls {
		if x, y := a.Calls[i], b.Calls[i]; !sameOutcome(x, y) {
			list = append(list, c.a.label(x))
		}
	}
	more := ""
	if len(list) > 1 {
		more = ", and so did " + plural(len(list)-1, "more call", "more calls")
	}
	d.Text = fmt.Sprintf("at %s the same call gave another outcome: %s%s", at(a, b), list[0], more)
	return d
}

// at names the steps of two runs.
func at(a, b *Step) string {
	if a.Number == b.Number {
		return fmt.Sprintf("step %s", number(a.Number))
	}
	return fmt.Sprintf("step %s of A and %s of B", number(a.Number), number(b.Number))
}

// parting says where the models did something else for the first time.
func (c *Comparison) parting() *Divergence {
	if !c.parts() {
		return nil
	}
	if c.alike >= len(c.a.Steps) || c.alike >= len(c.b.Steps) {
		return c.endsFirst()
	}
	a, b := &c.a.Steps[c.alike], &c.b.Steps[c.alike]
	d := &Divergence{Kind: "call", StepA: ptr(a.Number), StepB: ptr(b.Number)}
	if !a.settled() || !b.settled() {
		d.Kind = "open"
	}
	d.Text = c.didEach(a, b)
	if c.seenA == nil {
		return d
	}
	d.SameContext = ptr(c.same)
	switch {
	case a.Failed != "" || b.Failed != "":
		d.Kind = "failed"
	case c.has(KindTask):
		d.Kind = "task"
		d.Text += "; they had different tasks"
	case c.same && (c.has(KindModel) || c.has(KindSampling)):
		d.Kind = "model"
		d.Text += ", on the same context: another model or sampling was asked"
	case c.same && c.has(KindServed):
		d.Kind = "model"
		d.Text += ", on the same context: the server says that another model answered"
	case c.same && (c.a.toolsUnknown || c.b.toolsUnknown):
		d.Text += ", on the same messages: which tools were offered is not known"
	case c.same && c.has(KindTimings):
		d.Text += ", on the same context but for timings: the model chose otherwise"
	case c.same:
		d.Text += ", on the same context: the model chose otherwise"
	case c.only(KindOffered, KindTool):
		d.Kind = "tools"
		d.Text += "; what differs before is the tools"
	case c.only(KindInput):
		d.Kind = "input"
		d.Text += "; what differs before is what they were told"
	default:
		d.Text += ", on different contexts"
	}
	return d
}

// only reports whether the contexts differ in nothing but findings of these kinds.
func (c *Comparison) only(kinds ...Kind) bool {
	n := 0
	for i := range c.found {
		f := &c.found[i]
		if f.Where == "after" || f.Where == "parting" || f.Kind == KindSettings || f.Kind == KindTimings {
			continue
		}
		in := false
		for _, k := range kinds {
			in = in || f.Kind == k
		}
		if !in {
			return false
		}
		n++
	}
	return n > 0
}

// settled reports whether what became of the step is known.
func (s *Step) settled() bool { return s.Answered || s.Failed != "" }

// endsFirst says that one run has fewer steps.
func (c *Comparison) endsFirst() *Divergence {
	short, long, name, other := c.a, c.b, "A", "B"
	if len(c.b.Steps) < len(c.a.Steps) {
		short, long, name, other = c.b, c.a, "B", "A"
	}
	next := &long.Steps[c.alike]
	d := &Divergence{Kind: "ended"}
	if other == "A" {
		d.StepA = ptr(next.Number)
	} else {
		d.StepB = ptr(next.Number)
	}
	after := "before its first step"
	if c.alike > 0 {
		after = "after step " + number(short.Steps[c.alike-1].Number)
	}
	verb := "ended " + after + " (" + short.state() + ")"
	if short.Status != "finished" { // it may still go on
		d.Kind, verb = "open", "has come no further than "+strings.TrimPrefix(strings.TrimPrefix(after, "after "), "before ")
		if short.Status != "running" {
			verb += " (" + short.state() + ")"
		}
	}
	d.Text = fmt.Sprintf("%s %s; %s went on: at step %s it %s", name, verb, other, number(next.Number), long.did(next))
	return d
}

// state says how a run stands.
func (r *Run) state() string { return strings.TrimSpace(r.Status + " " + r.Reason) }

// steps returns the alignment.
func (c *Comparison) steps() []StepPair {
	out := make([]StepPair, 0, len(c.pairs))
	for _, p := range c.pairs {
		s := StepPair{Kind: p.Kind}
		if p.A >= 0 {
			s.StepA, s.TextA = ptr(c.a.Steps[p.A].Number), c.a.line(&c.a.Steps[p.A])
		}
		if p.B >= 0 {
			s.StepB, s.TextB = ptr(c.b.Steps[p.B].Number), c.b.line(&c.b.Steps[p.B])
		}
		out = append(out, s)
	}
	return out
}

// line says what was done in a step and what came of it.
func (r *Run) line(s *Step) string {
	if len(s.Calls) == 0 {
		return r.did(s)
	}
	var list []string
	for i, c := range s.Calls {
		if i == 4 {
			list = append(list, plural(len(s.Calls)-i, "more call", "more calls"))
			break
		}
		list = append(list, r.label(c)+" "+c.came())
	}
	return strings.Join(list, "; ")
}

// came says what came of a call, in a few words.
func (c *Call) came() string {
	switch {
	case c.Status == "":
		return "(open)"
	case c.ErrorType != "":
		return "(" + string(c.Status) + ": " + c.ErrorType + ")"
	case c.cut():
		return fmt.Sprintf("(%s of %s bytes)", number(c.Shown), number(c.Size))
	case c.Status == "success":
		return "(" + plural(c.Shown, "byte", "bytes") + ")"
	}
	return "(" + string(c.Status) + ")"
}

// cut reports whether less than the whole result was shown.
func (c *Call) cut() bool { return c.Shown < c.Size }
