package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// leastHash is the fewest digits of a hash that name an input; see [tool.InputCall].
const leastHash = 8

// inputArtifact returns the whole of what a user has said: of, behind
// [tool.InputPrefix], is the beginning of its hash, or its number among the messages
// of this run, said.
func (a *actor) inputArtifact(ctx context.Context, of string, said loop.History) (*tool.Artifact, error) {
	if n, err := strconv.Atoi(of); err == nil && len(of) < leastHash && n >= 0 && n < said.Len() {
		if m := said.At(n); m.Message.Role == message.User {
			return a.e.inputBody(ctx, of, m.Message.Parts, m.Full)
		}
	}
	var known []string
	for run, n := a.job.Run, 0; run != "" && n <= maxParents; n++ {
		inputs, parent, err := a.e.inputs(ctx, run)
		if err != nil {
			return nil, fmt.Errorf("read what was said in run %s: %w", run, err)
		}
		for _, d := range inputs {
			if len(of) >= leastHash && strings.HasPrefix(d.Full.SHA256, of) {
				return a.e.inputBody(ctx, of, d.Parts, d.Full)
			}
			known = append(known, tool.InputCall(d.Full.SHA256))
		}
		run = parent
	}
	return nil, noInput(of, known)
}

// inputs returns what users have said in a run and is not shown whole, and the run
// that it came from.
func (e *Engine) inputs(ctx context.Context, run string) (all []*event.InputReceived, parent string, err error) {
	for ev, err := range e.store.Read(ctx, run, 1) {
		if err != nil {
			return nil, "", err
		}
		switch d := ev.Data.(type) {
		case *event.RunStarted:
			parent = d.Parent
		case *event.InputReceived:
			if d.Full != nil {
				all = append(all, d)
			}
		}
	}
	return all, parent, nil
}

// inputBody returns the whole text of an input.
func (e *Engine) inputBody(ctx context.Context, of string, shown []message.Part, full *message.Ref) (*tool.Artifact, error) {
	return e.artifact(ctx, &event.ToolFinished{Call: tool.InputPrefix + of, Parts: shown, Full: full})
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
