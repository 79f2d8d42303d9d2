package local

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// flight is a command that was started and has no outcome yet.
type flight struct {
	cmd loop.Command
	id  string
	// rests is the sequence of the event that says so; see entry.
	rests int64
	pass  int64 // the last pass in which the machine asked for it
	needs need

	ctx   callCtx
	begun time.Time
	limit time.Duration // of the context, 0 for none
	state atomic.Int32
	// due is when the actor must look at it: a timer fires, or a goroutine has
	// had its time. Zero is never.
	due time.Time
	// ended: its context has ended, and soon nobody waits for it any more.
	ended bool
	// dropped: nobody wants it any more; what comes of it is nothing.
	dropped bool
	// open: the question was put to nobody, or not answered.
	open bool
	// queued: the question is durable, and put when those before it are settled;
	// more is how many were queued behind it when it was put.
	queued bool
	more   int
	run    *event.Spec // of the run, for a question or a retrieval

	// Of a tool. pages: whole results can be read; had are those that the run has
	// had so far, history is what was said.
	// said is what it says of its progress, if anybody watches.
	said    *said
	tool    tool.Tool
	spec    *event.ToolSpec
	pages   bool
	had     []*event.ToolFinished
	history loop.History

	// elsewhere: another run of the tree has begun the same act; see tree.
	elsewhere bool
	kin       kin

	// Of a call of an agent.
	below *below

	// Of a model call.
	client  model.Client
	request model.Request
	ear     *ear
}

// need says what must have happened to the intent before a flight may begin.
type need uint8

const (
	nothing  need = iota // it has begun, or never begins
	intended             // it is written down
	handed               // the store has it
	synced               // it is durable
)

// States of a flight's goroutine. From flying it becomes landed by itself, or
// left by the actor, whichever is first.
const (
	grounded int32 = iota // there is none
	flying
	landed
	left
)

// outcome is what came of a flight. Nil data: nothing, such as no answer.
type outcome struct {
	f    *flight
	data event.Data
}

// find returns the flight of a command, or nil.
func (a *actor) find(id string) *flight {
	for _, f := range a.flights {
		if f.id == id && !f.dropped {
			return f
		}
	}
	return nil
}

// fly carries a command out on a goroutine of its own. Its outcome comes to the
// actor, unless it takes longer than the actor waits.
func (a *actor) fly(f *flight) {
	f.needs, f.queued = nothing, false
	f.ctx.values, f.begun = a.values, a.at
	if a.watch.w.Context != nil {
		f.ctx.values = a.contextOf(f)
	}
	if f.limit > 0 {
		f.ctx.deadline = a.at.Add(f.limit)
		f.due = f.ctx.deadline
	}
	f.state.Store(flying)
	select {
	case a.work <- f:
	default:
		go a.worker(f)
	}
}

// contextOf returns what the context of a call has from those who observe the run.
func (a *actor) contextOf(f *flight) context.Context {
	switch f.cmd.(type) {
	case *loop.CallModel:
		return a.watch.context(a.values, a.job.Run, f.rests, event.TypeModelCalled)
	case *loop.RunTool, *loop.StartRun:
		return a.watch.context(a.values, a.job.Run, f.rests, event.TypeToolStarted)
	}
	return a.values
}

// worker carries a flight out, and waits for the next one: a goroutine is cheap,
// but its stack has to grow each time. One at most waits.
func (a *actor) worker(f *flight) {
	for {
		a.carry(f)
		if a.idle.Add(1) > 1 {
			a.idle.Add(-1)
			return
		}
		select {
		case f = <-a.work:
			a.idle.Add(-1)
		case <-a.ctx.Done():
			return
		}
	}
}

// carry carries a flight out, and brings its outcome to the actor.
func (a *actor) carry(f *flight) {
	var data event.Data
	whole := false
	defer func() {
		if !whole { // a panic, or the goroutine was made to exit
			data = a.broken(f, recover())
		}
		f.ctx.end(context.Canceled)
		if f.state.CompareAndSwap(flying, landed) {
			a.box.put(outcome{f, data})
			return
		}
		a.log.Info("a goroutine that was left behind has ended", slog.Int64("left", a.e.left.add(f, -1)))
	}()
	switch c := f.cmd.(type) {
	case *loop.CallModel:
		data = a.asker.call(f)
	case *loop.RunTool:
		data = a.execute(f, c)
	case *loop.StartRun:
		data = a.carryBelow(f, c)
	case *loop.AskApproval:
		data = a.ask(f, c)
	case *loop.Retrieve:
		data = a.retrieve(f, c)
	}
	whole = true
}

