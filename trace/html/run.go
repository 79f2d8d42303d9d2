package html

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"rein.example/rein/trace"
)

// runView is what stands before the steps of a run.
type runView struct {
	ID, Agent, Model template.HTML
	At               string
	AboveAt, CallAt  string
	Call             template.HTML
	Status, Reason   template.HTML
	Class            string
	Detail           template.HTML
	Answer, Result   *block
	BestEffort       bool
	Damage           template.HTML
	Facts            []fact
	Purposes         []purposeView
	Anomalies        []anomalyView
	Curves           *curves
	Rows             []rowView
	RowsFolded       bool
	NoSteps          bool
}

type fact struct {
	Name  string
	Value template.HTML
}

type purposeView struct {
	Purpose                template.HTML
	Calls, Tokens, Dollars string
}

// run writes a run.
func (p *page) run(f *facts) error {
	if err := p.template("run", p.runView(f)); err != nil {
		return err
	}
	w := &writer{page: p, f: f}
	w.seen.begin(f.run.Requests)
	defer w.seen.end()
	if err := w.steps(); err != nil {
		return err
	}
	return p.template("endrun", nil)
}

func (p *page) runView(f *facts) *runView {
	v := &runView{ID: line(f.run.ID), Agent: line(f.agent()), At: section(f.place), Curves: p.curves(f), NoSteps: f.steps == 0}
	if f.spec != nil {
		v.Model = line(f.spec.Model)
		if f.reported != "" && !strings.HasSuffix(f.spec.Model, f.reported) {
			v.Model += template.HTML(" (the server says ") + line(f.reported) + template.HTML(")")
		}
	}
	if f.place > 0 {
		v.AboveAt, v.Call = section(f.above), line(f.call)
	}
	v.outcome(p, f)
	if f.damage != nil {
		v.Damage = line(f.damage.Error())
	}
	p.facts(v, f)
	for _, t := range f.fold.Purposes() {
		v.Purposes = append(v.Purposes, purposeView{line(t.Purpose), number(t.Calls), known(t.Tokens), dollars(t.Cost)})
	}
	for i := range f.run.Anomalies {
		a := &f.run.Anomalies[i]
		v.Anomalies = append(v.Anomalies, f.anomaly(a))
	}
	v.Rows = p.rows(f)
	v.RowsFolded = len(v.Rows) > foldedRows
	return v
}

// outcome says how the run stands.
func (v *runView) outcome(p *page, f *facts) {
	v.Class = "open"
	switch {
	case f.finished != nil:
		d := f.finished
		v.Status, v.Reason, v.Detail, v.BestEffort = "finished", line(string(d.Reason)), line(d.Detail), d.BestEffort
		if v.Class = "bad"; d.OK {
			v.Class = "ok"
		}
		if d.Answer != "" {
			v.Answer = p.text(d.Answer)
		}
		if len(d.Result) > 0 {
			v.Result = p.text(pretty(string(d.Result)))
		}
	case f.run.Status != "":
		v.Status = line(f.run.Status)
	case f.paused != nil:
		v.Status, v.Reason, v.Detail = "paused", line(string(f.paused.Cause)), line(f.paused.Why)
	default:
		v.Status = "not finished"
	}
}

// known writes a number that may be unknown.
func known(n *int64) string {
	if n == nil {
		return unknown
	}
	return number(*n)
}

// facts are the totals with their parts.
func (p *page) facts(v *runView, f *facts) {
	add := func(name, format string, args ...any) {
		v.Facts = append(v.Facts, fact{name, line(fmt.Sprintf(format, args...))})
	}
	t := &f.totals
	add("Started", "%s", moment(f.first))
	if t.Time == nil {
		add("Took", "%s", unknown)
	} else {
		add("Took", "%s%s", duration(t.Time.Wall), spent(t.Time))
	}
	add("Steps", "%s, %s, %s", plural(t.Steps, "step"), plural(t.ModelCalls, "model call"), plural(t.ToolCalls, "tool call"))
	add("Input tokens", "%s; cached: %s; written to the cache: %s; neither: %s", known(t.Tokens.Input), known(t.Tokens.Cached), known(t.Tokens.CacheWrite), known(t.Tokens.Uncached))
	add("Output tokens", "%s; of them reasoning: %s", known(t.Tokens.Output), known(t.Tokens.Reasoning))
	if t.Unreported > 0 {
		add("Not reported", "%s of %d did not say what was used", plural(t.Unreported, "model call"), t.ModelCalls)
	}
	if t.Unanswered > 0 {
		add("Without an outcome", "%s", plural(t.Unanswered, "model call"))
	}
	add("Cost", "%s", cost(t))
	if b := t.Below; b != nil {
		add("Runs below", "%s, %s, %s; cost %s, together with this run %s. Their tokens are in none of the sums above.",
			plural(b.Runs, "run"), plural(b.Steps, "step"), plural(b.ToolCalls, "tool call"), dollars(b.Cost), dollars(t.CostWithBelow))
	}
	if f.fork != "" {
		add("Fork", "of run %s, with which it shares events 1 to %d", f.fork, f.forkedAfter)
	}
	if b := t.BeforeFork; b != nil {
		add("Before the fork", "%s, cost %s: that run has paid for it", plural(b.Steps, "step"), dollars(b.Cost))
	}
	if f.spec != nil && f.spec.Sandbox != "" {
		add("Sandbox", "%s", f.spec.Sandbox)
	}
}

// spent says where time has gone.
func spent(t *trace.Times) string {
	var parts []string
	for _, p := range []struct {
		what string
		ms   int64
	}{{"models", t.Models}, {"tools", t.Tools}, {"waiting for servers", t.Servers}, {"waiting for people", t.People}, {"stopped", t.Stopped}, {"between", t.Between}} {
		if p.ms > 0 {
			parts = append(parts, p.what+" "+duration(p.ms))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// cost says what a run has cost by itself, with the parts.
func cost(t *trace.Totals) string {
	if t.Cost == nil {
		return unknown + ": there is no price, or no figure of what was used"
	}
	out := dollars(t.Cost)
	sep := ": "
	for _, p := range t.CostParts.Paid(*t.Cost) {
		out += sep + p.What + " " + dollars(&p.USD)
		sep = ", "
	}
	return out
}

// moment writes a time, in Unix milliseconds.
func moment(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 UTC")
}
