package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

// replayed is what --json prints for a replay.
type replayed struct {
	Run    string          `json:"run"`
	Events []replayedEvent `json:"events"`
	// Next is what the machine asks for after the last event shown.
	Next []nextCommand `json:"next"`
	// Steps, ToolCalls and Status are as they stood then.
	Steps     int64  `json:"steps"`
	ToolCalls int64  `json:"tool_calls"`
	Status    string `json:"status"`
	// Damage says where the journal stops being sound; the rest is of what comes
	// before.
	Damage *damage `json:"damage,omitempty"`
}

type replayedEvent struct {
	Seq  int64          `json:"seq"`
	Step int64          `json:"step"`
	Time int64          `json:"ts"`
	Type string         `json:"type"`
	Data jsontext.Value `json:"data"`
}

type nextCommand struct {
	Command string `json:"command"`
	ID      string `json:"id,omitempty"`
	About   string `json:"about"`
}

func (a *app) replayCommand() *cobra.Command {
	var until int64
	cmd := &cobra.Command{
		Use: "replay RUN [--until N]", Short: "Fold a run's journal again and print it, calling nothing", Args: exactly("RUN"),
		Long: `Folds the journal again, event by event, prints what happened, and says what had to
happen next at the end. Replay never calls anything: no model and no tool, and it
writes nothing. (rerun calls one model and runs no tool: it sends one request again.
fork goes live: it carries on from a step in a new run.)`,
		Example: `  rein replay last
  rein replay last --until 3     # steps 1 to 3`,
	}
	cmd.Flags().Int64Var(&until, "until", 0, "end with step `N`, from 1; left out, all are folded")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if cmd.Flags().Changed("until") && until < 1 {
			return errors.New("steps count from 1: --until 1 ends with the first")
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		r, err := a.replay(ctx, s, run, until)
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(r)
		} else {
			err = a.write([]byte(r.text()))
		}
		if err != nil {
			return err
		}
		return a.report(run, r.Damage)
	})
}

func (a *app) replay(ctx context.Context, s journal.Store, run string, until int64) (*replayed, error) {
	r := &replayed{Run: run, Events: []replayedEvent{}, Next: []nextCommand{}}
	m := loop.New(run)
	var step int64
	var err error
	r.Damage, err = sound(ctx, s, run, func(e *event.Event) error {
		if d, ok := e.Data.(*event.ContextAssembled); ok {
			step = d.Step
		}
		if until > 0 && step > until {
			return errEnough
		}
		if err := m.Apply(e); err != nil {
			return fmt.Errorf("fold event %d: %w", e.Seq, err)
		}
		r.Events = append(r.Events, replayedEvent{e.Seq, step, e.Time, string(e.Data.Type()), e.Data.AppendJSON(nil)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if until > step && r.Damage == nil {
		return nil, fmt.Errorf("run %s has no step %d; the last is %d", run, until, step)
	}
	for _, c := range m.Next() {
		r.Next = append(r.Next, about(c))
	}
	st := m.Status()
	r.Steps, r.ToolCalls, r.Status = st.Steps, st.ToolCalls, st.Status
	return r, nil
}

// about says what a command asks for.
func about(c loop.Command) nextCommand {
	n := nextCommand{Command: strings.TrimPrefix(fmt.Sprintf("%T", c), "*loop."), ID: c.CommandID()}
	switch c := c.(type) {
	case *loop.Record:
		var types []string
		for _, d := range c.Data {
			types = append(types, string(d.Type()))
		}
		n.About = strings.Join(types, ", ")
	case *loop.CallModel:
		n.About = fmt.Sprintf("%s, step %d, attempt %d", c.Model, c.Step, c.Attempt)
	case *loop.RunTool:
		n.About = c.Tool + " " + clip(string(c.Args), 120)
		if c.For != "" {
			n.About += " (to find out what became of " + c.For + ")"
		}
	case *loop.AskApproval:
		n.About = c.Tool + " " + clip(string(c.Args), 120)
	case *loop.Finish:
		n.About = string(c.Data.Reason)
	}
	return n
}

func (r *replayed) text() string {
	var out strings.Builder
	var step int64
	for i := range r.Events {
		e := &r.Events[i]
		if e.Step != step {
			step = e.Step
			fmt.Fprintf(&out, "\nstep %d\n", step)
		}
		fmt.Fprintf(&out, "%5d  %-18s %s\n", e.Seq, e.Type, clip(string(e.Data), 160))
	}
	fmt.Fprintf(&out, "\nthen: %s, %s, %s\n", r.Status, plural(r.Steps, "step"), plural(r.ToolCalls, "tool call"))
	for _, n := range r.Next {
		fmt.Fprintf(&out, "next:  %s %s %s\n", n.Command, n.ID, n.About)
	}
	return out.String()
}
