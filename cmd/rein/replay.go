package main

import (
	"context"
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
		Use: "replay [--until N] RUN", Short: "Fold a run's journal again and print it, calling nothing", Args: exactly("RUN"),
		Long: `Folds the journal again, event by event, prints what happened, and says what had to
happen next at the end. It calls no model and no tool.`,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().Int64Var(&until, "until", 0, "stop before step `N+1` begins")
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		r, err := a.replay(ctx, s, run, until)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(r)
		}
		return a.write([]byte(r.text()))
	})
}

func (a *app) replay(ctx context.Context, s journal.Store, run string, until int64) (*replayed, error) {
	r := &replayed{Run: run, Events: []replayedEvent{}, Next: []nextCommand{}}
	m := loop.New(run)
	var step int64
	for e, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
		if d, ok := e.Data.(*event.ContextAssembled); ok {
			step = d.Step
		}
		if until > 0 && step > until {
			break
		}
		if err := m.Apply(&e); err != nil {
			return nil, failed(fmt.Errorf("fold event %d of run %s: %w", e.Seq, run, err))
		}
		r.Events = append(r.Events, replayedEvent{e.Seq, step, e.Time, string(e.Data.Type()), e.Data.AppendJSON(nil)})
	}
	if until > step {
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
