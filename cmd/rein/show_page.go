package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
)

// pageSteps is how many steps are on a page if nobody says it, and how many a run may
// have to be shown whole.
const pageSteps = 100

// wantedSteps says which steps of a run are wanted. Its zero value leaves that to the
// run's length.
type wantedSteps struct {
	// from is the first step, from 1; below 0 it counts from the end: -1 is the last.
	// steps is how many, at least 1. 0 is the first, or a page.
	from, steps int64
	// all: the whole run, however long.
	all bool
	// alone: one step, with what was said and returned.
	alone bool
}

// whole reports whether no page is asked for.
func (w wantedSteps) whole() bool { return w.from == 0 && w.steps == 0 }

// of returns the page of a run of so many steps.
func (w wantedSteps) of(steps int64) page {
	from := w.from
	if from < 0 {
		from = max(steps+1+from, 1)
	}
	from = max(from, 1)
	n := w.steps
	if n == 0 {
		n = pageSteps
	}
	to := steps
	if steps-from >= n {
		to = from + n - 1
	}
	return page{From: from, To: to, Of: steps}
}

// page is a part of a run: the steps From to To, both included, of Of. From is greater
// than To if there are none.
type page struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	Of   int64 `json:"of"`
}

func (p page) holds(step int64) bool { return p.From <= step && step <= p.To }

// showPage reads a page of a long run: as much of the journal as it takes.
func showPage(ctx context.Context, s journal.Store, run string, w wantedSteps, head int64, t *ending) (*shown, []event.Event, error) {
	p := w.of(t.last)
	v := &shown{Run: run, Page: &p, partial: true, Rows: []trace.Row{}, Compactions: []trace.Compaction{}, Purposes: []trace.PurposeTotal{}, Anomalies: []trace.Anomaly{}, Damage: t.damaged, odd: &anomaly.Fold{}}
	t.tell(v)
	f := &pageFold{v: v, w: w, page: p}
	start, err := f.begin(ctx, s, head)
	if err != nil || p.From > p.To {
		return v, nil, err
	}
	d, err := soundFrom(ctx, s, run, start, f.add)
	if err != nil {
		return nil, nil, err
	}
	if d != nil {
		v.Damage = d
	}
	f.end()
	asked, err := askedBelow(ctx, s, t.below)
	if err != nil {
		return nil, nil, err
	}
	v.Pending = append(v.Pending, asked...)
	return v, f.events, nil
}

// pageFold folds the events of a page.
type pageFold struct {
	v      *shown
	w      wantedSteps
	page   page
	rows   trace.Fold
	events []event.Event // of a step that is shown alone
}

// begin folds what a page needs of the events before it, and returns the sequence of
// the first event to be read for it.
func (f *pageFold) begin(ctx context.Context, s journal.Store, head int64) (int64, error) {
	start := int64(1)
	if f.page.From > 2 {
		var err error
		// What stands between two steps, such as a rewrite of the context, is read too.
		if start, err = seekStep(ctx, s, f.v.Run, f.page.From-1, f.page.Of, head); err != nil {
			return 0, err
		}
	}
	marks, err := forkMarks(ctx, s, f.v.Run)
	if err != nil {
		return 0, err
	}
	for _, e := range marks {
		f.v.header(e)
		if e.Seq < start {
			f.rows.Add(e)
		}
	}
	if start > 1 {
		f.rows.Gap()
	}
	return start, nil
}

// add folds the next event of the journal from where the page begins.
func (f *pageFold) add(e *event.Event) error {
	if step, ok := stepOf(e.Data); ok && step > f.page.To {
		return errEnough
	}
	f.rows.Add(e)
	f.v.looks.add(e)
	if f.page.From == 1 {
		f.v.odd.Add(e)
	}
	if f.w.alone && f.v.looks.steps == f.page.From {
		f.events = append(f.events, *e)
	}
	return nil
}

// end puts into v what the page holds.
func (f *pageFold) end() {
	f.v.Rows = append(f.v.Rows, f.rows.Rows()...)
	f.v.Compactions = append(f.v.Compactions, f.rows.Compactions()...)
	f.v.only(f.page)
}

// stepOf returns the step that a request is made for.
func stepOf(d event.Data) (int64, bool) {
	switch d := d.(type) {
	case *event.ContextAssembled:
		return d.Step, true
	case *event.ModelCalled:
		return d.Step, true
	}
	return 0, false
}

// forkMarks returns the events that hold for all of a run, wherever one begins to
// read: the first, and of a fork, which may have other models, those with which it and
// the forks that it was forked from went on.
func forkMarks(ctx context.Context, s journal.Store, run string) ([]*event.Event, error) {
	at := []int64{1}
	family, err := s.Family(ctx, run)
	if err != nil {
		return nil, failed(fmt.Errorf("look for what run %s was forked from: %w", run, err))
	}
	for _, r := range family {
		if r.Base {
			at = append(at, r.Shared+1)
		}
	}
	slices.Sort(at)
	var marks []*event.Event
	for _, seq := range slices.Compact(at) {
		for e, err := range s.Read(ctx, run, seq) {
			var d *journal.DamageError
			if errors.As(err, &d) {
				return marks, nil // it is reported with what it spoils
			}
			if err != nil {
				return nil, failed(fmt.Errorf("read run %s: %w", run, err))
			}
			marks = append(marks, &e)
			break
		}
	}
	return marks, nil
}

