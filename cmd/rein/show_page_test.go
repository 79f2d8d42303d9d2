package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// A long run is shown by the page; the pages together are the whole, except for what
// the run had cost before a page, and what is odd.
func TestLongRunByThePage(t *testing.T) {
	b := newBox(t)
	const steps = pageSteps + 30
	path := filepath.Join(b.dir, "long.db")
	run := auditRun(t, path, steps)
	b.env["REIN_DB"] = path

	var whole shown
	b.decode(&whole, "show", run)
	if whole.Page != nil || whole.Totals == nil || whole.Totals.Steps != steps || whole.CostUSD == nil {
		t.Fatalf("not the whole: page %+v, totals %+v", whole.Page, whole.Totals)
	}
	plain := func(rows []trace.Row) []trace.Row {
		out := append([]trace.Row{}, rows...)
		for i := range out {
			out[i].CumulativeCost, out[i].Anomalies = nil, nil
		}
		return out
	}
	for _, size := range []string{"", "7", "129", "100000"} {
		var rows []trace.Row
		var rewrites []trace.Compaction
		for from := int64(1); from <= steps; {
			args := []string{"show", run, "--from", fmt.Sprint(from)}
			if size != "" {
				args = append(args, "--steps", size)
			}
			var v shown
			b.decode(&v, args...)
			if v.Page == nil || v.Page.From != from || v.Page.Of != steps || v.Status != "finished" || v.Reason != "answered" || !v.OK || v.Answer != whole.Answer || v.Agent != "auditor" || v.Model != whole.Model {
				t.Fatalf("%v: page %+v of %+v", args, v.Page, v)
			}
			rows, rewrites, from = append(rows, v.Rows...), append(rewrites, v.Compactions...), v.Page.To+1
		}
		if !reflect.DeepEqual(plain(rows), plain(whole.Rows)) {
			t.Errorf("pages of %q steps have %d rows that differ from the %d of the whole", size, len(rows), len(whole.Rows))
		}
		if len(rewrites) == 0 || len(rewrites) != len(whole.Compactions) {
			t.Errorf("pages of %q steps have %d rewrites of %d", size, len(rewrites), len(whole.Compactions))
		}
	}
	var first shown
	b.decode(&first, "show", run, "--from", "1")
	if n := len(first.Rows); n == 0 || !reflect.DeepEqual(first.Rows, whole.Rows[:n]) {
		t.Error("the first page is not the beginning of the whole, with its costs and what is odd")
	}

	text := b.ok("show", run)
	for _, want := range []string{"finished answered", fmt.Sprintf("\nsteps 1 to %d of %d: ", pageSteps, steps), fmt.Sprintf("show %s --from %d\n", run, pageSteps+1), "show " + run + " --from -20\n", "All files are read."} {
		if !strings.Contains(text, want) {
			t.Errorf("the first page has no %q:\n%.500s … %s", want, text, text[max(len(text)-900, 0):])
		}
	}
	if strings.Contains(text, fmt.Sprintf("\n   %d ", pageSteps+1)) {
		t.Error("the first page has more steps")
	}
	last := b.ok("show", run, "--from", "-3")
	if !strings.Contains(last, fmt.Sprintf("\nsteps %d to %d of %d", steps-2, steps, steps)) || strings.Contains(last, "go on with") || !strings.Contains(last, "not known on this page") || strings.Contains(last, "\ncost ") {
		t.Errorf("the last steps:\n%s", last)
	}
	if all := b.ok("show", run, "--all"); !strings.Contains(all, fmt.Sprintf("\n   %d ", steps)) || !strings.Contains(all, "\ncost $") || strings.Contains(all, "go on with") {
		t.Error("--all does not show all")
	}
	if step := b.ok("show", run, "--step", "77"); !strings.Contains(step, "what the model saw:\n") || !strings.Contains(step, "nothing odd was looked for in this step alone") || strings.Contains(step, "go on with") {
		t.Errorf("a step:\n%s", step)
	}
	for want, args := range map[string][]string{
		fmt.Sprintf("no step %d; the last is %d", steps+1, steps): {"--from", fmt.Sprint(steps + 1)},
		"no step 9999":       {"--step", "9999"},
		"count from 1":       {"--from", "0"},
		"how many steps":     {"--steps", "0"},
		"none of the others": {"--step", "3", "--from", "2"},
	} {
		if p := b.rein(append([]string{"show", run}, args...)...); p.code != badUsage || !strings.Contains(p.err, want) || p.out != "" {
			t.Errorf("%v: exit %d, %q, %q", args, p.code, p.out, p.err)
		}
	}
}

