package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
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

// rested returns what came of the run of an agent that has come to rest without an
// end: nothing, unless it is given up.
func (a *actor) rested(f *flight, c *loop.StartRun, err error) event.Data {
	if err != nil {
		f.below.why = err.Error()
	}
	if cause := f.ctx.Err(); cause == errCalledOff || cause == errOverdue {
		return a.e.admit(a.ctx, a.failed(f, asTool(c), a.givenUpBelow(f, c), alive))
	}
	return nil
}

// abandonedBelow returns the outcome of a call of an agent whose run does not come to
// rest: nothing, if it is to be resumed.
func (a *actor) abandonedBelow(f *flight, c *loop.StartRun) event.Data {
	if f.ctx.Err() == engine.ErrStop {
		return nil
	}
	e := &tool.Error{Type: tool.TypeAbandoned, Unknown: c.Effect.Writes(),
		Message: "run " + c.Run + " of the agent " + c.Agent + " does not come to its end: what it still does is not waited for"}
	return a.e.admit(a.ctx, a.failed(f, asTool(c), e, alive))
}

// givenUpBelow returns the error of a call of an agent whose run is no longer waited
// for.
func (a *actor) givenUpBelow(f *flight, c *loop.StartRun) *tool.Error {
	e := &tool.Error{Type: "agent_cancelled", Message: "run " + c.Run + " of the agent " + c.Agent + " was given up: the run was cancelled", NoEffect: !f.below.begun}
	e.Unknown = !e.NoEffect && c.Effect.Writes()
	if f.ctx.Err() == errOverdue {
		e.Type, e.Message = "agent_time_limit", "run "+c.Run+" of the agent "+c.Agent+" was given up: "+errOverdue.Error()
	}
	if f.below.why != "" {
		e.Message += " (" + f.below.why + ")"
	}
	return e
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

// endBelow returns the outcome of a call whose run has finished.
func (a *actor) endBelow(f *flight, c *loop.StartRun, child *actor, res *engine.Result) *event.ToolFinished {
	spent := child.m.Spent()
	said := tool.Result{Value: res.Value}
	if len(res.Value) == 0 {
		said = *tool.Text(partial(child.m, res))
	}
	about := fmt.Sprintf("run %s of the agent %s: %s", c.Run, c.Agent, res.Reason)
	used := fmt.Sprintf("%s, %s", plural(spent.Steps, "step"), plural(spent.ToolCalls, "tool call"))
	var d *event.ToolFinished
	if res.OK {
		d = a.succeeded(f, asTool(c), &said)
		line := tool.Notice(about + ", ok, " + used)
		if len(d.Parts) > 0 && d.Parts[0].Kind == message.Text && d.Parts[0].Ref == nil {
			d.Parts[0].Text = line + "\n" + d.Parts[0].Text
		} else {
			d.Parts = append([]message.Part{{Kind: message.Text, Text: line}}, d.Parts...)
		}
		d.Size, d.Shown = d.Size+int64(len(line))+1, d.Shown+int64(len(line))+1
	} else {
		e := a.badEnd(f, child, res)
		e.Message = about + ", not ok, " + used + "; " + e.Message
		if text := partial(child.m, res); text != "" || len(res.Value) > 0 {
			e.Message += "; what it has come to stands below"
			e.Result = &said
		}
		d = a.failed(f, asTool(c), e, alive)
	}
	d.Spent = &spent
	return d
}

// partial returns the answer of a run or, if it has none, what its model has said
// last.
func partial(m *loop.Machine, res *engine.Result) string {
	if res.Answer != "" {
		return res.Answer
	}
	h := m.History()
	for i := h.Len() - 1; i >= 0; i-- {
		if msg := h.At(i).Message; msg.Role == message.Assistant {
			if text := strings.TrimSpace(msg.PlainText()); text != "" {
				return text
			}
		}
	}
	return ""
}

// badEnd returns the error of a call whose run has ended badly, with what to do.
func (a *actor) badEnd(f *flight, child *actor, res *engine.Result) *tool.Error {
	reason := res.Reason
	if f.ctx.Err() == errOverdue {
		reason = event.ReasonTimeLimit
	}
	e := &tool.Error{Type: "agent_" + string(reason), Message: res.Detail, NoEffect: !child.m.Wrote()}
	if e.Message == "" {
		e.Message = "it has not done what it was asked for"
	}
	switch reason {
	case event.ReasonStepLimit, event.ReasonToolLimit, event.ReasonTokenLimit, event.ReasonCostLimit, event.ReasonTimeLimit, event.ReasonContextOverflow:
		e.Hint = "use what it has come to; for the rest give it a smaller task, or do it by yourself"
	case event.ReasonRefused, event.ReasonDenied:
		e.Hint = "do not ask it for the same again; do it in another way, or say that it was refused"
	case event.ReasonModelError, event.ReasonInternalError:
		e.Hint = "go on without it, or call it again later"
		e.Retryable = e.NoEffect
	case event.ReasonCancelled:
		e.Hint = "go on without it"
	default:
		e.Hint = "give it another task, in other words, or do it by yourself"
	}
	return e
}

// tellBelow passes on to the run of an agent what the machine wants of it.
func (a *actor) tellBelow(f *flight, c *loop.StartRun) {
	b := f.below
	switch {
	case b == nil:
	case c.Cancel && f.open:
		f = a.again(f) // it has paused, and has to finish
		f.ctx.end(errCalledOff)
		a.fly(f)
		a.end(f, errCalledOff)
	case c.Cancel:
		a.end(f, errCalledOff)
	case c.Stop:
		a.end(f, engine.ErrStop)
	case c.Pause && !f.open:
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.pause && b.child != nil {
			b.child.box.tell(wished)
		}
		b.pause = true
	}
}

// again returns a flight like one that has come to rest, in its place.
func (a *actor) again(f *flight) *flight {
	b := f.below
	n := &flight{cmd: f.cmd, id: f.id, rests: f.rests, pass: f.pass, limit: f.limit, spec: f.spec, pages: f.pages, kin: f.kin,
		below: &below{job: b.job, err: b.err, seq: math.MaxInt64}}
	if b.job != nil {
		job := *b.job
		job.Watch, n.below.job = a.watchBelow(n.below), &job
	}
	for i := range a.flights {
		if a.flights[i] == f {
			a.flights[i] = n
		}
	}
	return n
}

// restBelow stops the runs of agents, to be resumed with this run, and reports
// whether one has not come to rest yet.
func (a *actor) restBelow() (busy bool) {
	for _, f := range a.flights {
		if f.below != nil && f.flies() {
			a.end(f, engine.ErrStop)
			busy = true
		}
	}
	return busy
}

// pausing reports whether the machine has decided to pause.
func pausing(data []event.Data) bool {
	for _, d := range data {
		if _, ok := d.(*event.RunPaused); ok {
			return true
		}
	}
	return false
}

// moved takes up the runs of agents again that have come to rest and to which
// something was said since, such as an answer to what they had asked. It reports
// whether there was one.
func (a *actor) moved() (found bool) {
	for _, f := range a.flights {
		if f.below == nil || !f.open || f.dropped || f.state.Load() == left {
			continue
		}
		head, err := a.e.store.Head(a.ctx, f.cmd.(*loop.StartRun).Run)
		if err == nil && head.Seq > f.below.seq {
			a.fly(a.again(f))
			found = true
		}
	}
	return found
}

// waitsBelow completes a pause with what the runs of agents wait for.
func (a *actor) waitsBelow(p *event.RunPaused) {
	var why []string
	for _, f := range a.flights {
		if f.below == nil || f.dropped {
			continue
		}
		c := f.cmd.(*loop.StartRun)
		cause, what := a.restsFor(f)
		if rank(cause) > rank(p.Cause) {
			p.Cause = cause
		}
		why = append(why, fmt.Sprintf("run %s of the agent %s, for call %s: %s", c.Run, c.Agent, c.Call, what))
	}
	p.Why = a.e.redact(strings.Join(why, "; "))
}

// restsFor says why the run of an agent rests.
func (a *actor) restsFor(f *flight) (cause event.Cause, why string) {
	b := f.below
	switch {
	case f.state.Load() == left: // what it has noted is still its goroutine's
		return event.CauseInterrupted, "it was told to stop, and does not"
	case b.rest != nil && b.rest.Status == "paused":
		a.questions = append(a.questions, b.rest.Pending...)
		return b.rest.Cause, "it has paused (" + string(b.rest.Cause) + ")"
	case b.why != "":
		return event.CauseInterrupted, b.why
	}
	return event.CauseInterrupted, "it was stopped"
}

// rank orders the causes of pauses: whoever is asked for words is asked for most.
func rank(c event.Cause) int {
	switch c {
	case event.CauseWaitingInput:
		return 3
	case event.CauseWaitingApproval:
		return 2
	case "":
		return 0
	}
	return 1
}

// listenBelow shows what has happened in the runs of agents.
func (a *actor) listenBelow(f *flight) {
	for _, show := range f.below.mail.take() {
		show(a.watch)
	}
}

// patienceFor is how long a flight may go on after its context has ended.
func (a *actor) patienceFor(f *flight) time.Duration {
	if f.below == nil {
		return patience
	}
	return time.Duration(max(maxDepth-a.depth, 1)) * agentPatience
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
