package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// defaultTimeout bounds an execution whose command says nothing.
const defaultTimeout = 60 * time.Second

func timeout(c *loop.RunTool) time.Duration {
	if c.Timeout <= 0 {
		return defaultTimeout
	}
	return time.Duration(c.Timeout) * time.Millisecond
}

// execute makes one call; it runs on the flight's goroutine. The secrets that
// the arguments name are filled in here and nowhere else.
func (a *actor) execute(f *flight, c *loop.RunTool) event.Data {
	if f.elsewhere {
		if d := a.elsewhere(f, c, false); d != nil {
			return d
		}
	} else if c.Effect == event.Once {
		a.tree.begun(c.Key, a.job.Run)
	}
	if d := a.inFamily(f, c, true); d != nil {
		return d
	}
	call := &tool.Call{Run: a.job.Run, ID: c.Call, Args: a.e.secrets.RevealJSON(c.Args), Key: c.Key, Attempt: int(c.Attempt), Seen: c.Seen}
	if f.spec.Harness {
		call.Artifact, call.History = a.artifacts(f.had, f.history), a.history(f.history)
	}
	if f.said != nil {
		call.Progress = f.said.say
	}
	if f.spec.Undo {
		call.Before = a.e.before()
	}
	res, err := f.tool.Run(&f.ctx, call)
	var d *event.ToolFinished
	if err != nil {
		d = a.failed(f, c, err, endOf(&f.ctx))
	} else {
		d = a.succeeded(f, c, res)
	}
	d.Latency = time.Since(f.begun).Milliseconds()
	return a.e.admit(a.ctx, d)
}

// ending is how an execution's context stood when it came to its end.
type ending int

const (
	alive ending = iota
	timedOut
	cancelled
	panicked
)

func endOf(ctx context.Context) ending {
	switch ctx.Err() {
	case nil:
		return alive
	case context.DeadlineExceeded:
		return timedOut
	}
	return cancelled
}

// failed returns the outcome of a call that gave an error, or none. Whether it
// may have taken effect follows from how it ended and from the effect class,
// unless the tool's own error knows better.
func (a *actor) failed(f *flight, c *loop.RunTool, err error, end ending) *event.ToolFinished {
	t, own := told(err, c, end)
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, For: c.For, Status: event.StatusError}
	switch {
	case t.Unknown:
		d.Status = event.StatusUnknown
	case own && end == alive && t.Type == tool.TypeTimeout && c.Effect != event.Once && !t.NoEffect:
		d.Status = event.StatusTimeout // it kept the time itself
	case t.NoEffect, end == alive && (own || !lostTrack(&t)):
	case end == timedOut && c.Effect != event.Once:
		if !own || c.Effect.Writes() {
			d.Status = event.StatusTimeout
		}
	case c.Effect.Writes():
		d.Status = event.StatusUnknown
	}
	if c.Effect == event.Once && !t.NoEffect {
		t.Retryable = false // it would not be executed
	}
	d.ErrorType, d.ErrorMessage, d.Retryable, d.NoEffect = t.Type, t.Message, t.Retryable, t.NoEffect
	d.Ended = t.Ended && (d.Status == event.StatusUnknown || d.Status == event.StatusTimeout)
	if t.RetryAfter > 0 {
		d.RetryAfter = message.Known(t.RetryAfter.Milliseconds())
	}
	text := tool.ErrorText(explained(&t, own, d.Status, c, f.spec))
	d.Parts = []message.Part{{Kind: message.Text, Text: text}}
	d.Size, d.Shown = int64(len(text)), int64(len(text))
	if t.Result != nil {
		a.besides(f, c, d, t.Result)
	}
	return d
}

// besides adds what a failed call has to show to its error, which stays its first
// line.
func (a *actor) besides(f *flight, c *loop.RunTool, d *event.ToolFinished, res *tool.Result) {
	r := a.succeeded(f, c, res)
	if len(r.Parts) > 0 && r.Parts[0].Kind == message.Text && r.Parts[0].Ref == nil {
		d.Parts[0].Text += "\n" + r.Parts[0].Text
		r.Parts = r.Parts[1:]
	}
	d.Parts = append(d.Parts, r.Parts...)
	d.Size, d.Shown = d.Size+r.Size, d.Shown+r.Shown
	d.Full, d.Shaped, d.Seen = r.Full, r.Shaped, r.Seen
}

