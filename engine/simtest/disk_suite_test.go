package simtest

import (
	"bytes"
	"testing"
	"time"

	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
)

// The disk of the simulation keeps what every store keeps.
func TestDisk(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return &view{disk: newDisk()} }, &journaltest.Options{
		Abandon: func(_ *testing.T, st journal.Store, l *journal.Lease) {
			st.(*view).leases[l.ID].hung = time.Now()
		},
		Damage: func(_ *testing.T, st journal.Store, run string, seq int64, how journaltest.Damage) {
			e := &st.(*view).runs[run].events[seq-1]
			switch how {
			case journaltest.Changed:
				e.Data = bytes.Replace(e.Data, []byte(`"test"`), []byte(`"TEST"`), 1)
			case journaltest.Halved:
				e.Data = e.Data[:len(e.Data)/2]
			case journaltest.Removed:
				e.Data = nil
			}
		},
	})
}
