package main

import (
	"context"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/propagation"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/otel/otlp"
	"rein.example/rein/trace/portable"
)

// asked returns ctx with the W3C trace context of whoever started this process, as
// TRACEPARENT and TRACESTATE give it: runs belong to that trace, and tools are told.
func (a *app) asked(ctx context.Context) context.Context {
	from := propagation.MapCarrier{"traceparent": a.env("TRACEPARENT"), "tracestate": a.env("TRACESTATE")}
	return propagation.TraceContext{}.Extract(ctx, from)
}

// telemetry exports the session's runs, if the environment asks for that. That it cannot
// be exported is said and changes nothing else.
func (a *app) telemetry(ctx context.Context, s *session, store journal.Store, secrets *event.Secrets, o *rein.Options) {
	out := exported(store)
	var mu sync.Mutex
	redactor := portable.NewRedactor(secrets, a.redactionKey)
	out.Redact = func(s string) string {
		mu.Lock()
		defer mu.Unlock()
		return redactor.Text(s)
	}
	live, err := otlp.FromEnv(ctx, out)
	if err != nil {
		a.say("%v", err)
	}
	if live == nil {
		return
	}
	o.Observers = append(o.Observers, live.Observer)
	s.closers = append(s.closers, func() error {
		if err := live.Close(ctx); err != nil {
			a.say("%s", strings.ReplaceAll(err.Error(), "\n", " "))
		}
		return nil
	})
}

// sendTo sends a run to a collector; "env" is the environment's.
func (a *app) sendTo(ctx context.Context, to string, v *portable.View, run string) error {
	o, err := exportedAsAsked(v)
	if err != nil {
		return err
	}
	if to == "env" {
		to = ""
	}
	if err := otlp.Send(ctx, v, run, o, to); err != nil {
		return failed(err)
	}
	x := sent(v, run)
	a.tellExported(x, "-")
	if a.json {
		err = a.print(x)
	}
	if err == nil && len(x.Left) > 0 {
		err = &exit{code: badEnd}
	}
	return err
}

// exportedAsAsked is exported, with what the environment says of names and content. What
// leaves a view has no secrets any more.
func exportedAsAsked(v *portable.View) (otel.Options, error) {
	o := exported(v)
	err := otlp.Settings(&o)
	return o, err
}

// exported returns what all exports of runs have in common.
func exported(store journal.Store) otel.Options {
	return otel.Options{
		Store: store, Version: builtVersion(),
		Requests: func(ctx context.Context, run string, seq int64) (*otel.Request, error) {
			seen, err := engine.See(ctx, store, run, seq)
			if err != nil {
				return nil, err
			}
			r := &otel.Request{System: seen.System, Messages: seen.Messages, Tools: seen.Tools}
			if seen.Tail != nil {
				r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], *seen.Tail)
			}
			return r, nil
		},
	}
}
