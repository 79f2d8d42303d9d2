package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein/config"
	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// undone is what --json prints for an undo.
type undone struct {
	Run string `json:"run"`
	To  int64  `json:"to"`
	// Calls are those that may have changed something, the last first.
	Calls []engine.Undone `json:"calls"`
	// OK: nothing of what they did is left.
	OK bool `json:"ok"`
}

func (a *app) undoCommand() *cobra.Command {
	var (
		to      int64
		approve string
	)
	cmd := &cobra.Command{
		Use: "undo RUN --to N [flags]", Short: "Take back what a run's calls did after step N", Args: exactly("RUN"),
		Long: `Takes back what the calls of a run did in the steps after N, the last first, as far
as their tools can: files that were written or edited are again what they were
before, unless somebody has changed them since. Each is asked about before. What
cannot be taken back is said, and the exit code is 1 then.

What is taken back stands in the run's journal, and the model is told if the run
goes on. Only what the run itself has changed is touched.`,
		Example: `  rein undo last --to 3
  rein undo last --to 0 --approve allow     # everything, unasked`,
	}
	cmd.Flags().Int64Var(&to, "to", 0, "the last step `N` that stays; 0 takes everything back")
	cmd.Flags().StringVar(&approve, "approve", "ask", "what to do with each call (`HOW`): ask, deny or allow")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("to") {
			return errors.New("say how far back: --to N leaves what was done up to step N, --to 0 nothing")
		}
		if to < 0 {
			return errors.New("steps count from 1: --to 0 takes everything back")
		}
		u := undone{To: to}
		var err error
		if u.Run, u.Calls, err = a.undo(cmd.Context(), args[0], to, approve); err != nil {
			return err
		}
		return a.undid(&u)
	}
	return cmd
}

// undo takes calls of a run back.
func (a *app) undo(ctx context.Context, prefix string, to int64, approve string) (run string, calls []engine.Undone, err error) {
	answer, err := a.approver(approve)
	if err != nil {
		return "", nil, err
	}
	run, cfg, err := a.resumable(ctx, prefix)
	if err != nil {
		return "", nil, err
	}
	o, closeTools, err := cfg.OptionsOn(config.Host{Context: ctx, Env: a.env, Secrets: event.NewSecrets(), Logger: a.logger()})
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, closeTools()) }()
	tools, err := tool.NewRegistry(o.Tools...)
	if err != nil {
		return "", nil, err
	}
	store, err := a.open(ctx)
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	e, err := local.New(local.Options{Store: store, Secrets: o.Secrets, Logger: a.logger()})
	if err != nil {
		return "", nil, failed(err)
	}
	defer e.Close()
	calls, err = e.Undo(ctx, &engine.UndoJob{Run: run, To: to, Tools: tools, Approve: answer})
	if err != nil {
		err = failed(err)
	}
	return run, calls, err
}

// undid prints what became of each call, and gives the exit code.
func (a *app) undid(u *undone) error {
	u.OK = true
	for _, c := range u.Calls {
		u.OK = u.OK && c.Status == engine.UndoDone
	}
	if u.Calls == nil {
		u.Calls = []engine.Undone{}
	}
	if a.json {
		if err := a.print(u); err != nil {
			return err
		}
	} else {
		for _, c := range u.Calls {
			text := fmt.Sprintf("step %d  %s %s %s: %s", c.Step, name(c.Call), name(c.Tool), clip(string(c.Args), 100), undoWords[c.Status])
			if c.Why != "" {
				text += ": " + clip(c.Why, maxDetail)
			}
			if err := a.write([]byte(text + "\n")); err != nil {
				return err
			}
		}
	}
	if len(u.Calls) == 0 {
		a.say("run %s: there is nothing to take back after step %d", u.Run, u.To)
	}
	if !u.OK {
		return &exit{code: badEnd}
	}
	return nil
}

var undoWords = map[engine.UndoStatus]string{
	engine.UndoDone: "taken back", engine.UndoImpossible: "cannot be taken back", engine.UndoRefused: "not taken back: refused",
	engine.UndoOpen: "not taken back: nobody has approved it", engine.UndoFailed: "failed, perhaps half done",
}
