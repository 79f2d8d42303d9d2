package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/journal"
)

func (a *app) resumeCommand() *cobra.Command {
	var c carrying
	var input string
	cmd := &cobra.Command{
		Use:   "resume RUN [--input TEXT] [flags]",
		Short: "Go on with a run after a crash, a stop or an approval",
		Long: `Goes on with a run where it stands: after a crash, a stop, or when its questions
are answered. The agent is the one that the run was started with.

What a run was doing when its process died is unknown: reads are done again, and
for what must not be done twice its tool finds out, or you are asked.

With --input the run is told something: what it asked for, if it waits for an
answer in words, and of several questions the first; else a message that the model
sees at its next step.`,
		Example: `  rein resume last
  rein resume last --input "the second one"`,
		Args: exactly("RUN"),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&input, "input", "", "tell the run this `TEXT`, or - to read it from stdin")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("input") {
			var err error
			if input, err = a.said(input); err != nil {
				return err
			}
		}
		run, cfg, err := a.resumable(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.carryOut(cmd.Context(), cfg, &c, func(ctx context.Context, agent *rein.Agent) *rein.Run {
			if input != "" {
				return agent.Continue(ctx, run, input)
			}
			return agent.Resume(ctx, run)
		})
	}
	return cmd
}

// resumable returns the run that the user names, and the agent that started it.
func (a *app) resumable(ctx context.Context, prefix string) (string, *config.Agent, error) {
	store, err := a.open(ctx)
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	run, err := a.find(ctx, store, prefix)
	if err != nil {
		return "", nil, err
	}
	if err := elsewhere(ctx, store, run); err != nil {
		return "", nil, err
	}
	cfg, err := ofRun(ctx, store, run)
	return run, cfg, err
}

// elsewhere refuses a run that was imported, before anything is begun.
func elsewhere(ctx context.Context, s journal.Store, run string) error {
	a, ok := s.(journal.Archiver)
	if !ok {
		return nil
	}
	imported, err := a.Imported(ctx, run)
	if err != nil || !imported {
		return err
	}
	if origin, err := recordedBy(ctx, s, run); err != nil {
		return err
	} else if origin != nil {
		return fmt.Errorf("run %s is what another program has recorded: go on with it in a fork, with an agent of yours: rein fork %s -f agent.yaml", run, run)
	}
	return &journal.ImportedError{Run: run}
}
