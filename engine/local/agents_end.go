package local

import (
	"fmt"
	"strings"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

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

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
