//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
)

// A process that is stuck loses its runs when its lease is over. When it comes back it
// finds that out by its first word, which is not taken, and leaves the run alone.
func TestTakeOverFromTheStuck(t *testing.T) {
	b := newBox(t)
	p, run := steeredRun(t, b, `
turns:
  - {delay: 3s, call: {name: get_now}}
  - say: Still here.
`)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if r := b.rein("resume", run); r.code != 2 || !strings.Contains(r.err, "is being carried out by") {
		t.Errorf("while its lease holds: exit %d\n%s", r.code, r.err)
	}
	if err := b.sql("UPDATE leases SET expires = 1").Close(); err != nil { // as if 45 s had gone by
		t.Fatal(err)
	}
	var got resultObject
	if r := b.decode(&got, "resume", run); r.code != 0 || got.Answer != "Still here." {
		t.Errorf("after its lease: exit %d, %+v\n%s", r.code, got, r.err)
	}
	before := b.ok("replay", run)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	stuck := p.wait()
	if stuck.code != badEnd || !strings.Contains(stuck.err, "another process has taken run "+run+" over") {
		t.Errorf("the process that was stuck: exit %d\n%s%s", stuck.code, stuck.out, stuck.err)
	}
	if b.ok("replay", run) != before {
		t.Error("it has written into the run that is not its own any more")
	}
	b.ok("verify", run)
	var list []runObject
	if err := json.Unmarshal([]byte(b.ok("runs", "--json")), &list); err != nil || len(list) != 1 || list[0].Status != "finished" {
		t.Errorf("%+v, %v", list, err)
	}
}
