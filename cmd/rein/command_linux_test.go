package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rein.example/rein/trace"
	"rein.example/rein/trace/anomaly"
)

// A command of an agent file does its work, fails and runs out of time in a real
// run: the model sees what was written, the trace what happened, and nothing of it
// is left.
func TestCommandsInARun(t *testing.T) {
	b := newBox(t)
	b.env["PATH"] = os.Getenv("PATH")
	_, url := server(t, `
turns:
  - call: {name: show, arguments: {text: "a  b; rm -rf /"}}
  - call: {name: fail, arguments: {}}
  - call: {name: hang, arguments: {}}
  - call: {name: show, arguments: {text: "-n"}}
  - Done.
`)
	b.file("hang.sh", "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $! >pids\necho $$ >>pids\necho working\nwait\nsleep 1000\n")
	if err := os.Chmod(b.dir+"/hang.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	b.file("agent.yaml", "model: openai/any\nbase_url: "+url+`
sandbox: none
permissions: {allow: ["*"]}
tools:
  - command:
      templates:
        - {name: show, effect: read, argv: [echo, "{text}"], doc: {what: Shows a text.}, params: {text: {pattern: ".*"}}}
        - {name: fail, effect: repeatable, argv: [ls, /no/such/folder], doc: {what: Fails.}}
        - {name: hang, effect: once, argv: [./hang.sh], doc: {what: Hangs.}, timeout: 1s}
`)
	b.ok("run", "-f", b.dir+"/agent.yaml", "Run them.")
	for step, want := range map[int]string{
		2: `a  b; rm -rf /\n[rein: exit code 0; 1 line, 15 bytes written; took `,
		3: `\"error_type\":\"exit_code\",\"message\":\"fail failed with exit code 2\"`,
		4: `it may or may not have taken effect`,
		5: `would be taken for an option`,
	} {
		if body := b.ok("request", "last", "--step", fmt.Sprint(step)); !strings.Contains(body, want) {
			t.Errorf("step %d: the model saw %s\nwant %s", step, body, want)
		}
	}
	if body := b.ok("request", "last", "--step", "4"); !strings.Contains(body, `\nworking\n[rein: ended by a signal: killed; `) {
		t.Errorf("what was written before the end is missing: %s", body)
	}
	var s shown
	b.decode(&s, "show", "last")
	if s.Sandbox != "none" {
		t.Errorf("sandbox %q", s.Sandbox)
	}
	var got []string
	for _, r := range s.Rows {
		if r.ToolName != nil {
			got = append(got, statusOf(&r))
		}
	}
	if want := "show success, fail error exit_code, hang unknown timeout, show error invalid_arguments"; strings.Join(got, ", ") != want {
		t.Errorf("the trace says %q, want %q", strings.Join(got, ", "), want)
	}
	text, err := os.ReadFile(b.dir + "/pids")
	if err != nil {
		t.Fatal(err)
	}
	for f := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; runs(pid); n++ {
			if time.Sleep(10 * time.Millisecond); n > 200 {
				t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

// What a killed process was doing that must not be done twice is told before anybody
// resumes the run: the warning is for whoever is to decide.
func TestKilledInTheMiddleOfACall(t *testing.T) {
	b := newBox(t)
	b.env["PATH"] = os.Getenv("PATH")
	_, url := server(t, "turns:\n  - call: {name: pay, arguments: {}}\n  - Done.\n")
	b.file("agent.yaml", "model: openai/any\nbase_url: "+url+`
sandbox: none
permissions: {allow: ["*"]}
tools:
  - command:
      templates:
        - {name: pay, effect: once, argv: [sleep, "1000"], doc: {what: Pays.}}
`)
	p := b.start(nil, "run", "--json", "-f", b.dir+"/agent.yaml", "Pay.")
	run := b.until("tool.started")
	var s shown
	if b.decode(&s, "show", run); len(s.Anomalies) != 0 {
		t.Errorf("while it is under way: %+v", s.Anomalies)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	b.decode(&s, "show", run)
	if len(s.Anomalies) != 1 || s.Anomalies[0].Kind != anomaly.UnknownOutcome || !strings.Contains(s.Anomalies[0].Text, "its process is gone") {
		t.Errorf("after the kill: %+v", s.Anomalies)
	}
	b.ok("export", run, "--format", "html", "-o", b.dir+"/run.html")
	if page, err := os.ReadFile(b.dir + "/run.html"); err != nil || !strings.Contains(string(page), "its process is gone") {
		t.Errorf("the page does not say it: %v", err)
	}
}

func statusOf(r *trace.Row) string {
	s := *r.ToolName + " " + text(r.ToolStatus)
	if r.ErrorType != nil {
		s += " " + *r.ErrorType
	}
	return s
}

// runs reports whether a process is there and not dead.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
