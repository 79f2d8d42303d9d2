package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/trace"
)

// host is what the tools of an agent use of this process. Agents among them are made
// like the agent itself, and keep the same secrets.
func (a *app) host(ctx context.Context, secrets *event.Secrets) config.Host {
	return config.Host{Context: ctx, Env: a.env, Secrets: secrets, Logger: a.logger(),
		Make: func(cfg *config.Agent, o *rein.Options) (*rein.Agent, error) {
			models, first, err := a.models(cfg, secrets)
			if err != nil {
				return nil, err
			}
			if err := first.counts(o); err != nil {
				return nil, err
			}
			o.Fallback, o.Logger = models[1:], a.logger()
			return rein.New(models[0], o)
		}}
}

// askedBelow returns the open questions of the runs that carry out calls of a run,
// and of those below them.
func askedBelow(ctx context.Context, s journal.Store, below []loop.Below) ([]engine.Question, error) {
	var out []engine.Question
	for _, b := range below {
		m, err := foldBelow(ctx, s, b.Run)
		if err != nil || m == nil {
			return out, err
		}
		st := m.Status()
		out = append(out, questionsOf(b.Run, st.Pending)...)
		more, err := askedBelow(ctx, s, st.Below)
		if err != nil {
			return out, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// foldBelow is fold for a run that may not have begun; then it returns nil.
func foldBelow(ctx context.Context, s journal.Store, run string) (*loop.Machine, error) {
	m, err := fold(ctx, s, run)
	var missing *journal.NotFoundError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return m, err
}

// questionsOf returns the questions of a run.
func questionsOf(run string, open []loop.Pending) []engine.Question {
	out := []engine.Question{}
	for _, p := range open {
		out = append(out, engine.Question{Run: run, Call: p.Call, Tool: p.Tool, Args: p.Args, Hash: p.Hash, Why: p.Why, Settle: p.Settle, Words: p.Words})
	}
	return out
}

// asker returns the run that a question about a call is of: run itself or, if only
// that has one, the one below it that the call is of.
func asker(ctx context.Context, s journal.Store, run, call string) (string, error) {
	m, err := fold(ctx, s, run)
	if err != nil {
		return run, err
	}
	st := m.Status()
	begins := func(q engine.Question) bool { return strings.HasPrefix(q.Call, call) }
	for _, q := range questionsOf(run, st.Pending) {
		if begins(q) {
			return run, nil
		}
	}
	for _, u := range m.Unsettled() {
		if strings.HasPrefix(u.Call, call) {
			return run, nil
		}
	}
	asked, err := askedBelow(ctx, s, st.Below)
	if err != nil {
		return run, err
	}
	found := map[string]bool{}
	at := run
	for _, q := range asked {
		if begins(q) && !found[q.Run] {
			found[q.Run], at = true, q.Run
		}
	}
	if len(found) > 1 {
		return run, fmt.Errorf("several runs below %s ask about a call %q: name the run that is meant; see %s", run, call, "rein show "+run)
	}
	return at, nil
}

// asks returns a question with the words that say that a run below asks it.
func asks(q engine.Question) engine.Question {
	if _, below := event.Above(q.Run); below {
		why := "asked by run " + q.Run + ", which carries out a call of an agent"
		if q.Why != "" {
			why += ": " + q.Why
		}
		q.Why = why
	}
	return q
}

// carriedBy is the line of a call that a run of its own carries out.
func carriedBy(r *trace.Row) string { return "run " + *r.ChildRun + " carries it out" }

// belowMark tells the lines of a run below the one that is shown apart.
func belowMark(top, run string) string {
	if rest, ok := strings.CutPrefix(run, top); ok {
		run = rest
	}
	return "    [" + name(run) + "]"
}

// family puts each run below the one whose call it carries out, of which there are
// at most most (0: all), newest first, and those below in the order in which they
// began.
func family(list []runObject, most int) []runObject {
	below := map[string][]runObject{}
	var tops []runObject
	for _, r := range list {
		if r.Below {
			below[r.Parent] = append(below[r.Parent], r)
		} else if most == 0 || len(tops) < most {
			tops = append(tops, r)
		}
	}
	var out []runObject
	var add func(r runObject, depth int)
	add = func(r runObject, depth int) {
		r.depth = depth
		out = append(out, r)
		children := below[r.Run]
		delete(below, r.Run)
		for i := len(children) - 1; i >= 0; i-- {
			add(children[i], depth+1)
		}
	}
	for _, r := range tops {
		add(r, 0)
	}
	if most == 0 {
		for _, r := range list { // of runs that are not in the store any more
			if r.Below && len(below[r.Parent]) > 0 {
				for _, o := range below[r.Parent] {
					add(o, 1)
				}
				delete(below, r.Parent)
			}
		}
	}
	return out
}
