package journaltest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// A run's id is its own, and printable.
func (s *suite) create(t *testing.T) {
	st, l := s.start(t)
	if err := st.Create(t.Context(), l, "r1"); !errors.Is(err, journal.ErrExists) {
		t.Errorf("creating a run twice: %v, want ErrExists", err)
	}
	for _, bad := range []string{"", " ", "a b", "a\nb", "\x00", "\xff", strings.Repeat("x", 201)} {
		if err := st.Create(t.Context(), l, bad); err == nil || errors.Is(err, journal.ErrExists) {
			t.Errorf("creating run %q: %v, want an error about the id", bad, err)
		}
	}
	for _, good := range []string{"äöü", "a/b", "20240101-120000-x9", strings.Repeat("x", 200)} {
		must(t, st.Create(t.Context(), l, good))
		says(t, st, good)
	}
	must(t, st.Leave(t.Context(), l))
	if err := st.Create(t.Context(), l, "r2"); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("creating a run with a lease that was given up: %v, want ErrFenced", err)
	}
}

// Whatever asks for a run that is not there hears what it may have meant.
func (s *suite) notFound(t *testing.T) {
	st, l := s.start(t)
	for _, id := range []string{"brave-otter-1", "brave-otter-2", "calm-heron-1"} {
		must(t, st.Create(t.Context(), l, id))
	}
	const wrong = "brave-oter-1"
	ctx := t.Context()
	calls := map[string]func() error{
		"Claim":  func() error { _, err := st.Claim(ctx, l, wrong); return err },
		"Park":   func() error { return st.Park(ctx, l, wrong) },
		"Append": func() error { _, err := st.Append(ctx, l, journal.Batch{Run: wrong, Entries: notes("x")}); return err },
		"Post":   func() error { _, err := st.Post(ctx, wrong, input("x")); return err },
		"Head":   func() error { _, err := st.Head(ctx, wrong); return err },
		"Read":   func() error { _, err := readAll(t, st, wrong, 1); return err },
		"Fork":   func() error { return st.Fork(ctx, l, wrong, 1, "f") },
		"Family": func() error { _, err := st.Family(ctx, wrong); return err },
	}
	for name, call := range calls {
		err := call()
		var missing *journal.NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v, want a NotFoundError", name, err)
			continue
		}
		if missing.Run != wrong || !slices.Equal(missing.Near, []string{"brave-otter-1", "brave-otter-2"}) {
			t.Errorf("%s: the error says %+v", name, missing)
		}
	}
	var missing *journal.NotFoundError
	if _, err := st.Head(ctx, "something else"); !errors.As(err, &missing) || len(missing.Near) != 0 {
		t.Errorf("an id like none: %v, want a NotFoundError without ids", err)
	}
}

// The beginning of an id is enough where it names one run.
func (s *suite) resolve(t *testing.T) {
	st, l := s.start(t)
	for _, id := range []string{"ab", "abc1", "abc2", "abd", "x%y", "xzy", "ä1"} {
		must(t, st.Create(t.Context(), l, id))
	}
	for prefix, want := range map[string]string{"ab": "ab", "abd": "abd", "abc1": "abc1", "x%": "x%y", "ä": "ä1"} {
		if got, err := journal.Resolve(t.Context(), st, prefix); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", prefix, got, err, want)
		}
	}
	var several *journal.AmbiguousError
	if _, err := journal.Resolve(t.Context(), st, "abc"); !errors.As(err, &several) || !slices.Equal(several.Runs, []string{"abc2", "abc1"}) || several.More {
		t.Errorf("abc: %v, want both runs", err)
	}
	for _, id := range []string{"m1", "m2", "m3", "m4", "m5", "m6"} {
		must(t, st.Create(t.Context(), l, id))
	}
	if _, err := journal.Resolve(t.Context(), st, "m"); !errors.As(err, &several) || len(several.Runs) != 5 || !several.More {
		t.Errorf("m: %v, want five runs and more", err)
	}
	// A run is found by its beginning however many runs carry out its calls.
	must(t, st.Create(t.Context(), l, "q1"))
	for n := range int64(40) {
		must(t, st.Create(t.Context(), l, event.BelowID("q1", n+1)))
	}
	for prefix, want := range map[string]string{"q": "q1", "q1": "q1", "q1.4": "q1.4", "q1.40": "q1.40"} {
		if got, err := journal.Resolve(t.Context(), st, prefix); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", prefix, got, err, want)
		}
	}
	must(t, st.Create(t.Context(), l, "q2"))
	if _, err := journal.Resolve(t.Context(), st, "q"); !errors.As(err, &several) {
		t.Errorf("q: %v, want both runs", err)
	}
	var missing *journal.NotFoundError
	for _, none := range []string{"", "abe", "%", "_"} {
		if _, err := journal.Resolve(t.Context(), st, none); !errors.As(err, &missing) {
			t.Errorf("%q: %v, want a NotFoundError", none, err)
		}
	}
}

