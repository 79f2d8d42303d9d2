package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// slowDisk is a store whose disk takes its time.
type slowDisk struct{ journal.Store }

func (s slowDisk) Sync(ctx context.Context, run string) error {
	time.Sleep(300 * time.Millisecond)
	return s.Store.Sync(ctx, run)
}

// No timer fires before its time, however long the writes before it take: who has
// said when to come again is not asked earlier.
func TestTimersAreNotEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asked = 2 * time.Second
		l := newLab(t, call("c1 change", "c2 change x"), say("done"))
		l.store = slowDisk{l.store}
		l.model.faults = map[int]error{1: &model.Error{Class: event.ClassRate, RetryAfter: message.Known(asked.Milliseconds())}}
		tries := 0
		l.tool("change", event.Once, func(context.Context, *tool.Call) (*tool.Result, error) {
			if tries++; tries == 1 {
				return nil, &tool.Error{Type: "busy", Retryable: true, NoEffect: true, RetryAfter: asked}
			}
			return tool.Text("ok"), nil
		})
		l.start(t.Context(), l.engine())
		fired := 0
		m := loop.New("r1")
		for _, ev := range l.events() {
			if d, ok := ev.Data.(*event.TimerFired); ok {
				for _, c := range m.Next() {
					if w, ok := c.(*loop.Wait); ok && w.ID == d.ID {
						if fired++; ev.Time < w.Until {
							t.Errorf("timer %s fires %d ms early", d.ID, w.Until-ev.Time)
						}
					}
				}
			}
			if err := m.Apply(&ev); err != nil {
				t.Fatal(err)
			}
		}
		if fired != 2 {
			t.Errorf("%d timers have fired, want 2\n%s", fired, l.journal())
		}
	})
}
