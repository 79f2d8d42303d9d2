package journaltest

import (
	"errors"
	"maps"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// A fork begins like the run it comes from, and goes its own way.
func (s *suite) forkShares(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	paused := journal.Entry{Time: 9, Data: &event.RunPaused{Cause: event.CauseTurnDone}}
	appendTo(t, st, l, "r1", 0, Started("desk"), note("b"), paused, note("d"))
	must(t, st.Fork(ctx, l, "r1", 3, "f1"))
	must(t, st.Fork(ctx, l, "r1", 4, "f2"))
	if h, err := st.Head(ctx, "f1"); err != nil || h.Seq != 3 || h.Generation != 1 {
		t.Fatalf("the fork ends at %+v, %v", h, err)
	}
	says(t, st, "f1", Started("desk"), note("b"), paused)
	got := map[string]journal.Summary{}
	for sum, err := range st.Runs(ctx) {
		must(t, err)
		got[sum.Run] = sum
	}
	const started = 1700000000000
	for _, want := range []journal.Summary{
		{Run: "f1", Agent: "desk", Parent: "r1", Events: 3, Started: started, Last: 9, Status: "paused", Reason: "turn_done"},
		{Run: "f2", Agent: "desk", Parent: "r1", Events: 4, Started: started, Last: started, Status: "running"},
	} {
		if got[want.Run] != want {
			t.Errorf("summary:\n got %+v\nwant %+v", got[want.Run], want)
		}
	}
	appendTo(t, st, l, "f1", 3, note("x"), note("y"))
	appendTo(t, st, l, "r1", 4, note("e"))
	out := s.outside(t, st)
	for _, st := range []journal.Store{st, out} {
		says(t, st, "f1", Started("desk"), note("b"), paused, note("x"), note("y"))
		says(t, st, "f2", Started("desk"), note("b"), paused, note("d"))
		says(t, st, "r1", Started("desk"), note("b"), paused, note("d"), note("e"))
		for _, from := range []int64{2, 3, 4, 5} {
			if got := read(t, st, "f1", from); int64(len(got)) != 6-from {
				t.Errorf("from %d: %d events", from, len(got))
			}
		}
	}
	// The fork is a run like any other.
	must(t, st.Park(ctx, l, "f1"))
	other := join(t, out, "other")
	h, err := out.Claim(ctx, other, "f1")
	must(t, err)
	if h.Generation != 2 || h.Seq != 5 {
		t.Errorf("claimed at %+v", h)
	}
}

// The outcomes in the shared part are known to the fork; later ones of the
// other run are not.
func (s *suite) forkOutcomes(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, outcome("1", "a"), note("b"), outcome("2", "c"))
	must(t, st.Fork(t.Context(), l, "r1", 2, "f1"))
	appendTo(t, st, l, "f1", journal.Anywhere, note("x"), outcome("1", "a again"), outcome("2", "my own c"))
	appendTo(t, st, l, "f1", journal.Anywhere, outcome("2", "c again"))
	says(t, st, "f1", outcome("1", "a"), note("b"), note("x"), outcome("2", "my own c"))
	says(t, st, "r1", outcome("1", "a"), note("b"), outcome("2", "c"))
}

// Forks of forks share what they come from, down to the first run.
func (s *suite) forkAgain(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	appendTo(t, st, l, "r1", 0, outcome("1", "a"), note("b"), note("c"))
	must(t, st.Fork(ctx, l, "r1", 2, "f1"))
	appendTo(t, st, l, "f1", 2, note("d"), outcome("2", "e"), note("f"))
	must(t, st.Fork(ctx, l, "f1", 4, "f2")) // after f1's own events
	must(t, st.Fork(ctx, l, "f1", 1, "f3")) // inside what f1 shares
	must(t, st.Fork(ctx, l, "f2", 2, "f4")) // the last event that all share
	appendTo(t, st, l, "f2", 4, outcome("1", "again"), outcome("2", "again"), note("g"))
	appendTo(t, st, l, "f3", 1, outcome("1", "again"), outcome("2", "mine"))
	appendTo(t, st, l, "f4", 2, outcome("2", "mine"))
	for _, st := range []journal.Store{st, s.outside(t, st)} {
		says(t, st, "f2", outcome("1", "a"), note("b"), note("d"), outcome("2", "e"), note("g"))
		says(t, st, "f3", outcome("1", "a"), outcome("2", "mine"))
		says(t, st, "f4", outcome("1", "a"), note("b"), outcome("2", "mine"))
		for from := int64(1); from <= 6; from++ {
			if got := read(t, st, "f2", from); int64(len(got)) != max(0, 6-from) {
				t.Errorf("f2 from %d: %d events", from, len(got))
			}
		}
	}
}

// A fork begins at an event that there is, and has an id of its own.
func (s *suite) forkRefused(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	appendTo(t, st, l, "r1", 0, note("a"))
	for _, seq := range []int64{-1, 0, 2, 1 << 40} {
		if err := st.Fork(ctx, l, "r1", seq, "f"); err == nil {
			t.Errorf("forked after event %d", seq)
		}
	}
	if err := st.Fork(ctx, l, "r1", 1, "r1"); !errors.Is(err, journal.ErrExists) {
		t.Errorf("forked into itself: %v, want ErrExists", err)
	}
	if err := st.Fork(ctx, l, "r1", 1, "a b"); err == nil {
		t.Error("forked into a run with a bad id")
	}
	must(t, st.Leave(ctx, l))
	if err := st.Fork(ctx, l, "r1", 1, "f"); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("forked with a lease that was given up: %v, want ErrFenced", err)
	}
}

// Runs that share events know each other, and how many they share, whichever of them
// is asked; what lives is said of each.
func (s *suite) forkFamily(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	appendTo(t, st, l, "r1", 0, note("a"), note("b"), note("c"), note("d"))
	must(t, st.Create(ctx, l, "alone"))
	must(t, st.Fork(ctx, l, "r1", 3, "f1"))
	appendTo(t, st, l, "f1", 3, note("x"), note("y"))
	must(t, st.Fork(ctx, l, "f1", 4, "f2")) // after f1's own first event
	must(t, st.Fork(ctx, l, "f1", 2, "f3")) // inside what f1 shares with r1
	must(t, st.Park(ctx, l, "f1"))
	base := map[string]string{"f1": "r1", "f2": "f1", "f3": "r1"}
	for run, want := range map[string]map[string]int64{
		"alone": {},
		"r1":    {"f1": 3, "f2": 3, "f3": 2},
		"f1":    {"r1": 3, "f2": 4, "f3": 2},
		"f2":    {"r1": 3, "f1": 4, "f3": 2},
		"f3":    {"r1": 2, "f1": 2, "f2": 2},
	} {
		for _, st := range []journal.Store{st, s.outside(t, st)} {
			got, err := st.Family(ctx, run)
			must(t, err)
			shared := map[string]int64{}
			for _, r := range got {
				if r.Base != (base[run] == r.Run) {
					t.Errorf("%s is said to be forked from %s: %v", run, r.Run, r.Base)
				}
				if shared[r.Run] = r.Shared; r.Live != (r.Run != "f1") {
					t.Errorf("%s is said to live: %v", r.Run, r.Live)
				}
			}
			if !maps.Equal(shared, want) {
				t.Errorf("the family of %s is %v, want %v", run, shared, want)
			}
		}
	}
	must(t, st.Leave(ctx, l))
	got, err := st.Family(ctx, "r1")
	must(t, err)
	for _, r := range got {
		if r.Live {
			t.Errorf("%s is said to live, whose owner has left", r.Run)
		}
	}
}
