package stats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/trace/stats"
)

// journal is one run as a test writes it.
type journal struct {
	id     string
	shared int64
	status string // as the store has it; empty: finished
	damage *stats.Damage
	at     int64 // when it begins, in Unix milliseconds; each event is a second later
	events []event.Data
}

// count adds the runs up.
func count(by stats.By, runs ...journal) *stats.Report {
	t := stats.NewTable(by, nil)
	for _, j := range runs {
		r := stats.Begin(j.id, j.shared)
		for i, d := range j.events {
			r.Add(&event.Event{Run: j.id, Seq: int64(i) + 1, Time: j.at + int64(i)*1000, Data: d})
		}
		status := j.status
		if status == "" {
			status = "finished"
		}
		t.Add(r, status, j.damage)
	}
	return t.Report()
}

// spec is an agent whose model costs a dollar for a million tokens in, and two out.
func spec() event.Spec {
	return event.Spec{Agent: "desk", Model: "a/b", Prices: []event.ModelPrice{{Model: "a/b", Price: message.Price{Input: 1_000_000, Cached: 100_000, CacheWrite: 1_000_000, Output: 2_000_000}}},
		Tools: []event.ToolSpec{{Name: "read"}, {Name: "send"}, {Name: "ask"}}}
}

// step is a reply of so many tokens, at a step, under a command id.
func step(n int64, id string, in, out int64) []event.Data {
	return []event.Data{
		&event.ModelCalled{ID: id, Step: n, Attempt: 1, Purpose: event.PurposeStep, Model: "a/b"},
		&event.ModelAnswered{ID: id, Latency: 100, Usage: message.Usage{Input: message.Known(in), Cached: message.Known(0), Output: message.Known(out)}},
		&event.ReplyParsed{ID: id},
	}
}

// ended is a run of one step that ended so.
func ended(id string, end event.RunFinished) journal {
	return journal{id: id, events: slices.Concat([]event.Data{&event.RunStarted{Spec: spec()}}, step(1, "2.0", 1000, 100), []event.Data{&end})}
}

// Every run stays in the denominator. Of ten runs eight are right, one is wrong and
// one had no server: that is 80%, with the 88.9% of those that were judged beside it
// (inspect_ai 3707: errors left numerator and denominator).
func TestDenominator(t *testing.T) {
	var runs []journal
	for i := range 8 {
		runs = append(runs, ended(fmt.Sprint("ok", i), event.RunFinished{Reason: event.ReasonAnswered, OK: true}))
	}
	runs = append(runs, ended("wrong", event.RunFinished{Reason: event.ReasonRepetition}), ended("down", event.RunFinished{Reason: event.ReasonModelError}))
	got := count("", runs...).Total.Runs
	if s := fmt.Sprint(*got.Success, *got.SuccessOfFinished, *got.SuccessOfJudged); s != "80.0% 80.0% 88.8%" {
		t.Errorf("success, of the finished, of the judged: %s", s)
	}

	// Whatever becomes of a run, it is counted exactly once.
	for _, c := range []struct {
		run   journal
		where func(*stats.Outcomes) int64
	}{
		{ended("a", event.RunFinished{Reason: event.ReasonSubmitted, OK: true}), func(o *stats.Outcomes) int64 { return o.OK }},
		{ended("b", event.RunFinished{Reason: event.ReasonAnswered}), func(o *stats.Outcomes) int64 { return o.NotOK }},
		{ended("c", event.RunFinished{Reason: event.ReasonStepLimit}), func(o *stats.Outcomes) int64 { return o.NotOK }},
		{ended("d", event.RunFinished{Reason: event.ReasonStepLimit, BestEffort: true}), func(o *stats.Outcomes) int64 { return o.BestEffort }},
		{ended("e", event.RunFinished{Reason: event.ReasonTimeLimit, BestEffort: true}), func(o *stats.Outcomes) int64 { return o.BestEffort }},
		{ended("f", event.RunFinished{Reason: event.ReasonTimeLimit}), func(o *stats.Outcomes) int64 { return o.TimedOut }},
		{ended("g", event.RunFinished{Reason: event.ReasonCancelled}), func(o *stats.Outcomes) int64 { return o.Cancelled }},
		{ended("h", event.RunFinished{Reason: event.ReasonModelError}), func(o *stats.Outcomes) int64 { return o.Errors }},
		{ended("i", event.RunFinished{Reason: event.ReasonInternalError}), func(o *stats.Outcomes) int64 { return o.Errors }},
		{ended("j", event.RunFinished{Reason: event.ReasonContextOverflow}), func(o *stats.Outcomes) int64 { return o.Errors }},
		{journal{id: "k", status: "running", events: []event.Data{&event.RunStarted{Spec: spec()}}}, func(o *stats.Outcomes) int64 { return o.Open }},
		{journal{id: "l", status: "paused", events: []event.Data{&event.RunStarted{Spec: spec()}, &event.RunPaused{Cause: event.CauseTurnDone}}}, func(o *stats.Outcomes) int64 { return o.Open }},
		{journal{id: "m", status: "interrupted", events: []event.Data{&event.RunStarted{Spec: spec()}}}, func(o *stats.Outcomes) int64 { return o.Interrupted }},
		{journal{id: "n", status: "interrupted"}, func(o *stats.Outcomes) int64 { return o.Interrupted }},
		{func() journal {
			j := ended("o", event.RunFinished{Reason: event.ReasonAnswered, OK: true})
			j.damage = &stats.Damage{Run: "o", Sound: 5, Problem: "event 6 is missing"}
			return j
		}(), func(o *stats.Outcomes) int64 { return o.Damaged }},
	} {
		o := count("", c.run).Total.Runs
		all := o.OK + o.NotOK + o.BestEffort + o.Errors + o.TimedOut + o.Cancelled + o.Interrupted + o.Damaged + o.Open
		if c.where(&o) != 1 || all != 1 || o.All != 1 {
			t.Errorf("run %s: %+v", c.run.id, o)
		}
	}
}

