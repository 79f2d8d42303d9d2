package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/trace/portable"
)

// verified is what --json prints for a journal.
type verified struct {
	Run string `json:"run"`
	OK  bool   `json:"ok"`
	// Sound is the last event up to which everything is in order; Head its hash.
	Sound int64  `json:"sound"`
	Head  string `json:"head"`
	// Torn: only the end is missing, as a crash leaves it; else something was
	// changed.
	Torn    bool   `json:"torn"`
	Problem string `json:"problem,omitempty"`
}

func (a *app) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify RUN", Short: "Check a run's journal: its hash chain and that it can be folded", Args: exactly("RUN"),
		Long: `Reads a run's journal from its beginning: each event must hash to what was
written and follow the one before, the whole must fold, and what is stored beside
the journal must be what it was. Exits 1 if something is not as it was written,
and says up to where it is.`,
		Example: `  rein verify last`,
	}
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		v := verify(ctx, s, run)
		if a.json {
			err = a.print(v)
		} else if v.OK {
			err = a.write(fmt.Appendf(nil, "run %s: %d events, in order; the last has hash %s\n", run, v.Sound, v.Head))
		} else {
			err = a.write(fmt.Appendf(nil, "run %s: sound up to event %d, %s, and not after it\n", run, v.Sound, v.Head))
		}
		if err == nil && !v.OK {
			err = a.report(run, &damage{v.Sound, v.Torn, v.Problem})
		}
		return err
	})
}

// verify reads a journal through the store, which checks the chain, folds it,
// and looks at the bodies that it refers to.
func verify(ctx context.Context, s journal.Store, run string) *verified {
	v := &verified{Run: run}
	m := loop.New(run)
	var chain event.Hash
	for e, err := range s.Read(ctx, run, 1) {
		var damage *journal.DamageError
		switch {
		case errors.As(err, &damage):
			v.Torn, v.Problem = damage.Torn, damage.Error()
			return v
		case err != nil:
			v.Problem = err.Error()
			return v
		case e.Prev != chain || e.Seq != v.Sound+1:
			v.Problem = fmt.Sprintf("event %d does not follow event %d", e.Seq, v.Sound)
			return v
		}
		if err := m.Apply(&e); err != nil {
			v.Problem = fmt.Sprintf("event %d cannot be folded: %v", e.Seq, err)
			return v
		}
		for _, ref := range portable.Refs(e.Data) {
			if _, err := s.Body(ctx, *ref); err != nil {
				v.Problem = fmt.Sprintf("event %d: %v", e.Seq, err)
				return v
			}
		}
		chain = e.Hash
		v.Sound, v.Head = e.Seq, e.Hash.String()
	}
	v.OK = true
	return v
}
