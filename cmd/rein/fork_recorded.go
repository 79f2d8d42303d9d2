package main

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// A conversation that another program has recorded says neither what its tools do nor
// how they are called, so that a fork of it needs an agent of the user's own, which goes
// on with what was said.

// takeOver returns the agent that is to go on with a recorded conversation, nil if the
// run is none and has an agent of its own.
func (a *app) takeOver(ctx context.Context, s journal.Store, run string, f *forking) (*config.Agent, error) {
	origin, err := recordedBy(ctx, s, run)
	switch {
	case err != nil:
		return nil, err
	case origin == nil && f.file == "":
		return nil, nil
	case origin == nil:
		return nil, fmt.Errorf("run %s has an agent of its own, which a fork goes on with: -f is for conversations that another program has recorded", run)
	case f.file == "":
		return nil, fmt.Errorf("another program has recorded run %s, and nothing here has its tools and rules: name the agent that is to go on with it: %s", run, a.next("fork %s -f agent.yaml", run))
	}
	return a.agentOf(f.file, config.Changes{Model: f.model, BaseURL: f.baseURL})
}

// recordedBy returns the recording that a run was made of, nil if there is none or an
// agent has taken it over since.
func recordedBy(ctx context.Context, s journal.Store, run string) (*event.Origin, error) {
	var origin *event.Origin
	for e, err := range s.Read(ctx, run, 1) {
		if err != nil {
			if origin != nil {
				break // what is wrong with the rest is said when it is needed
			}
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
		switch d := e.Data.(type) {
		case *event.RunStarted:
			if origin = d.Origin; origin == nil {
				return nil, nil
			}
		case *event.RunResumed:
			if d.Models != nil && d.Models.Agent != nil {
				return nil, nil
			}
		}
	}
	return origin, nil
}

// recordingText says of what recording a run was made, and what that says besides.
func recordingText(o *event.Origin) string {
	const most, long = 8, 200
	var out strings.Builder
	fmt.Fprintf(&out, "recorded by another program: %s in %s\n", name(o.Format), name(o.Source))
	if o.ToolsUnknown {
		out.WriteString("  which tools were offered is unknown: the recording does not say\n")
	}
	for i, l := range o.Labels {
		if i == most {
			fmt.Fprintf(&out, "  and %d more labels\n", len(o.Labels)-most)
			break
		}
		fmt.Fprintf(&out, "  %s: %s\n", name(l.Name), clip(printable(string(l.Value)), long))
	}
	return out.String()
}