// A damaged journal does not stop the rest. It is named, what is sound of it has cost
// what it has cost, and that it ended well nobody can say.
func TestDamaged(t *testing.T) {
	bad := ended("bad", event.RunFinished{Reason: event.ReasonAnswered, OK: true})
	bad.damage = &stats.Damage{Run: "bad", Sound: 5, Problem: "broken"}
	r := count("", bad, ended("good", event.RunFinished{Reason: event.ReasonAnswered, OK: true}))
	if len(r.Damaged) != 1 || r.Damaged[0].Run != "bad" || r.Total.Runs.OK != 1 || *r.Total.Runs.Success != 500_000 || r.Total.Tokens.Input.Known != 2000 {
		t.Errorf("%+v", r)
	}
	if got := r.Total.Reasons; len(got) != 2 || got[0].OK+got[1].OK != 1 {
		t.Errorf("reasons %+v", got)
	}
}

// What a fork shares with the run that it comes from was paid once, by that run
// (ccusage 1762: totals doubled, since each fork held the same messages).
func TestForksAreCountedOnce(t *testing.T) {
	begin := slices.Concat([]event.Data{&event.RunStarted{Root: "a", Spec: spec()}}, step(1, "2.0", 1000, 100), []event.Data{
		&event.CallJudged{Call: "c1", Tool: "read"}, &event.ToolStarted{ID: "5.0", Call: "c1", Tool: "read", Attempt: 1},
		&event.ToolFinished{ID: "5.0", Call: "c1", Tool: "read", Status: event.StatusSuccess, Latency: 7}}) // 7 events
	a := journal{id: "a", events: slices.Concat(begin, step(2, "8.0", 2000, 200), []event.Data{&event.RunFinished{Reason: event.ReasonRepetition}})}
	b := journal{id: "b", shared: 7, events: slices.Concat(begin, []event.Data{&event.RunResumed{Fork: "a"}}, step(2, "9.0", 2001, 10))}
	c := journal{id: "c", shared: 11, events: slices.Concat(b.events, []event.Data{&event.RunResumed{Fork: "b"}}, step(3, "13.0", 2002, 1), []event.Data{&event.RunFinished{Reason: event.ReasonAnswered, OK: true}})}
	b.status = "paused"
	g := count("", a, b, c).Total
	if g.Forks != 2 || g.Runs.All != 3 || g.Steps.Total != 4 || g.Tokens.Input.Known != 1000+2000+2001+2002 || g.Tokens.Output.Known != 311 {
		t.Errorf("%+v", g)
	}
	if len(g.Tools) != 1 || g.Tools[0].Calls != 1 || g.Tools[0].Latency.Count != 1 {
		t.Errorf("tools %+v", g.Tools)
	}
	if g.Cost.USD == nil || *g.Cost.USD != 7003+2*311 {
		t.Errorf("cost %v", g.Cost)
	}
	// A fork whose process died before it did anything has done nothing.
	if g := count("", journal{id: "d", shared: 7, status: "interrupted", events: begin}).Total; g.Steps.Total != 0 || len(g.Models) != 0 || len(g.Tools) != 0 || g.Runs.Interrupted != 1 {
		t.Errorf("a fork that was never begun: %+v", g)
	}
}