// A list of steps says how large things are, and never holds them, however large they
// are; what a step has returned is shown with that step, as the model was shown it.
func TestStepsHoldNoBodies(t *testing.T) {
	b := newBox(t)
	path := filepath.Join(b.dir, "long.db")
	run := auditRun(t, path, 30)
	b.env["REIN_DB"] = path
	var v shown
	p := b.decode(&v, "show", run)
	if n := len(p.out); n > 1_500*len(v.Rows) || strings.Contains(p.out, "pieces") {
		t.Errorf("%d rows are %d bytes:\n%.2000s", len(v.Rows), n, p.out)
	}
	if r := v.Rows[19]; *r.ToolResultSize < longBody || *r.ToolResultShown > 4_000 {
		t.Errorf("the call of step 10 has returned %d bytes, of which %d were shown", *r.ToolResultSize, *r.ToolResultShown)
	}
	if out := b.ok("show", run, "--step", "10"); !strings.Contains(out, "pieces") || len(out) > 10_000 {
		t.Errorf("step 10 takes %d bytes:\n%s", len(out), out)
	}
}

// reads counts the events that are read of a store.
type reads struct {
	journal.Store
	n *int
}

func (s reads) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range s.Store.Read(ctx, run, from) {
			if *s.n++; !yield(e, err) {
				return
			}
		}
	}
}

