package memory

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/message"
)

func TestStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store {
		s := New()
		t.Cleanup(func() { s.Close() })
		return s
	}, &journaltest.Options{
		Abandon: func(_ *testing.T, st journal.Store, l *journal.Lease) {
			s := st.(*Store)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leases[l.ID].abandoned = time.Now()
		},
		Damage: damage,
		DamageBody: func(_ *testing.T, st journal.Store, ref message.Ref, remove bool) {
			s := st.(*Store)
			s.mu.Lock()
			defer s.mu.Unlock()
			if remove {
				delete(s.bodies, ref.SHA256)
			} else {
				s.bodies[ref.SHA256][0]++
			}
		},
	})
}

// damage spoils an event in the way that only a bug could.
func damage(t *testing.T, st journal.Store, run string, seq int64, how journaltest.Damage) {
	r := st.(*Store).runs[run]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hashAt(r.end())
	rec := r.record(seq)
	switch how {
	case journaltest.Changed:
		rec.data = bytes.Replace(rec.data, []byte(`"test"`), []byte(`"TEST"`), 1)
	case journaltest.Halved:
		rec.data = rec.data[:len(rec.data)/2]
	case journaltest.Removed:
		rec.data = nil
	}
}

// A step's events must cost next to nothing beside the step itself: they are
// encoded into the run's chunks, and nothing else is kept.
func BenchmarkAppendStep(b *testing.B) {
	for _, c := range []struct {
		name   string
		result string
	}{
		{"300B", strings.Repeat("x", 100)},
		{"3KB", strings.Repeat("a line of a tool's result\n", 115)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New()
			ctx := b.Context()
			l, err := s.Join(ctx, journal.ThisProcess("bench"))
			if err != nil {
				b.Fatal(err)
			}
			first, second := journaltest.Step(1, c.result)
			for _, batch := range [][]journal.Entry{first, second} { // commands must be new each time
				for i := range batch {
					batch[i].Command = ""
				}
			}
			b.ReportAllocs()
			var h journal.Head
			n := 0
			run := ""
			for b.Loop() {
				if n%1000 == 0 {
					b.StopTimer()
					run = "run" + time.Now().Format(".150405.000000000")
					if err := s.Create(ctx, l, run); err != nil {
						b.Fatal(err)
					}
					h = journal.Head{}
					b.StartTimer()
				}
				n++
				h, err = s.Append(ctx, l, journal.Batch{Run: run, After: h.Seq, Entries: first})
				if err == nil {
					h, err = s.Append(ctx, l, journal.Batch{Run: run, After: h.Seq, Entries: second})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
