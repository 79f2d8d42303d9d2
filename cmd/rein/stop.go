package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/journal"
)

// asked is what --json prints for a run that was to stop.
type asked struct {
	Run   string `json:"run"`
	Asked bool   `json:"asked"`
	// Status is how it stood before; only a running run can be asked.
	Status string `json:"status"`
}

func (a *app) stopCommand() *cobra.Command {
	var afterStep bool
	cmd := &cobra.Command{
		Use: "stop RUN [--after-step]", Short: "Ask a running run to stop; it can be resumed", Args: exactly("RUN"),
		Long: `Asks the process that carries a run out to stop, from any terminal. What it is
doing is ended, the run is paused, and "rein resume" goes on with it. With
--after-step the run finishes its step first, the calls of it included.`,
		Example: `  rein stop last`,
	}
	cmd.Flags().BoolVar(&afterStep, "after-step", false, "let the run finish its step first")
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		sum, err := summary(ctx, s, run)
		if err != nil {
			return err
		}
		if sum.Status != "running" {
			if a.json {
				if err := a.print(asked{Run: run, Status: sum.Status}); err != nil {
					return err
				}
			}
			return failed(fmt.Errorf("run %s is not running: it is %s", run, sum.Status))
		}
		ask := rein.Stop
		if afterStep {
			ask = rein.Pause
		}
		if err := ask(ctx, s, run); err != nil {
			return failed(err)
		}
		if a.json {
			return a.print(asked{Run: run, Asked: true, Status: sum.Status})
		}
		a.say("run %s is asked to stop; go on with: %s", run, a.next("resume %s", run))
		return nil
	})
}

// summary returns the line of one run.
func summary(ctx context.Context, s journal.Store, run string) (journal.Summary, error) {
	for sum, err := range s.Runs(ctx) {
		if err != nil {
			return sum, failed(fmt.Errorf("list the runs: %w", err))
		}
		if sum.Run == run {
			return sum, nil
		}
	}
	return journal.Summary{}, failed(fmt.Errorf("run %s has gone from the store", run))
}
