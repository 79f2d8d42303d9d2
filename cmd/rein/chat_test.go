package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const talk = `
turns:
  - The order A-1042 is late.
  - call: {name: get_now}
  - Because there was no driver.
  - You are welcome.
`

// chat runs a chat with what is typed on stdin.
func (b *box) chat(in string, args ...string) printed {
	b.t.Helper()
	b.in = in
	return b.rein(append([]string{"chat"}, args...)...)
}

// runs returns the store's runs, newest first.
func (b *box) runs() []runObject {
	b.t.Helper()
	var list []runObject
	b.decode(&list, "runs")
	return list
}

func TestChatTakesSeveralInputsInOneRun(t *testing.T) {
	b := newBox(t)
	file := b.agent(talk, "")
	p := b.chat("Which order is late?\nWhy \\\nis that?\n", "-f", file)
	if p.code != 0 || p.out != "The order A-1042 is late.\nBecause there was no driver.\n" {
		t.Fatalf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	list := b.runs()
	if len(list) != 1 || list[0].Status != "paused" || list[0].Reason != "turn_done" {
		t.Fatalf("runs: %+v", list)
	}
	// A turn that is done is no run that has ended well: ok is said of those alone.
	var v shown
	if b.decode(&v, "show", list[0].Run); v.OK || v.Status != "paused" || v.Answer == "" || v.Totals.Steps != 3 {
		t.Errorf("show: %s, ok %t, %+v", v.Status, v.OK, v.Totals)
	}
	if body := b.ok("request", "--step", "2", list[0].Run); !strings.Contains(body, `Why \nis that?`) {
		t.Errorf("the lines were not joined: %s", body)
	}
	p = b.chat("Thank you.", list[0].Run[:9])
	if p.code != 0 || p.out != "You are welcome.\n" {
		t.Errorf("gone on: exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if again := b.runs(); len(again) != 1 || again[0].Events <= list[0].Events {
		t.Errorf("runs: %+v", again)
	}
}

func TestChatCommands(t *testing.T) {
	b := newBox(t)
	file := b.agent(talk, "")
	for name, c := range map[string]struct {
		in       string
		out, err []string
	}{
		"help":             {in: "/help\n", out: []string{"/undo", "/model NAME"}},
		"tools":            {in: "/tools\n", out: []string{"get_now (read): ", "write_file (repeatable): "}},
		"cost":             {in: "hi\n/cost\n", out: []string{"1 step, 0 tool calls, ", "price is unknown"}},
		"request":          {in: "hi there\n/request\n", out: []string{`"messages":[`, "hi there"}},
		"too early":        {in: "/cost\n/request\n/undo\n/fork\n", err: []string{"there was no input yet"}},
		"unknown":          {in: "/undoo\n", err: []string{"no command /undoo"}},
		"argument":         {in: "/undo 3\n", err: []string{"/undo takes no argument"}},
		"path":             {in: "/etc/hosts is what?\n", out: []string{"A-1042"}},
		"escaped":          {in: " /help\n", out: []string{"A-1042"}},
		"quit":             {in: "/quit\nhi\n", err: []string{"a conversation with openai/any"}},
		"model":            {in: "/model openai/other\n/model\n", out: []string{"openai/other"}, err: []string{"the model is openai/other"}},
		"model that isn't": {in: "/model other\n", err: []string{"provider/model"}},
		"model too late":   {in: "hi\n/model openai/other\n", out: []string{"A-1042"}, err: []string{"this run keeps its model", " -m openai/other"}},
		"blank":            {in: "\n  \n", err: []string{"a conversation with"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.chat(c.in, "-f", file)
			if p.code != 0 {
				t.Errorf("exit %d", p.code)
			}
			for _, want := range c.out {
				if !strings.Contains(p.out, want) {
					t.Errorf("stdout has no %q: %s", want, p.out)
				}
			}
			for _, want := range c.err {
				if !strings.Contains(p.err, want) {
					t.Errorf("stderr has no %q: %s", want, p.err)
				}
			}
			if len(c.out) == 0 && p.out != "" {
				t.Errorf("stdout %q", p.out)
			}
		})
	}
}

// What is taken back is not in the next request, and the old run is kept.
func TestChatUndo(t *testing.T) {
	b := newBox(t)
	s, url := server(t, talk)
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock]\n")
	p := b.chat("first\nsecond\n/undo\nanother\n", "-f", file)
	if p.code != 0 || !strings.Contains(p.err, "taken back: second") {
		t.Fatalf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if want := "The order A-1042 is late.\nBecause there was no driver.\nBecause there was no driver.\n"; p.out != want {
		t.Errorf("stdout %q", p.out)
	}
	bodies := s.Received()
	if last := string(bodies[len(bodies)-1]); strings.Contains(last, "second") || !strings.Contains(last, "first") || !strings.Contains(last, "another") {
		t.Errorf("the last request: %s", last)
	}
	list := b.runs()
	if len(list) != 2 || !strings.Contains(p.err, list[0].Run) || !strings.Contains(p.err, list[1].Run+" is kept") {
		t.Errorf("runs %+v, stderr %s", list, p.err)
	}
	for _, r := range list {
		b.ok("verify", r.Run)
	}

	// There is nothing before the first input: a new run begins.
	p = b.chat("first\n/undo\nanother\n", "-f", file)
	if p.code != 0 || p.out != "The order A-1042 is late.\nThe order A-1042 is late.\n" || len(b.runs()) != 4 {
		t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
}

func TestChatFork(t *testing.T) {
	b := newBox(t)
	p := b.chat("first\n/fork\nsecond\n", "-f", b.agent(talk, ""))
	list := b.runs()
	if p.code != 0 || p.out != "The order A-1042 is late.\nBecause there was no driver.\n" || len(list) != 2 {
		t.Fatalf("exit %d, stdout %q, stderr %q, runs %+v", p.code, p.out, p.err, list)
	}
	first, second := list[1], list[0]
	if first.Events >= second.Events {
		first, second = second, first
	}
	if first.Events >= second.Events || !strings.Contains(p.err, "goes on as run "+second.Run) {
		t.Errorf("runs %+v, stderr %s", list, p.err)
	}
	b.ok("verify", second.Run)
}

// A chat at a pipe of which an input was not taken has not ended well; what comes
// after it is answered where it can be read.
func TestChatRefusesInput(t *testing.T) {
	long := strings.Repeat("x", maxTask+1)
	for name, c := range map[string]struct{ in, out, err string }{
		"not text":        {in: "a\xff\nfirst\n", out: "The order A-1042 is late.\n", err: "not UTF-8"},
		"a long line":     {in: "first\n" + long + "\nsecond\n", out: "The order A-1042 is late.\n", err: "put long material into a file"},
		"a long input":    {in: long[:maxTask-10] + "\\\n" + long[:20] + "\nfirst\n", out: "The order A-1042 is late.\n", err: "put long material into a file"},
		"only a long one": {in: long, err: "a line has more than "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			p := b.chat(c.in, "-f", b.agent(talk, ""))
			if p.code != badEnd || p.out != c.out || !strings.Contains(p.err, c.err) || strings.Contains(p.err, "bufio") {
				t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
			}
		})
	}
}

// Nobody sits at a pipe: a chat that cannot go on by itself ends there.
func TestChatEndsWhereItCannotGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		script, more string
		want         string
	}{
		"approval": {script: writes, want: "waits for approval"},
		"limit":    {script: twoSteps + "final: Too late.\n", more: "limits: {steps: 1}\n", want: "step_limit"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			p := b.chat("Write it down.\nAnd?\n", "-f", b.agent(c.script, c.more))
			if p.code != badEnd || !strings.Contains(p.err, c.want) || !strings.Contains(p.err, "not taken: 1 input") {
				t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
			}
		})
	}
}

