package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// archiver returns the store as an Archiver.
func archiver(t *testing.T, st journal.Store) journal.Archiver {
	t.Helper()
	a, ok := st.(journal.Archiver)
	need(t, ok, "give and take journals as they are stored")
	return a
}

// records returns a run's records.
func records(t *testing.T, a journal.Archiver, run string, from int64) (all []event.Record) {
	t.Helper()
	for r, err := range a.Records(t.Context(), run, from) {
		must(t, err)
		all = append(all, r)
	}
	return all
}

// foreign are the records of a run r9 that a newer version may have written: with a
// member and a type that this one does not know, and with spaces.
func foreign(t *testing.T) []event.Record {
	t.Helper()
	var all []event.Record
	var c event.Chain
	for i, x := range []struct {
		typ     event.Type
		command string
		data    string
	}{
		{event.TypeRunStarted, "", string(Started("desk").Data.AppendJSON(nil)[:1]) + `"of_tomorrow":{"a":[1]},` + string(Started("desk").Data.AppendJSON(nil)[1:])},
		{"sky.painted", "", `{ "colour" : "blue" }`},
		{event.TypeTimerFired, "2.0", `{"id":"2.0"}`},
		{event.TypeNoticeAdded, "", `{"kind":"test","text":"` + strings.Repeat("long ", 40_000) + `"}`},
		{event.TypeRunPaused, "", `{"cause":"waiting_approval","moon":"full"}`},
	} {
		r := event.Record{Run: "r9", Seq: int64(i) + 1, Time: 1700000000000 + int64(i), Type: x.typ, Command: x.command, Prev: c.Hash, Data: []byte(x.data)}
		r.Hash = r.ComputeHash()
		must(t, c.Add(&r))
		all = append(all, r)
	}
	return all
}

// What is imported is what is given back, byte for byte, and nobody carries it on.
func (s *suite) archive(t *testing.T) {
	st, l := s.start(t)
	a, ctx := archiver(t, st), t.Context()
	want := foreign(t)
	for _, p := range []journal.Piece{{Run: "r9", Records: want[:2]}, {Run: "r9", After: 2, Records: want[2:]}} {
		h, err := a.Import(ctx, p)
		must(t, err)
		if last := p.Records[len(p.Records)-1]; h.Seq != last.Seq || h.Hash != last.Hash {
			t.Errorf("imported up to %d %s, want %d %s", h.Seq, h.Hash, last.Seq, last.Hash)
		}
	}
	for _, st := range []journal.Store{st, s.outside(t, st)} {
		a := archiver(t, st)
		for from := range int64(6) {
			got := records(t, a, "r9", from)
			if fmt.Sprint(got) != fmt.Sprint(want[max(from-1, 0):]) {
				t.Errorf("from %d: %d records, not those that were imported", from, len(got))
			}
		}
		for sum, err := range st.Runs(ctx) {
			must(t, err)
			if w := (journal.Summary{Run: "r9", Agent: "desk", Events: 5, Started: 1700000000000, Last: 1700000000004, Status: "paused", Reason: "waiting_approval"}); sum.Run == "r9" && sum != w {
				t.Errorf("summary %+v, want %+v", sum, w)
			}
		}
		if got, err := readErr(t, st, "r9"); err != nil || len(got) != 5 {
			t.Errorf("%d events, %v", len(got), err)
		}
		for run, want := range map[string]bool{"r9": true, "r1": false} {
			if is, err := a.Imported(ctx, run); err != nil || is != want {
				t.Errorf("run %s was imported: %v, %v", run, is, err)
			}
		}
		var imported *journal.ImportedError
		if _, err := st.Claim(ctx, join(t, st, "else"), "r9"); !errors.As(err, &imported) || imported.Run != "r9" {
			t.Errorf("claiming it: %v", err)
		}
		if _, err := st.Post(ctx, "r9", input("go on")); !errors.As(err, &imported) {
			t.Errorf("posting to it: %v", err)
		}
		if _, err := st.Append(ctx, l, journal.Batch{Run: "r9", After: 5, Entries: notes("x")}); !errors.Is(err, journal.ErrFenced) {
			t.Errorf("appending to it: %v", err)
		}
	}
	must(t, st.Fork(ctx, l, "r9", 3, "mine"))
	appendTo(t, st, l, "mine", 3, note("x"))
}

