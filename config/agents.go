package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// AgentTool is another agent, as a tool.
type AgentTool struct {
	File     string   `yaml:"file" is:"path" need:"true" doc:"The agent's own file. What it leaves out of its model (model, base_url, key_env, key_file, price, calls) is this agent's."`
	Name     string   `yaml:"name" is:"toolname" need:"true" doc:"What the tool is called."`
	Doc      AgentDoc `yaml:"doc" need:"true" doc:"What the model is told of the tool."`
	Effect   string   `yaml:"effect" is:"effect" doc:"What the agent may change with all of its tools, see permissions. Agents that only read are called side by side, up to eight. Left out: once."`
	Limits   Limits   `yaml:"limits" doc:"When a call ends at the latest: these, the agent's own limits and what is left of the run that calls it all hold. Left out: no limits beside those."`
	MaxCalls int64    `yaml:"max_calls" min:"1" max:"1000000" doc:"How often a run may call it. Left out: as often as its limits allow."`
	Group    string   `yaml:"group" is:"prefix" doc:"The group in which the tool is offered where there are many."`
}

// AgentDoc is what the model is told.
type AgentDoc struct {
	What    string `yaml:"what" is:"prose" need:"true" doc:"What the agent does, in one or two sentences."`
	When    string `yaml:"when" is:"prose" doc:"When to call it, and when not."`
	Returns string `yaml:"returns" is:"prose" doc:"What comes back: also what it looks like when there is nothing, and which result means that no further call is needed."`
}

func (AgentTool) later() map[string]string {
	return map[string]string{
		"description": "what the model is told of the tool stands under doc: what it does, when to call it, what it returns",
		"model":       "the model stands in the agent's own file",
	}
}

// maxDeep is how deep agents may call agents: what the engine carries out.
const maxDeep = 5

// agent makes the tool of another agent's file.
func (a *Agent) agent(t *AgentTool, h *Host) (tool.Tool, io.Closer, error) {
	path, err := filepath.Abs(a.path(t.File))
	if err != nil {
		return nil, nil, fmt.Errorf("find %s: %w", t.File, err)
	}
	above := a.source.above
	if slices.Contains(above, path) {
		return nil, nil, fmt.Errorf("%s calls this agent in turn, so that a call might never come to an end; take one of the two out", t.File)
	}
	if len(above) > maxDeep {
		return nil, nil, fmt.Errorf("agents call agents at most %d deep; take this one out", maxDeep)
	}
	cfg, err := Load(path)
	if err != nil {
		return nil, nil, err
	}
	cfg.inherit(a)
	cfg.source.above = append(slices.Clip(above), path)
	if h.Make == nil {
		return described(t), nil, nil
	}
	o, closeTools, err := cfg.OptionsOn(*h)
	if err != nil {
		return nil, nil, err
	}
	agent, err := h.Make(cfg, o)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make the agent of %s: %w", t.File, err), closeTools())
	}
	return rein.AgentTool(t.Name, tool.Doc(t.Doc), agent, t.options()), closing{agent.Close, closeTools}, nil
}

// options returns what package rein wants to know.
func (t *AgentTool) options() *rein.AgentOptions {
	o := &rein.AgentOptions{Effect: event.Effect(t.Effect), Group: t.Group, MaxCalls: int(t.MaxCalls)}
	if t.Limits != (Limits{}) {
		base, _, _ := rein.Preset(t.Limits.Preset) // none without a preset
		o.Limits = t.Limits.over(base)
	}
	return o
}

// inherit takes over from the agent that calls this one what it does not say of its
// model, so that its text says it when a run of it is carried on by itself.
func (a *Agent) inherit(from *Agent) {
	if a.Model != "" || from.Model == "" {
		return
	}
	a.Model, a.Fallback = from.Model, from.Fallback
	a.BaseURL = cmp.Or(a.BaseURL, from.BaseURL)
	if a.KeyEnv == "" && a.KeyFile == "" {
		a.KeyEnv, a.KeyFile = from.KeyEnv, from.KeyFilePath()
	}
	if a.Price == nil {
		a.Price = from.Price
	}
	if a.Calls == (Calls{}) {
		a.Calls = from.Calls
	}
	a.Window.Size = cmp.Or(a.Window.Size, from.Window.Size)
	a.source.text = a.encode()
}

// closing closes one after the other.
type closing []func() error

func (c closing) Close() error {
	var errs []error
	for _, f := range c {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// described returns the tool as the model sees it, for a host that only looks at it.
func described(t *AgentTool) tool.Tool {
	o := t.options()
	return tool.With(tool.New(t.Name, tool.Doc(t.Doc), func(context.Context, task) (jsontext.Value, error) {
		return nil, &tool.Error{Type: "not_carried_out", Message: "the agent was described, and not made", NoEffect: true}
	}, &tool.Options{Effect: o.Effect, Group: o.Group, MaxCalls: o.MaxCalls}), func(d *tool.Definition) { d.Agent = t.Name })
}

// task is what an agent is given.
type task struct {
	Task string `json:"task" jsonschema:"What is to be done, complete in itself."`
}

// over returns limits with those that were set in place of the base's.
func (l *Limits) over(base event.Limits) *event.Limits {
	if l.Steps > 0 {
		base.Steps = l.Steps
		if base.ToolCalls > 0 {
			base.ToolCalls = callsPerStep * l.Steps
		}
	}
	base.ToolCalls = cmp.Or(l.ToolCalls, base.ToolCalls)
	base.Tokens = cmp.Or(l.Tokens, base.Tokens)
	base.Output = cmp.Or(l.OutputTokens, base.Output)
	if wall, err := time.ParseDuration(l.Wall); err == nil {
		base.Wall = wall.Milliseconds()
	}
	if work, err := time.ParseDuration(l.Work); err == nil {
		base.Work = work.Milliseconds()
	}
	if cost := l.CostUSD.millionths(); cost > 0 {
		base.Cost = cost
	}
	return &base
}

// agentTool adds the tool of another agent's file, or what is wrong with it: what is
// wrong in that file as a problem of that file.
func (a *Agent) agentTool(t *AgentTool, setting string, h *Host, r *report) (tool.Tool, io.Closer) {
	made, closer, err := a.agent(t, h)
	var other *Error
	if errors.As(err, &other) {
		r.problems = append(r.problems, other.Problems...)
	} else if err != nil {
		r.add(a.source.at[setting], setting, "%v", err)
	}
	return made, closer
}
