package local

import (
	"context"
	"fmt"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
)

// wait waits until something has happened: an outcome, a time, a post, the end
// of the caller's context.
func (a *actor) wait() error {
	if len(a.inbox) > 0 {
		return nil
	}
	if pause := a.parked(); pause != nil {
		return a.add(pause)
	}
	if len(a.flights) == 0 {
		return fmt.Errorf("run %s: nothing is in flight and nothing can be started: this is a bug", a.job.Run)
	}
	a.arm()
	for len(a.inbox) == 0 && a.news == 0 {
		a.receive()
	}
	return a.react()
}

// receive takes what has arrived.
func (a *actor) receive() {
	old := len(a.inbox)
	var n news
	a.inbox, n = a.box.take(a.inbox)
	// What has come is written down with the time at which it came.
	a.at, a.book.now = time.Now(), a.e.clock().UnixMilli()
	if n&heard != 0 {
		a.listen() // what a model said comes before its reply
	}
	a.news |= n &^ heard
	for _, o := range a.inbox[old:] {
		o.f.state.Store(grounded)
		a.hush(o.f)
	}
}

// react does what the news ask for. What an error keeps it from doing it does
// the next time.
func (a *actor) react() error {
	for _, r := range [...]struct {
		news news
		do   func(*actor) error
	}{
		{late, func(a *actor) error { return context.Cause(a.ctx) }},
		{dueNow, (*actor).tick},
		{posted, (*actor).read},
		{wished, func(a *actor) error { return a.keep(&event.InputReceived{Kind: event.InputPause}) }},
		{halted, (*actor).interrupt},
	} {
		if a.news&r.news == 0 {
			continue
		}
		a.news &^= r.news
		if err := r.do(a); err != nil {
			return err
		}
	}
	return nil
}

// take applies what has come of the commands. A reply is acted on only when the
// intent to ask for it is durable.
func (a *actor) take() error {
	for _, o := range a.inbox {
		if _, ok := o.f.cmd.(*loop.CallModel); ok && !o.f.dropped {
			if err := a.book.sync(a.ctx); err != nil {
				return err
			}
			break
		}
	}
	for i, o := range a.inbox {
		a.inbox[i] = outcome{}
		if o.data == nil && !o.f.dropped {
			o.f.open, o.f.ended = true, false // nobody answered, or a run has paused; the command stands
			continue
		}
		wanted := !o.f.dropped
		a.remove(o.f)
		if !wanted {
			continue
		}
		if err := a.put(entry{ev: event.Event{Command: o.f.id, Data: o.data}, rests: o.f.rests}); err != nil {
			return err
		}
	}
	a.inbox = a.inbox[:0]
	return nil
}

// parked returns the pause of a run that only a person can move on, when nobody is
// being asked any more and the runs of agents have come to rest.
func (a *actor) parked() *event.RunPaused {
	waits := false
	var below []string
	for _, f := range a.flights {
		if f.dropped || !asks(f) && f.below == nil {
			continue
		}
		if !f.open {
			return nil
		}
		if waits = true; f.below != nil {
			below = append(below, f.id)
		}
	}
	if !waits {
		return nil
	}
	cause, waiting := a.m.Waiting(below...)
	if !waiting || a.moved() {
		return nil
	}
	pause := &event.RunPaused{Cause: cause}
	if below != nil {
		a.waitsBelow(pause)
	}
	return pause
}

// arm sets the timer to when the actor must look again. A timer that fires too
// early is left alone: setting it costs more than looking once too often.
func (a *actor) arm() {
	var due time.Time
	for _, f := range a.flights {
		due = earlier(due, f.due)
	}
	if a.book.waiting() {
		if a.stale.IsZero() {
			a.stale = a.at.Add(idle)
		}
		due = earlier(due, a.stale)
	} else {
		a.stale = time.Time{}
	}
	if due.IsZero() || !a.due.IsZero() && !due.Before(a.due) {
		return
	}
	a.due = due
	a.timer.Reset(time.Until(due))
}

// earlier returns the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// tick does what is due.
func (a *actor) tick() error {
	a.due = time.Time{}
	now := a.at
	if !a.stale.IsZero() && !now.Before(a.stale) {
		if err := a.book.hand(a.ctx); err != nil {
			return err
		}
	}
	for _, f := range a.flights {
		if f.due.IsZero() || now.Before(f.due) {
			continue
		}
		f.due = time.Time{}
		if _, ok := f.cmd.(*loop.Wait); ok {
			a.inbox = append(a.inbox, outcome{f, &event.TimerFired{ID: f.id}})
		} else if !f.ended && f.below != nil {
			a.end(f, errOverdue)
		} else if !f.ended {
			a.end(f, context.DeadlineExceeded)
		} else if a.leave(f) {
			a.inbox = append(a.inbox, outcome{f, a.abandoned(f)})
		}
	}
	return nil
}
