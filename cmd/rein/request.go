package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
	"rein.example/rein/model/anthropic"
	"rein.example/rein/model/gemini"
	"rein.example/rein/model/openai"
	"rein.example/rein/trace/diff"
)

// requested is what --json prints for a request.
type requested struct {
	Run     string `json:"run"`
	Step    int64  `json:"step"`
	Attempt int64  `json:"attempt"`
	Purpose string `json:"purpose"`
	// Exact: the body hashes to what was sent.
	Exact  bool   `json:"exact"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Body   string `json:"body"`
	// Damage says where the journal stops being sound; the request comes before.
	Damage *damage `json:"damage,omitempty"`

	called *event.ModelCalled
	seq    int64
}

func (a *app) requestCommand() *cobra.Command {
	var step, attempt int64
	var purpose string
	var diff bool
	cmd := &cobra.Command{
		Use: "request RUN --step N [--attempt K] [--purpose P] [--diff]", Short: "Print the exact request that the model saw at a step", Args: exactly("RUN"),
		Long: `Prints the body of the request that the model saw at a step, byte for byte: it is
built again from the journal and must hash to what was sent. If it doesn't, the
command says so and exits 1.

Besides, the model may be asked for a summary before a step (--purpose summary),
and after one whether the work serves the goal (read-back) or whether all is done
(completion-check). Without --purpose the step's own request is meant.`,
		Example: `  rein request last --step 2
  rein request last --step 2 --diff     # against the step before`,
	}
	cmd.Flags().Int64Var(&step, "step", 0, "the step `N`, from 1")
	cmd.Flags().Int64Var(&attempt, "attempt", 0, "which try `K` for the purpose at the step, from 1, as rein show counts; the last if left out")
	cmd.Flags().StringVar(&purpose, "purpose", "", "what the request was for, `P`: step, summary, read-back, completion-check or final")
	cmd.Flags().BoolVar(&diff, "diff", false, "say what changed since the request of the step before, and what that left of the cached prefix; then show the texts")
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if step < 1 {
			return fmt.Errorf("say which step: --step N, from 1")
		}
		if cmd.Flags().Changed("attempt") && attempt < 1 {
			return fmt.Errorf("attempts count from 1: --attempt 1 is the first")
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		switch p := event.Purpose(purpose); p {
		case "", event.PurposeStep, event.PurposeSummary, event.PurposeReadBack, event.PurposeCompletionCheck, event.PurposeFinal:
		default:
			return fmt.Errorf("there is no purpose %q: step, summary, read-back, completion-check or final", purpose)
		}
		w := wanted{step, attempt, event.Purpose(purpose)}
		if diff {
			return a.changes(ctx, s, run, w)
		}
		r, err := a.request(ctx, s, run, w)
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(r)
		} else {
			err = a.write([]byte(r.Body))
		}
		if err == nil && !r.Exact {
			err = failed(fmt.Errorf("this is not exactly what was sent (SHA-256 %s, by the encoder %s), which cannot be had again: it is what this version of rein builds of the journal", r.SHA256, r.called.Encoder))
		}
		if err == nil {
			err = a.report(run, r.Damage)
		}
		return err
	})
}

// wanted says which request is meant. Of attempts, 0 is the last; without a purpose
// it is the step's own request, or what there is where that was never made.
type wanted struct {
	step, attempt int64
	purpose       event.Purpose
}

// is reports whether a request is the one, or more so than the one before. Both have the
// attempt that they are as commands count, see [trace.Attempts].
func (w wanted) is(d, before *event.ModelCalled) bool {
	if d.Step != w.step || w.attempt > 0 && d.Attempt != w.attempt {
		return false
	}
	if w.purpose == "" {
		return before == nil || !d.Purpose.Aside() || before.Purpose.Aside()
	}
	return d.Purpose == w.purpose
}

