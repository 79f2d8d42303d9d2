package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rein.example/rein/config"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model"
)

// resent is the model that a request is sent to again.
type resent struct {
	client model.Client
	// calling says how it calls tools.
	calling event.ModelCalling
	session // what has to be closed
}

// resend returns the model that is to be asked: the one that the flags name, or else
// the one that the request was sent to, where the run had it.
func (a *app) resend(ctx context.Context, s journal.Store, run string, seq int64, called *event.ModelCalled, f *rerunning) (*resent, error) {
	spec, err := specAt(ctx, s, run, seq)
	if err != nil {
		return nil, err
	}
	cfg, err := config.FromSpec(run, spec)
	if err != nil {
		if f.model == "" && called.SHA256 == (event.Hash{}) {
			return nil, fmt.Errorf("run %s was imported, so that nobody knows its model's server, nor the bytes that it was sent: name a model to write the request for with -m", run)
		}
		if f.model == "" {
			return nil, fmt.Errorf("run %s was not started by the rein command, which so does not know where %s is: name a model with -m, and its server with --base-url", run, called.Model)
		}
		if cfg, err = config.Parse("command line", []byte("{}")); err != nil {
			return nil, err
		}
	}
	c := config.Changes{Model: called.Model, BaseURL: f.baseURL}
	if f.model != "" {
		c.Model = f.model
	}
	c.KeyEnv = a.keyFor(cfg, c)
	if cfg, err = cfg.With(c); err != nil {
		return nil, err
	}
	if err := trustRerun(ctx, s, run, cfg, c, f.trust); err != nil {
		return nil, err
	}
	name, _, err := provider(cfg)
	if err != nil {
		return nil, err
	}
	out := &resent{calling: callingOf(spec, cfg)}
	if name == demoProvider {
		if cfg, err = a.demoServer(&out.session, cfg); err != nil {
			return nil, err
		}
	}
	t, err := a.target(cfg, cfg.Model, true)
	if err == nil {
		a.warnPlain(t)
		out.client, err = t.client(nil)
	}
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	return out, nil
}

// callingOf returns how the agent's model calls tools: as the run says of it, else on
// its wire.
func callingOf(spec *event.Spec, cfg *config.Agent) event.ModelCalling {
	if cfg.Model == spec.Model {
		return spec.CallingOf(cfg.Model)
	}
	for _, name := range spec.Fallback {
		if cfg.Model == name {
			return spec.CallingOf(name)
		}
	}
	return event.ModelCalling{Model: cfg.Model, Text: true}
}

// instead returns the model that is asked in the place of the run's, nil where it is
// the same one on the same wire.
func (k *resent) instead(called *event.ModelCalled, f *rerunning) (*engine.Target, error) {
	info, enc := k.client.Info(), k.client.Encoder()
	wire, _, _ := strings.Cut(enc.Version(), "/")
	was, _, _ := strings.Cut(called.Encoder, "/")
	if f.model == "" || f.model == called.Model && wire == was {
		if wire != was && called.SHA256 != (event.Hash{}) {
			return nil, fmt.Errorf("the request was sent on the wire %s, and %s is spoken to on %s there: name it with -m to have the conversation written anew for it", was, info.Name(), wire)
		}
		return nil, nil
	}
	calling := k.calling
	if calling.Dialect == "" && info.OwnCalls {
		calling.Text = false
	}
	return &engine.Target{Model: info.Name(), Encoder: enc, Calling: calling, MaxOutput: info.MaxOutput, NoStream: info.NoStream}, nil
}

// specAt returns what a run was started with and, where that was changed since, the
// models that it asks, as they were at an event.
func specAt(ctx context.Context, s journal.Store, run string, seq int64) (*event.Spec, error) {
	var spec *event.Spec
	_, err := sound(ctx, s, run, func(e *event.Event) error {
		if e.Seq > seq {
			return errEnough
		}
		spec = specAfter(spec, e.Data)
		return nil
	})
	if err == nil && spec == nil {
		err = failed(fmt.Errorf("run %s was killed before it began", run))
	}
	return spec, err
}
