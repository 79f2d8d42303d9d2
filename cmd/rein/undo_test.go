package main

import (
	"os"
	"strings"
	"testing"

	"rein.example/rein/engine"
)

// changing reads a file, edits it twice, writes a new one, and runs a command.
const changing = `
turns:
  - call: {name: read_file, arguments: {path: a.txt}}
  - calls:
      - {name: edit_file, arguments: {path: a.txt, old: one, new: two}}
      - {name: write_file, arguments: {path: sub/new.txt, content: "new\n"}}
  - call: {name: edit_file, arguments: {path: a.txt, old: two, new: three}}
  - call: {name: touch, arguments: {file: touched}}
  - calls:
      - {name: read_file, arguments: {path: a.txt}}
      - {name: read_file, arguments: {path: sub/new.txt}}
  - Done.
`

func changingRun(b *box) {
	b.t.Helper()
	b.env["PATH"] = os.Getenv("PATH")
	b.file("a.txt", "one\n")
	file := b.agent(changing, "")
	text, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	b.file("agent.yaml", strings.Replace(string(text), "tools: [clock, files: {root: ., write: direct}]", `sandbox: none
tools:
  - files: {root: ., write: direct}
  - command: {templates: [{name: touch, argv: [touch, "{file}"], doc: {what: Touches a file.}, params: {file: {pattern: "[a-z]+"}}}]}`, 1))
	b.ok("run", "-f", file, "--approve", "allow", "Change things.")
	b.holds("a.txt", "three\n")
	b.holds("sub/new.txt", "new\n")
	b.holds("touched", "")
}

// holds checks what a file of the box holds; "-" that there is none.
func (b *box) holds(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(b.dir + "/" + name)
	if err != nil {
		got = []byte("-")
	}
	if string(got) != want {
		b.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

// What was done after a step is taken back, the last first, and what cannot be is
// said. Doing it again does nothing more.
func TestUndo(t *testing.T) {
	b := newBox(t)
	changingRun(b)
	b.file("sub/mine.txt", "mine\n")
	var u undone
	p := b.decode(&u, "undo", "last", "--to", "2", "--approve", "allow")
	if p.code != badEnd || u.OK || len(u.Calls) != 2 || u.Calls[0].Tool != "touch" || u.Calls[0].Status != engine.UndoImpossible || u.Calls[1].Status != engine.UndoDone || u.Calls[1].Step != 3 {
		t.Fatalf("exit %d, %+v", p.code, u)
	}
	b.holds("a.txt", "two\n")
	b.holds("sub/new.txt", "new\n")
	b.holds("touched", "")
	p = b.rein("undo", "last", "--to", "0", "--approve", "allow")
	if p.code != badEnd || strings.Count(p.out, ": taken back\n") != 2 || !strings.Contains(p.out, "touch {\"file\":\"touched\"}: cannot be taken back: the tool has no way to take a call back") {
		t.Errorf("exit %d, %q, %q", p.code, p.out, p.err)
	}
	b.holds("a.txt", "one\n")
	b.holds("sub/new.txt", "-")
	b.holds("sub/mine.txt", "mine\n") // which the run has not touched
	if p := b.rein("undo", "last", "--to", "0", "--approve", "allow"); strings.Count(p.out, "\n") != 1 {
		t.Errorf("again: %q", p.out)
	}
	if text := b.ok("show", "last"); strings.Count(text, "takes back what") != 3 {
		t.Errorf("show says\n%s", text)
	}
	b.ok("verify", "last")
}

// Nothing that somebody else has changed meanwhile is touched, nor what nobody has
// approved, and a person can say no.
func TestUndoLeavesWhatItMust(t *testing.T) {
	b := newBox(t)
	changingRun(b)
	for how, want := range map[string]engine.UndoStatus{"ask": engine.UndoOpen, "deny": engine.UndoRefused} {
		var u undone
		if p := b.decode(&u, "undo", "last", "--to", "1", "--approve", how); p.code != badEnd || len(u.Calls) != 4 || u.Calls[1].Status != want {
			t.Errorf("%s: exit %d, %+v", how, p.code, u)
		}
	}
	b.holds("a.txt", "three\n")
	b.file("a.txt", "mine\n")
	var u undone
	b.decode(&u, "undo", "last", "--to", "1", "--approve", "allow")
	if u.Calls[1].Status != engine.UndoImpossible || !strings.Contains(u.Calls[1].Why, "a.txt was changed since") || u.Calls[3].Status != engine.UndoImpossible || u.Calls[2].Status != engine.UndoDone {
		t.Errorf("%+v", u)
	}
	b.holds("a.txt", "mine\n")
	for _, args := range [][]string{{"undo", "last"}, {"undo", "last", "--to", "-1"}, {"undo", "nothing", "--to", "1"}} {
		if p := b.rein(args...); p.code != badUsage {
			t.Errorf("%v: exit %d, %q", args, p.code, p.err)
		}
	}
}

// A run that goes on is told, and works with what is there.
func TestUndoInTheMiddle(t *testing.T) {
	b := newBox(t)
	file := b.agent(`
turns:
  - call: {name: write_file, arguments: {path: n.txt, content: "x\n"}}
  - Written.
  - As you wish.
`, "")
	if p := b.chat("Write it.\n", "-f", file, "--approve", "allow"); p.code != 0 {
		t.Fatalf("%q", p.err)
	}
	b.ok("undo", "last", "--to", "0", "--approve", "allow")
	b.holds("n.txt", "-")
	if p := b.chat("I have changed my mind.\n", "last"); p.code != 0 {
		t.Fatalf("%q", p.err)
	}
	body := b.ok("request", "last", "--step", "3")
	if !strings.Contains(body, `The user has taken back what these calls did: write_file {\"content\":\"x\\n\",\"path\":\"n.txt\"}.`) {
		t.Errorf("the model saw %s", body)
	}
	b.ok("verify", "last")
}