// broken returns the outcome of a flight whose code panicked with p.
func (a *actor) broken(f *flight, p any) event.Data {
	a.panicked(f.what(), p)
	switch c := f.cmd.(type) {
	case *loop.RunTool:
		return a.e.admit(a.ctx, a.failed(f, c, errPanic, panicked))
	case *loop.StartRun:
		return a.e.admit(a.ctx, a.failed(f, asTool(c), &tool.Error{Type: "agent_internal_error", Message: errPanic.Error(), Unknown: true}, alive))
	case *loop.CallModel:
		return modelPanic(c)
	case *loop.Retrieve:
		return &event.MaterialRetrieved{ID: c.ID, Error: "the retriever failed inside: " + errPanic.Error()}
	}
	return nil
}

// abandoned returns the outcome of a flight whose goroutine was left behind.
func (a *actor) abandoned(f *flight) event.Data {
	switch c := f.cmd.(type) {
	case *loop.RunTool:
		d := a.failed(f, c, errLeft, endOf(&f.ctx))
		d.Latency = a.at.Sub(f.begun).Milliseconds()
		return a.e.admit(a.ctx, d)
	case *loop.StartRun:
		return a.abandonedBelow(f, c)
	case *loop.CallModel:
		return &event.ModelFailed{ID: c.ID, Class: event.ClassCancelled, Message: "the call was given up because the run was stopped"}
	case *loop.Retrieve:
		return &event.MaterialRetrieved{ID: c.ID, Error: fmt.Sprintf("the retriever did not end within %v, and takes no notice of that: what it still does is not waited for", retrieveTime)}
	}
	return nil
}

// panicked reports a panic in somebody else's code.
func (a *actor) panicked(who string, p any) {
	a.log.Error(who+" panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
}

// end ends a flight's context for the reason err, and gives its goroutine a
// last moment.
func (a *actor) end(f *flight, err error) {
	if f.ended {
		return
	}
	f.ended = true
	if f.flies() {
		f.ctx.end(err)
		f.due = a.at.Add(a.patienceFor(f))
	}
}

// drop makes the actor forget a flight, and wait no longer than it must for its
// goroutine.
func (a *actor) drop(f *flight) {
	f.dropped, f.needs, f.queued = true, nothing, false
	if f.below != nil {
		a.end(f, engine.ErrStop) // it can be resumed, as this run can
		return
	}
	a.end(f, context.Canceled)
}

// sweep takes the dropped flights off the list that have no goroutine.
func (a *actor) sweep() {
	kept := a.flights[:0]
	for _, f := range a.flights {
		if !f.dropped || f.flies() {
			kept = append(kept, f)
		}
	}
	clear(a.flights[len(kept):])
	a.flights = kept
}

// flies reports whether an outcome of its goroutine is still to come.
func (f *flight) flies() bool { s := f.state.Load(); return s == flying || s == landed }

// remove takes a flight off the list.
func (a *actor) remove(f *flight) {
	f.state.Store(grounded)
	f.dropped = true
	a.sweep()
}

// leave gives up waiting for a flight's goroutine, unless it has ended.
func (a *actor) leave(f *flight) bool {
	if !f.state.CompareAndSwap(flying, left) {
		return false
	}
	a.log.Warn(f.what()+" ignores the end of its context: its goroutine was left behind, and what it still does is not waited for",
		slog.String("command", f.id), slog.Int64("left", a.e.left.add(f, 1)))
	return true
}

// what names the flight for people.
func (f *flight) what() string {
	switch c := f.cmd.(type) {
	case *loop.CallModel:
		return "the client of model " + c.Model
	case *loop.RunTool:
		return "tool " + c.Tool
	case *loop.StartRun:
		return "run " + c.Run + " of agent " + c.Agent
	case *loop.AskApproval:
		return "the approver"
	case *loop.Retrieve:
		return "the retriever"
	}
	return "a command"
}

// land ends everything that is in flight, at the end of the actor's work.
func (a *actor) land() {
	a.at = time.Now()
	for _, f := range a.flights {
		a.drop(f)
	}
	most := patience
	for _, f := range a.flights {
		most = max(most, a.patienceFor(f))
	}
	end := a.at.Add(most)
	a.timer.Reset(most)
	for a.sweep(); len(a.flights) > 0; a.sweep() {
		a.receive()
		if a.at.Before(end) {
			continue
		}
		for _, f := range a.flights {
			a.leave(f)
		}
	}
}
