package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"rein.example/rein/engine"
	"rein.example/rein/engine/imported"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
	"rein.example/rein/trace/html"
)

// writeHTML writes a run and those below it as one HTML file. s gives what may be in it:
// what is taken out on the way out, a view of the store takes out, and requests are then
// said not to be exact. What is sound of a damaged journal is written, and the error, a
// *journal.DamageError, says where it ends; left is told what else is missing.
func writeHTML(ctx context.Context, s journal.Store, run string, w io.Writer, left func(what string)) error {
	alive := map[string]string{} // looked up only
	for sum, err := range s.Runs(ctx) {
		if err != nil {
			return failed(fmt.Errorf("list the runs: %w", err))
		}
		if sum.Status == "running" || sum.Status == "interrupted" {
			alive[sum.Run] = sum.Status
		}
	}
	top, err := htmlRun(ctx, s, run, alive)
	if err != nil {
		return err
	}
	return html.Write(w, html.Input{
		Run:     *top,
		Below:   func(below string) (*html.Run, error) { return htmlRun(ctx, s, below, alive) },
		Body:    func(ref message.Ref) ([]byte, error) { return s.Body(ctx, ref) },
		Left:    left,
		Program: "rein " + builtVersion(),
	})
}

// htmlRun is a run of the store as the page takes it; alive says how runs stand that
// have not ended.
func htmlRun(ctx context.Context, s journal.Store, run string, alive map[string]string) (*html.Run, error) {
	found, err := anomalies(ctx, s, run, alive[run] == "interrupted")
	if err != nil {
		return nil, err
	}
	return &html.Run{ID: run, Events: s.Read(ctx, run, 1), Requests: htmlRequests(ctx, s, run), Anomalies: found, Status: alive[run]}, nil
}

// anomalies finds those of a run, up to where its journal is sound; left: its process is
// gone.
func anomalies(ctx context.Context, s journal.Store, run string, left bool) ([]trace.Anomaly, error) {
	var f anomaly.Fold
	_, err := sound(ctx, s, run, func(e *event.Event) error {
		f.Add(e)
		return nil
	})
	if left {
		f.Left()
	}
	return f.Found(), err
}

// htmlRequests are what the model saw in the requests of a run.
func htmlRequests(ctx context.Context, s journal.Store, run string) iter.Seq2[*html.Request, error] {
	return func(yield func(*html.Request, error) bool) {
		for r, err := range engine.Requests(ctx, s, encoderOf, run) {
			var damage *journal.DamageError
			if errors.As(err, &damage) {
				return // which the page says by itself
			}
			if err != nil {
				yield(nil, err)
				return
			}
			out := &html.Request{Seq: r.Seq, System: r.System, Kept: r.Kept, Messages: r.Messages, Tail: r.Tail, Tools: r.Tools, Dialect: r.Dialect,
				Since: r.Since, Same: r.Same, Rest: r.Rest, Exact: r.Exact}
			if r.Problem != nil {
				out.Problem = r.Problem.Error()
			}
			if r.Called.Encoder == imported.Encoder {
				out.Problem = "nobody knows these bytes: the run was imported, and its recording has only what was said"
			}
			if r.Unseen != nil {
				out.Unseen = r.Unseen.Error()
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}
