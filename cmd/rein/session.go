package main

import (
	"context"
	"errors"
	"fmt"

	"rein.example/rein"
	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// session is an agent that is ready to run, and what has to be closed with it.
type session struct {
	agent   *rein.Agent
	closers []func() error
}

// session builds the agent that the configuration describes, and starts the servers
// that it names; ctx bounds only that. Its runs are shown to watch.
func (a *app) session(ctx context.Context, cfg *config.Agent, store journal.Store, approve rein.Approver, watch ...rein.Observer) (_ *session, err error) {
	s := &session{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if cfg, err = a.choose(cfg); err != nil {
		return nil, err
	}
	name, _, err := provider(cfg)
	if err != nil {
		return nil, err
	}
	var extra []tool.Tool
	text := cfg.Text()
	if name == demoProvider {
		if cfg, extra, err = a.demoModel(s, cfg); err != nil {
			return nil, err
		}
	}
	secrets := event.NewSecrets()
	models, first, err := a.models(cfg, secrets)
	if err != nil {
		return nil, err
	}
	o, closeTools, err := cfg.OptionsOn(a.host(ctx, secrets), extra...)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, closeTools)
	if err := first.counts(o); err != nil {
		return nil, err
	}
	o.Config = text // without what holds only while this process lives
	o.Store, o.Approve, o.Logger = store, approve, a.logger()
	o.Fallback = models[1:]
	o.Observers = append(append(o.Observers, watch...), a.logged(store)...)
	a.telemetry(ctx, s, store, secrets, o)
	if s.agent, err = rein.New(models[0], o); err != nil {
		return nil, fmt.Errorf("make the agent: %w", err)
	}
	s.closers = append(s.closers, s.agent.Close)
	return s, nil
}

// close closes everything, the last first.
func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// models returns the clients of the agent's model and of those that it falls back
// to, and where the first is. Their keys are secrets from now on.
func (a *app) models(cfg *config.Agent, secrets *event.Secrets) ([]model.Client, *target, error) {
	targets, err := a.targets(cfg)
	if err != nil {
		return nil, nil, err
	}
	var clients []model.Client
	kept := map[string]bool{}
	for _, t := range targets {
		client, err := t.client(nil)
		if err != nil {
			return nil, nil, err
		}
		clients = append(clients, client)
		if k := t.key; len(k.value) >= event.MinSecret && !kept[k.name] {
			kept[k.name] = true
			if err := secrets.Hide(k.name, k.value); err != nil { // no tool needs it
				return nil, nil, fmt.Errorf("keep the key %s out of the journal: %w", k.name, err)
			}
		}
	}
	return clients, targets[0], nil
}

// ofRun returns the agent that started a run, as it was then, with the models that
// the run asks now.
func ofRun(ctx context.Context, s journal.Store, run string) (*config.Agent, error) {
	spec, err := specOf(ctx, s, run)
	if err != nil {
		return nil, err
	}
	return config.FromSpec(run, spec)
}

// specOf returns what a run was started with and, where it or one that it was forked
// from has changed that, the models that it asks now.
func specOf(ctx context.Context, s journal.Store, run string) (*event.Spec, error) {
	var spec *event.Spec
	for e, err := range s.Read(ctx, run, 1) {
		if err != nil {
			if spec != nil {
				break // what is wrong with the rest is said when it is needed
			}
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
		spec = specAfter(spec, e.Data)
	}
	if spec == nil {
		return nil, failed(fmt.Errorf("run %s was killed before it began: start it again", run))
	}
	return spec, nil
}

// specAfter returns what a run was started with and the models that it asks after an
// event, spec before it; nil before it has begun.
func specAfter(spec *event.Spec, d event.Data) *event.Spec {
	switch d := d.(type) {
	case *event.RunStarted:
		return &d.Spec
	case *event.RunResumed:
		if d.Models != nil && spec != nil {
			return spec.With(d.Models)
		}
	}
	return spec
}
