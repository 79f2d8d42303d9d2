package journaltest

import (
	"errors"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// patience is how long a test waits for what must come; it only matters when
// something is broken.
const patience = 20 * time.Second

// Anybody may post to a run, whoever owns it.
func (s *suite) post(t *testing.T) {
	st, l := s.start(t)
	out := s.outside(t, st)
	appendTo(t, st, l, "r1", 0, note("a"))
	if h, err := out.Post(t.Context(), "r1", input("stop")); err != nil || h.Seq != 2 {
		t.Fatalf("posting: %+v, %v; want event 2", h, err)
	}
	must(t, st.Park(t.Context(), l, "r1"))
	approval := journal.Entry{Time: 5, Command: "approve:c1", Data: &event.ApprovalGiven{Call: "c1", Decision: event.Approved}}
	for range 2 { // the second is the same answer again
		if h, err := out.Post(t.Context(), "r1", approval); err != nil || h.Seq != 3 {
			t.Fatalf("posting: %+v, %v; want event 3", h, err)
		}
	}
	says(t, st, "r1", note("a"), input("stop"), approval)
	says(t, out, "r1", note("a"), input("stop"), approval)
}

// The owner's next batch fails once somebody has posted; outcomes find their
// place all the same.
func (s *suite) postConflict(t *testing.T) {
	st, l := s.start(t)
	out := s.outside(t, st)
	appendTo(t, st, l, "r1", 0, note("a"))
	_, err := out.Post(t.Context(), "r1", input("wait"))
	must(t, err)
	for _, async := range []bool{false, true} {
		_, err = st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 1, Entries: notes("b"), Async: async})
		var conflict *journal.ConflictError
		if !errors.As(err, &conflict) || conflict.Head.Seq != 2 {
			t.Fatalf("the owner's append: %v, want a ConflictError at event 2", err)
		}
	}
	if got := read(t, st, "r1", 2); len(got) != 1 || got[0].Data.Type() != event.TypeInputReceived {
		t.Fatalf("the new events are %v", got)
	}
	appendTo(t, st, l, "r1", 2, note("b"))
	_, err = out.Post(t.Context(), "r1", input("go on"))
	must(t, err)
	appendTo(t, st, l, "r1", journal.Anywhere, outcome("9", "c"))
	says(t, out, "r1", note("a"), input("wait"), note("b"), input("go on"), outcome("9", "c"))
}

// The owner hears of posts to its runs, and only to its.
func (s *suite) watch(t *testing.T) {
	st, l := s.start(t)
	out := s.outside(t, st)
	ctx := t.Context()
	other := join(t, out, "other")
	must(t, out.Create(ctx, other, "foreign"))
	must(t, st.Create(ctx, l, "r2"))
	watch, foreign := st.Watch(l), out.Watch(other)
	if st.Watch(l) != watch {
		t.Error("a second Watch is another channel")
	}
	for _, run := range []string{"r1", "foreign", "r2", "r1"} {
		poster := out
		if run == "foreign" {
			poster = st
		}
		_, err := poster.Post(ctx, run, input("hello"))
		must(t, err)
	}
	hear(t, watch, "r1", "r2")
	hear(t, foreign, "foreign")
	must(t, st.Create(ctx, l, "r3"))
	_, err := st.Post(ctx, "r3", input("from this very process"))
	must(t, err)
	hear(t, watch, "r3")

	// Posts to a run that nobody owns wake nobody; its next owner reads them.
	must(t, st.Park(ctx, l, "r2"))
	_, err = out.Post(ctx, "r2", input("anybody there?"))
	must(t, err)
	h, err := st.Claim(ctx, l, "r2")
	must(t, err)
	if h.Seq != 2 {
		t.Errorf("claimed at event %d, want 2", h.Seq)
	}
	_, err = out.Post(ctx, "r2", input("ah"))
	must(t, err)
	hear(t, watch, "r2")
	must(t, st.Leave(ctx, l))
}

// hear waits until each of the runs was told, whatever else is.
func hear(t *testing.T, watch <-chan string, runs ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, r := range runs {
		missing[r] = true
	}
	timeout := time.After(patience)
	for len(missing) > 0 {
		select {
		case run := <-watch:
			delete(missing, run)
			if run == "foreign" != (runs[0] == "foreign") {
				t.Errorf("heard of %s, which another process owns", run)
			}
		case <-timeout:
			t.Fatalf("heard nothing of %v", missing)
		}
	}
}

// Nothing but inputs and approvals comes from outside.
func (s *suite) postRefused(t *testing.T) {
	st, _ := s.start(t)
	for _, d := range []event.Data{nil, &event.RunFinished{Reason: event.ReasonAnswered}, &event.ToolFinished{Call: "c"}} {
		if _, err := st.Post(t.Context(), "r1", journal.Entry{Data: d}); err == nil {
			t.Errorf("%T was posted", d)
		}
	}
	says(t, st, "r1")
}