// A page takes as many events as it has, the run's last ones, and few to find it.
func TestPageReadsLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.db")
	run := auditRun(t, path, 500)
	store, err := sqlite.Open(t.Context(), path, &sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	head, err := store.Head(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []wantedSteps{{}, {from: 3, steps: 2}, {from: 250, steps: 5}, {from: -3}, {from: 411, steps: 1, alone: true}} {
		n := 0
		v, _, err := show(t.Context(), reads{store, &n}, run, w)
		if err != nil {
			t.Fatal(err)
		}
		page := int(head.Seq * (v.Page.To - v.Page.From + 1) / v.Page.Of)
		if most := page + lastEvents + 2*nearEnough + 100; n > most || len(v.Rows) == 0 {
			t.Errorf("%+v: %d events were read of %d, and not at most %d", w, n, head.Seq, most)
		}
	}
}

// A step is found wherever it is, in few looks, even if steps are of very different
// lengths.
func TestSeek(t *testing.T) {
	for name, length := range map[string]func(step int64) int64{
		"all alike":     func(int64) int64 { return 7 },
		"growing":       func(s int64) int64 { return 3 + s/50 },
		"one very long": func(s int64) int64 { return 7 + s/5_000*20_000*(s/5_000%2) },
		"a long ending": func(s int64) int64 { return 3 + s/9_990*5_000 },
	} {
		const steps = 10_000
		var begins []int64 // by step, from 0
		head := int64(2)
		for s := range int64(steps) {
			begins = append(begins, head+1)
			if s == 5_001 || s < 5_000 || name != "one very long" {
				head += length(s)
			} else {
				head += 7
			}
		}
		for _, step := range []int64{1, 2, 3, 17, 4_999, 5_000, 5_001, 5_002, 9_999, 10_000} {
			looks := 0
			got, err := seek(step, steps, head, func(seq int64) (int64, error) {
				looks++
				for s, begin := range begins {
					if begin >= seq {
						return int64(s) + 1, nil
					}
				}
				return steps + 1, nil
			})
			begin, before := begins[step-1], int64(0) // which has to be read through, if the place is in it
			if step > 1 {
				before = begin - begins[step-2]
			}
			if err != nil || got > begin || begin-got > nearEnough+before || looks > 2*20 {
				t.Errorf("%s: step %d begins at event %d; %d was found in %d looks, %v", name, step, begin, got, looks, err)
			}
		}
	}
}

// A page of a fork has the models and the prices of the fork, and its own events.
func TestPageOfFork(t *testing.T) {
	b := newBox(t)
	path := filepath.Join(b.dir, "long.db")
	run := auditRun(t, path, pageSteps+20)
	forkLong(t, path, run, "fork-1")
	b.env["REIN_DB"] = path
	var whole, v shown
	b.decode(&whole, "show", "fork-1")
	b.decode(&v, "show", "fork-1", "--from", "-2")
	if v.Page == nil || v.Model != "openai/other" || v.ForkOf != run || v.ForkedAfter != whole.ForkedAfter || v.ForkedAfter == 0 {
		t.Fatalf("page %+v, model %s, fork of %s after %d", v.Page, v.Model, v.ForkOf, v.ForkedAfter)
	}
	r := v.Rows[len(v.Rows)-1]
	if r.Cost == nil || *r.Cost != 3_000_000 || r.CumulativeCost != nil {
		t.Errorf("the last call has cost %v", r.Cost)
	}
	if f := whole.Totals.BeforeFork; f == nil || *whole.Totals.Cost-*f.Cost != 3_000_000 || *f.Cost == 0 {
		t.Errorf("totals %+v", whole.Totals)
	}
	if text := b.ok("show", "fork-1", "--all"); !strings.Contains(text, "before the fork: $") || !strings.Contains(text, ", which run "+run+" has paid") {
		t.Errorf("the table does not say who has paid:\n%s", text[max(len(text)-1500, 0):])
	}
}

// forkLong forks a run at its end but for the last event, and lets the fork make one
// more request, of another model.
func forkLong(t *testing.T, path, run, fork string) {
	t.Helper()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	lease, err := store.Join(ctx, journal.ThisProcess("test"))
	if err != nil {
		t.Fatal(err)
	}
	head, err := store.Head(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Fork(ctx, lease, run, head.Seq-1, fork); err != nil {
		t.Fatal(err)
	}
	prices := []event.ModelPrice{{Model: "openai/other", Price: message.Price{Input: 1_000_000_000, Output: 1_000_000_000}}}
	var entries []journal.Entry
	for _, d := range []event.Data{
		&event.RunResumed{Fork: run, Generation: 1, Models: &event.ModelChange{Model: "openai/other", Prices: prices}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: pageSteps + 21},
		&event.ModelCalled{ID: "f1", Purpose: event.PurposeStep, Step: pageSteps + 21, Attempt: 1, Model: "openai/other"},
		&event.ModelAnswered{ID: "f1", Finish: event.FinishStop, Usage: message.Usage{Input: message.Known(2_000), Output: message.Known(1_000)}},
	} {
		entries = append(entries, journal.Entry{Time: 1_900_000_000_000, Data: d})
	}
	if _, err := store.Append(ctx, lease, journal.Batch{Run: fork, After: head.Seq - 1, Entries: entries}); err != nil {
		t.Fatal(err)
	}
}

// Damage in what a page is made of is reported with it: at the run's end, which every
// page says how it is, and in the page's own steps. Elsewhere it is for rein verify.
func TestPagesOfDamagedRun(t *testing.T) {
	for name, c := range map[string]struct {
		tamper        string
		first, second bool // the pages that report it
	}{
		"end missing": {`DELETE FROM events WHERE id = (SELECT max(id) FROM events)`, true, true},
		"in the last steps": {fmt.Sprintf(`UPDATE events SET data = replace(data, '"step":%d', '"step":1') WHERE type = 'model.called' AND data LIKE '%%"step":%d,%%'`,
			pageSteps+18, pageSteps+18), true, true},
		"in the first page": {`UPDATE events SET data = replace(data, '"step":9,', '"step":8,') WHERE type = 'model.called' AND data LIKE '%"step":9,%'`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			run := auditRun(t, b.made(), pageSteps+20)
			b.tamper(c.tamper)
			for from, reports := range map[string]bool{"1": c.first, fmt.Sprint(pageSteps + 10): c.second} {
				p := b.rein("show", run, "--from", from)
				if (p.code == badEnd) != reports || strings.Contains(p.err, "after event") != reports || !strings.Contains(p.out, "\n   STEP") {
					t.Errorf("from %s: exit %d, %s\n%s", from, p.code, p.err, p.out[:min(len(p.out), 600)])
				}
			}
			if p := b.rein("show", run, "--all"); p.code != badEnd || !strings.Contains(p.err, "after event") {
				t.Errorf("--all: exit %d, %s", p.code, p.err)
			}
		})
	}
}

// made returns where the box has its store, whose folder is there.
func (b *box) made() string {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.storeFile()), 0o755); err != nil {
		b.t.Fatal(err)
	}
	return b.storeFile()
}

