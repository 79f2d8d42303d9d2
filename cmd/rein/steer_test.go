package main

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
)

// steered has a step that takes a while, so that something can be said meanwhile.
const steered = `
turns:
  - {delay: 1500ms, call: {name: get_now}}
  - say: As you say.
`

// steeredRun starts a run in a process of its own, whose model is at work now.
func steeredRun(t *testing.T, b *box, script string) (*process, string) {
	t.Helper()
	_, url := server(t, script)
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock]\ncheck: false\n")
	p := b.start(nil, "run", "--json", "-f", file, "Are you there?")
	return p, b.until("model.called")
}

// types returns the types of a run's events from its first model call on.
func (b *box) types(run string) []string {
	b.t.Helper()
	var r replayed
	b.decode(&r, "replay", run)
	var out []string
	for _, e := range r.Events {
		if len(out) > 0 || e.Type == string(event.TypeModelCalled) {
			out = append(out, e.Type)
		}
	}
	return out
}

// What a run is told from another process is there at its next step, and no earlier:
// the step that goes on is finished as it was begun.
func TestTellARunningRun(t *testing.T) {
	b := newBox(t)
	p, run := steeredRun(t, b, steered)
	var said told
	if r := b.decode(&said, "tell", run, "Say so in Norwegian."); r.code != 0 || !said.Told || said.Status != "running" {
		t.Fatalf("exit %d, %+v\n%s", r.code, said, r.err)
	}
	ended := p.wait()
	var got resultObject
	if err := json.Unmarshal([]byte(ended.out), &got); err != nil || ended.code != 0 || got.Answer != "As you say." {
		t.Fatalf("exit %d, %s, %v\n%s", ended.code, ended.out, err, ended.err)
	}
	if types := strings.Join(b.types(run), " "); !strings.HasPrefix(types, "model.called input.received model.answered") {
		t.Errorf("the events are %s", types)
	}
	for step, want := range map[string]bool{"1": false, "2": true} {
		if has := strings.Contains(b.ok("request", run, "--step", step), "Norwegian"); has != want {
			t.Errorf("step %s is told: %v", step, has)
		}
	}
	// One that has finished listens to nobody, and that is said with what to do.
	if r := b.decode(&said, "tell", run, "And thanks."); r.code != 1 || said.Told || said.Status != "finished" || !strings.Contains(r.err, "fork "+run+" --input") {
		t.Errorf("exit %d, %+v\n%s", r.code, said, r.err)
	}
}

// Asked to stop after its step, a run finishes it, calls included, and can be told
// something while it rests.
func TestStopAfterTheStep(t *testing.T) {
	b := newBox(t)
	p, run := steeredRun(t, b, steered)
	b.ok("stop", run, "--after-step")
	ended := p.wait()
	var got resultObject
	if err := json.Unmarshal([]byte(ended.out), &got); err != nil || ended.code != interrupted || got.Reason != "interrupted" || got.Steps != 1 || got.ToolCalls != 1 {
		t.Fatalf("exit %d, %s, %v\n%s", ended.code, ended.out, err, ended.err)
	}
	if r := b.rein("tell", run, "Go on."); r.code != 0 || !strings.Contains(r.err, "is paused, and is told when it goes on") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	if r := b.decode(&got, "resume", run); r.code != 0 || got.Steps != 2 || !strings.Contains(b.ok("request", run, "--step", "2"), "Go on.") {
		t.Errorf("resume: exit %d, %+v\n%s", r.code, got, r.err)
	}
}

// While a process carries a run out, another is refused it, and is told who has it;
// once that process has died it may, at once.
func TestTakeOverFromTheDead(t *testing.T) {
	b := newBox(t)
	p, run := steeredRun(t, b, slow)
	if r := b.rein("resume", run); r.code != 2 || !strings.Contains(r.err, "is being carried out by rein (pid ") || !strings.Contains(r.err, "stop it with rein stop "+run) {
		t.Errorf("while it lives: exit %d\n%s", r.code, r.err)
	}
	b.untilModel(2)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	var got resultObject
	if r := b.decode(&got, "resume", run); r.code != 0 || got.Answer != "Still here." {
		t.Errorf("after its death: exit %d, %+v\n%s", r.code, got, r.err)
	}
	b.ok("verify", run)
}

// A run that another process carries out can be forked meanwhile; both come to their
// end, and share what there was.
func TestForkARunningRun(t *testing.T) {
	b := newBox(t)
	p, run := steeredRun(t, b, steered)
	var forked, got resultObject
	if r := b.decode(&forked, "fork", run); r.code != 0 || forked.Answer != "As you say." || forked.Run == run {
		t.Errorf("the fork: exit %d, %+v\n%s", r.code, forked, r.err)
	}
	ended := p.wait()
	if err := json.Unmarshal([]byte(ended.out), &got); err != nil || ended.code != 0 || got.Run != run || got.Answer != "As you say." {
		t.Errorf("the run: exit %d, %s, %v\n%s", ended.code, ended.out, err, ended.err)
	}
	for _, id := range []string{run, forked.Run} {
		b.ok("verify", id)
	}
	if types := strings.Join(b.types(forked.Run), " "); !strings.HasPrefix(types, "model.called run.resumed model.called model.answered") {
		t.Errorf("the events of the fork are %s", types)
	}
}
