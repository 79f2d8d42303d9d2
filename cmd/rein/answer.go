package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

func (a *app) approveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve RUN CALL", Short: "Allow a call that waits for approval", Args: exactly("RUN", "CALL"),
	}
	return a.answers(cmd, false, func() (engine.Answer, error) { return engine.Answer{Decision: event.Approved}, nil })
}

func (a *app) rejectCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "reject [--why TEXT] RUN CALL", Short: "Refuse a call that waits for approval", Args: exactly("RUN", "CALL"),
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&why, "why", "", "why not; the model is told")
	return a.answers(cmd, false, func() (engine.Answer, error) {
		return engine.Answer{Decision: event.Rejected, Why: why}, nil
	})
}

func (a *app) settleCommand() *cobra.Command {
	var done, notDone bool
	cmd := &cobra.Command{
		Use: "settle RUN CALL --done|--not-done", Short: "Say what became of a call whose outcome is unknown", Args: exactly("RUN", "CALL"),
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().BoolVar(&done, "done", false, "it took effect")
	cmd.Flags().BoolVar(&notDone, "not-done", false, "it did not take effect")
	return a.answers(cmd, true, func() (engine.Answer, error) {
		switch {
		case done == notDone:
			return engine.Answer{}, errors.New("say what became of the call: --done or --not-done")
		case done:
			return engine.Answer{Decision: event.Done}, nil
		}
		return engine.Answer{Decision: event.NotDone}, nil
	})
}

// answered is what --json prints for an answer.
type answered struct {
	Run      string `json:"run"`
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	Decision string `json:"decision"`
	// Open counts the run's questions that are still open.
	Open int `json:"open"`
}

// answers makes a command that answers a question of a run.
func (a *app) answers(cmd *cobra.Command, settle bool, decide func() (engine.Answer, error)) *cobra.Command {
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		answer, err := decide()
		if err != nil {
			return err
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		m, err := fold(ctx, s, run)
		if err != nil {
			return err
		}
		open := m.Status().Pending
		p, err := pending(run, args[1], settle, open)
		if err != nil {
			return err
		}
		if answer.By = a.env("USER"); answer.By == "" {
			answer.By = fmt.Sprintf("uid %d", os.Getuid())
		}
		q := engine.Question{Run: run, Call: p.Call, Tool: p.Tool, Args: p.Args, Hash: p.Hash, Settle: p.Settle}
		if err := rein.Approve(ctx, s, q, answer); err != nil {
			return failed(err)
		}
		if a.json {
			return a.print(answered{run, p.Call, p.Tool, string(answer.Decision), len(open) - 1})
		}
		a.say("%s: %s %s of run %s", answer.Decision, p.Tool, p.Call, run)
		if len(open) == 1 {
			a.say("unless the run is being carried out, go on with: %s", a.next("resume %s", run))
		}
		return nil
	})
}

// pending returns the open question that the user names by its call.
func pending(run, call string, settle bool, open []loop.Pending) (*loop.Pending, error) {
	var found []*loop.Pending
	var names []string
	for i := range open {
		p := &open[i]
		if p.Settle != settle {
			continue
		}
		if p.Call == call {
			return p, nil
		}
		names = append(names, p.Call+" ("+p.Tool+")")
		if strings.HasPrefix(p.Call, call) {
			found = append(found, p)
		}
	}
	what := "waits for approval"
	if settle {
		what = "has an unknown outcome"
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(names) == 0:
		return nil, fmt.Errorf("no call of run %s %s", run, what)
	}
	return nil, fmt.Errorf("no call %q of run %s %s; these do: %s", call, run, what, strings.Join(names, ", "))
}
