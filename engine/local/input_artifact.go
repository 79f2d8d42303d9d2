package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// leastHash is the fewest digits of a hash that name an input; see [tool.InputCall].
const leastHash = 8

// inputArtifact returns the whole of what a user has said: of, behind
// [tool.InputPrefix], is the beginning of its hash, or its number among the messages
// of this run. said are those.
func (a *actor) inputArtifact(ctx context.Context, of string, said []message.Message) (*tool.Artifact, error) {
	number := int64(-1)
	if n, err := strconv.ParseInt(of, 10, 64); err == nil && len(of) < leastHash && n < int64(len(said)) {
		number = n
	}
	var known []string
	for run, n := a.job.Run, 0; run != "" && n <= maxParents; n++ {
		inputs, parent, err := a.e.inputs(ctx, run)
		if err != nil {
			return nil, fmt.Errorf("read what was said in run %s: %w", run, err)
		}
		for _, d := range inputs {
			switch {
			case n == 0 && number >= 0 && sameParts(d.Parts, said[number].Parts):
			case d.Full != nil && len(of) >= leastHash && strings.HasPrefix(d.Full.SHA256, of):
			default:
				if d.Full != nil {
					known = append(known, tool.InputCall(d.Full.SHA256))
				}
				continue
			}
			return a.e.inputBody(ctx, of, d)
		}
		run = parent
	}
	return nil, noInput(of, known)
}

// inputs returns what users have said in a run, and the run that it came from.
func (e *Engine) inputs(ctx context.Context, run string) (all []*event.InputReceived, parent string, err error) {
	for ev, err := range e.store.Read(ctx, run, 1) {
		if err != nil {
			return nil, "", err
		}
		switch d := ev.Data.(type) {
		case *event.RunStarted:
			parent = d.Parent
		case *event.InputReceived:
			if d.Kind == event.InputText {
				all = append(all, d)
			}
		}
	}
	return all, parent, nil
}

// sameParts reports whether two lists of parts have the same texts.
func sameParts(a, b []message.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Text != y.Text || (x.Ref == nil) != (y.Ref == nil) || x.Ref != nil && *x.Ref != *y.Ref {
			return false
		}
	}
	return true
}

// inputBody returns the whole text of an input.
func (e *Engine) inputBody(ctx context.Context, of string, d *event.InputReceived) (*tool.Artifact, error) {
	whole := event.ToolFinished{Call: tool.InputPrefix + of, Tool: "the user", Parts: d.Parts, Full: d.Full}
	return e.artifact(ctx, &whole)
}

// noInput says which long messages there are, the latest first.
func noInput(of string, known []string) *tool.Error {
	e := &tool.Error{Type: "not_found", Message: fmt.Sprintf("there is no message %q of a user", tool.InputPrefix+of), NoEffect: true,
		Hint: "every message of a user is in view as a whole"}
	if len(known) > 0 {
		e.Hint = "messages that are not shown whole: "
		for i := len(known) - 1; i >= max(0, len(known)-maxNamed); i-- {
			e.Hint += known[i] + ", "
		}
		e.Hint = strings.TrimSuffix(e.Hint, ", ")
	}
	return e
}
