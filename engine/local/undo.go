package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/internal/cut"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// before is where tools keep what was there before their calls.
func (e *Engine) before() tool.Body {
	return tool.Body{
		Keep: func(ctx context.Context, body []byte, mediaType string) (message.Ref, error) {
			return e.store.PutBody(ctx, body, mediaType)
		},
		Kept: e.store.Body,
	}
}

// Undo takes back what the calls of a run did after a step, as far as their tools
// can, the last first. Each is judged by the permissions for its tool and put
// before job.Approve; what was done, or not, is written into the run's journal,
// and the model of a run that goes on is told. The run must not be carried out
// meanwhile. An error means that the journal could not be read or written; what
// was taken back until then is returned with it.
func (e *Engine) Undo(ctx context.Context, job *engine.UndoJob) ([]engine.Undone, error) {
	if job.Tools == nil {
		return nil, fmt.Errorf("undo calls of run %s: set UndoJob.Tools to the run's tools", job.Run)
	}
	a, err := e.enter(ctx, &engine.Job{Run: job.Run, Tools: job.Tools})
	if err != nil {
		return nil, err
	}
	defer e.leave(a)
	if _, err := e.store.Claim(ctx, e.lease, job.Run); err != nil {
		return nil, err
	}
	a.owned = true
	u := &undoing{actor: a, job: job, ctx: ctx}
	out, err := u.all()
	if perr := a.park(); err == nil {
		err = perr
	}
	if err != nil {
		err = fmt.Errorf("undo calls of run %s: %w", job.Run, err)
	}
	return out, err
}

// undoing is the taking back of a run's calls.
type undoing struct {
	*actor
	job    *engine.UndoJob
	ctx    context.Context
	policy *guard.Policy
	done   []string // what the model is told
}

func (u *undoing) all() (out []engine.Undone, err error) {
	var acts loop.Acts
	if err := u.fold(acts.Add); err != nil {
		return nil, err
	}
	if u.policy, err = guard.New(u.m.Spec().Permissions); err != nil {
		return nil, err
	}
	for _, act := range acts.After(u.job.To) {
		if act.Undone || act.Outcome != nil && act.Outcome.NoEffect {
			continue // there is nothing to take back
		}
		r, err := u.one(act)
		out = append(out, r)
		if err != nil {
			return out, err
		}
	}
	return out, u.tell()
}

// one takes one call back, or says why not.
func (u *undoing) one(act *loop.Act) (engine.Undone, error) {
	r := engine.Undone{Call: act.Call, Tool: act.Tool, Step: act.Step, Args: act.Args}
	end := func(status engine.UndoStatus, why string) (engine.Undone, error) {
		r.Status, r.Why = status, why
		return r, nil
	}
	t, _ := u.job.Tools.Get(act.Tool).(tool.Undoer)
	spec := toolSpec(u.m.Spec(), act.Tool)
	switch {
	case spec == nil || u.job.Tools.Get(act.Tool) == nil:
		return end(engine.UndoImpossible, "the agent has no tool of that name any more")
	case act.Run != "":
		return end(engine.UndoImpossible, "the agent "+spec.Agent+" has carried it out: undo what the calls of its own run have done, which is "+act.Run)
	case t == nil:
		return end(engine.UndoImpossible, "the tool has no way to take a call back")
	case act.Args == nil:
		return end(engine.UndoImpossible, "its arguments are not known any more")
	}
	judged := u.policy.Judge(*spec)
	if judged.Verdict != event.Allow && judged.Verdict != event.Ask {
		return end(engine.UndoRefused, judged.Why)
	}
	id := u.name(act)
	allowed, why, err := u.approved(act, spec, id)
	switch {
	case err != nil:
		return r, err
	case allowed == "":
		return end(engine.UndoOpen, "nobody has said that it may be taken back")
	case allowed != event.Approved:
		return end(engine.UndoRefused, why)
	}
	r.Status, r.Why, err = u.carryBack(t, spec, act, id)
	return r, err
}

// name returns the id of the call that takes one back: what it is to be called in
// the journal.
func (u *undoing) name(act *loop.Act) string {
	return act.Call + "~undo" + strconv.FormatInt(u.m.Seq()+1, 10)
}