// A list of runs says how each stands.
func (s *suite) summaries(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	make := func(run string, entries ...journal.Entry) {
		t.Helper()
		must(t, st.Create(ctx, l, run))
		appendTo(t, st, l, run, 0, append([]journal.Entry{Started("desk")}, entries...)...)
	}
	at := func(ms int64, d event.Data) journal.Entry { return journal.Entry{Time: ms, Data: d} }
	paused := at(1700000005000, &event.RunPaused{Cause: event.CauseWaitingApproval})
	finished := at(1700000009000, &event.RunFinished{Reason: event.ReasonSubmitted, OK: true})

	make("working", note("on it"))
	make("left", note("on it"))
	must(t, st.Park(ctx, l, "left"))
	make("paused", paused)
	make("answered", paused)
	must(t, st.Park(ctx, l, "answered"))
	_, err := st.Post(ctx, "answered", input("yes"))
	must(t, err)
	make("resumed", paused, at(1700000006000, &event.RunResumed{Generation: 2}))
	make("done", finished)
	make("child", finished, input("too late"))
	must(t, st.Create(ctx, l, "sub"))
	appendTo(t, st, l, "sub", 0, at(7, &event.RunStarted{Root: "r1", Parent: "done", Spec: event.Spec{Agent: "helper"}}))

	const started = 1700000000000
	want := []journal.Summary{
		{Run: "sub", Agent: "helper", Parent: "done", Events: 1, Started: 7, Last: 7, Status: "running"},
		{Run: "child", Agent: "desk", Events: 3, Started: started, Last: 1700000000002, Status: "finished", Reason: "submitted"},
		{Run: "done", Agent: "desk", Events: 2, Started: started, Last: 1700000009000, Status: "finished", Reason: "submitted"},
		{Run: "resumed", Agent: "desk", Events: 3, Started: started, Last: 1700000006000, Status: "running", Reason: "waiting_approval"},
		{Run: "answered", Agent: "desk", Events: 3, Started: started, Last: 1700000000002, Status: "paused", Reason: "waiting_approval"},
		{Run: "paused", Agent: "desk", Events: 2, Started: started, Last: 1700000005000, Status: "paused", Reason: "waiting_approval"},
		{Run: "left", Agent: "desk", Events: 2, Started: started, Last: started, Status: "interrupted"},
		{Run: "working", Agent: "desk", Events: 2, Started: started, Last: started, Status: "running"},
		{Run: "r1", Status: "running"},
	}
	check := func(st journal.Store) {
		t.Helper()
		var got []journal.Summary
		for sum, err := range st.Runs(ctx) {
			must(t, err)
			got = append(got, sum)
		}
		if len(got) != len(want) {
			t.Fatalf("%d runs, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("run %d:\n got %+v\nwant %+v", i, got[i], want[i])
			}
		}
	}
	check(st)
	check(s.outside(t, st))
	for sum, err := range st.Runs(ctx) { // stopping early is fine
		must(t, err)
		if sum.Run != "sub" {
			t.Errorf("the first run is %s", sum.Run)
		}
		break
	}
	must(t, st.Leave(ctx, l))
	for i := range want {
		if want[i].Status == "running" {
			want[i].Status = "interrupted"
		}
	}
	check(st)
}