// What a run below another spends is that run's cost. It is no run of its own that may
// succeed or fail.
func TestRunsBelow(t *testing.T) {
	top := journal{id: "r", events: slices.Concat([]event.Data{&event.RunStarted{Spec: spec()}}, step(1, "2.0", 1000, 0), []event.Data{
		&event.CallJudged{Call: "c1", Tool: "ask"}, &event.ToolStarted{ID: "5.0", Call: "c1", Tool: "ask", Attempt: 1, Run: "r.1"},
		&event.ToolFinished{ID: "5.0", Call: "c1", Tool: "ask", Status: event.StatusError, Latency: 900, Spent: &event.Spent{Steps: 1, Cost: message.Known(5000)}},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true}})}
	below := ended("r.1", event.RunFinished{Reason: event.ReasonStepLimit})
	below.events[0].(*event.RunStarted).Spec.Agent = "helper"
	r := count(stats.ByAgent, top, below)
	if g := r.Total; g.Runs.All != 1 || g.Runs.OK != 1 || g.Below.All != 1 || g.Below.NotOK != 1 || *g.Cost.USD != 2000+200 || len(g.Reasons) != 1 || g.Steps.Count != 1 {
		t.Errorf("%+v", g)
	}
	if len(r.Groups) != 2 || r.Groups[0].Name != "desk" || *r.Groups[0].Cost.USD != 1000 || *r.Groups[1].Cost.USD != 1200 {
		t.Errorf("groups %+v", r.Groups)
	}
}

// What nobody reported is unknown, and says so; what is known stands beside it.
func TestUnknownIsNotZero(t *testing.T) {
	s := spec()
	s.Fallback = []string{"c/free"}
	j := journal{id: "r", status: "interrupted", events: []event.Data{&event.RunStarted{Spec: s},
		&event.ModelCalled{ID: "1", Step: 1, Attempt: 1, Model: "a/b"},
		&event.ModelFailed{ID: "1", Class: event.ClassNetwork}, // nothing arrived: nothing was charged
		&event.ModelCalled{ID: "2", Step: 1, Attempt: 2, Model: "a/b"},
		&event.ModelFailed{ID: "2", Class: event.ClassIncomplete, Partial: "The"}, // charged, nobody knows what
		&event.ModelCalled{ID: "3", Step: 1, Attempt: 3, Model: "a/b"},
		&event.ModelAnswered{ID: "3", Usage: message.Usage{Input: message.Known(10), Cached: message.Known(4), Output: message.Known(1), Reasoning: message.Known(1)}},
		&event.ModelCalled{ID: "4", Step: 2, Attempt: 1, Model: "c/free"}, // has no price
		&event.ModelAnswered{ID: "4", Usage: message.Usage{Input: message.Known(5), Output: message.Known(5)}},
		&event.ModelCalled{ID: "5", Step: 3, Attempt: 1, Model: "a/b"}, // the process died
	}}
	g := count("", j).Total
	for what, c := range map[string][2]stats.Sum{
		"input": {g.Tokens.Input, {Known: 15, Unknown: 2}}, "cached": {g.Tokens.Cached, {Known: 4, Unknown: 3}},
		"output": {g.Tokens.Output, {Known: 6, Unknown: 2}}, "reasoning": {g.Tokens.Reasoning, {Known: 1, Unknown: 3}},
		"cache writes": {g.Tokens.CacheWrite, {Unknown: 4}},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %+v, want %+v", what, c[0], c[1])
		}
	}
	if c := g.Cost; c.USD != nil || c.Unknown != 3 || c.Known != 8 || c.Uncached+c.InFull != 6 || c.Reasoning != 2 {
		t.Errorf("cost %+v", c)
	}
	text, err := json.Marshal(g.Cost)
	if err != nil || string(text) != `{"usd":null,"known_usd":0.000008,"unknown_calls":3,"uncached_input_usd":0.000006,"input_in_full_usd":0.000000,"cached_input_usd":0.000000,"cache_write_usd":0.000000,"output_usd":0.000000,"reasoning_usd":0.000002}` {
		t.Errorf("%s %v", text, err)
	}
	m := g.Models[0]
	if m.Model != "a/b" || m.Calls != 4 || m.Answered != 1 || m.Failed != 2 || m.Open != 1 || m.Retries != 2 || fmt.Sprint(m.Errors) != "[{incomplete 1} {network 1}]" || m.Latency.Count != 1 {
		t.Errorf("%+v", m)
	}
}

