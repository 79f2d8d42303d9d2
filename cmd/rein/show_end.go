package main

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/schema"
)

// ending is where a run stands, as far as its last events say: what people see above
// and below a page of it. A machine that folds the whole run says the same, and takes
// as long as the run is.
type ending struct {
	// last is the last step that a model was called for, 0 if none of these events
	// says it.
	last   int64
	end    *event.RunFinished
	cause  event.Cause
	answer string
	state  jsontext.Value
	open   []loop.Pending // the questions that wait for a person
	below  []loop.Below   // the runs of agents that have not ended
	args   map[string]string
	// damaged says where the journal stops being sound, nil if it doesn't.
	damaged *damage
}

func (t *ending) add(e *event.Event) {
	if t.end != nil {
		return
	}
	switch d := e.Data.(type) {
	case *event.ContextAssembled:
		t.last = max(t.last, d.Step)
	case *event.ModelCalled:
		t.last = max(t.last, d.Step)
	case *event.ModelAnswered:
		t.answer = d.Message.PlainText()
	case *event.ReplyParsed:
		t.parsed(d)
	case *event.CallJudged:
		if d.Args != "" {
			t.args[d.Call] = d.Args
		}
	case *event.ApprovalAsked:
		t.answered(d.Call)
		t.open = append(t.open, loop.Pending{Call: d.Call, Tool: d.Tool, Args: canonical(t.args[d.Call]), Hash: d.Hash, Settle: d.Settle, Words: d.Words, Why: d.Why})
	case *event.ApprovalGiven:
		t.answered(d.Call)
	case *event.ToolStarted:
		if d.Run != "" {
			t.below = append(t.below, loop.Below{Call: d.Call, Tool: d.Tool, Run: d.Run})
		}
	case *event.ToolFinished:
		t.answered(d.Call)
		t.below = slices.DeleteFunc(t.below, func(b loop.Below) bool { return b.Call == d.Call })
	case *event.StateUpdated:
		t.state = d.State
	case *event.InputReceived:
		t.input(d)
	case *event.RunPaused:
		t.cause = d.Cause
	case *event.RunResumed:
		t.cause = ""
	case *event.RunFinished:
		t.end, t.open, t.below = d, nil, nil
	}
}

// canonical returns the arguments of a call in the form in which they run; those that
// have none as they are.
func canonical(args string) jsontext.Value {
	if c, err := schema.Canonical([]byte(args)); err == nil {
		return c
	}
	return jsontext.Value(args)
}

// parsed folds that a reply was read: another turn begins.
func (t *ending) parsed(d *event.ReplyParsed) {
	t.open, t.below, t.args = nil, nil, map[string]string{}
	if len(d.Calls) > 0 || d.Text != "" || d.Reasoning != "" {
		t.answer = d.Text
	}
	for _, c := range d.Calls {
		t.args[c.ID] = c.Args
	}
}

// input folds what came from outside: words answer the first question of the model's,
// and begin the next turn of a chat.
func (t *ending) input(d *event.InputReceived) {
	switch d.Kind {
	case event.InputPause, event.InputStop:
	case event.InputCancel:
		t.cause = ""
	default:
		if i := slices.IndexFunc(t.open, func(p loop.Pending) bool { return p.Words }); i >= 0 {
			t.open = slices.Delete(t.open, i, i+1)
		}
		if t.cause == event.CauseTurnDone {
			t.cause = ""
		}
	}
}

func (t *ending) answered(call string) {
	t.open = slices.DeleteFunc(t.open, func(p loop.Pending) bool { return p.Call == call })
}

// tell puts into v where the run stands.
func (t *ending) tell(v *shown) {
	v.Status = "running"
	switch {
	case t.end != nil:
		v.Status, v.Reason, v.OK, v.Answer, v.Detail = "finished", string(t.end.Reason), t.end.OK, t.end.Answer, t.end.Detail
	case t.cause != "":
		v.Status, v.Reason = "paused", string(t.cause)
		if t.cause == event.CauseTurnDone {
			v.Answer = t.answer
		}
	}
	v.cause, v.open, v.Pending = t.cause, t.open, questionsOf(v.Run, t.open)
	if v.State = t.state; v.State == nil {
		v.State = jsontext.Value("null")
	}
}

// lastEvents is how many events are read of a run's end. A step has some seven.
const lastEvents = 256

// endOf reads a run's end: its last events, and more of them where they are of no
// step or the question that a person is asked is not among them.
func endOf(ctx context.Context, s journal.Store, run string, head int64) (*ending, error) {
	for n := int64(lastEvents); ; n *= 8 {
		t := &ending{args: map[string]string{}}
		from := max(head-n+1, 1)
		for e, err := range s.Read(ctx, run, from) {
			var d *journal.DamageError
			if errors.As(err, &d) {
				t.damaged = &damage{d.Sound, d.Torn, d.Error()}
				break
			}
			if err != nil {
				return nil, failed(err)
			}
			t.add(&e)
		}
		asked := t.cause == event.CauseWaitingApproval || t.cause == event.CauseWaitingInput
		if from == 1 || t.last > 0 && (!asked || len(t.open)+len(t.below) > 0) {
			return t, nil
		}
	}
}
