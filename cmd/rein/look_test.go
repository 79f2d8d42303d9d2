package main

import (
	"strings"
	"testing"
	"time"
)

// A call that waits is shown as waiting, with the commands that answer; once it
// is answered, as answered.
func TestShowWaiting(t *testing.T) {
	b := newBox(t)
	file := asking(t, b)
	var got resultObject
	b.decode(&got, "run", "-f", file, "What time is it?")
	call := got.Pending[0].Call
	p := b.rein("show", "last")
	if p.code != 0 || !strings.Contains(p.out, "waits for approval ("+call+")") || strings.Count(p.out, "\n!") != 1 {
		t.Errorf("exit %d\n%s", p.code, p.out)
	}
	for _, want := range []string{"rein approve " + got.Run + " " + call, "rein reject " + got.Run + " " + call, "rein resume " + got.Run} {
		if !strings.Contains(p.err, want) {
			t.Errorf("stderr has no %q:\n%s", want, p.err)
		}
	}
	var v shown
	if b.decode(&v, "show", "last"); len(v.Pending) != 1 || v.Pending[0].Call != call {
		t.Errorf("pending: %+v", v.Pending)
	}
	b.ok("approve", "last", call)
	if p = b.rein("show", "last"); !strings.Contains(p.out, "approved, not yet resumed") || !strings.Contains(p.err, "rein resume") {
		t.Errorf("approved:\n%s%s", p.out, p.err)
	}
}

// What a dead process waited for is lost, before and after somebody goes on.
func TestShowLost(t *testing.T) {
	b := newBox(t)
	p, run := slowRun(t, b)
	b.untilModel(2)
	if table := b.ok("show", run); !strings.Contains(table, "no reply yet") || strings.Contains(table, "lost") {
		t.Errorf("while it runs:\n%s", table)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if p := b.rein("show", run); !strings.Contains(p.out, "lost (process ended)") || !strings.Contains(p.out, "\ninterrupted") || !strings.Contains(p.err, "resume "+run) {
		t.Errorf("after the kill:\n%s%s", p.out, p.err)
	}
	b.ok("resume", run)
	if table := b.ok("show", run); strings.Count(table, "lost (process ended)") != 1 || strings.Contains(table, "no reply yet") {
		t.Errorf("after going on:\n%s", table)
	}
}

// untilModel waits until the last run has called its model n times.
func (b *box) untilModel(n int) {
	b.t.Helper()
	for range 600 {
		var r replayed
		b.decode(&r, "replay", lastRun)
		have := 0
		for _, e := range r.Events {
			if e.Type == "model.called" {
				have++
			}
		}
		if have >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("the model was not called %d times", n)
}

// A run of the demo has all that the table marks.
func TestShowTable(t *testing.T) {
	b := newBox(t)
	b.ok("demo", "--json")
	table := b.ok("show", lastRun)
	lines := strings.Split(table, "\n")
	for _, want := range []string{
		`read_file {"path":"mailbox`, `read_file {"lines":40`, // told apart by their arguments
		"arguments repaired (", "written as text (json fence)", "intercepted", "rate_limit: ", "incomplete: ",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q:\n%s", want, table)
		}
	}
	if strings.Contains(lines[3], "CACHED") || !strings.Contains(lines[3], "IN") {
		t.Errorf("columns: %s", lines[3])
	}
	for _, l := range lines[3 : len(lines)-4] {
		if textWidth(l) > usualWidth {
			t.Errorf("%d columns: %s", textWidth(l), l)
		}
		if strings.Contains(l, "  order-desk-1") {
			t.Errorf("the model has two names: %s", l)
		}
	}
}

// What is sound of a damaged journal is shown, and then where it is damaged.
func TestDamagedJournal(t *testing.T) {
	for name, c := range map[string]struct {
		tamper, hint string
		torn         bool
	}{
		"end missing": {`DELETE FROM events WHERE id = (SELECT max(id) FROM events)`, "cuts it off and goes on", true},
		"end changed": {`UPDATE events SET data = replace(data, 'late', 'soon') WHERE id = (SELECT max(id) FROM events)`, "cuts it off and goes on", true},
		"middle":      {`UPDATE events SET data = replace(data, 'read_mind', 'read_mood') WHERE type = 'reply.parsed'`, "restore the store from a copy", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			run, _ := clumsyRun(t, b)
			b.tamper(c.tamper)
			for _, args := range [][]string{{"show", run}, {"replay", run}, {"verify", run}, {"request", run, "--step", "1"}} {
				p := b.rein(args...)
				if p.code != 1 || len(p.out) < 60 || !strings.Contains(p.err, "after event") || !strings.Contains(p.err, c.hint) {
					t.Errorf("%s: exit %d\n%s\n%s", args[0], p.code, p.out, p.err)
				}
			}
			var r replayed
			b.decode(&r, "replay", run)
			if r.Damage == nil || r.Damage.Torn != c.torn || int64(len(r.Events)) != r.Damage.Sound || len(r.Events) < 5 {
				t.Errorf("%d events, damage %+v", len(r.Events), r.Damage)
			}
			var v shown
			if b.decode(&v, "show", run); v.Damage == nil || len(v.Rows) == 0 {
				t.Errorf("show: %d rows, damage %+v", len(v.Rows), v.Damage)
			}
			// Where it stands is what the store has, as in the list of runs: nobody carries it on.
			if listed := b.runs()[0]; v.Status != listed.Status || v.Reason != listed.Reason || v.Status == "running" {
				t.Errorf("show says %s %s, the list %s %s", v.Status, v.Reason, listed.Status, listed.Reason)
			}
			if !c.torn {
				if p := b.rein("request", run, "--step", "3"); p.code != 1 || !strings.Contains(p.err, c.hint) {
					t.Errorf("a step that is lost: exit %d, %s", p.code, p.err)
				}
			}
		})
	}
}