// What stats makes of a run's cost is what its trace has in its last row.
func TestCostIsTheTraces(t *testing.T) {
	events := slices.Concat([]event.Data{&event.RunStarted{Spec: spec()}}, step(1, "2.0", 1234, 56), step(2, "5.0", 4321, 65),
		[]event.Data{&event.ModelCalled{ID: "8.0", Step: 3, Model: "a/b"}, &event.ModelFailed{ID: "8.0", Class: event.ClassIncomplete, Usage: message.Usage{Input: message.Known(77), Output: message.Known(0)}}})
	var f trace.Fold
	for i, d := range events {
		f.Add(&event.Event{Run: "r", Seq: int64(i) + 1, Data: d})
	}
	rows := f.Rows()
	want := rows[len(rows)-1].CumulativeCost
	if got := count("", journal{id: "r", events: events}).Total.Cost.USD; want == nil || got == nil || *got != *want {
		t.Errorf("%v, and the trace has %v", got, want)
	}
}

// How long a tool takes is measured where it was executed. What was answered in its
// place took no time, and would make it look fast (promptfoo 980).
func TestLatencyIsOfExecutions(t *testing.T) {
	events := []event.Data{&event.RunStarted{Spec: spec()}}
	call := func(id, tool string, outcome event.ToolFinished) {
		outcome.Call, outcome.Tool = id, tool
		events = append(events, &event.CallJudged{Call: id, Tool: tool}, &outcome)
	}
	for i, took := range []int64{900, 1000, 1100} {
		call(fmt.Sprint("x", i), "send", event.ToolFinished{ID: fmt.Sprint(i), Status: event.StatusSuccess, Latency: took})
	}
	for i := range 20 {
		call(fmt.Sprint("j", i), "send", event.ToolFinished{Status: event.StatusIntercepted})                         // from the journal
		call(fmt.Sprint("l", i), "send", event.ToolFinished{ID: fmt.Sprint("l", i), Status: event.StatusIntercepted}) // from another run's ledger
	}
	call("d", "send", event.ToolFinished{Status: event.StatusDenied, ErrorType: "permission_denied"})
	call("n", "teleport", event.ToolFinished{Status: event.StatusError, ErrorType: "unknown_tool"})
	events = append(events, &event.CallJudged{Call: "w", Tool: "read"}) // waits
	g := count("", journal{id: "r", status: "paused", events: events}).Total
	send := g.Tools[0]
	if send.Tool != "send" || send.Calls != 44 || send.Latency.Count != 3 || *send.Latency.Median != 1000 || *send.Latency.P95 != 1100 || *send.Latency.Max != 1100 {
		t.Errorf("%+v", send)
	}
	if fmt.Sprint(send.Statuses) != "[{intercepted 40} {success 3} {denied 1}]" || fmt.Sprint(send.Errors) != "[{permission_denied 1}]" || send.Failed() != 0 {
		t.Errorf("statuses %v, errors %v", send.Statuses, send.Errors)
	}
	if fmt.Sprint(g.Calls) != "[{intercepted 40} {success 3} {denied 1} {error 1} {open 1}]" {
		t.Errorf("calls %v", g.Calls)
	}
	if g.Tools[1].Tool != stats.NotOffered || g.Tools[1].Latency.Median != nil {
		t.Errorf("a tool that nobody offered: %+v", g.Tools[1])
	}
}