// request builds a step's request again.
func (a *app) request(ctx context.Context, s journal.Store, run string, w wanted) (*requested, error) {
	called, seq, damage, err := a.calledAt(ctx, s, run, w)
	if err != nil {
		return nil, err
	}
	if called.SHA256 == (event.Hash{}) {
		return nil, failed(fmt.Errorf("nobody knows the bytes of this request: run %s was imported, and its recording has only what was said. %s shows that; %s writes it anew for a model",
			run, a.next("show %s --step %d", run, w.step), a.next("rerun %s --step %d -m MODEL", run, w.step)))
	}
	body, exact, err := engine.Rebuild(ctx, s, encoderOf, run, seq)
	if err != nil {
		return nil, failed(err)
	}
	return &requested{run, w.step, called.Attempt, string(called.Purpose), exact, called.SHA256.String(), int64(len(body)), string(body), damage, called, seq}, nil
}

// encoderOf makes the encoder that a journal names. It needs no key.
func encoderOf(id engine.EncoderID) (model.Encoder, error) {
	name, _, _ := strings.Cut(id.Version, "/")
	switch name {
	case "openai-chat":
		return openai.EncoderOf(id.Options)
	case "openai-responses":
		return openai.ResponsesEncoderOf(id.Options)
	case "anthropic-messages":
		return anthropic.EncoderOf(id.Options)
	case "gemini":
		return gemini.EncoderOf(id.Options)
	}
	return nil, fmt.Errorf("this version has no encoder %s: update rein", id.Version)
}

// changed is what --json prints of how a request differs from that of the step before.
type changed struct {
	Run  string `json:"run"`
	Step int64  `json:"step"`
	// Before is the step whose request it is compared with.
	Before int64 `json:"before_step"`
	*diff.Changes
	// Exact: both bodies hash to what was sent. Known: they are known at all.
	Exact bool `json:"exact"`
	Known bool `json:"known"`
}

// changes prints how a request differs from that of the step before.
func (a *app) changes(ctx context.Context, s journal.Store, run string, w wanted) error {
	if w.step == 1 {
		return fmt.Errorf("step 1 has no step before it")
	}
	var fold diff.Fold
	d := &changed{Run: run, Step: w.step, Before: w.step - 1, Exact: true, Known: true}
	damage, err := foldDiff(ctx, s, run, &fold)
	if err != nil {
		return err
	}
	var list [2]*diff.Request
	for i, w := range []wanted{{step: d.Before}, w} {
		r, exact, err := a.requestOf(ctx, s, run, w)
		if err != nil {
			return err
		}
		list[i], d.Exact, d.Known = r, d.Exact && exact, d.Known && r.Body != ""
	}
	d.Changes = diff.Requests(fold.Run(), list[0], list[1])
	if a.json {
		err = a.print(d)
	} else {
		err = a.write([]byte(d.text(cmp.Or(a.wide, usualWidth))))
	}
	switch {
	case err != nil:
		return err
	case d.Known && !d.Exact:
		return failed(fmt.Errorf("the bodies are not exactly what was sent, which cannot be had again: they are what this version of rein builds of the journal"))
	}
	return a.report(run, damage)
}

// requestOf returns a request to be compared, and whether its body is exact.
func (a *app) requestOf(ctx context.Context, s journal.Store, run string, w wanted) (*diff.Request, bool, error) {
	called, seq, _, err := a.calledAt(ctx, s, run, w)
	if err != nil {
		return nil, false, err
	}
	c, err := seen(ctx, s, run, seq)
	if err != nil {
		return nil, false, failed(err)
	}
	r := &diff.Request{Called: called, Seq: seq, Context: *c}
	if called.SHA256 == (event.Hash{}) {
		return r, false, nil // it was imported; see request
	}
	body, exact, err := engine.Rebuild(ctx, s, encoderOf, run, seq)
	if err != nil {
		return nil, false, failed(err)
	}
	r.Body = string(body)
	return r, exact, nil
}

// text says it for people: words first.
func (d *changed) text(width int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "step %d, since the request of step %d\n", d.Step, d.Before)
	for _, c := range d.Changes.Changes {
		out.WriteString(wrapped("  "+c.Text, width, "    "))
	}
	if len(d.Changes.Changes) == 0 {
		out.WriteString("  nothing was added, removed or changed\n")
	}
	out.WriteString(wrapped("  cached prefix "+d.Prefix.Text, width, "    "))
	out.WriteString("\n")
	for _, line := range d.Diff {
		out.WriteString(line + "\n")
	}
	return out.String()
}