func TestCountsFromOne(t *testing.T) {
	b := newBox(t)
	b.said()
	for _, args := range [][]string{
		{"replay", "last", "--until", "0"}, {"replay", "last", "--until", "-1"}, {"show", "last", "--step", "0"},
		{"request", "last", "--step", "0"}, {"request", "last", "--step", "1", "--attempt", "-1"}, {"runs", "-n", "-1"},
	} {
		if p := b.rein(args...); p.code != 2 || p.out != "" || p.err == "" {
			t.Errorf("%v: exit %d, %s%s", args, p.code, p.out, p.err)
		}
	}
}

// The help says what there is to know: keys, stores, exit codes; each command has
// its arguments first and an example.
func TestHelp(t *testing.T) {
	b := newBox(t)
	help := b.ok("--help")
	for _, want := range []string{"OPENAI_API_KEY", "REIN_DB", "130", "--version"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help has no %q", want)
		}
	}
	if b.ok("--version") != b.ok("version") {
		t.Error("--version and version differ")
	}
	for _, c := range (&app{env: func(string) string { return "" }}).command().Commands() {
		words := strings.Fields(c.Use)
		flags := false
		for _, w := range words {
			if strings.HasPrefix(w, "[") || strings.HasPrefix(w, "-") {
				flags = true
			} else if flags && w == strings.ToUpper(w) && !strings.HasSuffix(w, "]") && w != "N" {
				t.Errorf("%q: %s comes after a flag", c.Use, w)
			}
		}
		if c.Long == "" && c.Name() != "version" {
			t.Errorf("%s has no long help", c.Name())
		}
	}
}

// A row of the table is a line, whatever name a model makes up, and however long.
func TestRowsStayRows(t *testing.T) {
	b := newBox(t)
	_, url := server(t, `
turns:
  - call: {name: "no_such\n!  9  pay  success\u001b[2J`+strings.Repeat("x", 10_000)+`"}
`)
	b.rein("run", "-m", "openai/any", "--base-url", url, "Do it.")
	for _, args := range [][]string{{"show", "last"}, {"replay", "last"}} {
		out := b.ok(args...)
		harmless(t, args[0], out)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "!  9") || len(line) > 1000 {
				t.Errorf("%s has a line of the model's own, or a long one:\n%.2000s", args[0], out)
			}
		}
	}
}
