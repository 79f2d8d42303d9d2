package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

const (
	// patience is how long a call may go on after its context has ended, until
	// its goroutine is left behind: what was promised is 100 ms in all.
	patience = 80 * time.Millisecond
	// grace is how long a run may take to come to its end after its own context
	// has ended.
	grace = 2 * time.Second
	// idle is how long an event may wait for company on its way to the store
	// while a reading tool runs.
	idle = 50 * time.Millisecond
)

// actor carries out one run, on the goroutine of the call that made it.
type actor struct {
	e     *Engine
	job   *engine.Job
	log   *slog.Logger
	watch watcher

	// values is the caller's context without its end; ctx is the same, and ends
	// with the actor. halted is the caller's context, whose end stops or cancels
	// the run.
	values context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	halted context.Context
	stop   context.CancelCauseFunc
	unhook func() bool

	owned   bool // the run is this engine's
	m       *loop.Machine
	book    book
	asker   asker
	cmds    []loop.Command // what is outstanding
	flights []*flight      // what was started
	inbox   []outcome      // what has come of it, not yet applied
	box     mailbox
	work    chan *flight // to a goroutine that waits for one
	idle    atomic.Int32 // goroutines that wait, for a moment one too many
	news    news         // what has happened and was not acted on yet
	at      time.Time    // when something happened last
	timer   *time.Timer
	due     time.Time // when timer fires, zero if it does not run
	stale   time.Time // when waiting events are to go to the store by themselves
	pass    int64     // counts passes over cmds

	// tree is what the run shares with others of its tree, nil for a run that stands
	// alone; depth counts the runs above it, and origin says, for one that was started
	// by a call, which that is.
	tree   *tree
	depth  int
	origin *event.RunStarted
	// resting: the machine has decided to pause, and runs of agents come to rest first.
	resting bool
	// questions are those of runs of agents that the run has paused for.
	questions []engine.Question
}

func newActor(e *Engine, ctx context.Context, job *engine.Job) *actor {
	a := &actor{e: e, job: job, log: e.log.With("run", job.Run), m: loop.New(job.Run), at: time.Now(), work: make(chan *flight)}
	a.box.wake = make(chan struct{}, 1)
	a.watch = newWatcher(job.Watch, a.log)
	a.book = book{e: e, run: job.Run, seen: a.watch.event, now: e.clock().UnixMilli(), next: 1}
	a.asker.a = a
	a.timer = time.AfterFunc(time.Hour, func() { a.box.tell(dueNow) })
	a.timer.Stop()
	a.values = context.WithoutCancel(ctx)
	a.ctx, a.cancel = context.WithCancelCause(a.values)
	a.halted, a.stop = context.WithCancelCause(ctx)
	a.unhook = context.AfterFunc(a.halted, a.limit)
	return a
}

// limit is called on a goroutine of its own when the caller's context has ended.
func (a *actor) limit() {
	a.box.tell(halted)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-timer.C:
		a.cancel(fmt.Errorf("run %s did not come to its end within %v of being stopped", a.job.Run, grace))
		a.box.tell(late)
	case <-a.ctx.Done():
	}
}

// close ends everything that the actor has.
func (a *actor) close() {
	a.unhook()
	a.timer.Stop()
	a.stop(context.Canceled)
	a.cancel(context.Canceled)
}

// carryOut is the run: begin, then turn after turn until it pauses, finishes or
// cannot go on. However it ends, nothing goes on when it returns.
func (a *actor) carryOut(begin func() error) (*engine.Result, error) {
	err := begin()
	a.at = time.Now()
	for err == nil {
		if err = a.turn(); conflict(err) {
			err = a.rollback()
		}
	}
	a.land()
	switch {
	case errors.Is(err, errOver):
		err = a.park()
	case errors.Is(err, journal.ErrFenced):
		err = fmt.Errorf("another process has taken run %s over, and carries it on: %w", a.job.Run, err)
	default:
		if perr := a.park(); perr != nil {
			a.log.Warn("the run could not be given up; it is free when its lease ends", slog.Any("err", perr))
		}
	}
	return a.result(err), err
}

// park gives the run up, for whoever carries it on.
func (a *actor) park() error {
	if !a.owned {
		return nil
	}
	return a.e.store.Park(a.values, a.e.lease, a.job.Run)
}

// errOver: the run has paused or finished, and its journal says so.
var errOver = errors.New("the run is over")

// turn is one round of the actor: what the machine decides is written down,
// what it asks for is started, and what comes of that is waited for.
//
// A panic here is a bug in Rein. It ends this run, and not the process.
func (a *actor) turn() (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.panicked("the engine", p)
			err = fmt.Errorf("run %s cannot go on: a bug in the engine, which the log describes: %v", a.job.Run, p)
		}
	}()
	a.book.now = a.e.clock().UnixMilli()
	if err := a.decide(); err != nil {
		return err
	}
	if !a.resting {
		if err := a.start(); err != nil {
			return err
		}
	}
	if err := a.wait(); err != nil {
		return err
	}
	return a.take()
}

