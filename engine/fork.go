package engine

import (
	"context"
	"errors"
	"fmt"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

// ForkPoint returns the event after which a run is to be forked so that the fork has
// its first steps and makes the next one anew: what became of the last of them is
// decided by then, a check that looks back at it included, and what was said since is
// not part of it. 0 steps leave the task alone. With -1 the fork has all that there
// is, but for the end of a run that has finished.
func ForkPoint(ctx context.Context, s journal.Store, run string, steps int64) (seq int64, err error) {
	if steps < 0 {
		m, _, err := foldTo(ctx, s, run, func(*loop.Machine, *event.Event) bool { return true })
		if err != nil {
			return 0, err
		}
		if m.Status().Status != "finished" {
			return m.Seq(), nil
		}
		steps = m.Steps()
	}
	m, last, err := foldTo(ctx, s, run, func(m *loop.Machine, ev *event.Event) bool {
		if d, ok := ev.Data.(*event.ContextAssembled); ok && d.Step > steps || m.Steps() > steps {
			return false
		}
		if m.Steps() == steps && m.BetweenSteps() && concludes(ev.Data, steps) {
			seq = ev.Seq
		}
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case m.Steps() < steps:
		return 0, fmt.Errorf("run %s has no step %d; the last is %d", run, steps, m.Steps())
	case seq == 0 && steps == 0:
		return 0, fmt.Errorf("run %s was killed before it began: start it again", run)
	case seq == 0:
		return 0, fmt.Errorf("step %d of run %s has not come to its end: fork it after step %d, or in the middle, after one of its %d events", steps, run, steps-1, last)
	}
	return seq, nil
}

// concludes reports whether an event belongs to the conclusion of a run's last step so
// far or, where there is none yet, to its task.
func concludes(d event.Data, steps int64) bool {
	switch d.(type) {
	case *event.ReplyParsed, *event.ToolFinished, *event.NoticeAdded, *event.StateUpdated:
		return true
	case *event.RunStarted, *event.InputReceived, *event.MaterialRetrieved:
		return steps == 0
	}
	return false
}

// foldTo folds a run's journal as long as each returns true, and returns the machine
// and the sequence of the last event that was looked at.
func foldTo(ctx context.Context, s journal.Store, run string, each func(*loop.Machine, *event.Event) bool) (*loop.Machine, int64, error) {
	m := loop.New(run)
	var last int64
	for ev, err := range s.Read(ctx, run, 1) {
		var damage *journal.DamageError
		if errors.As(err, &damage) && damage.Torn {
			break // whoever carries that run on cuts it off
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read run %s: %w", run, err)
		}
		if err := m.Apply(&ev); err != nil {
			return nil, 0, fmt.Errorf("follow the journal of run %s: %w", run, err)
		}
		if last = ev.Seq; !each(m, &ev) {
			break
		}
	}
	return m, last, nil
}
