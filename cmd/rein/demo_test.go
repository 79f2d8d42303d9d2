package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/cmd/rein/internal/demo"
	"rein.example/rein/model/script"
)

func TestDemo(t *testing.T) {
	b := newBox(t)
	var got demoObject
	p := b.decode(&got, "demo", "--dir", filepath.Join(b.dir, "desk"))
	if p.code != 0 || !got.OK || got.Status != "finished" || len(got.Problems) != 0 {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	if got.ToolCalls < 8 || got.ToolCalls > 14 || !strings.Contains(got.Answer, "196") {
		t.Errorf("%d tool calls, answer %q", got.ToolCalls, got.Answer)
	}
	lived := strings.Join(got.Survived, "\n")
	for _, want := range []string{"written as text (json_fence)", "string to number", "same call of read_file again", "HTTP 429", "cut off in the middle"} {
		if !strings.Contains(lived, want) {
			t.Errorf("survived has no %q:\n%s", want, lived)
		}
	}
	if problems := demo.Check(got.Workspace, got.Answer); len(problems) != 0 {
		t.Errorf("the workspace: %v", problems)
	}
}

// For people the demo says what was survived and what to type next, and those
// commands work.
func TestDemoSaysWhatToTypeNext(t *testing.T) {
	b := newBox(t)
	p := b.rein("demo")
	if p.code != 0 || !strings.Contains(p.out, "196") {
		t.Fatalf("exit %d, %s\n%s", p.code, p.out, p.err)
	}
	_, next, found := strings.Cut(p.err, "Look at the run:\n")
	if !found || !strings.Contains(p.err, "Checked:") {
		t.Fatalf("stderr\n%s", p.err)
	}
	for line := range strings.Lines(next) {
		words, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		args := strings.Fields(words)
		if len(args) < 3 || args[0] != "rein" {
			t.Errorf("not a command: %q", line)
			continue
		}
		if b.ok(args[1:]...) == "" {
			t.Errorf("%s prints nothing", words)
		}
	}
}

// A workspace that is not as it should be fails the demo.
func TestDemoChecksTheFiles(t *testing.T) {
	b := newBox(t)
	b.played = func(*script.Server) { b.file("desk/workspace/stray.txt", "nobody asked for this") }
	var got demoObject
	if p := b.decode(&got, "demo", "--dir", filepath.Join(b.dir, "desk")); p.code != 1 || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "stray.txt") {
		t.Errorf("exit %d, problems %q", p.code, got.Problems)
	}
}

// A folder that holds anything is refused before anything is begun.
func TestDemoWantsAnEmptyFolder(t *testing.T) {
	b := newBox(t)
	b.ok("demo", "--dir", filepath.Join(b.dir, "desk"))
	b.file("other/letter.txt", "not a workspace")
	for _, dir := range []string{"desk", "other"} {
		if p := b.rein("demo", "--dir", filepath.Join(b.dir, dir)); p.code != 2 || !strings.Contains(p.err, "new or empty") {
			t.Errorf("%s: exit %d, %s", dir, p.code, p.err)
		}
	}
	var list []runObject
	if b.decode(&list, "runs"); len(list) != 1 {
		t.Errorf("there are %d runs", len(list))
	}
	if p := b.rein("demo", "--dir", filepath.Join(b.dir, "other", "letter.txt")); p.code != 2 {
		t.Errorf("a file: exit %d, %s", p.code, p.err)
	}
}

// Every request of the demo can be printed as it went over the wire.
func TestDemoRequests(t *testing.T) {
	b := newBox(t)
	var server *script.Server
	b.played = func(s *script.Server) { server = s }
	var got demoObject
	b.decode(&got, "demo")
	bodies := server.Received()
	var v shown
	b.decode(&v, "show", got.Run)
	i := 0
	for _, r := range v.Rows {
		if r.ToolName != nil {
			continue
		}
		body := b.ok("request", got.Run, "--step", fmt.Sprint(r.Step), "--attempt", fmt.Sprint(*r.Attempt), "--purpose", *r.Purpose)
		if i >= len(bodies) || body != string(bodies[i]) {
			t.Errorf("step %d, attempt %d is not what the server received", r.Step, *r.Attempt)
		}
		i++
	}
	if i != len(bodies) || i < 8 {
		t.Errorf("the journal has %d requests, the server received %d", i, len(bodies))
	}
}

// kills is how many demo runs are killed at a random moment.
func kills() int {
	if os.Getenv("REIN_LONG") != "" {
		return 20
	}
	return 3
}

// A demo that is killed at any moment goes on and ends in the same state.
func TestKilledDemoGoesOn(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	b := newBox(t)
	var whole demoObject
	if p := b.decode(&whole, "demo"); p.code != 0 {
		t.Fatalf("exit %d\n%s", p.code, p.err)
	}
	hit, tries := 0, 0
	for ; hit < kills() && tries < 5*kills(); tries++ {
		after := time.Duration(random.Int64N(whole.DurationMS)) * time.Millisecond
		if killDemo(t, after) {
			hit++
		}
	}
	t.Logf("%d of %d kills hit a run that was going on", hit, tries)
	if hit < kills() {
		t.Errorf("only %d kills hit a run", hit)
	}
}

// first is closed at the first byte that is written.
type first struct {
	once sync.Once
	came chan struct{}
}

func (f *first) Write(p []byte) (int, error) {
	f.once.Do(func() { close(f.came) })
	return len(p), nil
}

// killDemo kills a demo some time after its first event, resumes it and checks
// its end. It reports whether the kill hit a run that was going on.
func killDemo(t *testing.T, after time.Duration) bool {
	t.Helper()
	b := newBox(t)
	dir := filepath.Join(b.dir, "desk")
	begun := &first{came: make(chan struct{})}
	p := b.start(begun, "demo", "--events", "--dir", dir)
	select {
	case <-begun.came:
	case <-time.After(time.Minute):
		t.Fatalf("the demo does not begin\n%s", p.err.String())
	}
	time.Sleep(after)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	var list []runObject
	b.decode(&list, "runs")
	if len(list) != 1 {
		t.Fatalf("there are %d runs", len(list))
	}
	run := list[0].Run
	before := b.ok("replay", run, "--json")
	var got resultObject
	r := b.decode(&got, "resume", run)
	if r.code != 0 || !got.OK {
		t.Errorf("killed after %v: resume exits %d, %+v\n%s", after, r.code, got, r.err)
		return true
	}
	for _, problem := range demo.Check(filepath.Join(dir, "workspace"), got.Answer) {
		t.Errorf("killed after %v: %s", after, problem)
	}
	if !b.keeps(run, before) {
		t.Errorf("killed after %v: events that were there before have changed", after)
	}
	b.ok("verify", run)
	return list[0].Status == "interrupted"
}

// keeps reports whether the run's journal still begins with the events that an
// earlier replay printed.
func (b *box) keeps(run, before string) bool {
	b.t.Helper()
	_, events, _ := strings.Cut(before, `"events":[`)
	events, _, _ = strings.Cut(events, `],"next":`)
	return strings.Contains(b.ok("replay", run, "--json"), `"events":[`+events)
}
