// Package local answers: how is a run carried out in the calling process?
//
// [Engine] is the engine for one machine: each run is carried out by the
// goroutine that calls Start or Resume, as an actor that folds events into the
// run's machine, starts what the machine asks for, each command once, and
// appends what came of it. Tools, model calls and questions to people run on
// goroutines of their own, of which none is left when the call returns, unless
// it ignores the end of its context. A parked run is nothing but its journal.
//
// What must be durable before something else may happen is decided in the
// actor alone: a tool that writes starts after its intent was synced, and a
// reply is acted on after the intent to ask for it was. Everything else
// overlaps.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
	"rein.example/rein/tokens"
)

// Options are what an engine needs. Only Store is required.
type Options struct {
	// Store keeps the journals. The engine joins it, and does not close it.
	Store journal.Store
	// Owner says in the store who carries the runs out. The zero value is this
	// process, under the name "rein".
	Owner journal.Owner
	// Clock stamps events. Nil means time.Now. Deadlines do not follow it.
	Clock func() time.Time
	// Counter counts tokens. Nil means an estimate. What is found by trying where to
	// cut, such as results, is counted by an estimate if Counter is a
	// [tokens.Measurer].
	Counter tokens.Counter
	// Secrets are kept out of journals and the model's sight. Nil means none.
	Secrets *event.Secrets
	// Logger gets what the journal does not say: stacks of panics, goroutines
	// that had to be left behind, journals that were repaired. Nil means none.
	Logger *slog.Logger
}

// Engine carries out runs. It implements [engine.Engine].
type Engine struct {
	store   journal.Store
	lease   *journal.Lease
	clock   func() time.Time
	counter tokens.Counter
	rough   tokens.Counter // finds places to cut, for which it is asked very often
	secrets *event.Secrets
	log     *slog.Logger

	// left counts goroutines that ignore the end of their context.
	left leftovers

	mu     sync.Mutex
	runs   map[string]*actor
	closed bool
	active sync.WaitGroup

	quit chan struct{} // ends the dispatcher
	done chan struct{} // the dispatcher has ended
}

// ErrClosed: the engine was closed.
var ErrClosed = errors.New("the engine is closed")

// New joins the store and returns an engine. Close it when done.
func New(o Options) (*Engine, error) {
	if o.Store == nil {
		return nil, errors.New("an engine needs a store: set Options.Store")
	}
	e := &Engine{store: o.Store, clock: o.Clock, counter: o.Counter, secrets: o.Secrets, log: o.Logger,
		runs: map[string]*actor{}, quit: make(chan struct{}), done: make(chan struct{})}
	if e.clock == nil {
		e.clock = time.Now
	}
	if e.counter == nil {
		e.counter = tokens.Estimate{}
	}
	if e.rough = e.counter; slow(e.counter) {
		e.rough = tokens.Estimate{}
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	owner := o.Owner
	if owner == (journal.Owner{}) {
		owner = journal.ThisProcess("rein")
	}
	lease, err := e.store.Join(context.Background(), owner)
	if err != nil {
		return nil, fmt.Errorf("join the store: %w", err)
	}
	e.lease = lease
	go e.dispatch(e.store.Watch(lease))
	return e, nil
}

// slow reports whether a counter may ask somebody else for each figure.
func slow(c tokens.Counter) bool { _, asks := c.(tokens.Measurer); return asks }

// dispatch tells actors that something may have been posted to their runs.
func (e *Engine) dispatch(posts <-chan string) {
	defer close(e.done)
	for {
		select {
		case run := <-posts:
			e.mu.Lock()
			if a := e.runs[run]; a != nil {
				a.box.tell(posted)
			}
			e.mu.Unlock()
		case <-e.quit:
			return
		}
	}
}

// Close stops the runs that are going on, so that they can be resumed, waits
// for them, and gives up the engine's lease.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	for _, a := range e.runs {
		a.stop(engine.ErrStop)
	}
	e.mu.Unlock()
	e.active.Wait()
	close(e.quit)
	<-e.done
	if err := e.store.Leave(context.Background(), e.lease); err != nil {
		return fmt.Errorf("leave the store: %w", err)
	}
	return nil
}

// Left returns how many goroutines of tools, providers and approvers are still
// running although their contexts have ended and nobody waits for them.
func (e *Engine) Left() int64 { return e.left.all() }

// Start creates the run's journal and carries it out; see [engine.Engine].
func (e *Engine) Start(ctx context.Context, job *engine.Job) (*engine.Result, error) {
	if job.Spec == nil {
		return nil, fmt.Errorf("start run %s: Job.Spec is missing", job.Run)
	}
	if err := check(job, job.Spec); err != nil {
		return nil, fmt.Errorf("start run %s: %w", job.Run, err)
	}
	a, err := e.enter(ctx, job)
	if err != nil {
		return nil, err
	}
	defer e.leave(a)
	return a.carryOut(a.begin)
}

// Resume takes over an existing run and carries it on; see [engine.Engine]. A
// run that has finished is not an error: its result is returned, unless there
// is input for it. A torn end of the journal is cut off and reported.
func (e *Engine) Resume(ctx context.Context, job *engine.Job) (*engine.Result, error) {
	a, err := e.enter(ctx, job)
	if err != nil {
		return nil, err
	}
	defer e.leave(a)
	spec, err := a.spec()
	if err == nil {
		err = checkTools(job, spec)
	}
	if err != nil {
		return nil, fmt.Errorf("resume run %s: %w", job.Run, err)
	}
	return a.carryOut(a.takeOver)
}

// check finds out whether the job has what the run needs.
func check(job *engine.Job, spec *event.Spec) error {
	if err := checkTools(job, spec); err != nil {
		return err
	}
	_, err := client(job, spec.Model)
	return err
}

// checkTools is check without the model, which a run may have changed.
func checkTools(job *engine.Job, spec *event.Spec) error {
	if job.Run == "" {
		return errors.New("the run has no id: set Job.Run")
	}
	for i := range spec.Tools {
		name := spec.Tools[i].Name
		if job.Tools == nil || job.Tools.Get(name) == nil {
			return fmt.Errorf("it needs the tool %q, which is not there: register it, or take the agent that the run was started with", name)
		}
		if spec.Tools[i].Agent != "" && job.Agent == nil {
			return fmt.Errorf("it needs the agent that the tool %q is: set Job.Agent", name)
		}
	}
	return nil
}

func client(job *engine.Job, name string) (model.Client, error) {
	if job.Model == nil {
		return nil, fmt.Errorf("it needs the model %s: set Job.Model", name)
	}
	c, err := job.Model(name)
	if err == nil && c == nil {
		err = errors.New("there is none of that name")
	}
	if err != nil {
		return nil, fmt.Errorf("it needs the model %s: %w", name, err)
	}
	return c, nil
}

// enter makes the actor of a run, the only one in this engine.
func (e *Engine) enter(ctx context.Context, job *engine.Job) (*actor, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("run %s was not begun: %w", job.Run, err)
	}
	return e.join(ctx, job)
}

// join is enter whether or not ctx has ended.
func (e *Engine) join(ctx context.Context, job *engine.Job) (*actor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	if e.runs[job.Run] != nil {
		return nil, &journal.HeldError{Run: job.Run, Owner: e.lease.Owner}
	}
	a := newActor(e, ctx, job)
	e.runs[job.Run] = a
	e.active.Add(1)
	return a, nil
}

func (e *Engine) leave(a *actor) {
	a.close()
	e.mu.Lock()
	delete(e.runs, a.job.Run)
	e.mu.Unlock()
	e.active.Done()
}