// A long run is shown while another process carries it out, up to now, and after that
// has died without a word.
func TestLongRunGoesOn(t *testing.T) {
	b := newBox(t)
	path := b.made()
	run := auditRun(t, path, pageSteps+20)
	store, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	lease, err := store.Join(t.Context(), journal.ThisProcess("test"))
	if err != nil {
		t.Fatal(err)
	}
	head, err := store.Head(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Fork(t.Context(), lease, run, head.Seq-1, "live-1"); err != nil {
		t.Fatal(err)
	}
	after := head.Seq - 1
	for _, d := range []event.Data{&event.RunResumed{Fork: run, Generation: 1}, &event.ContextAssembled{Purpose: event.PurposeStep, Step: pageSteps + 21},
		&event.ModelCalled{ID: "f1", Purpose: event.PurposeStep, Step: pageSteps + 21, Attempt: 1, Model: "openai/reader"}} {
		if _, err := store.Append(t.Context(), lease, journal.Batch{Run: "live-1", After: after, Entries: []journal.Entry{{Time: 1_900_000_000_000, Data: d}}}); err != nil {
			t.Fatal(err)
		}
		after++
	}
	last := fmt.Sprintf("steps %d to %d of %d", pageSteps+19, pageSteps+21, pageSteps+21)
	if out := b.ok("show", "live-1", "--from", "-3"); !strings.Contains(out, "\nrunning\n") || !strings.Contains(out, "no reply yet") || !strings.Contains(out, last) {
		t.Errorf("while it goes on:\n%s", out)
	}
	if err := store.Leave(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if out := b.ok("show", "live-1", "--from", "-3"); !strings.Contains(out, "\ninterrupted\n") || !strings.Contains(out, lostText) || !strings.Contains(out, last) {
		t.Errorf("when nobody carries it out:\n%s", out)
	}
}

// What a page's sums leave out is said: calls of which nobody knows whether they were
// charged, and runs that have sums of their own.
func TestPageSums(t *testing.T) {
	reason := func(f event.Finish) *string { s := string(f); return &s }
	n, purpose, usd := int64(100), "step", trace.USD(2_000_000)
	replied := trace.Row{Purpose: &purpose, FinishReason: reason(event.FinishStop), PromptTokens: &n, CompletionTokens: &n, Cost: &usd}
	broken := trace.Row{Purpose: &purpose, FinishReason: reason(event.FinishError)}
	for want, rows := range map[string][]trace.Row{
		"":                                {broken},
		": 100 tokens in, 100 out, $2.00": {replied},
		": 200 tokens in, 200 out, $4.00, without 2 calls that gave no reply and 1 run below": {replied, broken, {Below: &trace.Below{Runs: 1}}, replied, {Purpose: &purpose}},
	} {
		if got := pageSums(rows); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
