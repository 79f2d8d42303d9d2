package main

import (
	"maps"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/journal/memory"
)

// What a server calls a model is shown at its attempts where that changes within a run;
// that it is another name than the one asked for is in the head alone, and that another
// model is asked for changes nothing.
func TestModelsRenamed(t *testing.T) {
	for name, c := range map[string]struct {
		said [][2]string // the model as it was asked for, and as it is reported
		want map[int64]string
	}{
		"always the same": {[][2]string{{"p/m", "m-0612"}, {"p/m", "m-0612"}, {"p/n", "n-1"}, {"p/m", ""}}, map[int64]string{}},
		"changes":         {[][2]string{{"p/m", "m-0612"}, {"p/m", "m-0612"}, {"p/m", "small"}, {"p/m", "m-0612"}}, map[int64]string{1: "m-0612", 3: "small", 4: "m-0612"}},
	} {
		var l looks
		for i, s := range c.said {
			seq, id := int64(i+1), string(rune('a'+i))
			l.add(&event.Event{Seq: seq, Data: &event.ModelCalled{ID: id, Model: s[0]}})
			l.add(&event.Event{Seq: seq, Data: &event.ModelAnswered{ID: id, Model: s[1]}})
		}
		if !maps.Equal(l.renamed, c.want) {
			t.Errorf("%s: got %v, want %v", name, l.renamed, c.want)
		}
	}
}

// Every request can be had, also where a journal has two of one number: two summaries
// before a step, the first of which was refused.
func TestEveryAttemptIsReached(t *testing.T) {
	s := memory.New()
	var entries []journal.Entry
	add := func(d event.Data) { entries = append(entries, journal.Entry{Time: 1, Data: d}) }
	add(&event.RunStarted{Spec: event.Spec{Agent: "desk"}})
	for i, p := range []event.Purpose{event.PurposeSummary, event.PurposeSummary, event.PurposeStep} {
		id := string(rune('a' + i))
		add(&event.ModelCalled{ID: id, Step: 1, Attempt: 1, Purpose: p})
		add(&event.ModelAnswered{ID: id})
	}
	journaltest.Record(t, s, "r1", entries...)
	for _, c := range []struct {
		w            wanted
		seq, attempt int64
	}{
		{wanted{1, 1, event.PurposeSummary}, 2, 1},
		{wanted{1, 2, event.PurposeSummary}, 4, 2},
		{wanted{1, 0, event.PurposeSummary}, 4, 2},
		{wanted{step: 1}, 6, 1},
	} {
		called, seq, _, err := (&app{}).calledAt(t.Context(), s, "r1", c.w)
		if err != nil || seq != c.seq || called.Attempt != c.attempt {
			t.Errorf("%+v: event %d, attempt %+v, %v", c.w, seq, called, err)
		}
	}
}