// decide writes down what the machine decides until it wants something done, or
// nothing more: then the run is over.
func (a *actor) decide() error {
	a.resting = false
	for {
		cmds := a.m.Next()
		if len(cmds) == 0 {
			return a.over()
		}
		switch c := cmds[0].(type) {
		case *loop.Record:
			if a.resting = pausing(c.Data) && a.restBelow(); a.resting {
				return nil
			}
			for _, d := range c.Data {
				a.count(d)
				if err := a.add(d); err != nil {
					return err
				}
			}
		case *loop.Finish:
			if err := a.add(c.Data); err != nil {
				return err
			}
		default:
			a.cmds = append(a.cmds[:0], cmds...)
			return nil
		}
	}
}

// over makes the end of the run durable.
func (a *actor) over() error {
	switch s := a.m.Status(); s.Status {
	case "paused", "finished":
		if err := a.book.flush(a.ctx); err != nil {
			return err
		}
		return errOver
	default:
		return fmt.Errorf("run %s is %s after event %d, and nothing is asked for: this is a bug", a.job.Run, s.Status, s.Seq)
	}
}

// add puts an event at the end of the journal and folds it.
func (a *actor) add(d event.Data) error { return a.put(entry{ev: event.Event{Data: d}}) }

// keep is add for an event that did not come from the machine: it is written
// down even if somebody else has written first.
func (a *actor) keep(d event.Data) error {
	return a.put(entry{ev: event.Event{Data: d}, rests: always})
}

func (a *actor) put(en entry) error {
	if err := a.m.Apply(a.book.add(en)); err != nil {
		return fmt.Errorf("run %s: fold an event just made: %w", a.job.Run, err)
	}
	return nil
}

// interrupt tells the machine that the caller's context has ended.
func (a *actor) interrupt() error {
	cause := context.Cause(a.halted)
	if errors.Is(cause, engine.ErrStop) {
		return a.keep(&event.InputReceived{Kind: event.InputStop})
	}
	return a.keep(&event.InputReceived{Kind: event.InputCancel, Why: a.e.redact(cause.Error())})
}

// result returns where the run stands according to its journal, nil if that
// could not be read.
func (a *actor) result(err error) *engine.Result {
	if err != nil && len(a.book.tail) > 0 && a.fold(nil) != nil || a.m.Seq() == 0 {
		return nil
	}
	s := a.m.Status()
	r := &engine.Result{Run: a.job.Run, Status: s.Status, Reason: s.Reason, Cause: s.Cause, OK: s.OK, Answer: s.Answer,
		Value: s.Value, Steps: s.Steps, ToolCalls: s.ToolCalls, Usage: s.Usage, Cost: s.Cost, BestEffort: s.BestEffort, Detail: s.Detail,
		Duration: s.Last - s.Started}
	if s.Status == "running" {
		r.Status = "interrupted"
	}
	for _, p := range s.Pending {
		r.Pending = append(r.Pending, engine.Question{Run: a.job.Run, Call: p.Call, Tool: p.Tool, Args: p.Args, Hash: p.Hash, Settle: p.Settle, Words: p.Words, Why: p.Why})
	}
	if r.Status == "paused" {
		r.Pending = append(r.Pending, a.questions...)
	}
	return r
}

// begin makes the journal of a new run. The spec is copied: it is redacted and
// gets its token counts here.
func (a *actor) begin() error {
	started := &event.RunStarted{Format: event.Version, Root: a.job.Run, Traceparent: a.job.Traceparent, Spec: *a.job.Spec}
	if o := a.origin; o != nil {
		started.Root, started.Parent, started.Call = o.Root, o.Parent, o.Call
	}
	a.e.admit(a.ctx, started)
	err := preflight(&started.Spec)
	if err == nil && !a.owned {
		err = a.e.store.Create(a.ctx, a.e.lease, a.job.Run)
	}
	if err != nil {
		return fmt.Errorf("start run %s: %w", a.job.Run, err)
	}
	a.owned = true
	if err := a.keep(started); err != nil {
		return err
	}
	if err := a.plant(); err != nil {
		return err
	}
	return a.input()
}

// input tells the run what its job says.
func (a *actor) input() error {
	if len(a.job.Input) == 0 {
		return nil
	}
	first := a.m.Seq() == 1 // after run.started
	return a.keep(a.e.receive(a.ctx, a.m.Spec(), &event.InputReceived{Kind: event.InputText, Parts: a.job.Input}, first))
}
