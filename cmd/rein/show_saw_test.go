package main

import (
	"fmt"
	"strings"
	"testing"
)

// A step is shown with what the model saw: the instructions in a line, how many older
// messages there were, the newest ones open, and where the bytes are.
func TestWhatTheModelSaw(t *testing.T) {
	b := newBox(t)
	var script strings.Builder
	script.WriteString("turns:\n")
	for i := range 80 {
		fmt.Fprintf(&script, "  - {say: Attempt %d., call: {name: calculator, arguments: {expression: \"%d+1\"}}}\n", i, i)
	}
	script.WriteString("  - That was all.\n")
	_, url := server(t, script.String())
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [calculator]\nretry: fast\nlimits: {steps: 200}\ncheck: false\nrules: {must: [Be exact., Count everything.]}\n")
	b.ok("run", "-f", file, "Count to eighty.")
	out := b.ok("show", "last", "--step", "80")
	saw, _, _ := strings.Cut(out, "\n   STEP")
	for _, want := range []string{"what the model saw:\n  instructions, ", "  157 older messages\n", "  assistant:\n    Attempt 78.\n    calls calculator {\"expression\":\"78+1\"}\n", "  result of ", "79", " --step 80\n"} {
		if !strings.Contains(saw, want) {
			t.Errorf("there is no %q:\n%s", want, saw)
		}
	}
	for _, never := range []string{"Attempt 77.", "Attempt 79.", "Count everything."} {
		if strings.Contains(saw, never) {
			t.Errorf("there is %q:\n%s", never, saw)
		}
	}
	var v shown
	b.decode(&v, "show", "last", "--step", "80")
	if v.Saw == nil || v.Saw.Older != 157 || v.Saw.Messages != 159 || len(v.Saw.Newest) != 2 || v.Saw.SystemBytes < 100 || v.Saw.Problem != "" || v.Saw.Event == 0 {
		t.Errorf("saw %+v", v.Saw)
	}
	if b.decode(&v, "show", "last", "--step", "1"); v.Saw.Older != 0 || len(v.Saw.Newest) != 1 || v.Saw.Newest[0].Role != "user" || v.Saw.Newest[0].Text != "Count to eighty." {
		t.Errorf("at first it saw %+v", v.Saw)
	}
}

// The run of an agent is a run: the one above names it and how to look at it, it says
// what it is for, and its first step shows what it was asked.
func TestRunBelowHasItsPrompt(t *testing.T) {
	b := newBox(t)
	b.rein("run", "-f", withClerk(b), "Write it down.")
	var s shown
	b.decode(&s, "show", "last")
	child := s.Run + ".1"
	if above := b.ok("show", s.Run); !strings.Contains(above, "run "+child+" carries it out: rein show "+child+"\n") {
		t.Errorf("above:\n%s", above)
	}
	below := b.ok("show", child, "--step", "1")
	for _, want := range []string{"carries out the call ", " of run " + s.Run + "; that is shown by: rein show " + s.Run + "\n", "what the model saw:\n", "Write down that A-1 is late."} {
		if !strings.Contains(below, want) {
			t.Errorf("below there is no %q:\n%s", want, below)
		}
	}
	var v shown
	if b.decode(&v, "show", child, "--step", "1"); v.Parent != s.Run || v.Call == "" || len(v.Saw.Newest) != 1 || !strings.Contains(v.Saw.Newest[0].Text, "A-1 is late") {
		t.Errorf("parent %q, call %q, saw %+v", v.Parent, v.Call, v.Saw)
	}
}
