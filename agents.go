package rein

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// AgentOptions declare what [AgentTool] cannot see in an agent. Nil means the zero
// value of each, which is the careful choice.
type AgentOptions struct {
	// Schema is the JSON Schema of the arguments; [schema.For] makes one of a Go
	// type. Nil: {"task": "…"}, what the agent is to do, in words.
	Schema jsontext.Value
	// Task returns the agent's task, given the arguments. Nil: what they have as task,
	// followed by the others as JSON.
	Task func(args jsontext.Value) (string, error)
	// Effect is what the agent may change, through all of its tools. Empty means once:
	// then its calls are carried out one after the other, and the same call only once.
	// Those of an agent that only reads go on side by side, at most eight.
	Effect event.Effect
	// Limits bound each call, beside the agent's own limits and what the run that
	// calls it has left. Nil: these alone do.
	Limits *event.Limits
	// The others are those of [tool.Definition].
	ResultTokens int
	KeyFields    []string
	Resources    []string
	Polling      bool
	Sensitive    bool
	Group        string
	MaxCalls     int
	Show         event.ShowSpec
	Output       jsontext.Value
}

// AgentTool makes a tool of an agent: a call of it is a run of that agent, with a
// journal of its own in the store of the agent that calls, within what is left of
// the limits of the run that calls it. The call's result is what that run answers
// or submits, after a line that names the run, its reason and what it used. An agent
// that ends badly is an error of the type agent_REASON (agent_step_limit,
// agent_refused, …), with what it has come to.
//
// The agent has its own model, tools, rules and permissions. Its run is carried out
// by the agent that calls it, whose Store, Approve, Secrets and Logger it uses; what
// must not be done twice is done once in all runs of a tree. It is stopped, resumed
// and cancelled with the run that calls it. Agents may call agents, five deep.
//
// The agent must stay open as long as one that has the tool. AgentTool panics if the
// declaration is wrong, like [tool.New].
func AgentTool(name string, doc tool.Doc, agent *Agent, o *AgentOptions) tool.Tool {
	if agent == nil {
		panic(fmt.Sprintf("the tool %s has no agent", name))
	}
	if o == nil {
		o = &AgentOptions{}
	}
	t := &agentTool{agent: agent, o: *o}
	called := agent.opts.Name
	if called == "" {
		called = name
	}
	t.def = tool.Definition{
		Name: name, Doc: doc, Schema: o.Schema, Effect: o.Effect, Agent: called, ResultTokens: o.ResultTokens, KeyFields: o.KeyFields,
		Resources: o.Resources, Polling: o.Polling, Sensitive: o.Sensitive, Group: o.Group, MaxCalls: o.MaxCalls, Show: o.Show, Output: o.Output,
	}
	if o.Limits != nil {
		t.def.Timeout = time.Duration(o.Limits.Wall) * time.Millisecond
	}
	if t.def.Schema == nil {
		t.def.Schema = jsontext.Value(taskSchema)
	}
	if doc.What == "" {
		panic(fmt.Sprintf("the tool %s does not say what its agent does: fill in Doc.What", name))
	}
	if _, err := tool.NewRegistry(t); err != nil {
		panic(err.Error())
	}
	return t
}

// taskSchema is of what an agent is given that takes its task in words.
const taskSchema = `{"type":"object","properties":{"task":{"type":"string","minLength":1,` +
	`"description":"What is to be done, complete in itself: the agent knows nothing of this conversation. Say what is wanted, everything that it needs to know for it, and in which form the answer is to come."}},` +
	`"required":["task"],"additionalProperties":false}`

// agentTool is a tool that is an agent.
type agentTool struct {
	def   tool.Definition
	agent *Agent
	o     AgentOptions
}

func (t *agentTool) Definition() *tool.Definition { return &t.def }

// Run is not called: the engine carries out calls of agents.
func (t *agentTool) Run(context.Context, *tool.Call) (*tool.Result, error) {
	return nil, &tool.Error{Type: "not_carried_out", NoEffect: true, Message: "the tool " + t.def.Name + " is an agent, which only an engine can carry out"}
}

// task returns the agent's task.
func (t *agentTool) task(args jsontext.Value) (string, error) {
	if t.o.Task != nil {
		return t.o.Task(args)
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(args, &all); err != nil {
		return "", fmt.Errorf("read the arguments: %w", err)
	}
	task, _ := schema.StringField(args, "task")
	delete(all, "task")
	if len(all) == 0 {
		return task, nil
	}
	rest, err := json.Marshal(all, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		return "", fmt.Errorf("write the arguments: %w", err)
	}
	return strings.TrimSpace(task + "\n\n" + string(rest)), nil
}

// agentJob returns what the engine needs for a run that carries out a call of one of
// the agent's agents; see [engine.Job].
func (a *Agent) agentJob(name string, args jsontext.Value) (*engine.Job, error) {
	t := agentOf(a.registry.Get(name))
	if t == nil {
		return nil, fmt.Errorf("the agent has no agent under the name %s any more", name)
	}
	text, err := t.task(args)
	if err == nil && text == "" {
		err = errors.New("the task is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("make its task: %w", err)
	}
	job := t.agent.job("")
	if job.Spec, err = t.agent.spec(false); err != nil {
		return nil, err
	}
	job.Input, job.Approve = t.agent.task(text), nil
	s := job.Spec
	s.Agent = t.def.Agent
	if t.o.Limits != nil {
		s.Limits = s.Limits.Within(*t.o.Limits)
	}
	if t.agent.counting.own != a.counting.own {
		// The engine counts with the caller's tokenizer, which is not this model's.
		s.Window.Tokenizer = ""
		if t.agent.opts.Window.Margin == 0 {
			s.Window.Margin = foreignMargin
		}
	}
	return job, nil
}

// agentOf returns the agent that a tool is, nil if it is none.
func agentOf(t tool.Tool) *agentTool {
	if t == nil {
		return nil
	}
	agent, _ := tool.Origin(t).(*agentTool)
	return agent
}

// checkAgents returns what is wrong with the tools of an agent that are agents.
func (o *Options) checkAgents() error {
	for _, t := range o.Tools {
		agent := agentOf(t)
		if agent == nil {
			continue
		}
		if s := agent.agent.opts.Secrets; s != nil && s != o.Secrets {
			return fmt.Errorf("the agent of the tool %s has secrets that the agent that calls it does not keep: give both the same Secrets", agent.def.Name)
		}
	}
	return nil
}
