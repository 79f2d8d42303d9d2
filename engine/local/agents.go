package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// A call of a tool that is an agent is carried out by a run of its own, in this
// engine and store, by an actor on the flight's goroutine. It is an ordinary run
// with an ordinary journal; what it shares with the run that called it is in tree.
// Its last event is what ends the call, not the end of what its tools may have left
// behind.

const (
	// maxDepth is how deep agents may call agents below the run at the top.
	maxDepth = 5
	// agentWall bounds the run of an agent where no limit does, so that nobody waits
	// for it for ever: the time of the default limits.
	agentWall = 30 * time.Minute
	// agentEnd is how long the run of an agent may take, after its time is over, for
	// what is under way and its last answer. Then it is cancelled.
	agentEnd = 2 * time.Minute
	// agentPatience is how long the run of an agent may take to pause or finish after
	// it was told to, for each run that there may be below it. The run at the top has
	// the grace of 2 s for all of them.
	agentPatience = 300 * time.Millisecond
)

// Why the run of an agent is ended from above; it is resumed after none of them.
var (
	errCalledOff = errors.New("the run that called this agent was cancelled")
	errOverdue   = errors.New("its time was over, and it did not come to its end by itself")
)

// below is the run that carries out a call of an agent, as the actor sees it that
// has the call.
type below struct {
	job *engine.Job
	// err says why there is no job for a run that had begun before.
	err  error
	mail letters

	mu    sync.Mutex
	child *actor // while it is carried out
	pause bool   // it is to pause at its next step

	// How it has come to rest without an end: where it stands, nil if that is not
	// known, the end of its journal then, and why it rests where that is not its
	// pause. Of the flight's goroutine, then of the actor.
	rest  *engine.Result
	seq   int64
	why   string
	begun bool
}

// letters take what is to be shown of a run up to the actor of the run that called
// it.
type letters struct {
	mu   sync.Mutex
	list []func(watcher)
}

// watchBelow returns what shows a run to whoever watches this one.
func (a *actor) watchBelow(b *below) *engine.Watch {
	post := func(show func(watcher)) {
		b.mail.mu.Lock()
		b.mail.list = append(b.mail.list, show)
		b.mail.mu.Unlock()
		a.box.tell(heard)
	}
	w := &engine.Watch{Context: a.watch.w.Context}
	if a.watch.w.Event != nil {
		w.Event = func(ev event.Event) { post(func(w watcher) { w.event(&ev) }) }
	}
	if a.watch.w.Progress != nil {
		w.Progress = func(run, call, tool, text string) { post(func(w watcher) { w.progress(run, call, tool, text) }) }
	}
	if a.watch.hears() {
		w.Delta = func(run string, d model.Delta) { post(func(w watcher) { w.delta(run, d) }) }
	}
	return w
}

// take returns what was posted since the last time.
func (l *letters) take() []func(watcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// prepareBelow makes a flight of a call of an agent, and returns the intent to
// write down first, or the outcome where it is known already.
func (a *actor) prepareBelow(f *flight, c *loop.StartRun) (intent, already event.Data) {
	f.spec, f.pages = toolSpec(a.m.Spec(), c.Tool), pages(a.m.Spec())
	refuse := func(e *tool.Error) event.Data { return a.e.admit(a.ctx, a.failed(f, asTool(c), e, alive)) }
	switch {
	case c.Cancel:
		return nil, refuse(&tool.Error{Type: "agent_cancelled", Message: "the call was given up before it began", NoEffect: c.Attempt == 1})
	case a.depth >= maxDepth:
		return nil, refuse(&tool.Error{Type: "agent_depth", NoEffect: true,
			Message: fmt.Sprintf("the call was not begun: agents may call agents at most %d deep, and this run is as deep as that", maxDepth),
			Hint:    "do it by yourself, without another agent"})
	}
	b := &below{seq: math.MaxInt64}
	if b.job, b.err = a.agentJob(c, b); b.err != nil && c.Attempt == 1 {
		return nil, refuse(&tool.Error{Type: "agent_unavailable", NoEffect: true, Message: "the agent cannot be asked: " + b.err.Error(),
			Hint: "do it by yourself, or say that it could not be done"})
	}
	if c.Effect == event.Once {
		f.elsewhere = a.tree.claim(c.Key, a.job.Run)
	}
	f.kin = a.kinOf()
	f.below, f.needs, f.limit = b, synced, agentWall+agentEnd
	if b.job != nil {
		f.limit = time.Duration(b.job.Spec.Limits.Wall)*time.Millisecond + agentEnd
	}
	return &event.ToolStarted{ID: c.ID, Call: c.Call, Tool: c.Tool, Effect: c.Effect, ArgsHash: c.ArgsHash, Key: c.Key, Attempt: c.Attempt, Run: c.Run}, nil
}

// asTool returns a call of an agent as that of a tool, for what all results have in
// common.
func asTool(c *loop.StartRun) *loop.RunTool {
	return &loop.RunTool{ID: c.ID, Call: c.Call, Tool: c.Tool, Args: c.Args, ArgsHash: c.ArgsHash, Effect: c.Effect, Key: c.Key, Attempt: 1}
}

// agentJob returns what the run of an agent needs.
func (a *actor) agentJob(c *loop.StartRun, b *below) (_ *engine.Job, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.panicked("the maker of agent "+c.Agent, p)
			err = errPanic
		}
	}()
	if a.job.Agent == nil {
		return nil, errors.New("the program that carries the run out has no agents")
	}
	made, err := a.job.Agent(c.Tool, c.Args)
	if err == nil && (made == nil || made.Spec == nil) {
		err = fmt.Errorf("there is no agent for the tool %s", c.Tool)
	}
	if err != nil {
		return nil, err
	}
	job, spec := *made, *made.Spec
	if spec.Limits = spec.Limits.Within(c.Limits); spec.Limits.Wall == 0 {
		spec.Limits.Wall = agentWall.Milliseconds()
	}
	job.Run, job.Spec, job.Approve, job.Watch = c.Run, &spec, a.job.Approve, a.watchBelow(b)
	return &job, nil
}