// lostTrack reports whether an error of a function that ended by itself says that
// it does not know what became of its work either.
func lostTrack(t *tool.Error) bool {
	switch t.Type {
	case tool.TypeTimeout, tool.TypeCancelled, tool.TypeConnection:
		return true
	}
	return false
}

// explained adds to an error what the model should know of the call.
func explained(t *tool.Error, own bool, status event.Status, c *loop.RunTool, spec *event.ToolSpec) *tool.Error {
	if status == event.StatusUnknown && !own {
		t.Message += "; it may or may not have taken effect"
		switch {
		case c.Effect == event.Repeatable && t.Type != tool.TypeAbandoned:
			t.Hint = "call it again if it is still needed: what is done already is not done twice"
		case spec.Confirm != "":
			t.Hint = "do not repeat it; call " + spec.Confirm + " to find out whether it took effect"
		default:
			t.Hint = "do not repeat it; find out by reading whether it took effect"
		}
	}
	if t.Type == tool.TypeTimeout && t.Hint == "" && c.Effect == event.Read {
		t.Hint = "nothing was changed; ask for less at a time, or go on without it"
	}
	if c.Attempt > 1 {
		t.Message += fmt.Sprintf(" (tried %d times)", c.Attempt)
	}
	if t.RetryAfter > 0 && t.Retryable && t.Hint == "" {
		t.Hint = fmt.Sprintf("call it again, but not before %v have passed", t.RetryAfter)
	}
	return t
}

// told returns what the model is told of an error, and whether these are the
// tool's own words.
func told(err error, c *loop.RunTool, end ending) (t tool.Error, own bool) {
	var e *tool.Error
	if errors.As(err, &e) {
		return *e, true
	}
	again := c.Effect != event.Once
	switch {
	case errors.Is(err, errLeft):
		t = tool.Error{Type: tool.TypeAbandoned, Message: "the call was given up because the run was stopped or its time is used up", Retryable: c.Effect == event.Read,
			Hint: "it may still be at work; go on without it, or use another tool"}
		if end == timedOut {
			t.Message = fmt.Sprintf("the call did not end within %v", timeout(c))
		}
		t.Message += ", and takes no notice of that: what it still does is not waited for"
	case end == timedOut:
		t = tool.Error{Type: tool.TypeTimeout, Message: fmt.Sprintf("the call did not end within %v", timeout(c)), Retryable: again}
	case end == cancelled:
		t = tool.Error{Type: tool.TypeCancelled, Message: "the call was given up because the run was stopped or its time is used up", Retryable: again}
	case end == panicked:
		t = tool.Error{Type: tool.TypePanic, Message: "the tool failed inside, whatever the arguments", Hint: "go on without it, or use another tool"}
	default:
		t = *tool.ErrorOf(err)
	}
	return t, false
}

// toolSpec returns a tool of the run's spec, as it was when the run started.
func toolSpec(spec *event.Spec, name string) *event.ToolSpec {
	for i := range spec.Tools {
		if spec.Tools[i].Name == name {
			return &spec.Tools[i]
		}
	}
	return nil
}

// succeeded returns the outcome of a call that gave a result. What is kept of
// it, in full or cut to the tool's limit, has no secrets any more.
func (a *actor) succeeded(f *flight, c *loop.RunTool, res *tool.Result) *event.ToolFinished {
	if res == nil {
		res = &tool.Result{}
	}
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, For: c.For, Status: event.StatusSuccess, Parts: res.Parts, Seen: res.Seen, Result: res.Value, Undo: res.Undo}
	if len(d.Parts) == 0 && len(res.Value) > 0 {
		d.Parts = tool.Text(string(res.Value)).Parts
	}
	a.e.secrets.RedactData(d)
	clean := tool.Result{Parts: d.Parts, Value: d.Result, Seen: slices.Clone(d.Seen), Keep: res.Keep, Lines: res.Lines, Remarks: res.Remarks}
	parts, shaping := tool.Shape(&clean, &tool.View{Spec: f.spec, Count: a.e.rough.Count, Call: c.Call, Args: c.Args, Artifact: f.pages})
	if !c.Value {
		d.Result = nil
	}
	d.Parts, d.Seen, d.Size, d.Shown, d.Shaped = parts, clean.Seen, shaping.Size, shaping.Shown, shaping.Done
	if shaping.Cut {
		d.Full = a.e.putBody(a.ctx, []byte(shaping.Full), plainText)
	}
	return d
}
