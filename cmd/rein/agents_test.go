package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	asksClerk = `
turns:
  - call: {name: clerk, arguments: {task: Write down that A-1 is late.}}
  - say: 'It is written down: {{match "clerk" "It says[^\n]*"}}'
`
	clerk = `
turns:
  - call: {name: write_file, arguments: {path: late.txt, content: A-1}}
  - call: {name: read_file, arguments: {path: late.txt}}
  - say: It says that A-1 is late.
`
)

// withClerk writes an agent that calls another one, which writes files when it may.
func withClerk(b *box) string {
	_, above := server(b.t, asksClerk)
	_, below := server(b.t, clerk)
	b.file("clerk/agent.yaml", "name: clerk\nmodel: openai/any\nbase_url: "+below+"\nretry: fast\ncheck: false\ntools: [{files: {root: ., write: direct}}]\n")
	return b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+above+"\nretry: fast\ncheck: false\npermissions: {allow: [clerk]}\ntools:\n"+
		"  - agent: {file: clerk/agent.yaml, name: clerk, doc: {what: Writes things down., when: To keep something., returns: What was written.}}\n")
}

// A run that calls an agent waits with its questions, which are answered and shown
// under either id, and goes on with it.
func TestAgentRunWaits(t *testing.T) {
	b := newBox(t)
	p := b.rein("run", "-f", withClerk(b), "Write it down.")
	if p.code != badEnd || !strings.Contains(p.err, "waits for approval: ") || !strings.Contains(p.err, "write_file") {
		t.Fatalf("exit %d, stderr %q", p.code, p.err)
	}
	var s shown
	b.decode(&s, "show", "last")
	run, child := s.Run, s.Run+".1"
	if strings.Contains(run, ".") || s.Reason != "waiting_approval" || len(s.Pending) != 1 || s.Pending[0].Run != child || s.Pending[0].Tool != "write_file" {
		t.Fatalf("%+v", s)
	}
	if !strings.Contains(p.err, "rein approve "+child+" ") || !strings.Contains(p.err, "rein resume "+run+"\n") {
		t.Errorf("stderr %q", p.err)
	}
	if text := b.ok("show", "last"); !strings.Contains(text, "waits for its run") || !strings.Contains(text, "run "+child+" carries it out") {
		t.Errorf("show says\n%s", text)
	}
	list := b.ok("runs")
	if i, k := strings.Index(list, "\n"+run+" "), strings.Index(list, "\n  "+child+" "); i < 0 || k < i || strings.Count(list, "\n") != 3 {
		t.Errorf("runs says\n%s", list)
	}
	var runs []runObject
	b.decode(&runs, "runs", "-n", "1")
	if len(runs) != 2 || runs[0].Below || !runs[1].Below || runs[1].Parent != run || runs[1].Agent != "clerk" {
		t.Errorf("%+v", runs)
	}
	if out := b.ok("approve", run[:len(run)-1], s.Pending[0].Call); out != "" {
		t.Errorf("%q", out)
	}
	if out := b.ok("resume", "last"); out != "It is written down: It says that A-1 is late.\n" {
		t.Errorf("resumed: %q", out)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "clerk", "late.txt")); err != nil || string(text) != "A-1" {
		t.Errorf("%q, %v", text, err)
	}
	if text := b.ok("show", child); !strings.Contains(text, "finished answered") || !strings.Contains(text, "write_file") {
		t.Errorf("show says\n%s", text)
	}
	// What the agent did is undone in its own run.
	p = b.rein("undo", "last", "--to", "0", "--approve", "allow")
	if !strings.Contains(p.out+p.err, child) {
		t.Errorf("undo: exit %d, %q %q", p.code, p.out, p.err)
	}
	b.rein("undo", child, "--to", "0", "--approve", "allow")
	if _, err := os.Stat(filepath.Join(b.dir, "clerk", "late.txt")); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// What happens in the runs below is shown below what called them.
func TestAgentRunIsShown(t *testing.T) {
	b := newBox(t)
	p := b.rein("run", "-v", "--approve", "allow", "-f", withClerk(b), "Write it down.")
	if p.code != 0 {
		t.Fatalf("exit %d, stderr %q", p.code, p.err)
	}
	for _, want := range []string{"\nstep 1: openai/any\n", "\n    [.1] step 1: openai/any\n", "\n    [.1] write_file {\"path\":\"late.txt\",\"content\":\"A-1\"}: success\n", "\n  clerk {\"task\""} {
		if !strings.Contains("\n"+p.err, want) {
			t.Errorf("%q is not in\n%s", want, p.err)
		}
	}
}

// A run of an agent that has stopped half way can be carried on by itself; the run
// that called it takes its result.
func TestAgentRunByItself(t *testing.T) {
	b := newBox(t)
	b.rein("run", "-f", withClerk(b), "Write it down.")
	var s shown
	b.decode(&s, "show", "last")
	b.ok("approve", s.Pending[0].Run, s.Pending[0].Call)
	if out := b.ok("resume", s.Pending[0].Run); out != "It says that A-1 is late.\n" {
		t.Errorf("resumed: %q", out)
	}
	if out := b.ok("resume", "last"); out != "It is written down: It says that A-1 is late.\n" {
		t.Errorf("resumed: %q", out)
	}
}

// A process that is killed while an agent works leaves runs that go on together: what
// the agent has done it does not do again.
func TestAgentRunKilled(t *testing.T) {
	b := newBox(t)
	file := withClerk(b)
	_, slow := server(t, strings.Replace(clerk, "  - say:", "  - faults: [{stall: 30s}]\n    say:", 1))
	b.file("clerk/agent.yaml", "name: clerk\nmodel: openai/any\nbase_url: "+slow+"\nretry: fast\ncheck: false\ntools: [{files: {root: ., write: direct}}]\n")
	p := b.start(nil, "run", "--approve", "allow", "-f", file, "Write it down.")
	run := b.until("tool.started")
	written := func() bool {
		got := b.rein("replay", "--json", run+".1")
		return strings.Count(got.out, `"tool.finished"`) == 2
	}
	for n := 0; !written(); n++ {
		if n == 600 {
			t.Fatal("the agent does not get on")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if list := b.ok("runs"); strings.Count(list, "interrupted") != 2 {
		t.Errorf("runs says\n%s", list)
	}
	if out := b.ok("resume", "last"); out != "It is written down: It says that A-1 is late.\n" {
		t.Errorf("resumed: %q", out)
	}
	var s shown
	b.decode(&s, "show", run+".1")
	calls := 0
	for _, r := range s.Rows {
		if r.ToolName != nil {
			calls++
		}
	}
	if calls != 2 || s.Reason != "answered" {
		t.Errorf("%d calls: %+v", calls, s)
	}
	if list := b.ok("runs"); strings.Count(list, "\n") != 3 {
		t.Errorf("started twice:\n%s", list)
	}
}
