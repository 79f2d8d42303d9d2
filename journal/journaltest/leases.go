package journaltest

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/journal"
)

// Who has lost a run cannot append to it any more; every claim is a generation.
func (s *suite) fence(t *testing.T) {
	st, old := s.start(t)
	ctx := t.Context()
	h, err := st.Head(ctx, "r1")
	must(t, err)
	if h.Generation != 1 {
		t.Errorf("a new run has generation %d, want 1", h.Generation)
	}
	appendTo(t, st, old, "r1", 0, note("mine"))
	must(t, st.Park(ctx, old, "r1"))
	fresh := join(t, st, "fresh")
	if h, err = st.Claim(ctx, fresh, "r1"); err != nil || h.Generation != 2 || h.Seq != 1 {
		t.Fatalf("claimed at %+v, %v; want event 1 and generation 2", h, err)
	}
	for _, b := range []journal.Batch{
		{Run: "r1", After: 1, Entries: notes("late")},
		{Run: "r1", After: journal.Anywhere, Entries: []journal.Entry{outcome("1", "late")}},
		{Run: "r1", After: 1, Entries: notes("late"), Async: true},
		{Run: "r1", After: 1},
	} {
		if _, err := st.Append(ctx, old, b); !errors.Is(err, journal.ErrFenced) {
			t.Errorf("the old owner's append: %v, want ErrFenced", err)
		}
	}
	if err := st.Park(ctx, old, "r1"); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("the old owner's park: %v, want ErrFenced", err)
	}
	if h := appendTo(t, st, fresh, "r1", 1, note("its")); h.Generation != 2 {
		t.Errorf("appended in generation %d, want 2", h.Generation)
	}
	if h, err = st.Claim(ctx, fresh, "r1"); err != nil || h.Generation != 3 {
		t.Errorf("claiming one's own run: %+v, %v; want generation 3", h, err)
	}
	says(t, st, "r1", notes("mine", "its")...)
}

// A run of a live process cannot be claimed.
func (s *suite) held(t *testing.T) {
	st, l := s.start(t)
	out := s.outside(t, st)
	other := join(t, out, "other")
	_, err := out.Claim(t.Context(), other, "r1")
	var held *journal.HeldError
	if !errors.As(err, &held) || held.Run != "r1" || held.Owner != l.Owner {
		t.Fatalf("claiming a held run: %v, want a HeldError with its owner", err)
	}
	appendTo(t, st, l, "r1", 0, note("still mine"))
	must(t, st.Park(t.Context(), l, "r1"))
	if _, err := out.Claim(t.Context(), other, "r1"); err != nil {
		t.Fatalf("claiming a parked run: %v", err)
	}
	if _, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 1, Entries: notes("x")}); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("appending to a run that was parked: %v, want ErrFenced", err)
	}
}

// A lease whose holder is dead on this host is void at once; one of another
// host, or of a process that cannot be judged, is not.
func (s *suite) dead(t *testing.T) {
	here := journal.ThisProcess("holder")
	if here.Host == "" {
		t.Skip("this system does not tell which processes live")
	}
	reused, elsewhere, unknown := here, here, here
	reused.Start = "1" // no process of this PID started then
	elsewhere.Start, elsewhere.Host = "1", "another boot"
	unknown.Start, unknown.Host = "", ""
	for name, c := range map[string]struct {
		owner journal.Owner
		void  bool
	}{
		"alive": {here, false}, "PID reused": {reused, true}, "another host": {elsewhere, false}, "unknown": {unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := s.open(t)
			ctx := t.Context()
			l, err := st.Join(ctx, c.owner)
			must(t, err)
			must(t, st.Create(ctx, l, "r1"))
			for sum, err := range st.Runs(ctx) {
				must(t, err)
				if alive := sum.Status == "running"; alive == c.void {
					t.Errorf("the run is %s", sum.Status)
				}
			}
			out := s.outside(t, st)
			_, err = out.Claim(ctx, join(t, out, "next"), "r1")
			var held *journal.HeldError
			if c.void && err != nil || !c.void && !errors.As(err, &held) {
				t.Fatalf("claiming: %v", err)
			}
			if !c.void {
				return
			}
			if _, err := st.Append(ctx, l, journal.Batch{Run: "r1", Entries: notes("a ghost")}); !errors.Is(err, journal.ErrFenced) {
				t.Errorf("the dead holder's append: %v, want ErrFenced", err)
			}
		})
	}
}

// Leave gives up every run at once.
func (s *suite) leave(t *testing.T) {
	st, l := s.start(t)
	ctx := t.Context()
	must(t, st.Create(ctx, l, "r2"))
	must(t, st.Leave(ctx, l))
	must(t, st.Leave(ctx, l)) // again does nothing
	out := s.outside(t, st)
	next := join(t, out, "next")
	if next.ID == l.ID {
		t.Errorf("lease %d was given out twice", l.ID)
	}
	for _, run := range []string{"r1", "r2"} {
		if _, err := out.Claim(ctx, next, run); err != nil {
			t.Errorf("claiming %s after its owner left: %v", run, err)
		}
		if _, err := st.Append(ctx, l, journal.Batch{Run: run, Entries: notes("x")}); !errors.Is(err, journal.ErrFenced) {
			t.Errorf("appending after leaving: %v, want ErrFenced", err)
		}
	}
	if _, err := st.Claim(ctx, l, "r1"); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("claiming after leaving: %v, want ErrFenced", err)
	}
}

// The store renews its leases by itself.
func (s *suite) renewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _ := s.start(t)
		out := s.outside(t, st)
		other := join(t, out, "other")
		for range 4 {
			time.Sleep(40 * time.Second)
			var held *journal.HeldError
			if _, err := out.Claim(t.Context(), other, "r1"); !errors.As(err, &held) {
				t.Fatalf("claiming a held run after a while: %v, want a HeldError", err)
			}
		}
	})
}

// A lease that is not renewed ends after 45 seconds, and not before; its holder,
// should it come back, is fenced.
func (s *suite) expired(t *testing.T) {
	need(t, s.opts.Abandon != nil, "stop the renewal of a lease")
	synctest.Test(t, func(t *testing.T) {
		st, l := s.start(t)
		out := s.outside(t, st)
		other := join(t, out, "other")
		s.opts.Abandon(t, st, l)
		time.Sleep(30 * time.Second)
		var held *journal.HeldError
		if _, err := out.Claim(t.Context(), other, "r1"); !errors.As(err, &held) {
			t.Fatalf("after 30 s: %v, want a HeldError", err)
		}
		// Nobody has claimed the run: its owner may go on.
		time.Sleep(20 * time.Second)
		appendTo(t, st, l, "r1", 0, note("back again"))
		if h, err := out.Claim(t.Context(), other, "r1"); err != nil || h.Generation != 2 {
			t.Fatalf("after 50 s: %+v, %v; want generation 2", h, err)
		}
		if _, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 1, Entries: notes("too late")}); !errors.Is(err, journal.ErrFenced) {
			t.Errorf("the old owner's append: %v, want ErrFenced", err)
		}
	})
}
