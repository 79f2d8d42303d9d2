package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// runObject is one line of a list of runs.
type runObject struct {
	Run     string `json:"run"`
	Agent   string `json:"agent"`
	Parent  string `json:"parent,omitempty"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Events  int64  `json:"events"`
	Started int64  `json:"started"`
	Last    int64  `json:"last"`
	// Below: it carries out a call of Parent, rather than being a fork of it.
	Below bool `json:"below,omitempty"`

	depth int // of those that are below others
}

func (a *app) runsCommand() *cobra.Command {
	var most int
	cmd := &cobra.Command{Use: "runs [-n N]", Short: "List the runs, newest first", Args: exactly(),
		Long: `Lists the runs of the store, newest first. A run is running while a process
carries it out, paused while it waits for an answer or to be resumed, interrupted
if its process died, and finished. Below a run stand those that carry out its calls
of agents. Other commands take the beginning of an id, or
"last" for the newest run.`,
		Example: `  rein runs -n 10
  rein runs --json`,
	}
	cmd.Flags().IntVarP(&most, "limit", "n", 0, "list at most `N` runs, and those below them; 0 lists all")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, _ []string) error {
		if most < 0 {
			return errors.New("-n is a number of runs, from 0: 0 lists all")
		}
		list, tops := []runObject{}, 0
		for sum, err := range s.Runs(ctx) {
			if err != nil {
				return failed(fmt.Errorf("list the runs: %w", err))
			}
			r := runObject{
				Run: sum.Run, Agent: sum.Agent, Parent: sum.Parent, Status: sum.Status, Reason: sum.Reason,
				Events: sum.Events, Started: sum.Started, Last: sum.Last,
			}
			if above, ok := event.Above(r.Run); ok && above == r.Parent {
				r.Below = true
			} else {
				tops++
			}
			list = append(list, r)
			if tops == most && most > 0 {
				break
			}
		}
		list = family(list, most)
		if a.json {
			return a.print(list)
		}
		if len(list) == 0 {
			a.say("there are no runs yet; begin with: %s", a.next("demo"))
			return nil
		}
		var out strings.Builder
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "RUN\tAGENT\tSTATUS\tREASON\tEVENTS\tSTARTED\tTOOK")
		for _, r := range list {
			took := time.Duration(r.Last-r.Started) * time.Millisecond
			fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%d\t%s\t%s\n", strings.Repeat("  ", r.depth), name(r.Run), name(r.Agent), r.Status, r.Reason, r.Events,
				time.UnixMilli(r.Started).Format("2006-01-02 15:04:05"), took.Round(time.Millisecond))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return a.write([]byte(out.String()))
	})
}
