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
	if cause := a.parked(); cause != "" {
		return a.add(&event.RunPaused{Cause: cause})
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
			o.f.open = true // nobody answered; the question stands
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

// parked returns the cause to pause with when only a person can move the run
// on, and nobody is being asked any more.
func (a *actor) parked() event.Cause {
	questions := false
	for _, f := range a.flights {
		if _, ok := f.cmd.(*loop.AskApproval); ok && !f.dropped {
			if !f.open {
				return ""
			}
			questions = true
		}
	}
	if !questions {
		return ""
	}
	cause, _ := a.m.Waiting()
	return cause
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
		} else if !f.ended {
			a.end(f, context.DeadlineExceeded)
		} else if a.leave(f) {
			a.inbox = append(a.inbox, outcome{f, a.abandoned(f)})
		}
	}
	return nil
}
