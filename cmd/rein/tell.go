package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/journal"
)

// told is what --json prints for a run that was told something.
type told struct {
	Run string `json:"run"`
	// Told: it stands in the run's journal.
	Told bool `json:"told"`
	// Status is how the run stood before: it sees the text at its next step if it is
	// running, else when it goes on.
	Status string `json:"status"`
}

func (a *app) tellCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tell RUN TEXT", Short: "Tell a run something, from any terminal", Args: exactly("RUN", "TEXT"),
		Long: `Tells a run something while another process carries it out: its model sees the text
at its next step, whatever it is doing. It answers what the model has asked, if it
waits for an answer in words. A run that is not carried out sees it when "rein
resume" goes on with it. TEXT is a text, or - to read it from stdin.`,
		Example: `  rein tell last "Leave the order of Tuesday alone."`,
	}
	var text string
	cmd.PreRunE = func(_ *cobra.Command, args []string) (err error) {
		text, err = a.said(args[1])
		return err
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
		if sum.Status == "finished" {
			if a.json {
				if err := a.print(told{Run: run, Status: sum.Status}); err != nil {
					return err
				}
			}
			return failed(fmt.Errorf("run %s has finished (%s): nobody listens; go on from there with: %s", run, sum.Reason, a.next("fork %s --input 'TEXT'", run)))
		}
		if err := rein.Send(ctx, s, run, text); err != nil {
			return failed(err)
		}
		if a.json {
			return a.print(told{Run: run, Told: true, Status: sum.Status})
		}
		if sum.Status == "running" {
			a.say("run %s is told at its next step", run)
		} else {
			a.say("run %s is %s, and is told when it goes on: %s", run, sum.Status, a.next("resume %s", run))
		}
		return nil
	})
}
