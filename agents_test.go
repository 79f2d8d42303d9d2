package rein_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
)

// researcher is an agent that looks orders up.
func researcher(t *testing.T, o *rein.Options) *rein.Agent {
	o.Name = "researcher"
	return newAgent(t, `
turns:
  - call: {name: list_orders}
  - say: Half of them are open.
`, o)
}

func research() tool.Doc {
	return tool.Doc{What: "Looks orders up.", When: "To find out about orders.", Returns: "What was found."}
}

// A tool may be another agent: its run is a run in the store of the agent that calls,
// beside that of its caller, and is shown with it.
func TestAgentTool(t *testing.T) {
	store := memory.New()
	defer store.Close()
	below := researcher(t, &rein.Options{Tools: []tool.Tool{orders()}, Accept: "Say how many."})
	a := newAgent(t, `
turns:
  - call: {name: research, arguments: {task: "Which orders are open?"}}
  - say: 'It says: {{match "research" "Half of them[^\n]*"}}'
`, &rein.Options{Name: "desk", Store: store, Tools: []tool.Tool{rein.AgentTool("research", research(), below, &rein.AgentOptions{Effect: event.Read})}})
	run := a.Start(t.Context(), "what is open?")
	runs := map[string]int{}
	for e, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		runs[e.Run]++
	}
	res, err := run.Result()
	if err != nil || res.Answer != "It says: Half of them are open." || res.Steps != 2 || res.ToolCalls != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	child := event.BelowID(run.ID(), 1)
	if len(runs) != 2 || runs[child] == 0 {
		t.Errorf("shown of %v", runs)
	}
	var started *event.RunStarted
	var task string
	for e, err := range store.Read(t.Context(), child, 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.RunStarted:
			started = d
		case *event.InputReceived:
			for _, p := range d.Parts {
				task += p.Text + "\n"
			}
		}
	}
	if started.Parent != run.ID() || started.Root != run.ID() || started.Spec.Agent != "researcher" || started.Spec.Limits.Steps != 13 {
		t.Errorf("%+v", started)
	}
	if !strings.HasPrefix(task, "Which orders are open?\n") || !strings.Contains(task, "Say how many.") {
		t.Errorf("the task is %q", task)
	}
}

// An agent is asked about with the questions of the run that calls it, and what
// waits for an answer can be answered later.
func TestAgentToolWaits(t *testing.T) {
	sent := 0
	below := newAgent(t, sending, &rein.Options{Name: "clerk", Tools: []tool.Tool{send(&sent)}})
	a := newAgent(t, `
turns:
  - call: {name: clerk, arguments: {task: "Send a note."}}
  - say: It was sent.
`, &rein.Options{Tools: []tool.Tool{rein.AgentTool("clerk", research(), below, nil)}, Permissions: []event.Permission{{Verdict: event.Allow, Match: "clerk"}}})
	ctx := context.Background()
	run := a.Start(ctx, "send it")
	res, err := run.Result()
	if err != nil || res.Cause != event.CauseWaitingApproval || len(res.Pending) != 1 || res.Pending[0].Run != run.ID()+".1" || sent != 0 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
	if err := run.Approve(ctx, res.Pending[0], engine.Answer{Decision: event.Approved, By: "test"}); err != nil {
		t.Fatal(err)
	}
	res, err = a.Resume(ctx, run.ID()).Result()
	if err != nil || res.Answer != "It was sent." || sent != 1 {
		t.Fatalf("got %+v, %v, sent %d", res, err, sent)
	}
}

// The arguments of an agent may be of any form, and so may its task be made of them.
func TestAgentTask(t *testing.T) {
	typed := jsontext.Value(`{"type":"object","properties":{"task":{"type":"string"},"ids":{"type":"array","items":{"type":"string"}}}}`)
	for name, c := range map[string]struct {
		o    rein.AgentOptions
		args string
		want string
	}{
		"words":   {rein.AgentOptions{}, `{task: "Look up A-1."}`, "Look up A-1."},
		"typed":   {rein.AgentOptions{Schema: typed}, `{task: "Look up.", ids: [A-1, A-2]}`, "Look up.\n\n{\n\t\"ids\": [\n\t\t\"A-1\",\n\t\t\"A-2\"\n\t]\n}"},
		"no task": {rein.AgentOptions{Schema: typed}, `{ids: [A-1]}`, "{\n\t\"ids\": [\n\t\t\"A-1\"\n\t]\n}"},
		"made": {rein.AgentOptions{Schema: typed, Task: func(args jsontext.Value) (string, error) { return "I was given " + string(args), nil }},
			`{ids: [A-1]}`, `I was given {"ids":["A-1"]}`},
	} {
		below := newAgent(t, `{turns: [done]}`, &rein.Options{})
		c.o.Effect, c.o.Limits = event.Read, &event.Limits{Steps: 2}
		a := newAgent(t, "turns:\n  - call: {name: help, arguments: "+c.args+"}\n  - say: done\n", &rein.Options{Tools: []tool.Tool{rein.AgentTool("help", research(), below, &c.o)}})
		task := ""
		for e, err := range a.Start(t.Context(), "go").Events() {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.Data.(*event.InputReceived); ok && strings.Contains(e.Run, ".") {
				task = d.Parts[0].Text
			}
			if d, ok := e.Data.(*event.RunStarted); ok && strings.Contains(e.Run, ".") && (d.Spec.Limits.Steps != 2 || d.Spec.Agent != "help") {
				t.Errorf("%s: %+v of %s", name, d.Spec.Limits, d.Spec.Agent)
			}
		}
		if task != c.want {
			t.Errorf("%s: the task is %q", name, task)
		}
	}
}

// What is wrong with a tool that is an agent is said when it is made.
func TestAgentToolWrong(t *testing.T) {
	below := newAgent(t, `{turns: [done]}`, &rein.Options{Secrets: event.NewSecrets()})
	ok := rein.AgentTool("help", research(), below, nil)
	if _, err := rein.New(client(`{turns: [x]}`), &rein.Options{Tools: []tool.Tool{ok}}); err == nil || !strings.Contains(err.Error(), "give both the same Secrets") {
		t.Error(err)
	}
	for name, make := range map[string]func(){
		"no agent": func() { rein.AgentTool("help", research(), nil, nil) },
		"no name":  func() { rein.AgentTool("", research(), below, nil) },
		"no doc":   func() { rein.AgentTool("help", tool.Doc{}, below, nil) },
		"no schema": func() {
			rein.AgentTool("help", research(), below, &rein.AgentOptions{Schema: jsontext.Value(`{"type":"string"}`)})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make()
		}()
	}
}
