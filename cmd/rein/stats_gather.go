package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/trace/stats"
)

// gathering adds up the runs of a store.
type gathering struct {
	// since and until bound when a run began, in Unix milliseconds; nil for no bound.
	since, until *int64
	agent, model string
	imported     bool  // only runs that were
	leftOut      int64 // for that
	table        *stats.Table
}

// runFold is a run that was read.
type runFold struct {
	sum    journal.Summary
	run    *stats.Run
	damage *damage
	// imported: it was carried out elsewhere, by Rein or by another program.
	imported bool
	err      error
}

// all reads the runs that are asked for, some of them at once, and adds them up in the
// order of the list, so that the same store gives the same table. What was read of a
// run is given up as soon as it is counted.
func (g *gathering) all(whole context.Context, s journal.Store) error {
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	readers := max(runtime.GOMAXPROCS(0), 2) // one waits for the disk while another decodes
	read := make(chan chan runFold, readers) // bounds how many are under way
	listed := make(chan error, 1)
	go func() {
		defer close(read)
		for sum, err := range s.Runs(ctx) {
			if err != nil {
				listed <- failed(fmt.Errorf("list the runs: %w", err))
				return
			}
			if !g.mayWant(&sum) {
				continue
			}
			one := make(chan runFold, 1)
			select {
			case read <- one:
			case <-ctx.Done():
				return
			}
			go func() { one <- foldStats(ctx, s, sum) }()
		}
	}()
	var first error
	for one := range read {
		f := <-one
		if first == nil {
			first = f.err
		}
		if first != nil {
			cancel()
			continue // the others end soon, and nobody reads the store when it is closed
		}
		g.count(&f)
	}
	select {
	case err := <-listed:
		if first == nil {
			first = err
		}
	default:
	}
	if first == nil && whole.Err() != nil {
		first = failed(fmt.Errorf("list the runs: %w", whole.Err())) // not all of them were
	}
	return first
}

// mayWant reports whether a run has to be read, by what the list says of it. A fork is
// listed with the beginning of the run that it comes from.
func (g *gathering) mayWant(sum *journal.Summary) bool {
	return (g.agent == "" || sum.Agent == g.agent) && (g.since == nil || sum.Last >= *g.since) && (isFork(sum) || g.began(sum.Started))
}

// began reports whether a run that began at a time is asked for.
func (g *gathering) began(at int64) bool {
	return (g.since == nil || at >= *g.since) && (g.until == nil || at < *g.until)
}

// count counts a run if it is asked for.
func (g *gathering) count(f *runFold) {
	if name := f.run.Model(); g.model != "" && name != g.model {
		if _, bare, _ := strings.Cut(name, "/"); bare != g.model {
			return
		}
	}
	if !g.began(f.run.Started()) {
		return
	}
	if f.imported != g.imported {
		g.leftOut++
		return
	}
	var bad *stats.Damage
	if d := f.damage; d != nil {
		bad = &stats.Damage{Run: f.sum.Run, Sound: d.Sound, Problem: d.Problem}
	}
	g.table.Add(f.run, f.sum.Status, bad)
}

// object returns what was added up.
func (g *gathering) object() *statsObject {
	return &statsObject{Since: g.since, Until: g.until, Agent: g.agent, Model: g.model, Imported: g.imported, LeftOut: g.leftOut, Report: g.table.Report()}
}

// foldStats reads a run.
func foldStats(ctx context.Context, s journal.Store, sum journal.Summary) runFold {
	f := runFold{sum: sum}
	shared, err := sharedOf(ctx, s, &sum)
	if err != nil {
		f.err = failed(fmt.Errorf("read run %s: %w", sum.Run, err))
		return f
	}
	f.run = stats.Begin(sum.Run, shared)
	f.damage, f.err = sound(ctx, s, sum.Run, func(e *event.Event) error {
		f.run.Add(e)
		return nil
	})
	f.imported = f.run.Imported()
	if a, ok := s.(journal.Archiver); ok && f.err == nil && !f.imported {
		if f.imported, err = a.Imported(ctx, sum.Run); err != nil {
			f.err = failed(fmt.Errorf("read run %s: %w", sum.Run, err))
		}
	}
	return f
}

// sharedOf returns the last event that a run shares with the one that it was forked
// from, 0 if it is no fork.
func sharedOf(ctx context.Context, s journal.Store, sum *journal.Summary) (int64, error) {
	if !isFork(sum) {
		return 0, nil
	}
	family, err := s.Family(ctx, sum.Run)
	if err != nil {
		return 0, err
	}
	var shared int64
	for _, r := range family {
		if r.Base {
			shared = max(shared, r.Shared)
		}
	}
	return shared, nil
}