// A recording without times says nothing of how long anything took.
func TestImportedWithoutTimes(t *testing.T) {
	events := slices.Concat([]event.Data{&event.RunStarted{Spec: spec(), Origin: &event.Origin{Format: "chat-completions", Untimed: true}}}, step(1, "2.0", 10, 1),
		[]event.Data{&event.CallJudged{Call: "c", Tool: "read"}, &event.ToolFinished{ID: "5.0", Call: "c", Tool: "read", Status: event.StatusSuccess}})
	g := count("", journal{id: "r", events: events}).Total
	if g.Models[0].Latency.Count != 0 || g.Tools[0].Latency.Count != 0 || g.Tools[0].Calls != 1 {
		t.Errorf("%+v %+v", g.Models, g.Tools)
	}
	r := stats.Begin("r", 0)
	if r.Add(&event.Event{Seq: 1, Data: events[0]}); !r.Imported() {
		t.Error("it is not known that the run was imported")
	}
	// A fork of it is carried out here, and what that takes is known.
	fork := stats.Begin("f", 1)
	fork.Add(&event.Event{Seq: 1, Data: events[0]})
	g = count("", journal{id: "f", shared: int64(len(events)), events: slices.Concat(events, []event.Data{&event.RunResumed{Fork: "r"}}, step(2, "9.0", 10, 1))}).Total
	if fork.Imported() || g.Models[0].Latency.Count != 1 || g.Steps.Total != 1 {
		t.Errorf("fork: imported %t, %+v", fork.Imported(), g.Models)
	}
}

// What a fork has from another run is that run's, whether the store says so or, where it
// does not have that run, only the fork's own journal.
func TestForkOfARunElsewhere(t *testing.T) {
	events := slices.Concat([]event.Data{&event.RunStarted{Spec: spec()}}, step(1, "2.0", 10, 1),
		[]event.Data{&event.CallJudged{Call: "c", Tool: "read"}, &event.ToolFinished{ID: "5.0", Call: "c", Tool: "read", Status: event.StatusSuccess}})
	shared := int64(len(events))
	events = slices.Concat(events, []event.Data{&event.RunResumed{Fork: "gone"}}, step(2, "9.0", 20, 2))
	with, without := count("", journal{id: "f", shared: shared, events: events}), count("", journal{id: "f", events: events})
	a, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(without); err != nil || string(a) != string(b) {
		t.Errorf("with the run here:  %s\nwithout it: %s %v", a, b, err)
	}
	if without.Total.Forks != 1 || without.Total.Steps.Total != 1 || len(without.Total.Tools) != 0 {
		t.Errorf("%+v", without.Total)
	}
}

// A call that is executed again is one call, with its last outcome, and each execution
// took its time.
func TestRetriesOfTools(t *testing.T) {
	g := count("", journal{id: "r", events: []event.Data{&event.RunStarted{Spec: spec()}, &event.CallJudged{Call: "c", Tool: "read"},
		&event.ToolStarted{ID: "1", Call: "c", Tool: "read", Attempt: 1}, &event.ToolFinished{ID: "1", Call: "c", Tool: "read", Status: event.StatusTimeout, ErrorType: "timeout", Latency: 30_000},
		&event.ToolStarted{ID: "2", Call: "c", Tool: "read", Attempt: 2}, &event.ToolFinished{ID: "2", Call: "c", Tool: "read", Status: event.StatusSuccess, Latency: 10},
	}}).Total
	if r := g.Tools[0]; r.Calls != 1 || r.Retries != 1 || r.Latency.Count != 2 || len(r.Errors) != 0 || fmt.Sprint(r.Statuses) != "[{success 1}]" {
		t.Errorf("%+v", r)
	}
}

