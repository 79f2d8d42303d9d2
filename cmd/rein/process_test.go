package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// TestMain lets the test binary be the rein command, for tests that need real
// processes.
func TestMain(m *testing.M) {
	if os.Getenv("REIN_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is a rein command in a process of its own.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

// start starts a process whose stdout goes to out, or if that is nil is kept.
func (b *box) start(out io.Writer, args ...string) *process {
	b.t.Helper()
	p := &process{t: b.t, cmd: b.command(args...)}
	if out == nil {
		out = &p.out
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = strings.NewReader(b.in), out, &p.err
	if err := p.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// command returns a process that is not started yet.
func (b *box) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"REIN_TEST_COMMAND=1", "PATH=" + os.Getenv("PATH")}
	for name, value := range b.env { // order: the names differ
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir = b.dir
	return cmd
}

// wait returns what the process has printed when it has ended.
func (p *process) wait() printed {
	p.t.Helper()
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		p.t.Fatalf("the process does not end\n%s", p.err.String())
	}
	return printed{p.out.String(), p.err.String(), p.cmd.ProcessState.ExitCode()}
}

// until waits until the one run of the box has an event of the type, and
// returns the run's id.
func (b *box) until(eventType string) string {
	b.t.Helper()
	for range 600 {
		var list []runObject
		b.decode(&list, "runs")
		if len(list) > 0 && list[0].Events > 0 {
			var r replayed
			if p := b.rein("replay", "--json", list[0].Run); p.code == 0 {
				if err := json.Unmarshal([]byte(p.out), &r); err != nil {
					b.t.Fatal(err)
				}
			}
			for _, e := range r.Events {
				if e.Type == eventType {
					return list[0].Run
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("there is no event %s", eventType)
	return ""
}

// slow answers its second turn only at the second try.
const slow = `
turns:
  - call: {name: get_now}
  - faults: [{stall: 30s}]
    say: Still here.
`

// slowRun starts a run whose model says nothing for a long time.
func slowRun(t *testing.T, b *box) (*process, string) {
	t.Helper()
	_, url := server(t, slow)
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock]\nretry: fast\n")
	p := b.start(nil, "run", "--json", "-f", file, "Are you there?")
	return p, b.until("tool.finished")
}

func TestKilledRunGoesOn(t *testing.T) {
	b := newBox(t)
	p, run := slowRun(t, b)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if list := b.ok("runs"); !strings.Contains(list, "interrupted") {
		t.Errorf("after the kill:\n%s", list)
	}
	var got resultObject
	if r := b.decode(&got, "resume", run); r.code != 0 || got.Answer != "Still here." || got.Steps != 2 || got.ToolCalls != 1 {
		t.Errorf("exit %d, %+v\n%s", r.code, got, r.err)
	}
	b.ok("verify", run)
}

func TestStopFromAnotherProcess(t *testing.T) {
	b := newBox(t)
	p, run := slowRun(t, b)
	if r := b.rein("resume", run); r.code != 2 || !strings.Contains(r.err, "is being carried out by") {
		t.Errorf("resuming a running run: exit %d, %s", r.code, r.err)
	}
	b.ok("stop", run)
	stopped := p.wait()
	var got resultObject
	if err := json.Unmarshal([]byte(stopped.out), &got); err != nil || stopped.code != interrupted || got.Status != "paused" || got.Reason != "interrupted" {
		t.Errorf("exit %d, %s, %v\n%s", stopped.code, stopped.out, err, stopped.err)
	}
	var not asked
	if r := b.decode(&not, "stop", run); r.code != 1 || not.Asked || not.Run != run || not.Status != "paused" {
		t.Errorf("stopping it again: exit %d, %+v", r.code, not)
	}
	if r := b.rein("stop", run); r.code != 1 || !strings.Contains(r.err, "is not running: it is paused") {
		t.Errorf("stopping it again: exit %d, %s", r.code, r.err)
	}
	if r := b.decode(&got, "resume", run); r.code != 0 || got.Answer != "Still here." {
		t.Errorf("resume: exit %d, %+v\n%s", r.code, got, r.err)
	}
}

func TestSignalsLeaveAResumableRun(t *testing.T) {
	for name, signals := range map[string][]os.Signal{
		"SIGTERM":      {syscall.SIGTERM},
		"SIGHUP":       {syscall.SIGHUP},
		"twice Ctrl-C": {os.Interrupt, os.Interrupt},
	} {
		t.Run(name, func(t *testing.T) {
			if signal.Ignored(signals[0]) {
				t.Skipf("%v is ignored by whoever started this test, as nohup does, and so by the command", signals[0])
			}
			b := newBox(t)
			p, run := slowRun(t, b)
			for i, s := range signals {
				if i > 0 {
					time.Sleep(100 * time.Millisecond) // two signals at once are one
				}
				if err := p.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			if stopped := p.wait(); stopped.code != interrupted || !strings.Contains(stopped.err, " resume "+run) {
				t.Errorf("exit %d\n%s", stopped.code, stopped.err)
			}
			var got resultObject
			if r := b.decode(&got, "resume", run); r.code != 0 || got.Answer != "Still here." {
				t.Errorf("resume: exit %d, %+v\n%s", r.code, got, r.err)
			}
		})
	}
}

// A reader of the events that has seen enough ends the run in good order: it is
// not killed in the middle of a step.
func TestReaderOfEventsLeaves(t *testing.T) {
	b := newBox(t)
	_, url := server(t, `
turns:
  - {delay: 300ms, call: {name: calculator, arguments: {expression: "1"}}}
  - {delay: 300ms, call: {name: calculator, arguments: {expression: "2"}}}
  - Still here.
`)
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [calculator]\n")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := b.start(write, "run", "--events", "-f", file, "Are you there?")
	write.Close()
	line, err := bufio.NewReaderSize(read, 16).ReadByte()
	if err != nil || line != '{' {
		t.Fatalf("%q, %v", line, err)
	}
	read.Close()
	left := p.wait()
	if left.code != badEnd || !strings.Contains(left.err, "nobody reads the events any more") || !strings.Contains(left.err, "paused, interrupted") {
		t.Errorf("exit %d\n%s", left.code, left.err)
	}
	var list []runObject
	b.decode(&list, "runs")
	if len(list) != 1 || list[0].Status != "paused" {
		t.Fatalf("%+v", list)
	}
	var got resultObject
	if r := b.decode(&got, "resume", list[0].Run); r.code != 0 || got.Answer != "Still here." || got.ToolCalls != 2 {
		t.Errorf("resume: exit %d, %+v\n%s", r.code, got, r.err)
	}
}

// What nohup keeps from a process stays kept from it.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	if _, err := exec.LookPath("nohup"); err != nil {
		t.Skipf("there is no nohup here, which only Unix has: %v", err)
	}
	b := newBox(t)
	_, url := server(t, "turns:\n  - delay: 400ms\n    say: Still here.\n")
	p := &process{t: t, cmd: b.command()}
	args := []string{"nohup", p.cmd.Path, "run", "-m", "openai/any", "--base-url", url, "Are you there?"}
	p.cmd.Path, _ = exec.LookPath("nohup")
	p.cmd.Args, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = args, strings.NewReader(""), &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	b.until("model.called")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if r := p.wait(); r.code != 0 || r.out != "Still here.\n" {
		t.Errorf("exit %d, %q\n%s", r.code, r.out, r.err)
	}
}

// What is damaged is not mended by trying again, so the advice is to look at it.
func TestResumeOfADamagedJournal(t *testing.T) {
	b := newBox(t)
	var got resultObject
	b.decode(&got, "run", "-f", asking(t, b), "What time is it?")
	b.tamper(`UPDATE events SET data = replace(data, 'now_1', 'now_2') WHERE type = 'call.judged'`)
	p := b.rein("resume", got.Run)
	if p.code != badEnd || !strings.Contains(p.err, "damaged after event") || !strings.Contains(p.err, "rein verify "+got.Run) || strings.Contains(p.err, "the cause is gone") {
		t.Errorf("exit %d\n%s", p.code, p.err)
	}
}
