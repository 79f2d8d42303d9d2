package rein_test

import (
	"context"
	"strings"
	"testing"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal/memory"
	"rein.example/rein/tool"
)

// A run is forked after a step, after an event, or where it stands; with the model of
// the agent that forks it.
func TestFork(t *testing.T) {
	store := memory.New()
	defer store.Close()
	looked, sent := 0, 0
	look := tool.New("look", tool.Doc{What: "Looks.", When: "To see.", Returns: "What is seen."},
		func(context.Context, struct{}) (string, error) { looked++; return "nothing new", nil }, &tool.Options{Effect: event.Read})
	send := tool.New("send", tool.Doc{What: "Sends.", When: "To tell.", Returns: "A receipt."},
		func(context.Context, struct{}) (string, error) { sent++; return "receipt 9", nil }, nil)
	agent := func(name, turns string) *rein.Agent {
		return newAgent(t, "model: "+name+"\n"+turns, &rein.Options{Store: store, Tools: []tool.Tool{look, send},
			Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}})
	}
	a := agent("first", `turns: [{call: {name: look}}, {call: {name: send}}, "It was sent."]`)
	first, err := a.Run(t.Context(), "Send it.")
	if err != nil || !first.OK || sent != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, c := range []struct {
		name         string
		at           rein.ForkPoint
		input, turns string
		answer       string
		steps        int64
		looked       int
	}{
		{"the whole run, with a question", rein.ForkPoint{}, "When?", `turns: ["", "", "", "Just now."]`, "Just now.", 4, 0},
		{"after the first step", rein.AfterStep(1), "", `turns: ["", {call: {name: send}}, "It had been sent."]`, "It had been sent.", 3, 0},
		{"before the first step", rein.AfterStep(0), "", `turns: [{call: {name: look}}, "Nothing is new."]`, "Nothing is new.", 2, 1},
		{"after the task", rein.AfterEvent(2), "Only look.", `turns: [{call: {name: look}}, "Nothing at all."]`, "Nothing at all.", 2, 1},
	} {
		looked = 0
		r, err := agent("second", c.turns).Fork(t.Context(), first.Run, c.at, c.input).Result()
		if err != nil || !r.OK || r.Answer != c.answer || r.Steps != c.steps || r.Run == first.Run || looked != c.looked || sent != 1 {
			t.Errorf("%s: %+v, %v; looked %d times, sent %d times", c.name, r, err, looked, sent)
		}
	}
	for _, c := range []struct {
		name  string
		at    rein.ForkPoint
		input string
		want  string
	}{
		{"a step that there is not", rein.AfterStep(9), "", "no step 9; the last is 3"},
		{"its end", rein.AfterStep(3), "", "nothing is left to do"},
		{"nowhere", rein.AfterStep(-1), "", "no such point"},
		{"no text", rein.AfterStep(1), "\xff", "not valid UTF-8"},
	} {
		if r, err := a.Fork(t.Context(), first.Run, c.at, c.input).Result(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want %q", c.name, r, err, c.want)
		}
	}
}