// readErr returns a run's events without looking at how they are encoded.
func readErr(t *testing.T, st journal.Store, run string) (all []event.Event, _ error) {
	t.Helper()
	for e, err := range st.Read(t.Context(), run, 1) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// A run that shares its first events with one that is there takes no room for them.
func (s *suite) archiveShared(t *testing.T) {
	st, l := s.start(t)
	a, ctx := archiver(t, st), t.Context()
	appendTo(t, st, l, "r1", 0, append([]journal.Entry{Started("desk")}, notes("b", "c", "d")...)...)
	must(t, st.Fork(ctx, l, "r1", 3, "f1"))
	appendTo(t, st, l, "f1", 3, notes("x", "y")...)
	all := records(t, a, "f1", 1)
	if len(all) != 5 || all[0].Run != "f1" {
		t.Fatalf("the fork has %d records", len(all))
	}
	other := s.open(t)
	b := archiver(t, other)
	_, err := b.Import(ctx, journal.Piece{Run: "r1", Records: records(t, a, "r1", 1)})
	must(t, err)
	_, err = b.Import(ctx, journal.Piece{Run: "f1", Base: "r1", After: 3, Records: all[3:]})
	must(t, err)
	if got := records(t, b, "f1", 1); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("%d records, want %d", len(got), len(all))
	}
	family, err := other.Family(ctx, "f1")
	if must(t, err); len(family) != 1 || family[0] != (journal.Relative{Run: "r1", Shared: 3, Base: true}) {
		t.Errorf("family %+v", family)
	}
}

// What does not follow, was changed or cannot be read is refused, and nothing of the
// piece is there.
func (s *suite) archiveRefused(t *testing.T) {
	st, _ := s.start(t)
	a, ctx := archiver(t, st), t.Context()
	want := foreign(t)
	changed := want[1]
	changed.Data = []byte(`{ "colour" : "grey" }`)
	broken := want[1]
	broken.Type, broken.Data = event.TypeTimerFired, []byte(`{"id":7}`)
	broken.Hash = broken.ComputeHash()
	again := event.Record{Run: "r9", Seq: 6, Type: event.TypeTimerFired, Command: "2.0", Prev: want[4].Hash, Data: []byte(`{"id":"2.0"}`)}
	again.Hash = again.ComputeHash()
	for name, p := range map[string]journal.Piece{
		"nothing":              {Run: "r9"},
		"a gap":                {Run: "r9", Records: []event.Record{want[0], want[2]}},
		"changed":              {Run: "r9", Records: []event.Record{want[0], changed}},
		"undecodable":          {Run: "r9", Records: []event.Record{want[0], broken}},
		"the middle":           {Run: "r9", After: 1, Records: want[1:]},
		"a run that is ours":   {Run: "r1", Records: want},
		"no id":                {Records: want},
		"a base that is not":   {Run: "r9", Base: "r8", After: 1, Records: want[1:]},
		"a second outcome":     {Run: "r9", Records: append(want[:5:5], again)},
		"events of another":    {Run: "r9", Base: "r1", After: 1, Records: want[1:]},
		"not even a beginning": {Run: "r9", Records: want[1:]},
	} {
		if h, err := a.Import(ctx, p); err == nil {
			t.Errorf("%s was imported: %+v", name, h)
		}
		if _, err := st.Head(ctx, "r9"); err == nil {
			t.Fatalf("%s: something is there", name)
		}
	}
	_, err := a.Import(ctx, journal.Piece{Run: "r9", Records: want})
	must(t, err)
	if _, err := a.Import(ctx, journal.Piece{Run: "r9", After: 5, Records: []event.Record{again}}); err == nil {
		t.Error("a second outcome in a later piece was imported")
	}
	var conflict *journal.ConflictError
	if _, err := a.Import(ctx, journal.Piece{Run: "r9", Records: want}); !errors.As(err, &conflict) {
		t.Errorf("the same again: %v", err)
	}
	for r, err := range a.Records(ctx, "none", 1) {
		var missing *journal.NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("records of no run: %+v, %v", r, err)
		}
	}
}
