package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// maxTask is the most bytes of a task; longer material belongs into files.
const maxTask = 1 << 20

// agentFile is read when no other is named.
const agentFile = "agent.yaml"

// carrying are the flags of the commands that carry a run out.
type carrying struct {
	events  bool
	approve string
	// metricsAt is where metrics are served, empty for nowhere; metrics serves them.
	metricsAt address
	metrics   *metrics

	// What came of it: idle, if nothing was done since only a person can move the
	// run on; unread, if it was paused since nobody reads its events.
	// interrupted, if Ctrl-C or a signal ended the work, whatever the run waits for.
	idle, unread, interrupted bool
	// plain shows lines instead of the live view.
	plain bool
	// live, if not nil, is the live view.
	live *live
	// forkOf, if not nil, is what a run that is a fork comes from.
	forkOf *forkOf
}

func (c *carrying) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.events, "events", false, "print the run's events as JSON lines")
	cmd.Flags().StringVar(&c.approve, "approve", "ask", "what to do with calls that need approval (`HOW`): ask, deny or allow")
	cmd.Flags().BoolVar(&c.plain, "plain", false, "show lines on a terminal instead of the live view, as REIN_PLAIN=1 does")
	c.metricsFlag(cmd)
}

func (c *carrying) metricsFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&c.metricsAt, "metrics", "serve metrics for Prometheus at `ADDR` while the run is carried out: a port of this machine (0: any), or HOST:PORT")
}

func (a *app) runCommand() *cobra.Command {
	var (
		file, modelName, baseURL string
		c                        carrying
	)
	cmd := &cobra.Command{
		Use:   "run TASK [flags]",
		Short: "Carry out a task",
		Long: `Carries out a task. TASK is a text, or - to read it from stdin.

The agent is described by agent.yaml: the file named with -f, else the one in the
current folder, if there is one. Without a terminal a call that needs approval
parks the run; answer with rein approve, and go on with rein resume.`,
		Example: `  rein run "Which of these files are out of date?"
  rein run -m openai/qwen3 --base-url http://127.0.0.1:11434/v1 --json - <task.txt`,
		Args: exactly("TASK"),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the agent's `file` (default agent.yaml, if there is one)")
	cmd.Flags().StringVarP(&modelName, "model", "m", "", "the model, as `provider/model`")
	cmd.Flags().StringVar(&baseURL, "base-url", "", "the `URL` of the provider's API, such as http://127.0.0.1:11434/v1")
	c.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		task, err := a.task(args[0])
		if err != nil {
			return err
		}
		cfg, err := a.agentOf(file, config.Changes{Model: modelName, BaseURL: baseURL})
		if err != nil {
			return err
		}
		return a.carryOut(cmd.Context(), cfg, &c, func(ctx context.Context, agent *rein.Agent) *rein.Run {
			return agent.Start(ctx, task)
		})
	}
	return cmd
}

// task returns the task's text.
func (a *app) task(arg string) (string, error) { return a.text(arg, "task", "say what is to be done") }

// said returns the text of an input.
func (a *app) said(arg string) (string, error) { return a.text(arg, "input", "say something") }

// text returns a text of the command line, or of stdin for "-".
func (a *app) text(arg, what, hint string) (string, error) {
	if arg == "-" {
		text, err := io.ReadAll(io.LimitReader(a.in, maxTask+1))
		if err != nil {
			return "", fmt.Errorf("read the %s from stdin: %w", what, err)
		}
		arg, a.asks = string(text), false // stdin is used up
	}
	switch {
	case len(arg) > maxTask:
		return "", fmt.Errorf("the %s has more than %d bytes: put long material into a file and let the agent read it", what, maxTask)
	case !utf8.ValidString(arg):
		return "", fmt.Errorf("the %s is not UTF-8 text: convert it first", what)
	case strings.TrimSpace(arg) == "":
		return "", fmt.Errorf("the %s is empty: %s", what, hint)
	}
	return arg, nil
}

// agentOf returns the agent of a file, with changes from the command line.
func (a *app) agentOf(file string, c config.Changes) (*config.Agent, error) {
	cfg, err := a.load(file)
	if err != nil {
		return nil, err
	}
	c.KeyEnv = a.keyFor(cfg, c)
	return cfg.With(c)
}

