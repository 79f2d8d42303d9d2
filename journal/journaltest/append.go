package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// Batches come back in the order they were appended, as they were.
func (s *suite) order(t *testing.T) {
	st, l := s.start(t)
	var want []journal.Entry
	after := int64(0)
	for n := range int64(5) {
		first, second := Step(n, strings.Repeat("ünïcode \"quoted\" \\ \n", 60))
		for _, batch := range [][]journal.Entry{first, second} {
			h := appendTo(t, st, l, "r1", after, batch...)
			if after += int64(len(batch)); h.Seq != after {
				t.Fatalf("the batch ends at %d, want %d", h.Seq, after)
			}
			want = append(want, batch...)
		}
	}
	says(t, st, "r1", want...)
}

// A batch that expects another end fails, says where the journal ends, and
// leaves nothing behind.
func (s *suite) position(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, note("a"), note("b"))
	for _, after := range []int64{0, 1, 3, 1 << 40} {
		_, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: after, Entries: notes("x")})
		var conflict *journal.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("after %d: %v, want a ConflictError", after, err)
		}
		if conflict.Run != "r1" || conflict.Want != after || conflict.Head.Seq != 2 {
			t.Errorf("after %d: the error says %+v", after, conflict)
		}
	}
	appendTo(t, st, l, "r1", 2, note("c"))
	appendTo(t, st, l, "r1", journal.Anywhere, note("d"))
	says(t, st, "r1", notes("a", "b", "c", "d")...)
}

// A batch that cannot be written is not written in part; an empty one is
// nothing at all.
func (s *suite) whole(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, note("a"))
	huge := &event.NoticeAdded{Kind: "test", Text: strings.Repeat("x", event.MaxLine)}
	for name, bad := range map[string]event.Data{"no data": nil, "too long": huge} {
		_, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 1, Entries: []journal.Entry{
			note("b"), outcome("9", "c"), {Data: &event.RunFinished{Reason: event.ReasonAnswered}}, {Data: bad},
		}})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	says(t, st, "r1", note("a"))
	for sum, err := range st.Runs(t.Context()) {
		must(t, err)
		if sum.Status != "running" || sum.Events != 1 || sum.Last != 1700000000000 {
			t.Errorf("the summary says %+v", sum)
		}
	}
	if h := appendTo(t, st, l, "r1", 1); h.Seq != 1 {
		t.Errorf("an empty batch ends at %d, want 1", h.Seq)
	}
	// What the failed batch would have added can be added now.
	appendTo(t, st, l, "r1", 1, outcome("9", "c"))
	says(t, st, "r1", note("a"), outcome("9", "c"))
}

// One outcome for each command of a run, wherever it is appended.
func (s *suite) outcomes(t *testing.T) {
	st, l := s.start(t)
	must(t, st.Create(t.Context(), l, "r2"))
	first := outcome("3.0", "a")
	appendTo(t, st, l, "r1", journal.Anywhere, first)
	h := appendTo(t, st, l, "r1", journal.Anywhere, outcome("3.0", "again"))
	if h.Seq != 1 {
		t.Errorf("the repeated outcome moved the end to %d", h.Seq)
	}
	appendTo(t, st, l, "r1", 1, outcome("3.0", "at its position"))
	appendTo(t, st, l, "r1", 1, outcome("3.1", "b"), outcome("3.1", "twice in one batch"))
	appendTo(t, st, l, "r2", 0, outcome("3.0", "another run's"))
	says(t, st, "r1", first, outcome("3.1", "b"))
	says(t, st, "r2", outcome("3.0", "another run's"))
}

// Only the outcomes that are there already are left out of a batch.
func (s *suite) mixed(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, outcome("1.0", "a"))
	h := appendTo(t, st, l, "r1", 1, outcome("1.0", "a again"), note("b"), outcome("1.1", "c"), note("d"))
	if h.Seq != 4 {
		t.Errorf("the batch ends at %d, want 4", h.Seq)
	}
	says(t, st, "r1", outcome("1.0", "a"), note("b"), outcome("1.1", "c"), note("d"))
}

// Async batches have their place at once, are seen by readers of this process,
// and Sync returns when they are durable.
func (s *suite) async(t *testing.T) {
	st, l := s.start(t)
	var want []journal.Entry
	for n := range int64(20) {
		e := note(fmt.Sprint("note ", n))
		h, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: n, Entries: []journal.Entry{e}, Async: n%3 != 0})
		must(t, err)
		if h.Seq != n+1 {
			t.Fatalf("batch %d ends at %d", n, h.Seq)
		}
		want = append(want, e)
		if n%7 == 0 {
			says(t, st, "r1", want...)
		}
	}
	must(t, st.Sync(t.Context(), "r1"))
	says(t, s.outside(t, st), "r1", want...)
	var conflict *journal.ConflictError
	_, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 3, Entries: notes("x"), Async: true})
	if !errors.As(err, &conflict) {
		t.Errorf("an async batch at an old position: %v, want a ConflictError", err)
	}
	must(t, st.Sync(t.Context(), "r1"))
	says(t, st, "r1", want...)
}

// Every type of event can be stored, also one that this version does not know.
func (s *suite) everyType(t *testing.T) {
	st, l := s.start(t)
	var want []journal.Entry
	for i, typ := range event.Types() {
		d, err := event.DecodeData(typ, []byte(`{}`))
		must(t, err)
		want = append(want, journal.Entry{Time: int64(i), Data: d})
	}
	want = append(want, journal.Entry{Time: 99, Data: &event.Unknown{Name: "from.tomorrow", Raw: []byte(`{"z":[1, 2],"a":null}`)}})
	appendTo(t, st, l, "r1", 0, want...)
	says(t, st, "r1", want...)
	all := read(t, st, "r1", 1)
	if last, ok := all[len(all)-1].Data.(*event.Unknown); !ok || !bytes.Equal(last.Raw, []byte(`{"z":[1, 2],"a":null}`)) {
		t.Errorf("the unknown event came back as %#v", all[len(all)-1].Data)
	}
}

// What was appended is there after the store was closed.
func (s *suite) reopen(t *testing.T) {
	need(t, s.opts.Reopen != nil, "open a store again")
	st, l := s.start(t)
	first, second := Step(1, strings.Repeat("line of a result\n", 200))
	appendTo(t, st, l, "r1", 0, first...)
	h, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: 4, Entries: second, Async: true})
	must(t, err)
	st = s.opts.Reopen(t, st)
	says(t, st, "r1", append(first, second...)...)
	l = join(t, st, "later")
	claimed, err := st.Claim(t.Context(), l, "r1")
	must(t, err)
	if claimed.Seq != h.Seq || claimed.Generation != 2 {
		t.Errorf("claimed at %+v, want event %d and generation 2", claimed, h.Seq)
	}
	appendTo(t, st, l, "r1", h.Seq, outcome(second[0].Command, "known already"), note("new"))
	says(t, st, "r1", append(append(first, second...), note("new"))...)
}