// A reply that its provider goes on with is one step with the next; what the harness
// asks for itself is none.
func TestSteps(t *testing.T) {
	ask := func(id string, n int64, p event.Purpose, finish event.Finish) []event.Data {
		return []event.Data{&event.ModelCalled{ID: id, Step: n, Purpose: p, Model: "a/b"}, &event.ModelAnswered{ID: id, Finish: finish}, &event.ReplyParsed{ID: id}}
	}
	g := count("", journal{id: "r", events: slices.Concat([]event.Data{&event.RunStarted{Spec: spec()}},
		ask("1", 1, event.PurposeStep, event.FinishPause), ask("2", 1, event.PurposeStep, event.FinishStop), ask("3", 1, event.PurposeReadBack, event.FinishStop),
		ask("4", 2, event.PurposeSummary, event.FinishStop), ask("5", 2, event.PurposeStep, event.FinishStop), ask("6", 3, event.PurposeFinal, event.FinishStop))}).Total
	if g.Steps.Total != 3 {
		t.Errorf("%d steps", g.Steps.Total)
	}
}

// Runs are put together by what they have in common.
func TestGroups(t *testing.T) {
	day := func(s string) int64 {
		at, err := time.Parse(time.DateTime, s)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMilli()
	}
	ok := event.RunFinished{Reason: event.ReasonAnswered, OK: true}
	a, b, c := ended("a", ok), ended("b", ok), ended("c", event.RunFinished{Reason: event.ReasonRefused})
	a.at, b.at, c.at = day("2026-11-29 23:30:00"), day("2026-11-30 00:30:00"), day("2026-11-30 12:00:00")
	b.events[0].(*event.RunStarted).Spec.System = []event.Block{{Name: "rules", Text: "Never refund."}}
	c.events[0].(*event.RunStarted).Spec.Agent = ""
	for i := range c.events {
		if m, ok := c.events[i].(*event.ModelCalled); ok {
			m.Model = "x/y"
		}
	}
	c.events[0].(*event.RunStarted).Spec.Model = "x/y"
	dead := journal{id: "d", status: "interrupted"}
	names := func(by stats.By) string {
		var out []string
		for _, g := range count(by, a, b, c, dead).Groups {
			out = append(out, fmt.Sprintf("%s %d", g.Name, g.Runs.All))
		}
		return fmt.Sprint(out)
	}
	plain, ruled := stats.Version(&a.events[0].(*event.RunStarted).Spec), stats.Version(&b.events[0].(*event.RunStarted).Spec)
	versions := []string{"desk@" + plain + " 1", "desk@" + ruled + " 1"}
	slices.Sort(versions)
	for by, want := range map[stats.By]string{
		stats.ByDay:     "[(not begun) 1 2026-11-29 1 2026-11-30 2]",
		stats.ByAgent:   "[desk 2 (not begun) 1 (unnamed) 1]",
		stats.ByModel:   "[a/b 2 (not begun) 1 x/y 1]",
		stats.ByVersion: "[(not begun) 1 (unnamed)@" + plain + " 1 " + versions[0] + " " + versions[1] + "]",
	} {
		if got := names(by); got != want {
			t.Errorf("by %s: %s, want %s", by, got, want)
		}
	}
	// The day ends where the person is.
	table := stats.NewTable(stats.ByDay, time.FixedZone("UTC+1", 3600))
	r := stats.Begin("a", 0)
	r.Add(&event.Event{Seq: 1, Time: a.at, Data: a.events[0]})
	table.Add(r, "running", nil)
	if got := table.Report(); got.Groups[0].Name != "2026-11-30" || got.Zone != "UTC+1" {
		t.Errorf("%s in %s", got.Groups[0].Name, got.Zone)
	}
}

// Whatever names models, servers and configurations come up with, what is told apart
// is bounded, and nothing is lost.
func TestNamesAreBounded(t *testing.T) {
	events := []event.Data{&event.RunStarted{Spec: event.Spec{Model: "a/b"}}} // an imported run has no list of tools
	for i := range 3000 {
		id := fmt.Sprint(i)
		events = append(events, &event.CallJudged{Call: id, Tool: "tool" + id}, &event.ToolFinished{Call: id, Tool: "tool" + id, Status: event.StatusError, ErrorType: "e" + id})
	}
	g := count("", journal{id: "r", events: events}).Total
	var calls, errors int64
	for _, x := range g.Tools {
		calls += x.Calls
		for _, e := range x.Errors {
			errors += e.Calls
		}
	}
	if len(g.Tools) > 501 || calls != 3000 || errors != 3000 {
		t.Errorf("%d tools, %d calls, %d errors", len(g.Tools), calls, errors)
	}
}
