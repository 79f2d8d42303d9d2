package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// forked writes a file, reads it, and answers wrongly.
const forked = `
turns:
  - call: {name: calculator, arguments: {expression: 12*8}}
  - call: {name: write_file, arguments: {path: out.txt, content: "96\n"}}
  - call: {name: read_file, arguments: {path: out.txt}}
  - say: It is 95.
`

// A fork goes on live from where it leaves the other run: with another model, on a
// server that gets the request as that run would have sent it, and with a journal
// that both can be looked at by.
func TestFork(t *testing.T) {
	b := newBox(t)
	_, url := server(t, forked)
	more := "permissions: {allow: ['*']}\ncheck: false\ntools: [calculator, files: {root: ., write: direct}]\n"
	file := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\n"+more)
	var first, got resultObject
	if p := b.decode(&first, "run", "-f", file, "What is 12*8?"); p.code != 0 || first.Answer != "It is 95." {
		t.Fatalf("exit %d, %+v\n%s", p.code, first, p.err)
	}
	before := b.ok("replay", first.Run, "--json")

	other, otherURL := server(t, "turns: [say: never, say: never, say: never, {say: It is 96., expect: {contains: [\"96\"]}}, It is 96 for sure.]\n")
	p := b.decode(&got, "fork", first.Run, "--step", "3", "-m", "openai/other", "--base-url", otherURL)
	if p.code != 0 || got.Answer != "It is 96." || got.Run == first.Run || got.Steps != 4 || got.ToolCalls != 3 || !got.OK {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	if !strings.Contains(p.err, "forking run "+first.Run+" after event ") {
		t.Errorf("stderr is %s", p.err)
	}
	bodies := other.Received()
	if len(bodies) != 1 || b.ok("request", got.Run, "--step", "4") != string(bodies[0]) {
		t.Errorf("the other server received %d requests", len(bodies))
	}
	for step := range 3 { // what they share is the same
		if b.ok("request", got.Run, "--step", fmt.Sprint(step+1)) != b.ok("request", first.Run, "--step", fmt.Sprint(step+1)) {
			t.Errorf("step %d differs", step+1)
		}
	}
	b.ok("verify", got.Run)
	if b.ok("replay", first.Run, "--json") != before {
		t.Error("the run that was forked is another now")
	}
	if table := b.ok("show", got.Run); !strings.Contains(table, "model openai/other") || !strings.Contains(table, "a fork of run "+first.Run+", with which it shares events 1 to ") || !strings.Contains(table, "It is 96.") {
		t.Errorf("the table:\n%s", table)
	}
	var list []runObject
	if b.decode(&list, "runs"); len(list) != 2 {
		t.Errorf("%+v", list)
	}

	// A fork of the whole run, with a question; it keeps its model without being told.
	var again resultObject
	if p := b.decode(&again, "fork", got.Run, "--input", "Really?"); p.code != 0 || again.Answer != "It is 96 for sure." || again.Steps != 5 {
		t.Errorf("exit %d, %+v\n%s", p.code, again, p.err)
	}
	var r requested
	b.decode(&r, "request", again.Run, "--step", "5")
	var sent struct{ Model string }
	if err := json.Unmarshal([]byte(r.Body), &sent); err != nil || sent.Model != "other" || !strings.Contains(r.Body, "Really?") {
		t.Errorf("step 5 asks %q, %v:\n%s", sent.Model, err, r.Body)
	}
	b.holds("out.txt", "96\n")
}

// What cannot be forked is refused before anything is made, with what to do.
func TestForkRefused(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--step", "9"}, "no step 9; the last is 3"},
		{[]string{"--step", "-1"}, "steps count from 1"},
		{[]string{"--step", "1", "--event", "4"}, "not both"},
		{[]string{"--event", "9000"}, "has events 1 to"},
		{nil, "nothing is left to do there: say something, or fork it earlier"},
		{[]string{"--step", "1", "--input", " "}, "the input is empty"},
		{[]string{"--step", "1", "-m", "no model"}, "model"},
	} {
		if p := b.rein(append([]string{"fork", run}, c.args...)...); p.code != 2 || !strings.Contains(p.err, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, p.code, p.err)
		}
	}
	if p := b.rein("fork", "nope"); p.code == 0 {
		t.Error("a run that there is not was forked")
	}
	var list []runObject
	if b.decode(&list, "runs"); len(list) != 1 {
		t.Errorf("there are %d runs", len(list))
	}
}

// A run that waits for a person is forked with its question, and each asks for itself.
func TestForkWaiting(t *testing.T) {
	b := newBox(t)
	var first, got resultObject
	b.decode(&first, "run", "-f", asking(t, b), "What time is it?")
	if p := b.decode(&got, "fork", first.Run); p.code != 1 || len(got.Pending) != 1 || got.Pending[0].Run != got.Run || !strings.Contains(p.err, "rein approve "+got.Run+" now_1") {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	b.ok("approve", got.Run, "now_1")
	if p := b.decode(&got, "resume", got.Run); p.code != 0 || !got.OK {
		t.Errorf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	if p := b.decode(&first, "resume", first.Run); p.code != 1 || len(first.Pending) != 1 {
		t.Errorf("the other run: exit %d, %+v", p.code, first)
	}
}

// The run of an agent is forked by its own id and from a step of its own, which is the
// first to run live; the run that had called it stays as it is.
func TestForkRunOfAgent(t *testing.T) {
	b := newBox(t)
	if p := b.rein("run", "--approve", "allow", "-f", withClerk(b), "Write it down."); p.code != 0 {
		t.Fatalf("exit %d\n%s", p.code, p.err)
	}
	var s shown
	b.decode(&s, "show", "last")
	above, child := b.ok("replay", s.Run, "--json"), b.ok("replay", s.Run+".1", "--json")
	var got resultObject
	p := b.decode(&got, "fork", s.Run+".1", "--step", "1", "-v")
	if p.code != 0 || got.Answer != "It says that A-1 is late." || got.Steps != 3 || got.ToolCalls != 2 {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	if i := strings.Index(p.err, "step "); i < 0 || !strings.HasPrefix(p.err[i:], "step 2:") {
		t.Errorf("the first step that runs live is another:\n%s", p.err)
	}
	if b.ok("replay", s.Run, "--json") != above || b.ok("replay", s.Run+".1", "--json") != child {
		t.Error("a run that was there is another now")
	}
	var r reran
	if p := b.decode(&r, "rerun", s.Run+".1", "--step", "2"); p.code != 0 || !r.Request.Exact || !r.Samples[0].Same || r.Samples[0].Calls[0].Tool != "read_file" {
		t.Errorf("its step sent again: exit %d, %+v\n%s", p.code, r, p.err)
	}
}
