package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// Reading begins anywhere, and hangs together from there.
func (s *suite) from(t *testing.T) {
	st, l := s.start(t)
	const n = 700 // more than stores read at once
	var entries []journal.Entry
	for i := range n {
		entries = append(entries, note(fmt.Sprint(i+1)))
	}
	appendTo(t, st, l, "r1", 0, entries...)
	for _, from := range []int64{-5, 0, 1, 2, 3, 255, 256, 257, 258, 512, 513, n - 1, n, n + 1, n + 100} {
		got := read(t, st, "r1", from)
		if want := max(0, n+1-max(from, 1)); int64(len(got)) != want {
			t.Fatalf("from %d: %d events, want %d", from, len(got), want)
		}
		for i, e := range got {
			if seq := max(from, 1) + int64(i); e.Seq != seq || e.Data.(*event.NoticeAdded).Text != fmt.Sprint(seq) {
				t.Fatalf("from %d: event %d is %d, %v", from, i, e.Seq, e.Data)
			}
		}
	}
	seen := 0
	for e, err := range st.Read(t.Context(), "r1", 5) {
		must(t, err)
		if seen++; e.Seq == 300 {
			break
		}
	}
	if seen != 296 {
		t.Errorf("stopped after %d events, want 296", seen)
	}
}

// A reader sees what was there when it began, and keeps nobody from writing.
func (s *suite) snapshot(t *testing.T) {
	st, l := s.start(t)
	for i := range int64(300) {
		appendTo(t, st, l, "r1", i, note("before"))
	}
	n := int64(0)
	for e, err := range st.Read(t.Context(), "r1", 1) {
		must(t, err)
		n++
		appendTo(t, st, l, "r1", 300+e.Seq-1, note("meanwhile"))
	}
	if n != 300 {
		t.Errorf("read %d events, want 300", n)
	}
	if got := read(t, st, "r1", 1); len(got) != 600 {
		t.Errorf("read %d events later, want 600", len(got))
	}
}

// damaged returns a store with a run of 10 events of which one is spoilt.
func (s *suite) damaged(t *testing.T, seq int64, how Damage) (journal.Store, *journal.Lease) {
	t.Helper()
	need(t, s.opts.Damage != nil, "damage an event")
	st, l := s.start(t)
	for i := range int64(10) {
		appendTo(t, st, l, "r1", i, note(strings.Repeat("all is well ", int(i)*20)))
	}
	read(t, st, "r1", 1)
	s.opts.Damage(t, st, "r1", seq, how)
	return st, l
}

// damage reads a run that is damaged, and returns how many events came before.
func damage(t *testing.T, st journal.Store, run string, from int64) (int, *journal.DamageError) {
	t.Helper()
	got, err := readAll(t, st, run, from)
	var d *journal.DamageError
	if !errors.As(err, &d) {
		t.Fatalf("reading a damaged journal: %v, want a DamageError", err)
	}
	if d.Run != run {
		t.Errorf("the error is about run %s", d.Run)
	}
	return len(got), d
}

// A change anywhere shows, and everything before it can be read.
func (s *suite) changed(t *testing.T) {
	for _, how := range []Damage{Changed, Halved, Removed} {
		for _, seq := range []int64{1, 4, 9, 10} {
			if seq == 10 {
				continue // a torn end, see below
			}
			t.Run(fmt.Sprint(how, seq), func(t *testing.T) {
				st, _ := s.damaged(t, seq, how)
				if n, d := damage(t, st, "r1", 1); d.Sound != seq-1 || d.Torn || n != int(seq)-1 {
					t.Errorf("%d events, then sound up to %d, torn %v: %v", n, d.Sound, d.Torn, d)
				}
				if n, d := damage(t, st, "r1", seq); d.Sound != seq-1 || n != 0 {
					t.Errorf("from the damaged event on: %d events, then %v", n, d)
				}
			})
		}
	}
}

