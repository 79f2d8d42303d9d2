package storekit

import (
	"strings"
	"testing"

	"rein.example/rein/event"
)

// The state of a run is what its last telling event says.
func TestProgress(t *testing.T) {
	paused := &event.RunPaused{Cause: event.CauseWaitingApproval}
	finished := &event.RunFinished{Reason: event.ReasonSubmitted}
	started := &event.RunStarted{Parent: "p", Spec: event.Spec{Agent: "a"}}
	for _, c := range []struct {
		name   string
		data   []event.Data
		state  State
		reason string
		owned  string // the status with an owner and without
		free   string
	}{
		{"nothing", nil, Working, "", "running", "interrupted"},
		{"started", []event.Data{started}, Working, "", "running", "interrupted"},
		{"paused", []event.Data{started, paused}, Paused, "waiting_approval", "paused", "paused"},
		{"answered", []event.Data{started, paused, &event.ApprovalGiven{}}, Paused, "waiting_approval", "paused", "paused"},
		{"told", []event.Data{started, paused, &event.InputReceived{}}, Paused, "waiting_approval", "paused", "paused"},
		{"resumed", []event.Data{started, paused, &event.RunResumed{}}, Working, "waiting_approval", "running", "interrupted"},
		{"finished", []event.Data{started, finished}, Finished, "submitted", "finished", "finished"},
		{"after the end", []event.Data{started, finished, &event.NoticeAdded{}, paused}, Finished, "submitted", "finished", "finished"},
	} {
		var p Progress
		for i, d := range c.data {
			p.Note(int64(10+i), d)
		}
		if p.State != c.state || p.Reason != c.reason || p.Status(true) != c.owned || p.Status(false) != c.free {
			t.Errorf("%s: %q for %q, %s or %s", c.name, p.State, p.Reason, p.Status(true), p.Status(false))
		}
		if n := len(c.data); n > 0 && (p.Agent != "a" || p.Parent != "p" || p.Started != 10 || p.Last != int64(9+n)) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

func TestForkedProgress(t *testing.T) {
	p := Progress{Agent: "a", Parent: "p", Started: 5, Last: 90, State: Finished, Reason: "submitted"}
	got := p.Fork("r1", &event.Event{Time: 7, Data: &event.NoticeAdded{}})
	if want := (Progress{Agent: "a", Parent: "r1", Started: 5, Last: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got = p.Fork("r1", &event.Event{Time: 8, Data: &event.RunPaused{Cause: event.CauseTurnDone}})
	if want := (Progress{Agent: "a", Parent: "r1", Started: 5, Last: 8, State: Paused, Reason: "turn_done"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCheckRun(t *testing.T) {
	for id, ok := range map[string]bool{
		"r1": true, "äöü-1": true, "a/b": true, strings.Repeat("x", MaxRun): true,
		"": false, "a b": false, "a\n": false, "\u200b": false, "\xff": false, strings.Repeat("x", MaxRun+1): false,
	} {
		if err := CheckRun(id); (err == nil) != ok {
			t.Errorf("%.20q: %v", id, err)
		}
	}
}

// A fork begins when it goes on by itself, whatever it shares with the run before.
func TestForkBegins(t *testing.T) {
	var p Progress
	p.Note(5, &event.RunStarted{})
	p.Note(7, &event.RunResumed{})
	if p.Started != 5 {
		t.Errorf("a run that is resumed began at %d", p.Started)
	}
	f := p.Fork("r1", &event.Event{Time: 7, Data: &event.RunResumed{}})
	f.Note(900, &event.RunResumed{Fork: "r1"})
	f.Note(968, &event.RunFinished{})
	if s := f.Summary("f1", 4, false); s.Started != 900 || s.Last != 968 {
		t.Errorf("the fork is listed as %+v", s)
	}
}
