package local

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// pages reports whether the run's model has the tool that reads whole results.
func pages(spec *event.Spec) bool { return harnessTool(spec, tool.ReadArtifact) }

// artifacts returns what reads the whole results of calls: of those that this run
// has had so far, and of the runs that it came from; and what users have said. The
// function is for any goroutine.
func (a *actor) artifacts(had []*event.ToolFinished, said loop.History) func(context.Context, string) (*tool.Artifact, error) {
	return func(ctx context.Context, call string) (*tool.Artifact, error) {
		if d := lastOf(had, call); d != nil {
			return a.e.artifact(ctx, d)
		}
		if of, ok := strings.CutPrefix(call, tool.InputPrefix); ok {
			return a.inputArtifact(ctx, of, said)
		}
		parent, err := a.e.parent(ctx, a.job.Run)
		known := had
		for n := 0; err == nil && parent != "" && n < maxParents; n++ {
			var more []*event.ToolFinished
			if more, parent, err = a.e.results(ctx, parent); err != nil {
				break
			}
			if d := lastOf(more, call); d != nil {
				return a.e.artifact(ctx, d)
			}
			known = append(known[:len(known):len(known)], more...)
		}
		if err != nil {
			return nil, fmt.Errorf("read the results of the runs before this one: %w", err)
		}
		return nil, noArtifact(call, known)
	}
}

// maxParents bounds the runs that are searched, from a run up to its root.
const maxParents = 32

// lastOf returns the last result of a call: several attempts are one call.
func lastOf(results []*event.ToolFinished, call string) *event.ToolFinished {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].Call == call {
			return results[i]
		}
	}
	return nil
}

// parent returns the run that a run came from, empty for none.
func (e *Engine) parent(ctx context.Context, run string) (string, error) {
	for ev, err := range e.store.Read(ctx, run, 1) {
		if err != nil {
			return "", err
		}
		if d, ok := ev.Data.(*event.RunStarted); ok && d.Call == "" { // what calls an agent is none of its business
			return d.Parent, nil
		}
		break
	}
	return "", nil
}

// results returns the results of a run's calls, and the run that it came from.
func (e *Engine) results(ctx context.Context, run string) (all []*event.ToolFinished, parent string, err error) {
	for ev, err := range e.store.Read(ctx, run, 1) {
		if err != nil {
			return nil, "", err
		}
		switch d := ev.Data.(type) {
		case *event.RunStarted:
			if d.Call == "" {
				parent = d.Parent
			}
		case *event.ToolFinished:
			if d.For == "" {
				all = append(all, d)
			}
		}
	}
	return all, parent, nil
}

// artifact returns the whole of a result.
func (e *Engine) artifact(ctx context.Context, d *event.ToolFinished) (*tool.Artifact, error) {
	out := &tool.Artifact{Call: d.Call, Tool: d.Tool, Cut: d.Full != nil, Missing: tool.Missing(d.Shaped)}
	refs := []message.Part{{Kind: message.Text, Ref: d.Full}}
	if d.Full == nil {
		refs = d.Parts
	}
	for i := range refs {
		p := &refs[i]
		if p.Kind != message.Text {
			continue
		}
		if len(out.Body) > 0 {
			out.Body = append(out.Body, '\n')
		}
		if p.Ref == nil {
			out.Body = append(out.Body, p.Text...)
			continue
		}
		body, err := e.store.Body(ctx, *p.Ref)
		if err != nil {
			return nil, &tool.Error{Type: "not_readable", Message: "the stored result of call " + d.Call + " cannot be read any more",
				Hint: "call " + d.Tool + " again, for less at a time", NoEffect: true}
		}
		out.Body = append(out.Body, body...)
	}
	return out, nil
}

// maxNamed is how many calls an error names.
const maxNamed = 20

// noArtifact says which calls there are: those of which not everything was shown
// before the others, the latest first.
func noArtifact(call string, known []*event.ToolFinished) *tool.Error {
	e := &tool.Error{Type: "not_found", Message: fmt.Sprintf("there is no result of a call %q", call), NoEffect: true}
	var names []string
	seen := map[string]bool{}
	for _, cut := range []bool{true, false} {
		for i := len(known) - 1; i >= 0 && len(names) < maxNamed; i-- {
			if d := known[i]; (d.Full != nil) == cut && !seen[d.Call] && d.Tool != tool.ReadArtifact {
				seen[d.Call] = true
				names = append(names, d.Call+" ("+d.Tool+")")
			}
		}
	}
	if e.Hint = "calls with results: " + strings.Join(names, ", "); len(names) == 0 {
		e.Hint = "no call has had a result yet"
	}
	return e
}
