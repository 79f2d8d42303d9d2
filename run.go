package rein

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Result is where a run stands when it has paused or finished. Look at OK first:
// true, and Answer (or Value, if a result of a given form was asked for) is what
// the run was for. False, and Status says whether it "paused", with Cause, or
// "finished" badly, with Reason; Detail says more in words. Pending are the
// questions that it waits for. A run that ends badly is no error.
type Result = engine.Result

// Approver answers a question while a run goes on, or leaves it open with
// ok == false. It is called on a goroutine of its own, and must return when ctx
// ends.
type Approver = func(ctx context.Context, q engine.Question) (a engine.Answer, ok bool)

// ErrStop as the cause of a cancelled context leaves a run resumable instead of
// finishing it with reason cancelled; see [context.WithCancelCause].
var ErrStop = engine.ErrStop

// Event is what a running run shows: an event of its journal or, with Delta
// set, a piece of the model's output on its way, or, with Progress set, what a
// tool says of a call under way. Deltas and progress are for showing only and are
// never journalled: Data is nil then. What happens in the runs of agents that the run
// calls is shown too: Run says whose it is.
type Event struct {
	event.Event
	Delta    *model.Delta
	Progress *Progress
}

// Progress is what a tool says of how far a call is.
type Progress struct {
	Call, Tool, Text string
}

// Run is one task of an agent. It does nothing until [Run.Events] or
// [Run.Result] carries it out, in the calling goroutine. Send, Stop and Approve
// may be called from any goroutine.
type Run struct {
	agent  *Agent
	id     string
	ctx    context.Context
	job    *engine.Job
	start  bool
	err    error // why it cannot be carried out
	taken  atomic.Bool
	result *Result
	// Of a fork: the run that it comes from, and where it leaves that.
	from string
	at   ForkPoint
}

// Run carries out a task and returns where it stands when it has paused or
// finished. A run that ends badly is not an error: its Result says why. An
// error means that the run could not be carried on, such as a store that
// failed; its journal is kept.
func (a *Agent) Run(ctx context.Context, task string) (*Result, error) {
	return a.Start(ctx, task).Result()
}

// Start returns a new run of the task. When ctx ends, the run finishes with
// reason cancelled, or pauses if the cause is [ErrStop].
func (a *Agent) Start(ctx context.Context, task string) *Run {
	return a.start(ctx, task, false)
}

// Chat returns a new run that stays open after each answer: it pauses with
// cause turn_done, and [Agent.Continue] goes on with the next input.
func (a *Agent) Chat(ctx context.Context, first string) *Run {
	return a.start(ctx, first, true)
}

func (a *Agent) start(ctx context.Context, task string, chat bool) *Run {
	r := &Run{agent: a, id: NewRunID(time.Now()), ctx: ctx, start: true}
	if task == "" {
		r.err = errors.New("the task is empty: say what is to be done")
		return r
	}
	if !utf8.ValidString(task) {
		r.err = errors.New("the task is not valid UTF-8 text: convert it first")
		return r
	}
	r.job = a.job(r.id)
	r.job.Input = a.task(task)
	r.job.Spec, r.err = a.spec(chat)
	return r
}

// Resume returns the existing run with that id, to be carried on where it
// stands: after a crash, a stop, an approval. The agent needs the tools and the
// model that the run was started with.
func (a *Agent) Resume(ctx context.Context, id string) *Run {
	return &Run{agent: a, id: id, ctx: ctx, job: a.job(id)}
}

// Continue is Resume with a new message to the model.
func (a *Agent) Continue(ctx context.Context, id, input string) *Run {
	r := a.Resume(ctx, id)
	if input == "" || !utf8.ValidString(input) {
		r.err = errors.New("the input is empty or not valid UTF-8 text")
	}
	r.job.Input = []message.Part{{Kind: message.Text, Text: input}}
	return r
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Events carries the run out and yields what happens, in order, until it has
// paused or finished; [Run.Result] then returns at once. Breaking off the loop
// stops the run as [Run.Stop] does. The error, if any, comes last. A run can be
// carried out only once.
func (r *Run) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, stop := context.WithCancelCause(r.ctx)
		defer stop(nil)
		open := true
		var panicked any
		show := func(e Event) {
			if !open {
				return
			}
			// A panic in the body of the loop must not be taken for one of an
			// observer: the run is stopped, and then it goes on up.
			defer func() {
				if panicked = recover(); panicked != nil {
					open = false
					stop(ErrStop)
				}
			}()
			if !yield(e, nil) {
				open = false
				stop(ErrStop)
			}
		}
		err := r.carryOut(ctx, &engine.Watch{
			Event: func(e event.Event) { show(Event{Event: e}) },
			Progress: func(run, call, tool, text string) {
				show(Event{Event: event.Event{Run: run}, Progress: &Progress{call, tool, text}})
			},
			Delta: func(run string, d model.Delta) { show(Event{Event: event.Event{Run: run}, Delta: &d}) },
		})
		if panicked != nil {
			panic(panicked)
		}
		if err != nil && open {
			yield(Event{}, err)
		}
	}
}