// carryBelow carries out the run of an agent; it runs on the flight's goroutine. It
// returns nothing if that run has come to rest without an end.
func (a *actor) carryBelow(f *flight, c *loop.StartRun) event.Data {
	b := f.below
	if b.err != nil {
		return a.rested(f, c, b.err)
	}
	if f.elsewhere {
		if d := a.elsewhere(f, asTool(c), true); d != nil {
			return d
		}
	} else if c.Effect == event.Once {
		a.tree.begun(c.Key, a.job.Run)
	}
	if d := a.inFamily(f, asTool(c), false); d != nil {
		return d
	}
	child, err := a.e.join(&f.ctx, b.job)
	if err != nil {
		return a.rested(f, c, err)
	}
	defer a.e.leave(child)
	child.depth, child.tree = a.depth+1, a.tree
	child.origin = &event.RunStarted{Root: c.Root, Parent: a.job.Run, Call: c.Call}
	b.mu.Lock()
	b.child = child
	if b.pause {
		child.box.tell(wished)
	}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.child = nil
		b.mu.Unlock()
	}()

	res, err := child.carryOut(child.beginBelow)
	if err == nil && res.Status == "finished" {
		d := a.endBelow(f, c, child, res)
		d.Latency = time.Since(f.begun).Milliseconds()
		return a.e.admit(a.ctx, d)
	}
	if b.rest = res; err == nil {
		b.seq = child.m.Seq()
	}
	if err != nil && child.m.Seq() == 0 && c.Attempt == 1 && f.ctx.Err() == nil {
		d := a.failed(f, asTool(c), &tool.Error{Type: "agent_unavailable", Message: err.Error(), NoEffect: true,
			Hint: "do it by yourself, or say that it could not be done"}, alive)
		return a.e.admit(a.ctx, d)
	}
	b.begun = c.Attempt > 1 || child.m.Seq() > 0
	return a.rested(f, c, err)
}

// beginBelow begins the run of an agent, or takes it up again.
func (a *actor) beginBelow() error {
	head, err := a.e.store.Head(a.ctx, a.job.Run)
	switch {
	case missing(err):
		if err = a.mayBegin(); err == nil {
			err = a.begin()
		}
	case err != nil:
		return err
	case head.Seq == 0: // whoever made the journal died before it began
		err = a.beginAgain(nil)
	default:
		err = a.takeUp()
	}
	if err == nil && a.halted.Err() != nil {
		return a.interrupt() // before anything else is begun
	}
	return err
}

// beginAgain begins a run of which there is a journal without any event, but for half
// of the first one as the error says.
func (a *actor) beginAgain(half error) error {
	if _, err := a.e.store.Claim(a.ctx, a.e.lease, a.job.Run); err != nil {
		return err
	}
	if a.owned = true; half != nil && !a.repaired(half) {
		return half
	}
	if err := a.mayBegin(); err != nil {
		return err
	}
	return a.begin()
}

// mayBegin returns why a run that has not begun cannot, or need not any more.
func (a *actor) mayBegin() error {
	if a.halted.Err() != nil {
		return context.Cause(a.halted)
	}
	return check(a.job, a.job.Spec)
}

// takeUp takes over the run of an agent that has begun before, if it is the one that
// carries out this call.
func (a *actor) takeUp() error {
	d, err := a.e.started(a.ctx, a.job.Run)
	if torn(err) {
		return a.beginAgain(err)
	}
	if err != nil {
		return err
	}
	if d.Call != a.origin.Call || d.Root != a.origin.Root {
		return fmt.Errorf("the run %s, which would carry out the call %s, is another one: it carries out %q of run %q", a.job.Run, a.origin.Call, d.Call, d.Parent)
	}
	if err := check(a.job, &d.Spec); err != nil {
		return err
	}
	return a.takeOver()
}
