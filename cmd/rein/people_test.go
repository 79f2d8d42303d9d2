package main

import (
	"strings"
	"testing"

	"rein.example/rein/toolkit/plan"
)

const curious = `
turns:
  - call: {name: plan, arguments: {goal: paint the door, current_step: ask for the colour, completed_steps: [looked at it]}}
  - call: {name: ask_user, arguments: {question: "Which colour?", options: [red, blue]}}
  - The door is blue.
`

func curiousAgent(b *box) string {
	_, url := server(b.t, curious)
	return b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [plan, ask_user]\nretry: fast\n")
}

// Without anybody to ask, a run that asks something is parked, says how to answer,
// and goes on with the answer. Nothing that is said for approvals answers it.
func TestAskedRunParks(t *testing.T) {
	b := newBox(t)
	p := b.rein("run", "-f", curiousAgent(b), "--approve", "allow", "Paint the door.")
	if p.code != badEnd || !strings.Contains(p.err, "the model asks: Which colour? - red - blue\n    rein resume ") || !strings.Contains(p.err, "--input 'THE ANSWER'") {
		t.Fatalf("exit %d, stderr %q", p.code, p.err)
	}
	var s shown
	b.decode(&s, "show", "last")
	if s.Reason != "waiting_input" || len(s.Pending) != 1 || !s.Pending[0].Words {
		t.Fatalf("%+v", s)
	}
	if state, err := plan.Read(s.State); err != nil || state.Goal != "paint the door" {
		t.Errorf("state %s, %v", s.State, err)
	}
	if p := b.rein("approve", "last", s.Pending[0].Call); p.code != badUsage || !strings.Contains(p.err, "no call of run") {
		t.Errorf("approve: exit %d, %q", p.code, p.err)
	}
	text := b.ok("show", "last")
	if !strings.Contains(text, "waits for an answer (") || !strings.Contains(text, "the plan:\n  goal:    paint the door\n  done:    looked at it\n  now:     ask for the colour\n") {
		t.Errorf("show says\n%s", text)
	}
	if out := b.ok("resume", "last", "--input", "blue, please"); out != "The door is blue.\n" {
		t.Errorf("resumed: %q", out)
	}
	if body := b.ok("request", "last", "--step", "3"); !strings.Contains(body, `The user answers:\nblue, please`) {
		t.Errorf("the model saw %s", body)
	}
}

// A person need not answer.
func TestAskedRunRejected(t *testing.T) {
	b := newBox(t)
	b.rein("run", "-f", curiousAgent(b), "Paint the door.")
	var s shown
	b.decode(&s, "show", "last")
	b.ok("reject", "last", s.Pending[0].Call, "--why", "as you like")
	b.ok("resume", "last")
	if body := b.ok("request", "last", "--step", "3"); !strings.Contains(body, `a person declined to answer: as you like`) {
		t.Errorf("the model saw %s", body)
	}
}

// In a conversation the next line is the answer; without one it ends as a parked
// run does.
func TestAskedInChat(t *testing.T) {
	b := newBox(t)
	file := curiousAgent(b)
	if p := b.chat("Paint the door.\nblue\n", "-f", file); p.code != 0 || p.out != "The door is blue.\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if p := b.chat("Paint the door.\n", "-f", curiousAgent(b)); p.code != badEnd || !strings.Contains(p.err, "Which colour?") {
		t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if p := b.chat("blue\n", "last"); p.code != 0 || p.out != "The door is blue.\n" {
		t.Errorf("gone on: exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
}
