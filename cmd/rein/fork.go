package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// forking are the flags of rein fork.
type forking struct {
	step, event    int64
	file           string
	model, baseURL string
	input          string
	trust          bool
}

// forkOf is where a fork leaves the run that it comes from: what it has before.
type forkOf struct {
	run string
	at  int64
}

func (a *app) forkCommand() *cobra.Command {
	var f forking
	var c carrying
	cmd := &cobra.Command{
		Use:   "fork RUN [--step N] [--event SEQ] [-f FILE] [-m MODEL] [--base-url URL] [--input TEXT] [--trust] [flags]",
		Short: "Go on from a step of a run in a new run, live",
		Long: `Makes a new run that shares the journal of another up to and including step N, and
goes on from there. Fork goes live: it calls the model and runs tools, with what they
do and cost. (replay never calls anything: it folds the journal. rerun calls one model
and runs no tool: it sends one request again.) --step 3 makes step 4 anew, and --step 0
all of them; without --step the new run has all that there is, but for the end. The
other run is not touched.

Steps keep their numbers: step 4 of the new run stands where step 4 of the other one
does. A run that carries out a call of an agent is forked by its own id, and so from a
step of its own; what the run above it made of its result stays as it is.

With -m it goes on with another model, and with --input it is told something first.

A conversation that another program has recorded has no agent: -f names the file of the
one that goes on with it, whose instructions, tools, rules and limits hold from there.

An imported run brings an agent that its file describes: where its model is, with which
of your keys it is asked, what is started. A fork of it needs --trust.

What was used stays used, and what must not be done twice is not: of a call that
another of these runs has carried out meanwhile, the outcome is told. What the shared
steps have done to files and elsewhere stays as it is: "rein undo" takes back what can
be taken back. Questions that were open there are asked anew.`,
		Example: `  rein fork last --step 3
  rein fork last --step 3 -m anthropic/claude-sonnet-4-5
  rein fork last --input "And for the year before?"
  rein fork talks-1 -f agent.yaml --input "Try again."   # a recorded conversation`,
		Args: exactly("RUN"),
	}
	cmd.Flags().Int64Var(&f.step, "step", 0, "the last step `N` that the new run shares; 0: none but the task")
	cmd.Flags().Int64Var(&f.event, "event", 0, "instead of a step, the last event `SEQ` that it shares, as rein replay numbers them")
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the `file` of the agent that goes on with a conversation that another program has recorded")
	cmd.Flags().StringVarP(&f.model, "model", "m", "", "the model to go on with, as `provider/model`")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "the `URL` of the provider's API, such as http://127.0.0.1:11434/v1")
	cmd.Flags().StringVar(&f.input, "input", "", "tell the new run this `TEXT`, or - to read it from stdin")
	cmd.Flags().BoolVar(&f.trust, "trust", false, trustUsage)
	c.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		steps := int64(-1)
		switch byStep, byEvent := cmd.Flags().Changed("step"), cmd.Flags().Changed("event"); {
		case byStep && byEvent:
			return errors.New("name a step or an event, not both")
		case byStep && f.step < 0, byEvent && f.event < 1:
			return errors.New("steps count from 1, and --step 0 is before the first; events count from 1")
		case byStep:
			steps = f.step
		}
		if cmd.Flags().Changed("input") {
			var err error
			if f.input, err = a.said(f.input); err != nil {
				return err
			}
		}
		of, cfg, err := a.forkable(cmd.Context(), args[0], steps, &f)
		if err != nil {
			return err
		}
		c.forkOf = of
		return a.carryOut(cmd.Context(), cfg, &c, func(ctx context.Context, agent *rein.Agent) *rein.Run {
			run := agent.Fork(ctx, of.run, rein.AfterEvent(of.at), f.input)
			a.say("forking run %s after event %d into run %s", of.run, of.at, run.ID())
			return run
		})
	}
	return cmd
}

// forkable returns where a fork is to leave the run that the user names, and the agent
// that goes on with it.
func (a *app) forkable(ctx context.Context, prefix string, steps int64, f *forking) (*forkOf, *config.Agent, error) {
	store, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	run, err := a.find(ctx, store, prefix)
	if err != nil {
		return nil, nil, err
	}
	of := &forkOf{run, f.event}
	if of.at == 0 {
		of.at, err = engine.ForkPoint(ctx, store, run, steps)
	} else {
		var head journal.Head
		if head, err = store.Head(ctx, run); err == nil && of.at > head.Seq {
			err = fmt.Errorf("run %s has events 1 to %d: rein replay lists them", run, head.Seq)
		}
	}
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		err = failed(fmt.Errorf("%w\nSee what of it is sound: %s", err, a.next("verify %s", run)))
	}
	if err != nil {
		return nil, nil, err
	}
	if cfg, err := a.takeOver(ctx, store, run, f); err != nil || cfg != nil {
		return of, cfg, err // the file is the user's own
	}
	cfg, err := ofRun(ctx, store, run)
	if err != nil {
		return nil, nil, err
	}
	if f.model != "" || f.baseURL != "" {
		c := config.Changes{Model: f.model, BaseURL: f.baseURL}
		c.KeyEnv = a.keyFor(cfg, c)
		if cfg, err = cfg.With(c); err != nil {
			return nil, nil, err
		}
	}
	return of, cfg, trustFork(ctx, store, run, cfg, f.trust)
}

// before yields the events that a fork shares with the run that it comes from, as its
// own.
func (o *forkOf) before(ctx context.Context, s journal.Store, run string, show func(event.Event)) error {
	for e, err := range s.Read(ctx, o.run, 1) {
		if err != nil {
			return fmt.Errorf("read run %s: %w", o.run, err)
		}
		if e.Seq > o.at {
			break
		}
		e.Run = run
		show(e)
	}
	return nil
}
