package trace

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A run's cost adds up over models, each at the price that was known when the run
// began, and is null from the first call on of which something is unknown.
func TestCumulativeCost(t *testing.T) {
	usage := func(in, cached, out int64) message.Usage {
		return message.Usage{Input: message.Known(in), Cached: message.Known(cached), Output: message.Known(out)}
	}
	spec := event.Spec{Model: "a/dear", Fallback: []string{"b/cheap", "c/unknown"}, Prices: []event.ModelPrice{
		{Model: "a/dear", Price: message.Price{Input: 2_000_000, Cached: 200_000, CacheWrite: 2_000_000, Output: 10_000_000}},
		{Model: "b/cheap", Price: message.Price{Input: 100_000, Cached: 100_000, CacheWrite: 100_000, Output: 400_000}},
	}}
	var f Fold
	var seq int64
	add := func(d event.Data) { seq++; f.Add(&event.Event{Run: "r", Seq: seq, Data: d}) }
	add(&event.RunStarted{Spec: spec})
	for _, c := range []struct {
		what    string
		model   string
		outcome event.Data
		want    string
	}{
		{"a call", "a/dear", &event.ModelAnswered{Usage: usage(1_000, 500, 100)}, "0.002100"},
		{"a refused connection", "a/dear", &event.ModelFailed{Class: event.ClassNetwork}, "0.002100"},
		{"a cut stream that says what it used", "a/dear", &event.ModelFailed{Class: event.ClassIncomplete, Usage: usage(1_000, 0, 0)}, "0.004100"},
		{"the next model", "b/cheap", &event.ModelAnswered{Usage: usage(10_000, 0, 1_000), Model: "cheap-2026-01-01"}, "0.005500"},
		{"no usage", "b/cheap", &event.ModelAnswered{}, "null"},
		{"and on", "b/cheap", &event.ModelAnswered{Usage: usage(1, 0, 1)}, "null"},
	} {
		id := c.what
		add(&event.ModelCalled{ID: id, Step: 1, Model: c.model})
		switch d := c.outcome.(type) {
		case *event.ModelAnswered:
			d.ID = id
		case *event.ModelFailed:
			d.ID = id
		}
		add(c.outcome)
		if got := text(t, last(&f)); got != c.want {
			t.Errorf("%s: cost %s, want %s", c.what, got, c.want)
		}
	}

	f = Fold{}
	add(&event.RunStarted{Spec: spec})
	add(&event.RunResumed{Fork: "r", Models: &event.ModelChange{Model: "d/new", Prices: []event.ModelPrice{{Model: "d/new", Price: message.Price{Output: 1_000_000}}}}})
	for _, model := range []string{"a/dear", "d/new"} { // the first was under way when the run was forked
		add(&event.ModelCalled{ID: model, Step: 1, Model: model})
		add(&event.ModelAnswered{ID: model, Usage: usage(0, 0, 100)})
	}
	if got := text(t, last(&f)); got != "0.001100" {
		t.Errorf("with another model: cost %s", got)
	}

	f = Fold{}
	add(&event.RunStarted{Spec: event.Spec{Model: "c/unknown"}})
	add(&event.ModelCalled{ID: "1", Model: "c/unknown"})
	if c := last(&f); c != nil {
		t.Errorf("a call without outcome has cost %d", *c)
	}
	add(&event.ModelAnswered{ID: "1", Usage: usage(1, 0, 1)})
	if c := last(&f); c != nil {
		t.Errorf("a model without a price costs %d", *c)
	}
}

// A tool's row has what the run had cost by then.
func TestCostBesideTools(t *testing.T) {
	var f Fold
	spec := event.Spec{Model: "a/b", Prices: []event.ModelPrice{{Model: "a/b", Price: message.Price{Input: 1_000_000}}}}
	for i, d := range []event.Data{
		&event.RunStarted{Spec: spec},
		&event.ModelCalled{ID: "1", Step: 1, Model: "a/b"},
		&event.ModelAnswered{ID: "1", Usage: message.Usage{Input: message.Known(7), Output: message.Known(0)}},
		&event.CallJudged{Call: "c", Tool: "t", Verdict: event.Allow},
		&event.ToolFinished{Call: "c", Tool: "t", Status: event.StatusSuccess},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i + 1), Data: d})
	}
	if got := text(t, last(&f)); got != "0.000007" {
		t.Errorf("cost %s", got)
	}
}

func last(f *Fold) *USD { return f.Rows()[len(f.Rows())-1].CumulativeCost }

func text(t *testing.T, u *USD) string {
	t.Helper()
	if u == nil {
		return "null"
	}
	b, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Amounts are read back as they were written, exactly.
func TestUSD(t *testing.T) {
	for _, u := range []USD{0, 1, -1, 999_999, 1_000_000, -1_234_567, 1<<63 - 1} {
		b, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got USD
		if err := got.UnmarshalJSON(b); err != nil || got != u {
			t.Errorf("%d is written as %s and read as %d, %v", u, b, got, err)
		}
	}
	for _, bad := range []string{"", "x", "1e3", "0.0000001", "--1", "99999999999999999999", `"1"`, "1.-5"} {
		var got USD
		if err := got.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q is read as %d", bad, got)
		}
	}
}

// A call of an agent has the run that carries it out, and what that has cost is this
// run's cost.
func TestAgentRow(t *testing.T) {
	var f Fold
	spec := event.Spec{Model: "a/b", Prices: []event.ModelPrice{{Model: "a/b", Price: message.Price{Input: 1_000_000}}}}
	for i, d := range []event.Data{
		&event.RunStarted{Spec: spec},
		&event.ModelCalled{ID: "1", Step: 1, Model: "a/b"},
		&event.ModelAnswered{ID: "1", Usage: message.Usage{Input: message.Known(7), Output: message.Known(0)}},
		&event.CallJudged{Call: "c", Tool: "research", Verdict: event.Allow},
		&event.ToolStarted{ID: "2", Call: "c", Tool: "research", Attempt: 1, Run: "r.1"},
		&event.ToolFinished{ID: "2", Call: "c", Tool: "research", Status: event.StatusSuccess, Spent: &event.Spent{Cost: message.Known(30)}},
	} {
		f.Add(&event.Event{Run: "r", Seq: int64(i + 1), Data: d})
	}
	if got := text(t, last(&f)); got != "0.000037" {
		t.Errorf("cost %s", got)
	}
	if r := f.Rows()[1]; r.ChildRun == nil || *r.ChildRun != "r.1" {
		t.Errorf("carried out by %v", r.ChildRun)
	}
}
