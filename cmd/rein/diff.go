package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/trace/diff"
)

// parted is what --json prints of two runs.
type parted struct {
	*diff.Report
	// ContextError says why the contexts could not be parted; left out if they were,
	// or if a run has no request.
	ContextError string `json:"context_error,omitempty"`
	// Damage says where a journal stops being sound; the rest is of what comes before.
	DamageA *damage `json:"damage_a,omitempty"`
	DamageB *damage `json:"damage_b,omitempty"`
}

func (a *app) diffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff RUN_A RUN_B", Short: "Say where two runs part, and what only one of them saw", Args: exactly("RUN_A", "RUN_B"),
		Long: `Compares two runs: their steps are aligned by calls and outcomes, the first place
where they differ is named, and what one context had there that the other had not is
said in words, then as text. Look at the outcomes that differ before the runs part:
they are often the cause.

It calls no model and no tool, and exits 0 also when the runs differ.`,
		Example: `  rein diff 01J9 last
  rein diff 01J9 last --json`,
	}
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		var runs [2]string
		for i := range args {
			var err error
			if runs[i], err = a.find(ctx, s, args[i]); err != nil {
				return err
			}
		}
		d, err := compare(ctx, s, runs[0], runs[1])
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(d)
		} else {
			err = a.write([]byte(a.differences(d)))
		}
		if err == nil {
			err = a.report(runs[0], d.DamageA)
		}
		if err == nil && runs[0] != runs[1] {
			err = a.report(runs[1], d.DamageB)
		}
		return err
	})
}

// compare compares two runs.
func compare(ctx context.Context, s journal.Store, runA, runB string) (*parted, error) {
	d := &parted{}
	var x, y diff.Fold
	err := together(
		func() (err error) { d.DamageA, err = foldDiff(ctx, s, runA, &x); return err },
		func() (err error) { d.DamageB, err = foldDiff(ctx, s, runB, &y); return err })
	if err != nil {
		return nil, err
	}
	c := diff.New(x.Run(), y.Run())
	if c.Shared, err = shared(ctx, s, runA, runB); err != nil {
		return nil, err
	}
	var seenA, seenB *diff.Context
	if seqA, seqB := c.Requests(); seqA > 0 && seqB > 0 {
		err := together(
			func() (err error) { seenA, err = seen(ctx, s, runA, seqA); return err },
			func() (err error) { seenB, err = seen(ctx, s, runB, seqB); return err })
		if err != nil {
			d.ContextError = err.Error()
		}
	}
	d.Report = c.Report(seenA, seenB)
	return d, nil
}

// together does two things at the same time and returns the first one's error, else the
// other's.
func together(f, g func() error) error {
	done := make(chan error, 1)
	go func() { done <- g() }()
	err := f()
	if other := <-done; err == nil {
		err = other
	}
	return err
}

// foldDiff folds a run for a comparison.
func foldDiff(ctx context.Context, s journal.Store, run string, f *diff.Fold) (*damage, error) {
	d, err := sound(ctx, s, run, func(e *event.Event) error { f.Add(e); return nil })
	if r := f.Run(); err == nil && r.Status == "running" {
		var sum journal.Summary
		if sum, err = summary(ctx, s, run); err == nil && sum.Status == "interrupted" {
			r.Status = sum.Status // its process is gone, which no event can say
		}
	}
	return d, err
}

// shared returns the last event that two runs have in common because of a fork, 0 for
// none.
func shared(ctx context.Context, s journal.Store, runA, runB string) (int64, error) {
	if runA == runB {
		return 0, nil
	}
	family, err := s.Family(ctx, runA)
	if err != nil {
		return 0, failed(fmt.Errorf("find what the runs share: %w", err))
	}
	for _, r := range family {
		if r.Run == runB {
			return r.Shared, nil
		}
	}
	return 0, nil
}

// seen returns what a model saw in one request.
func seen(ctx context.Context, s journal.Store, run string, seq int64) (*diff.Context, error) {
	v, err := engine.See(ctx, s, run, seq)
	if err != nil {
		return nil, err
	}
	return &diff.Context{System: v.System, Messages: v.Messages, Tail: v.Tail, Tools: v.Tools, Dialect: v.Dialect}, nil
}
