package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

// ErrFinished: a finished run takes no more input.
var ErrFinished = errors.New("the run has finished: start a new one, or fork it")

// spec reads what the run was started with, before anything is claimed: of a fork of
// what another program has recorded, the agent that took it over.
func (a *actor) spec() (*event.Spec, error) {
	d, err := a.e.started(a.ctx, a.job.Run)
	if err != nil {
		return nil, err
	}
	if d.Origin == nil {
		return &d.Spec, nil
	}
	for ev, err := range a.e.store.Read(a.ctx, a.job.Run, 1) {
		if torn(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if d, ok := ev.Data.(*event.RunResumed); ok && d.Models != nil && d.Models.Agent != nil {
			return d.Models.Agent, nil
		}
	}
	return &d.Spec, nil
}

// started reads the event that a run's journal begins with.
func (e *Engine) started(ctx context.Context, run string) (*event.RunStarted, error) {
	for ev, err := range e.store.Read(ctx, run, 1) {
		if err != nil {
			return nil, err
		}
		if d, ok := ev.Data.(*event.RunStarted); ok {
			return d, nil
		}
		return nil, fmt.Errorf("its journal begins with %s: it was not written by rein", ev.Data.Type())
	}
	return nil, errors.New("its journal is empty: the process that made it died before it began; start it again under another id")
}

// missing reports whether an error says that there is no such run.
func missing(err error) bool {
	var none *journal.NotFoundError
	return errors.As(err, &none)
}

// takeOver makes this engine the run's owner and folds its journal. A torn end
// is cut off first.
func (a *actor) takeOver() error {
	head, err := a.e.store.Claim(a.ctx, a.e.lease, a.job.Run)
	if a.repaired(err) {
		head, err = a.e.store.Claim(a.ctx, a.e.lease, a.job.Run)
	}
	if err != nil {
		return err
	}
	a.owned = true
	var forked int64
	mark := func(ev *event.Event) {
		if d, ok := ev.Data.(*event.RunResumed); ok && d.Fork != "" {
			forked = ev.Seq
		}
	}
	if err = a.fold(mark); a.repaired(err) {
		forked = 0
		err = a.fold(mark)
	}
	if a.origin != nil && a.m.Seq() > 1 {
		a.job.Input = nil // an agent gets its task once
	}
	switch {
	case err != nil:
		return err
	case a.m.Status().Status != "finished":
	case len(a.job.Input) > 0:
		return fmt.Errorf("run %s: %w", a.job.Run, ErrFinished)
	default:
		return errOver
	}
	if _, err := client(a.job, a.m.Spec().Model); err != nil {
		return fmt.Errorf("resume run %s: %w", a.job.Run, err)
	}
	if err := a.plant(); err != nil {
		return err
	}
	of, err := a.forkedFrom(forked)
	if err != nil {
		return err
	}
	if err := a.keep(&event.RunResumed{Generation: head.Generation, By: a.e.lease.Owner.Name, Changed: a.changed(), Fork: of, Traceparent: a.job.Traceparent}); err != nil {
		return err
	}
	return a.input()
}

// forkedFrom returns the run that this one is a fork of if its journal does not say so
// yet, empty otherwise: it was made by somebody who leaves it to others to carry it on,
// or whose process died at once. marked is the last event that says of what a run is a
// fork.
func (a *actor) forkedFrom(marked int64) (string, error) {
	family, err := a.e.store.Family(a.ctx, a.job.Run)
	if err != nil {
		return "", err
	}
	for _, r := range family {
		if r.Base && marked <= r.Shared {
			return r.Run, nil
		}
	}
	return "", nil
}

// changed returns the tools whose definitions, as their sources give them now,
// are not those that the run began with.
func (a *actor) changed() []event.ToolPin {
	var out []event.ToolPin
	tools := a.m.Spec().Tools
	for i := range tools {
		if pin := a.job.Tools.Get(tools[i].Name).Definition().Pin; pin != tools[i].Pin {
			out = append(out, event.ToolPin{Tool: tools[i].Name, Pin: pin})
		}
	}
	return out
}

// repaired cuts off the torn end of the journal if that is what the error is
// about, and reports it.
func (a *actor) repaired(err error) bool {
	if !torn(err) {
		return false
	}
	var damage *journal.DamageError
	errors.As(err, &damage)
	r, ok := a.e.store.(journal.Repairer)
	if !ok {
		return false
	}
	if _, cerr := r.Cut(a.ctx, a.job.Run, damage.Sound); cerr != nil {
		a.log.Error("the torn end of the journal could not be cut off", slog.Any("err", cerr))
		return false
	}
	a.log.Warn("the end of the journal was torn, as a crash leaves it, and was cut off",
		slog.Int64("after", damage.Sound), slog.Any("err", damage.Err))
	return true
}

// torn reports whether an error says that the end of a journal is, as a crash leaves
// it.
func torn(err error) bool {
	var damage *journal.DamageError
	return errors.As(err, &damage) && damage.Torn
}

// fold reads the journal into a new machine. each, if not nil, is called with
// every event before it is applied.
func (a *actor) fold(each func(*event.Event)) error {
	m := loop.New(a.job.Run)
	a.asker.forget()
	for ev, err := range a.e.store.Read(a.ctx, a.job.Run, 1) {
		if err != nil {
			return err
		}
		if each != nil {
			each(&ev)
		}
		if d, ok := ev.Data.(*event.ModelCalled); ok {
			a.asker.recall(m, d)
		}
		if err := m.Apply(&ev); err != nil {
			return fmt.Errorf("run %s: its journal cannot be followed: %w", a.job.Run, err)
		}
	}
	a.m = m
	a.book.start(m.Seq())
	return nil
}

// rollback is for when somebody else has appended first. What the machine
// decided since the last durable event it may now decide otherwise: that is
// dropped, with what was started because of it (never a write: its intent was
// durable before). What has happened in the world stays true, and is appended
// again.
func (a *actor) rollback() error {
	lost, kept := a.book.tail, 0
	base := a.book.next - 1 - int64(len(lost))
	err := a.fold(func(ev *event.Event) {
		switch {
		case ev.Seq <= base:
		case kept < len(lost) && lost[kept].is(ev):
			kept++
		default:
			a.watch.event(ev)
		}
	})
	if err != nil {
		return err
	}
	sound := base + int64(kept)
	for _, f := range a.flights {
		if f.rests > sound {
			a.drop(f)
		}
	}
	for _, en := range lost[kept:] {
		if en.rests == always || en.rests > 0 && en.rests <= sound {
			if err := a.put(en); err != nil {
				return err
			}
		}
	}
	return nil
}

// read applies what others have posted. What the store was not given yet cannot
// stay before it.
func (a *actor) read() error {
	if err := a.book.sync(a.ctx); err != nil {
		return err
	}
	next := a.book.next - int64(len(a.book.tail))
	for ev, err := range a.e.store.Read(a.ctx, a.job.Run, next) {
		if err != nil {
			return err
		}
		if a.book.waiting() {
			next = 0
			break
		}
		if err := a.m.Apply(&ev); err != nil {
			return fmt.Errorf("run %s: its journal cannot be followed: %w", a.job.Run, err)
		}
		a.book.start(ev.Seq)
		a.watch.event(&ev)
	}
	if next == 0 {
		return a.rollback()
	}
	return nil
}