// approved asks whether a call may be taken back, and writes question and answer
// down. An empty decision: nobody has answered.
func (u *undoing) approved(act *loop.Act, spec *event.ToolSpec, id string) (event.Decision, string, error) {
	hash := guard.ApprovalHash(*spec, act.Args)
	q := engine.Question{Run: u.job.Run, Call: id, Tool: act.Tool, Args: act.Args, Hash: hash,
		Why: "take back what call " + act.Call + " of step " + strconv.FormatInt(act.Step, 10) + " did with these arguments"}
	if u.job.Approve == nil {
		return "", "", nil
	}
	answer, ok := u.job.Approve(u.ctx, q)
	if !ok || answer.Decision != event.Approved && answer.Decision != event.Rejected {
		return "", "", nil
	}
	u.stamp()
	err := u.keep(&event.ApprovalAsked{ID: id, Call: id, Tool: act.Tool, Hash: hash, Why: q.Why})
	if err == nil {
		err = u.keep(u.e.admit(u.ctx, &event.ApprovalGiven{Call: id, Decision: answer.Decision, Hash: hash, By: answer.By, Why: answer.Why}))
	}
	if err == nil {
		err = u.book.flush(u.actor.ctx)
	}
	return answer.Decision, answer.Why, err
}

func (u *undoing) stamp() { u.book.now = u.e.clock().UnixMilli() }

// carryBack has the tool take a call back, between an intent and an outcome like
// those of any call.
func (u *undoing) carryBack(t tool.Undoer, spec *event.ToolSpec, act *loop.Act, id string) (engine.UndoStatus, string, error) {
	u.stamp()
	key := act.Key + "-undo"
	start := &event.ToolStarted{ID: id, Call: id, Tool: act.Tool, Effect: act.Effect, ArgsHash: act.Hash, Key: key, Attempt: 1, Undoes: act.Call}
	if err := u.keep(start); err != nil {
		return "", "", err
	}
	if err := u.book.flush(u.actor.ctx); err != nil {
		return "", "", err
	}
	began := time.Now()
	limit := time.Duration(spec.Timeout) * time.Millisecond
	if limit <= 0 {
		limit = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(u.ctx, limit)
	defer cancel()
	err := u.call(ctx, t, act, key)
	status, d := u.outcome(act, id, err)
	d.Latency = time.Since(began).Milliseconds()
	if status == engine.UndoDone {
		u.done = append(u.done, act.Tool+" "+clipped(act.Args))
	}
	u.stamp()
	if err := u.keep(u.e.admit(u.ctx, d)); err != nil {
		return status, d.ErrorMessage, err
	}
	return status, d.ErrorMessage, u.book.flush(u.actor.ctx)
}

// call runs the tool's undo, whose panic is its own affair.
func (u *undoing) call(ctx context.Context, t tool.Undoer, act *loop.Act, key string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			u.panicked("undo of tool "+act.Tool, p)
			err = errors.New("the tool failed inside")
		}
	}()
	return t.Undo(ctx, &tool.Call{Run: u.job.Run, ID: act.Call, Args: u.e.secrets.RevealJSON(act.Args), Key: key,
		Attempt: int(act.Attempt), Before: u.e.before()}, act.Outcome)
}

// outcome is what is written down of an undo.
func (u *undoing) outcome(act *loop.Act, id string, err error) (engine.UndoStatus, *event.ToolFinished) {
	d := &event.ToolFinished{ID: id, Call: id, Tool: act.Tool, Status: event.StatusSuccess, Undoes: act.Call}
	if err == nil {
		d.Parts = tool.Text("taken back").Parts
		if act.Outcome != nil {
			// Whatever it is now, it is not what that call left.
			for _, s := range act.Outcome.Seen {
				d.Seen = append(d.Seen, event.Seen{Resource: s.Resource, Gone: true})
			}
		}
		return engine.UndoDone, d
	}
	e := tool.ErrorOf(err)
	d.Status, d.ErrorType, d.ErrorMessage, d.NoEffect = event.StatusError, e.Type, e.Message, e.NoEffect
	d.Parts = tool.Text(tool.ErrorText(e)).Parts
	if e.Type == tool.TypeCannotUndo {
		return engine.UndoImpossible, d
	}
	return engine.UndoFailed, d
}

// tell tells the model of a run that goes on what was taken back.
func (u *undoing) tell() error {
	if len(u.done) == 0 || u.m.Status().Status == "finished" {
		return nil
	}
	slices.Reverse(u.done)
	u.stamp()
	n := loop.UndoneNotice("The user has taken back what these calls did: " + strings.Join(u.done, "; ") +
		". Things are as they were before them; read what you need again, and do not do it again unless you are asked to.")
	if err := u.keep(u.e.admit(u.ctx, n)); err != nil {
		return err
	}
	return u.book.flush(u.actor.ctx)
}

// clipped shortens arguments for a sentence.
func clipped(args jsontext.Value) string {
	const most = 120
	text := string(args)
	if len(text) <= most {
		return text
	}
	return text[:cut.Down(text, most)] + "…"
}