// A chat that was left in the middle goes on with what it was doing.
func TestChatGoesOnAfterApproval(t *testing.T) {
	b := newBox(t)
	b.chat("Write it down.\n", "-f", b.agent(writes, ""))
	run := b.runs()[0].Run
	var r shown
	b.decode(&r, "show", run)
	b.ok("approve", run, "call_1_1")
	p := b.chat("", run)
	if p.code != 0 || !strings.Contains(p.out, "note.txt") || !strings.Contains(p.err, "going on with what it was doing") {
		t.Errorf("exit %d, stdout %q, stderr %q", p.code, p.out, p.err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "note.txt")); err != nil {
		t.Error(err)
	}
}

func TestChatUsage(t *testing.T) {
	b := newBox(t)
	b.ok("run", "-f", b.agent(talk, ""), "hi")
	task := b.runs()[0].Run
	for want, args := range map[string][]string{
		"is a task, not a conversation": {task},
		"leave out -f":                  {"-f", "agent.yaml", task},
		"no run \"nothing\"":            {"nothing"},
		"has no --json":                 {"--json"},
	} {
		if p := b.chat("", args...); p.code != badUsage || !strings.Contains(p.err, want) {
			t.Errorf("%q: exit %d, %s", args, p.code, p.err)
		}
	}
}

func TestHistory(t *testing.T) {
	h := &history{filepath.Join(t.TempDir(), "new", "chat-history.jsonl")}
	long := strings.Repeat("x", 1000)
	for _, s := range []string{"one", "two\nlines", "\"three\" \x1b"} {
		if err := h.add(s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.load()
	if err != nil || len(got) != 3 || got[1] != "two\nlines" || got[2] != "\"three\" \x1b" {
		t.Errorf("%q, %v", got, err)
	}
	info, err := os.Stat(h.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for range maxHistory/1000 + 10 {
		if err := h.add(long); err != nil {
			t.Fatal(err)
		}
	}
	if got, err = h.load(); err != nil || len(got) > maxHistory/1000 || len(got) < maxHistory/3000 || got[0] != long {
		t.Errorf("%d texts, %v", len(got), err)
	}
	if info, err = os.Stat(h.path); err != nil || info.Mode().Perm() != 0o600 || info.Size() > maxHistory {
		t.Errorf("%v, %v", info, err)
	}
}