// Result carries the run out, unless Events has, and returns where it stands.
func (r *Run) Result() (*Result, error) {
	if r.taken.Load() {
		return r.result, r.err
	}
	err := r.carryOut(r.ctx, nil)
	return r.result, err
}

func (r *Run) carryOut(ctx context.Context, w *engine.Watch) error {
	if r.taken.Swap(true) {
		return errors.New("the run is being carried out already; use Resume to carry it on again")
	}
	if r.err != nil {
		return r.err
	}
	job := *r.job
	watch, parent, end := observed(ctx, r.id, w, r.agent.opts.Observers, r.agent.opts.Logger)
	defer end()
	job.Watch, job.Traceparent = watch, parent
	switch {
	case r.start:
		r.result, r.err = r.agent.engine.Start(ctx, &job)
	case r.from != "":
		r.result, r.err = r.fork(ctx, &job)
	default:
		r.result, r.err = r.agent.engine.Resume(ctx, &job)
	}
	return r.err
}

// Send gives the model a message, which it sees at its next step.
func (r *Run) Send(ctx context.Context, text string) error {
	return Send(ctx, r.agent.store, r.id, r.agent.opts.Secrets.Redact(text))
}

// Stop ends what the run is doing and pauses it, to be resumed later.
func (r *Run) Stop(ctx context.Context) error { return Stop(ctx, r.agent.store, r.id) }

// Pause pauses the run at its next step, to be resumed later.
func (r *Run) Pause(ctx context.Context) error {
	return Pause(ctx, r.agent.store, r.id)
}

// Approve answers an open question of the run.
func (r *Run) Approve(ctx context.Context, q engine.Question, a engine.Answer) error {
	a.By, a.Why = r.agent.opts.Secrets.Redact(a.By), r.agent.opts.Secrets.Redact(a.Why)
	return Approve(ctx, r.agent.store, q, a)
}

// Send gives the model of any run in the store a message, from any process. Of one
// that is larger than its share of the run's window the model is shown the beginning
// and the end; it can read the whole.
func Send(ctx context.Context, s journal.Store, run, text string) error {
	if text == "" || !utf8.ValidString(text) {
		return errors.New("the message is empty or not valid UTF-8 text")
	}
	d, err := local.Receive(ctx, s, run, &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: text}}})
	if err != nil {
		return fmt.Errorf("tell run %s: %w", run, err)
	}
	return post(ctx, s, run, d)
}

// Stop asks the process that carries the run out to stop and pause it.
func Stop(ctx context.Context, s journal.Store, run string) error {
	return post(ctx, s, run, &event.InputReceived{Kind: event.InputStop})
}

// Pause asks the process that carries the run out to pause it at its next step.
func Pause(ctx context.Context, s journal.Store, run string) error {
	return post(ctx, s, run, &event.InputReceived{Kind: event.InputPause})
}

// Approve answers an open question of any run in the store, from any process.
func Approve(ctx context.Context, s journal.Store, q engine.Question, a engine.Answer) error {
	return post(ctx, s, q.Run, &event.ApprovalGiven{Call: q.Call, Decision: a.Decision, Hash: q.Hash, By: a.By, Why: a.Why})
}

func post(ctx context.Context, s journal.Store, run string, d event.Data) error {
	if _, err := s.Post(ctx, run, journal.Entry{Time: time.Now().UnixMilli(), Data: d}); err != nil {
		return fmt.Errorf("tell run %s: %w", run, err)
	}
	return nil
}

// Undo takes back what the calls of a run did in the steps after step to, the last
// first, as far as their tools can; 0 takes everything back. Each is put before
// the agent's Approve, without which nothing is taken back. The run must not be
// carried out meanwhile; its journal and its model are told. What became of each
// call that may have changed something is returned, also beside an error, which
// means that the journal could not be read or written.
func (a *Agent) Undo(ctx context.Context, run string, to int64) ([]engine.Undone, error) {
	return a.engine.Undo(ctx, &engine.UndoJob{Run: run, To: to, Tools: a.registry, Approve: a.opts.Approve})
}