// seekStep returns the sequence of an event of a run at or before the first one of a
// step, and not far before it, for a run of so many steps and events. Steps only grow,
// and are about as long as each other, so few places have to be looked at.
func seekStep(ctx context.Context, s journal.Store, run string, step, steps, head int64) (int64, error) {
	return seek(step, steps, head, func(seq int64) (int64, error) {
		for e, err := range s.Read(ctx, run, seq) {
			if err != nil {
				return 0, failed(fmt.Errorf("read run %s: %w", run, err))
			}
			if n, ok := stepOf(e.Data); ok {
				return n, nil
			}
		}
		return steps + 1, nil // nothing comes after it
	})
}

// nearEnough is how many events before a step are read rather than looked for.
const nearEnough = 128

// seek is seekStep for a function that returns the step of the first request at or
// after a sequence. It asks at most twice for each halving of head.
func seek(step, steps, head int64, at func(seq int64) (int64, error)) (int64, error) {
	lo, hi := int64(1), head+1 // the step begins at or after lo, and at or before hi
	loStep, hiStep := int64(0), steps+1
	for guess := true; hi-lo > nearEnough; guess = !guess {
		mid := lo + (hi-lo)/2
		if guess && hiStep > loStep {
			// A little before where it would be if all steps were of one length.
			share := float64(step-loStep) / float64(hiStep-loStep)
			mid = lo + int64(float64(hi-lo)*share) - nearEnough/2
			mid = min(max(mid, lo+1), hi-1)
		}
		n, err := at(mid)
		if err != nil {
			return 0, err
		}
		if n < step {
			lo, loStep = mid, n
		} else {
			hi, hiStep = mid, n
		}
	}
	return lo, nil
}

// pageEnd says below a page how to go on, and what is of the page only.
func (a *app) pageEnd(v *shown, out *strings.Builder) {
	p := v.Page
	if p == nil {
		return
	}
	fmt.Fprintf(out, "\nsteps %d to %d of %d", p.From, p.To, p.Of)
	if v.partial {
		out.WriteString(pageSums(v.Rows))
	}
	out.WriteString("\n")
	if v.partial && p.From > 1 {
		out.WriteString("  what the run had cost before is not known on this page, and nothing odd was looked for\n")
	}
	if p.To < p.Of {
		fmt.Fprintf(out, "  go on with:    %s\n", a.next("show %s --from %d%s", v.Run, p.To+1, stepsFlag(p.To-p.From+1)))
		fmt.Fprintf(out, "  the last:      %s\n", a.next("show %s --from -%d", v.Run, lastSteps))
	}
	fmt.Fprintf(out, "  all, and sums: %s\n", a.next("show %s --all", v.Run))
}

// pageSums says what the model calls of a page have taken, as far as it is known, and
// what is not in that.
func pageSums(rows []trace.Row) string {
	in, output, cost := int64(0), int64(0), trace.USD(0)
	priced, counted := true, true
	var calls, unreplied, below int64
	for i := range rows {
		r := &rows[i]
		if r.Below != nil {
			below += r.Below.Runs
		}
		if r.Purpose == nil {
			continue
		}
		if failed := r.FinishReason == nil || *r.FinishReason == string(event.FinishError); failed && r.PromptTokens == nil {
			unreplied++ // most are free, and which are not no row says
			continue
		}
		calls++
		if r.Cost == nil {
			priced = false
		} else {
			cost += *r.Cost
		}
		if r.PromptTokens == nil || r.CompletionTokens == nil {
			counted = false
		} else {
			in, output = in+*r.PromptTokens, output+*r.CompletionTokens
		}
	}
	var parts []string
	if counted && calls > 0 {
		parts = append(parts, grouped(in)+" tokens in", grouped(output)+" out")
	}
	if priced && calls > 0 {
		parts = append(parts, dollars(cost))
	}
	if len(parts) == 0 {
		return ""
	}
	var without []string
	if unreplied > 0 {
		without = append(without, plural(unreplied, "call")+" that gave no reply")
	}
	if below > 0 {
		without = append(without, plural(below, "run")+" below")
	}
	said := ": " + strings.Join(parts, ", ")
	if len(without) > 0 {
		said += ", without " + strings.Join(without, " and ")
	}
	return said
}

// lastSteps is how many of the last steps a page proposes to look at.
const lastSteps = 20

// stepsFlag is the flag that asks for a page of so many steps, if it takes one.
func stepsFlag(n int64) string {
	if n == pageSteps {
		return ""
	}
	return fmt.Sprintf(" --steps %d", n)
}
