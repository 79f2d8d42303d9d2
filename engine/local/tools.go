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
	res, err := f.tool.Run(&f.ctx, &tool.Call{Run: a.job.Run, ID: c.Call, Args: a.e.secrets.RevealJSON(c.Args), Key: c.Key,
		Attempt: int(c.Attempt), Seen: c.Seen})
	var d *event.ToolFinished
	if err != nil {
		d = a.failed(f, c, err, endOf(&f.ctx))
	} else {
		d = a.succeeded(c, f.spec, res)
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
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusError}
	switch {
	case t.Unknown:
		d.Status = event.StatusUnknown
	case t.NoEffect || end == alive:
	case end == timedOut && c.Effect != event.Once:
		if !own || c.Effect.Writes() {
			d.Status = event.StatusTimeout
		}
	case c.Effect.Writes():
		d.Status = event.StatusUnknown
	}
	if d.Status == event.StatusUnknown && !own {
		t.Message += "; it may or may not have taken effect"
		t.Hint = "do not repeat it; find out by reading whether it took effect"
		if f.spec.Confirm != "" {
			t.Hint = "do not repeat it; call " + f.spec.Confirm + " to find out whether it took effect"
		}
	}
	text := tool.ErrorText(&t)
	d.Parts = []message.Part{{Kind: message.Text, Text: text}}
	d.Size, d.Shown = int64(len(text)), int64(len(text))
	d.ErrorType, d.ErrorMessage, d.Retryable, d.NoEffect = t.Type, t.Message, t.Retryable, t.NoEffect
	return d
}

// told returns what the model is told of an error, and whether these are the
// tool's own words.
func told(err error, c *loop.RunTool, end ending) (t tool.Error, own bool) {
	var e *tool.Error
	if errors.As(err, &e) {
		return *e, true
	}
	switch end {
	case timedOut:
		return tool.Error{Type: "timeout", Message: fmt.Sprintf("the call did not end within %v", timeout(c)), Retryable: c.Effect != event.Once}, false
	case cancelled:
		return tool.Error{Type: "cancelled", Message: "the call was given up because the run was stopped", Retryable: c.Effect != event.Once}, false
	case panicked:
		return tool.Error{Type: "panic", Message: "the tool failed inside, whatever the arguments", Hint: "go on without it, or use another tool"}, false
	}
	return *tool.ErrorOf(err), false
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
func (a *actor) succeeded(c *loop.RunTool, spec *event.ToolSpec, res *tool.Result) *event.ToolFinished {
	if res == nil {
		res = &tool.Result{}
	}
	d := &event.ToolFinished{ID: c.ID, Call: c.Call, Tool: c.Tool, Status: event.StatusSuccess, Parts: res.Parts, Seen: res.Seen}
	if c.Value {
		d.Result = res.Value
	}
	a.e.secrets.RedactData(d)
	clean := tool.Result{Parts: d.Parts, Seen: slices.Clone(d.Seen), Keep: res.Keep, Lines: res.Lines}
	parts, shaping := tool.Shape(&clean, int(spec.ResultTokens), a.e.counter.Count)
	d.Parts, d.Seen, d.Size, d.Shown = parts, clean.Seen, shaping.Size, shaping.Shown
	if shaping.Cut {
		d.Full = a.e.putBody(a.ctx, []byte(shaping.Full), plainText)
	}
	return d
}
