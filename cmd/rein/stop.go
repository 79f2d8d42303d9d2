package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/journal"
)

func (a *app) stopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "stop RUN", Short: "Ask a running run to stop; it can be resumed", Args: exactly("RUN"),
	}
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
			return failed(fmt.Errorf("run %s is not running: it is %s", run, sum.Status))
		}
		if err := rein.Stop(ctx, s, run); err != nil {
			return failed(err)
		}
		if a.json {
			return a.print(struct {
				Run   string `json:"run"`
				Asked bool   `json:"asked"`
			}{run, true})
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
