package journaltest

import (
	"context"
	"testing"

	"rein.example/rein/journal"
)

// Record makes a run with these entries in a store, for tests of whoever reads it or
// goes on with it: it is left as a process leaves it that dies after the last one.
// Without entries there is a run in which nothing has happened.
func Record(t testing.TB, s journal.Store, run string, entries ...journal.Entry) {
	t.Helper()
	ctx := context.Background()
	lease, err := s.Join(ctx, journal.Owner{Name: "recorder"})
	if err == nil {
		err = s.Create(ctx, lease, run)
	}
	if err == nil && len(entries) > 0 {
		_, err = s.Append(ctx, lease, journal.Batch{Run: run, Entries: entries})
	}
	if err == nil {
		err = s.Leave(ctx, lease)
	}
	if err != nil {
		t.Fatalf("record run %s: %v", run, err)
	}
}
