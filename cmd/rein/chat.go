package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/journal"
)

// chatPreset are a conversation's limits where the agent names none: they are
// for all of it, not for a turn.
const chatPreset = "long"

func (a *app) chatCommand() *cobra.Command {
	var (
		file, modelName, baseURL string
		c                        carrying
	)
	cmd := &cobra.Command{
		Use:   "chat [flags] [RUN]",
		Short: "Have a conversation: several inputs, one run",
		Long: `Has a conversation, which is one run: it can be left and gone on with, forked and
looked at like any other. What is typed while the model works is taken at its next
step. A line that begins with / is a command; /help lists them.

Without a terminal each line of stdin is an input, taken when the one before is
answered, and the answers go to stdout. If one cannot be taken the exit code is 1.`,
		Example: `  rein chat -m openai/gpt-5.1-mini
  rein chat last
  printf 'Which orders are late?\nAnd why?\n' | rein chat`,
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the agent's `file` (default agent.yaml, if there is one)")
	cmd.Flags().StringVarP(&modelName, "model", "m", "", "the model, as `provider/model`")
	cmd.Flags().StringVar(&baseURL, "base-url", "", "the `URL` of the provider's API, such as http://127.0.0.1:11434/v1")
	cmd.Flags().StringVar(&c.approve, "approve", "ask", "what to do with calls that need approval: `ask`, deny or allow")
	cmd.Flags().BoolVar(&c.plain, "plain", false, "show lines on a terminal instead of the live view, as REIN_PLAIN=1 does")
	c.metricsFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.json {
			return errors.New("a chat has no --json: use rein run, or rein show --json RUN afterwards")
		}
		ctx := cmd.Context()
		store, err := a.open(ctx)
		if err != nil {
			return err
		}
		defer store.Close()
		ch := &chat{a: a, c: &c, store: store}
		if len(args) > 0 {
			if file != "" || modelName != "" || baseURL != "" {
				return errors.New("a run keeps the agent that it was started with: leave out -f, -m and --base-url")
			}
			ch.run, ch.cfg, err = ch.existing(ctx, args[0])
		} else {
			ch.cfg, err = a.agentOf(file, config.Changes{Model: modelName, BaseURL: baseURL})
		}
		if err != nil {
			return err
		}
		return ch.hold(ctx)
	}
	return cmd
}

// chat is a conversation.
type chat struct {
	a     *app
	c     *carrying
	store journal.Store
	cfg   *config.Agent
	s     *session
	// approve answers questions.
	approve rein.Approver
	// run is empty until the first input; over: it has finished.
	run  string
	over bool

	typed *typed
	// ahead: what is typed while the model works is taken at its next step.
	ahead bool
	// past keeps what is typed, if it is typed by hand.
	past *history
	// current is being carried out; sent: it was told something meanwhile.
	current *rein.Run
	sent    bool
	// refused: an input was not taken, where nobody sits who could give another.
	refused bool
	// leaving: it ends when the model rests; killed: a signal wants it to.
	leaving, killed bool
	// unanswered is how the last turn stands if it waits for an answer in words,
	// where nobody sits who could be shown that.
	unanswered *rein.Result
}

// existing returns the conversation that the user names, and its agent.
func (c *chat) existing(ctx context.Context, prefix string) (string, *config.Agent, error) {
	run, err := c.a.find(ctx, c.store, prefix)
	if err != nil {
		return "", nil, err
	}
	spec, err := specOf(ctx, c.store, run)
	if err != nil {
		return "", nil, err
	}
	if !spec.Chat {
		return "", nil, fmt.Errorf("run %s is a task, not a conversation: go on with it with %s", run, c.a.next("resume %s", run))
	}
	cfg, err := config.FromSpec(run, spec)
	return run, cfg, err
}

// hold has the conversation.
func (c *chat) hold(ctx context.Context) (err error) {
	if c.cfg.Limits == (config.Limits{}) {
		cfg := *c.cfg
		cfg.Limits.Preset = chatPreset
		c.cfg = &cfg
	}
	if c.cfg, err = c.a.choose(c.cfg); err != nil {
		return err
	}
	if c.approve, err = c.a.approver(c.c.approve); err != nil {
		return err
	}
	if c.c.metrics, err = c.a.listen(ctx, c.c.metricsAt); err != nil {
		return err
	}
	defer c.c.metrics.close()
	begin := c.onLines
	if c.c.live = c.a.live(c.c); c.c.live != nil {
		begin = c.onScreen
		defer c.c.live.close()
	}
	listen := begin()
	if err = c.c.metrics.serve(c.store); err != nil {
		return err
	}
	if c.s, err = c.a.session(ctx, c.cfg, c.store, c.approve, c.c.metrics.observers()...); err != nil {
		return err
	}
	defer func() {
		if cerr := c.s.close(); err == nil && cerr != nil {
			err = failed(fmt.Errorf("close the agent: %w", cerr))
		}
	}()
	listen()
	return c.loop(ctx)
}

// asked reports whether a person is asked.
func (c *chat) asked() bool { return c.approve != nil && c.c.approve == "ask" }

// onScreen prepares a chat in the live view, and returns what opens it.
func (c *chat) onScreen() func() {
	l := c.c.live
	l.chat, c.ahead, c.typed = true, true, l.typed
	if c.asked() {
		c.approve = l.ask
	}
	var err error
	if c.past, err = c.a.history(); err == nil {
		l.past, err = c.past.load()
	}
	return func() {
		l.open()
		if err != nil {
			c.a.say("%v", err)
		}
	}
}

// onLines prepares a chat on lines, and returns what begins to read them.
func (c *chat) onLines() func() {
	asks := &terminal{a: c.a, reads: true}
	c.ahead, c.typed = c.a.asks, newTyped()
	if c.asked() {
		c.approve = asks.ask
	}
	return func() {
		// Reading cannot be given up: this goroutine reads to the process's end.
		go func() {
			if err := readLines(c.a.in, c.typed, asks); err != nil {
				c.a.say("%v", err)
				c.typed.breakOff()
			}
			c.typed.end()
		}()
	}
}
