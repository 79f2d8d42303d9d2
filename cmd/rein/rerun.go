package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
	"rein.example/rein/trace"
)

// rerunning are the flags of rein rerun.
type rerunning struct {
	wanted
	purpose        string
	model, baseURL string
	rules, edit    string
	set            []string
	n              int64
	inexact, trust bool
}

const (
	// maxSamples is the most samples of one rerun: enough to tell 1 in 100.
	maxSamples = 100
	// maxBody is the most bytes of an edited body.
	maxBody = 64 << 20
)

func (a *app) rerunCommand() *cobra.Command {
	var f rerunning
	cmd := &cobra.Command{
		Use:   "rerun RUN --step N [-m MODEL] [--base-url URL] [--rules FILE] [--set NAME=VALUE] [--edit FILE] [-n K] [--attempt K] [--purpose P] [--inexact] [--trust]",
		Short: "Send one request of a run again, and compare what comes back",
		Long: `Sends the request that the model saw at a step again, and compares what comes back
with what came in the run. Rerun calls one model and runs no tool: what a reply calls
is shown, with what the run's permissions and rules would have said of it, and is not
carried out. Nothing is written, neither into the run's journal nor elsewhere. (replay
never calls anything: it folds the journal. fork goes live: it carries on from a step
in a new run.)

The bytes are those that the run sent, built again from its journal, and must hash to
what was sent; where they don't, nothing is sent unless --inexact says so. With -n the
request is sent so often: each sample is a call of its own, since no reply is kept to be
given again. The first is sent alone, the others up to four at once; a failure that may
pass is tried again as with retry: fast. Each sample costs what it costs.

To find out what a reply hangs on, change one thing:
  -m MODEL        asks another model. For one on another wire the conversation is
                  written anew; what of it that wire cannot have is named.
  --rules FILE    other rules. FILE is an agent.yaml, of which only rules, contract and
                  accept are taken, or just the lists never, must and can. What it
                  leaves out stays. The rules are told to the model, as in the run.
  --set NAME=VALUE  another setting: temperature, top_p, seed, reasoning, max_output
  --edit FILE     a body of your own, sent as it is: save one with rein request, edit it
                  by hand. The tools by which its reply is read stay the run's.

Of an imported run the request goes to the server that its file names, with the key that
it names, only with --trust.

Ctrl-C ends it; what has come by then is shown.`,
		Example: `  rein rerun last --step 3                     # was it chance?
  rein rerun last --step 3 -n 10 --set temperature=0
  rein rerun last --step 3 -n 5 -m anthropic/claude-sonnet-4-5
  rein rerun last --step 3 --rules stricter.yaml
  rein rerun last --step 3 --edit body.json    # of rein request last --step 3 >body.json`,
		Args: exactly("RUN"),
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.step, "step", 0, "the step `N`, from 1")
	flags.Int64Var(&f.attempt, "attempt", 0, "which try `K` of the step, from 1; the last if left out")
	flags.StringVar(&f.purpose, "purpose", "", "what the request was for, `P`: step, summary, read-back, completion-check or final")
	flags.StringVarP(&f.model, "model", "m", "", "the model to ask, as `provider/model`; the run's if left out")
	flags.StringVar(&f.baseURL, "base-url", "", "the `URL` of the provider's API, such as http://127.0.0.1:11434/v1")
	flags.StringVar(&f.rules, "rules", "", "take the rules from this `FILE`")
	flags.StringArrayVar(&f.set, "set", nil, "change a setting of the model, `NAME=VALUE`; may be given several times")
	flags.StringVar(&f.edit, "edit", "", "send the body in this `FILE`, or - for stdin")
	flags.Int64VarP(&f.n, "samples", "n", 1, fmt.Sprintf("how often to send it, `K` times, at most %d", maxSamples))
	flags.BoolVar(&f.inexact, "inexact", false, "send it even if it is not known to be what the run sent")
	flags.BoolVar(&f.trust, "trust", false, trustUsage)
	_ = cmd.MarkFlagFilename("rules", "yaml", "yml") // the flags are there
	_ = cmd.MarkFlagFilename("edit", "json")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if err := f.check(cmd.Flags().Changed); err != nil {
			return err
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		return a.rerun(ctx, s, run, &f)
	})
}

// check returns what is wrong with the flags.
func (f *rerunning) check(given func(name string) bool) error {
	f.wanted.purpose = event.Purpose(f.purpose)
	switch {
	case f.step < 1:
		return errors.New("say which step: --step N, from 1")
	case given("attempt") && f.attempt < 1:
		return errors.New("attempts count from 1: --attempt 1 is the first")
	case f.n < 1 || f.n > maxSamples:
		return fmt.Errorf("-n is from 1 to %d", maxSamples)
	case f.edit != "" && (f.model != "" || f.rules != "" || len(f.set) > 0):
		return errors.New("an edited body is sent as it is: make the other changes in it (the model's name, too), or leave --edit out")
	}
	switch f.wanted.purpose {
	case "", event.PurposeStep, event.PurposeSummary, event.PurposeReadBack, event.PurposeCompletionCheck, event.PurposeFinal:
		return nil
	}
	return fmt.Errorf("there is no purpose %q: step, summary, read-back, completion-check or final", f.purpose)
}