// An end that is missing or spoilt is torn, as by a crash.
func (s *suite) torn(t *testing.T) {
	for _, how := range []Damage{Changed, Halved, Removed} {
		t.Run(string(how), func(t *testing.T) {
			st, _ := s.damaged(t, 10, how)
			if n, d := damage(t, st, "r1", 1); d.Sound != 9 || !d.Torn || n != 9 {
				t.Errorf("%d events, then sound up to %d, torn %v: %v", n, d.Sound, d.Torn, d)
			}
		})
	}
}

// A torn end can be cut; then the journal goes on from there.
func (s *suite) cut(t *testing.T) {
	need(t, s.opts.Damage != nil, "damage an event")
	st, l := s.start(t)
	repairer, ok := st.(journal.Repairer)
	need(t, ok, "cut a journal")
	paused := journal.Entry{Time: 2, Data: &event.RunPaused{Cause: event.CauseTurnDone}}
	finished := journal.Entry{Time: 4, Data: &event.RunFinished{Reason: event.ReasonAnswered}}
	appendTo(t, st, l, "r1", 0, Started("desk"), paused, outcome("3", "c"), finished)
	s.opts.Damage(t, st, "r1", 4, Removed)
	s.opts.Damage(t, st, "r1", 3, Halved)
	_, d := damage(t, st, "r1", 1)
	if !d.Torn || d.Sound != 2 {
		t.Fatalf("sound up to %d, torn %v: %v", d.Sound, d.Torn, d)
	}
	var other *journal.DamageError
	if _, err := repairer.Cut(t.Context(), "r1", 1); !errors.As(err, &other) {
		t.Errorf("cutting a sound event: %v, want the DamageError", err)
	}
	if h, err := repairer.Cut(t.Context(), "r1", 2); err != nil || h.Seq != 2 {
		t.Fatalf("cut to %+v, %v; want event 2", h, err)
	}
	says(t, st, "r1", Started("desk"), paused)
	for sum, err := range st.Runs(t.Context()) {
		must(t, err)
		if sum.Status != "paused" || sum.Events != 2 || sum.Last != 2 || sum.Agent != "desk" {
			t.Errorf("the summary says %+v", sum)
		}
	}
	// The outcome that was cut is not known any more.
	appendTo(t, st, l, "r1", 2, outcome("3", "c"))
	says(t, st, "r1", Started("desk"), paused, outcome("3", "c"))
}

// Cutting is for torn ends: it never removes what is sound, or hides a change
// that sound events follow.
func (s *suite) cutRefused(t *testing.T) {
	st, l := s.start(t)
	repairer, ok := st.(journal.Repairer)
	need(t, ok, "cut a journal")
	appendTo(t, st, l, "r1", 0, notes("a", "b")...)
	for _, after := range []int64{0, 1, 2, 3} {
		if _, err := repairer.Cut(t.Context(), "r1", after); err == nil {
			t.Errorf("a sound journal was cut after event %d", after)
		}
	}
	says(t, st, "r1", notes("a", "b")...)
	var missing *journal.NotFoundError
	if _, err := repairer.Cut(t.Context(), "r9", 0); !errors.As(err, &missing) {
		t.Errorf("cutting a run that is not there: %v", err)
	}

	st, _ = s.damaged(t, 5, Changed)
	var d *journal.DamageError
	if _, err := st.(journal.Repairer).Cut(t.Context(), "r1", 4); !errors.As(err, &d) {
		t.Errorf("cutting a changed journal: %v, want the DamageError", err)
	}
	if s.opts.Outside == nil {
		return
	}
	st, _ = s.damaged(t, 10, Removed)
	out := s.outside(t, st)
	var held *journal.HeldError
	if _, err := out.(journal.Repairer).Cut(t.Context(), "r1", 9); !errors.As(err, &held) {
		t.Errorf("cutting a run of a live process: %v, want a HeldError", err)
	}
}
