package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// otherTalk is what another program has recorded: a tool that is not described, and an
// answer.
const otherTalk = `{"messages":[{"role":"system","content":"You are somebody else."},{"role":"user","content":"What is 12*8?"},` +
	`{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"abacus","arguments":"{\"beads\":96}"}}]},` +
	`{"role":"tool","tool_call_id":"c1","content":"{\"ok\":false,\"error\":\"boom\"}"},{"role":"assistant","content":"It is 95."}]}`

// An agent of the user's own goes on with what another program has recorded: it is sent
// what was said there, with its own instructions, tools and limits, which count from
// there; the fork can be resumed, shown, checked and forked like any other run.
func TestForkRecorded(t *testing.T) {
	b := newBox(t)
	b.ok("import", b.file("er.json", otherTalk))
	for _, args := range [][]string{{"resume", "er-1"}, {"fork", "er-1"}, {"fork", "er-1", "-m", "openai/any"}} {
		if p := b.rein(args...); p.code != 2 || !strings.Contains(p.err, "rein fork er-1 -f agent.yaml") {
			t.Errorf("%s: exit %d: %s", args, p.code, p.err)
		}
	}

	s, url := server(t, `turns: [say: never, say: never, {call: {name: calculator, arguments: {expression: 12*8}}}, say: It is 96., say: It is still 96.]
`)
	agent := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\nrules: {must: [be brief]}\nlimits: {steps: 3}\ncheck: false\ntools: [calculator]\n")
	if p := b.rein("fork", "er-1", "-f", agent); p.code != 2 || !strings.Contains(p.err, "ends there with an answer") {
		t.Errorf("with nothing to be done: exit %d: %s", p.code, p.err)
	}
	var got resultObject
	if p := b.decode(&got, "fork", "er-1", "-f", agent, "--input", "That is wrong."); p.code != 0 || got.Answer != "It is 96." || got.Steps != 4 {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	var sent struct {
		Messages []struct {
			Role, Content string
			Tool_calls    []any
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(s.Received()[0], &sent); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range sent.Messages[1:] {
		said = append(said, m.Role+": "+m.Content)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"user: What is 12*8?", "boom", "assistant: It is 95.", "user: That is wrong."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q was not sent:\n%s", want, text)
		}
	}
	system := sent.Messages[0].Content
	if !strings.Contains(system, "be brief") || strings.Contains(system, "somebody else") {
		t.Errorf("it was told %q", system)
	}
	offered := false
	for _, f := range sent.Tools {
		offered = offered || f.Function.Name == "calculator"
		if f.Function.Name == "abacus" {
			t.Error("a tool is offered that nobody has")
		}
	}
	if !offered {
		t.Errorf("the agent's tool was not offered: %+v", sent.Tools)
	}
	if p := b.rein("verify", got.Run); p.code != 0 {
		t.Errorf("verify: %s%s", p.out, p.err)
	}
	if p := b.rein("request", got.Run, "--step", "3"); p.code != 0 || strings.TrimSpace(p.out) != strings.TrimSpace(string(s.Received()[0])) {
		t.Errorf("the request cannot be had again: exit %d, %s\n%.300s\n%.300s", p.code, p.err, p.out, s.Received()[0])
	}
	var v shown
	b.decode(&v, "show", got.Run)
	if v.Agent != "desk" || v.Model != "openai/any" || v.ForkOf != "er-1" {
		t.Errorf("it is shown as of %q with %q, a fork of %q", v.Agent, v.Model, v.ForkOf)
	}
	var again resultObject
	if p := b.decode(&again, "fork", got.Run, "--step", "3"); p.code != 0 || !strings.HasPrefix(again.Answer, "It is") {
		t.Errorf("the fork is not forked: exit %d, %+v %s", p.code, again, p.err)
	}
	if p := b.rein("fork", got.Run, "-f", agent, "--input", "x"); p.code != 2 || !strings.Contains(p.err, "agent of its own") {
		t.Errorf("another agent for a run that has one: exit %d: %s", p.code, p.err)
	}
}

// A fork of a recording that was parked is resumed by the agent that took it over.
func TestForkRecordedResumes(t *testing.T) {
	b := newBox(t)
	b.ok("import", b.file("er.json", otherTalk))
	_, url := server(t, "turns: [say: never, say: never, {call: {name: calculator, arguments: {expression: 12*8}}}, say: It is 96.]\n")
	agent := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ncheck: false\npermissions: {ask: ['*']}\ntools: [calculator]\n")
	var got resultObject
	if p := b.decode(&got, "fork", "er-1", "-f", agent, "--input", "Work it out."); got.Status != "paused" || len(got.Pending) != 1 {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	b.ok("approve", got.Run, got.Pending[0].Call)
	var end resultObject
	if p := b.decode(&end, "resume", got.Run); p.code != 0 || end.Answer != "It is 96." {
		t.Errorf("exit %d, %+v\n%s", p.code, end, p.err)
	}
}

// Of what was recorded only a part, show says what can be done: it is not resumed.
func TestShowRecordedInterrupted(t *testing.T) {
	b := newBox(t)
	b.ok("import", b.file("cut.json", `[{"role":"user","content":"What is 12*8?"}]`))
	p := b.rein("show", "cut-1")
	if p.code != 0 || strings.Contains(p.err, "rein resume") || !strings.Contains(p.err, "rein fork cut-1 -f agent.yaml") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
}