// rerun sends a request of a run again, and shows what came of it.
func (a *app) rerun(ctx context.Context, s journal.Store, run string, f *rerunning) error {
	called, seq, damage, err := a.calledAt(ctx, s, run, f.wanted)
	if err != nil {
		return err
	}
	changes, err := a.changeOf(ctx, s, run, seq, f)
	if err != nil {
		return err
	}
	to, err := a.resend(ctx, s, run, seq, called, f)
	if err != nil {
		return err
	}
	defer func() { _ = to.close() }()
	target, err := to.instead(called, f)
	if err != nil {
		return err
	}
	changes.To = target
	r, err := engine.PrepareRerun(ctx, s, encoderOf, run, seq, changes, f.inexact)
	switch {
	case errors.Is(err, engine.ErrUnsure) && target == nil:
		return fmt.Errorf("%w\nName a model with -m to have the conversation written anew, or send what can be built with --inexact", err)
	case err != nil:
		return failed(err)
	}
	if err := unchanged(r, f); err != nil {
		return err
	}
	out := newRerun(r, f)
	a.announce(r, to.client, f)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	price := to.client.Info().Price
	var broken error
	local.Samples(ctx, to.client, r, f.n, rein.RetryFast(), func(sample *local.Sample) {
		o, err := r.Outcome(context.WithoutCancel(ctx), &sample.Tried, price)
		if err != nil {
			broken = failed(err)
			return
		}
		out.add(sample, o, r.Recorded)
		if f.n > 1 {
			a.say("  sample %d of %d: %s", sample.N, f.n, clip(did(o), 100))
		}
	})
	if broken != nil {
		return broken
	}
	out.Interrupted = ctx.Err() != nil
	out.conclude(r.Recorded)
	if a.json {
		err = a.print(out)
	} else {
		err = a.write([]byte(out.text(cmp.Or(a.wide, usualWidth))))
	}
	switch {
	case err != nil:
		return err
	case out.Interrupted:
		return &exit{code: interrupted}
	case out.Summary.Failed > 0:
		return &exit{code: badEnd}
	}
	return a.report(run, damage)
}

// unchanged refuses a change that changes nothing: its samples would be taken for what
// it does.
func unchanged(r *engine.Rerun, f *rerunning) error {
	if f.rules == "" && len(f.set) == 0 && f.edit == "" || !r.Exact {
		return nil
	}
	why := "the request is the same with it"
	if len(r.Lost) > 0 {
		why = r.Lost[0].Text
	}
	return fmt.Errorf("nothing would change: %s", why)
}

// announce says on stderr what is about to be sent.
func (a *app) announce(r *engine.Rerun, c model.Client, f *rerunning) {
	what := "with changes"
	switch {
	case r.Exact:
		what = "exactly as it was sent"
	case r.Unsure != "" && len(r.Changed) == 0:
		what = "as it is built today"
	}
	a.say("sending the request of step %d of run %s to %s, %s, %s; no tool is run", f.step, r.Run, r.Model, what, plural(f.n, "time"))
	if r.Unsure != "" {
		a.say("%s %s", a.paint(yellow, "warning:"), r.Unsure)
	}
	if c.Info().Price == nil {
		a.say("what it costs is not known: there is no price for %s", r.Model)
	}
}

// calledAt returns the model.called of the wanted request, with the attempt that it is as
// commands count, and where it stands.
func (a *app) calledAt(ctx context.Context, s journal.Store, run string, w wanted) (called *event.ModelCalled, seq int64, d *damage, err error) {
	var last int64
	var attempts trace.Attempts
	d, err = sound(ctx, s, run, func(e *event.Event) error {
		if c, ok := e.Data.(*event.ModelCalled); ok {
			last = max(last, c.Step)
			numbered := *c
			numbered.Attempt = attempts.Next(c)
			if w.is(&numbered, called) {
				called, seq = &numbered, e.Seq
			}
		}
		return nil
	})
	switch {
	case err != nil || called != nil:
		return called, seq, d, err
	case d != nil:
		return nil, 0, d, a.report(run, d)
	case w.attempt > 0 || w.purpose != "":
		return nil, 0, nil, fmt.Errorf("run %s has no such attempt or purpose at a step %d; rein show lists what there is", run, w.step)
	}
	return nil, 0, nil, fmt.Errorf("run %s has no step %d; the last is %d", run, w.step, last)
}