func (a *app) load(file string) (*config.Agent, error) {
	if file != "" {
		return config.Load(file)
	}
	cfg, err := config.Load(agentFile)
	if err == nil {
		a.say("using ./%s", agentFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if cfg, err = config.Parse("command line", []byte("{}")); err == nil {
			cfg.BaseDir, err = os.Getwd()
		}
	}
	return cfg, err
}

// carryOut carries out the run that start gives, shows it, and prints where it
// stands in the end.
func (a *app) carryOut(ctx context.Context, cfg *config.Agent, c *carrying, start func(context.Context, *rein.Agent) *rein.Run) error {
	approve, err := a.approver(c.approve)
	if err != nil {
		return err
	}
	if c.metrics, err = a.listen(ctx, c.metricsAt); err != nil {
		return err
	}
	defer c.metrics.close()
	if c.live = a.live(c); c.live != nil {
		defer c.live.close()
		if approve != nil && c.approve == "ask" {
			approve = c.live.ask
		}
	}
	store, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := c.metrics.serve(store); err != nil {
		return err
	}
	s, err := a.session(ctx, cfg, store, approve, c.metrics.observers()...)
	if err != nil {
		return err
	}
	result, err := a.follow(ctx, store, c, func(ctx context.Context) *rein.Run { return start(ctx, s.agent) })
	if cerr := errors.Join(s.close(), store.Close()); err == nil && cerr != nil {
		err = failed(fmt.Errorf("close the store: %w", cerr))
	}
	c.live.close()
	if err != nil {
		return err
	}
	return a.finish(result, c)
}

// follow carries the run out while it shows what happens, and returns where it
// stands in the end.
func (a *app) follow(ctx context.Context, store journal.Store, c *carrying, start func(context.Context) *rein.Run) (*rein.Result, error) {
	ctx, in := a.interruptible(ctx)
	defer in.close()
	run := start(ctx)
	in.run(run)
	var tail *tail
	if c.events {
		tail = a.tail(store, run.ID(), in.unread)
	}
	c.idle = true
	show := newView(a).show
	if a.format != "" {
		show = func(*rein.Event) {} // there are records
	}
	if c.live != nil {
		c.live.begin(ctx, store, run.ID(), c.forkOf, in)
		defer c.live.end()
		show = c.live.show
	}
	var err error
	for e, eerr := range run.Events() {
		if eerr != nil {
			err = eerr
			break
		}
		show(&e)
		if e.Delta == nil && e.Progress == nil && !standing(e.Data) {
			c.idle = false
		}
	}
	in.run(nil) // what comes now finds nothing to pause
	c.unread, c.interrupted = in.left.Load(), in.pressed.Load()
	if tail != nil {
		if terr := tail.stop(); err == nil && terr != nil {
			err = terr
		}
	}
	if err != nil {
		return nil, a.notRun(ctx, store, run, err)
	}
	result, err := run.Result()
	if err != nil {
		return nil, a.notRun(ctx, store, run, err)
	}
	return result, nil
}

// standing reports whether an event moves a run no further: it says only that
// the run was taken up or given up.
func standing(d event.Data) bool {
	switch d := d.(type) {
	case *event.RunResumed, *event.RunPaused, *event.ApprovalAsked:
		return true
	case *event.ToolStarted:
		return d.Run != "" && d.Attempt > 1 // the run that carries the call out was taken up
	}
	return false
}

// notRun says what became of a run that could not be carried on.
func (a *app) notRun(ctx context.Context, store journal.Store, run *rein.Run, err error) error {
	var held *journal.HeldError
	if errors.As(err, &held) {
		return err
	}
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		// It does not go away by itself.
		return failed(fmt.Errorf("%w\nSee what of it is sound: %s", err, a.next("verify %s", run.ID())))
	}
	if errors.Is(err, local.ErrNothingLeft) {
		return err // nothing was begun
	}
	if errors.Is(err, journal.ErrFenced) || errors.Is(err, local.ErrFinished) {
		return failed(err) // it goes on elsewhere, or not at all
	}
	head, herr := store.Head(context.WithoutCancel(ctx), run.ID())
	if herr == nil && head.Seq > 0 {
		err = fmt.Errorf("%w\nWhat was done is kept; when the cause is gone, go on with: %s", err, a.next("resume %s", run.ID()))
	}
	return failed(err)
}

// exactly is cobra.ExactArgs with the arguments' names in its error.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing: %s", names[len(args)], cmd.UseLine())
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many (put a text in quotes): %s", args[len(names)], cmd.UseLine())
		}
		return nil
	}
}
