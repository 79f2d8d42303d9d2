package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// logLine is a record as --log-format json writes it.
type logLine struct {
	Time, Level, Msg, Run, Event, Data string
	Step, Seq                          *int64
}

// logLines reads stderr, every line of which has to be a record.
func logLines(t *testing.T, text string) (all, ofRuns []logLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Level == "" || l.Msg == "" || l.Time == "" {
			t.Fatalf("no record (%v): %s", err, line)
		}
		if all = append(all, l); l.Event != "" {
			if l.Run == "" || l.Step == nil || l.Seq == nil {
				t.Errorf("without run, step or seq: %s", line)
			}
			ofRuns = append(ofRuns, l)
		}
	}
	return all, ofRuns
}

// With --log-format everything on stderr is a record, and -v and -vv say how much of a
// run: what went wrong, each step and call, each event with what was said.
func TestLogFormat(t *testing.T) {
	_, url := server(t, clumsy+clumsy[len("\nturns:\n"):]+clumsy[len("\nturns:\n"):])
	b := newBox(t)
	file := b.file("agent.yaml", "name: teller\nmodel: openai/any\nbase_url: "+url+"\ntools: [clock]\nretry: fast\n")
	var events [3]map[string]int
	for v, flags := range []string{"", "-v", "-vv"} {
		args := append(strings.Fields("run --log-format json "+flags+" -f "+file), "Is it late?")
		p := b.rein(args...)
		if p.code != 0 || !strings.Contains(p.out, "It is late.") {
			t.Fatalf("exit %d\n%s%s", p.code, p.out, p.err)
		}
		all, ofRuns := logLines(t, p.err)
		events[v] = map[string]int{}
		for _, l := range ofRuns {
			events[v][l.Event]++
			if (l.Data != "") != (v == 2) {
				t.Errorf("%s %s: data %q", flags, l.Event, l.Data)
			}
		}
		if last := all[len(all)-1]; !strings.Contains(last.Msg, "finished, answered") {
			t.Errorf("the last line is %+v", last)
		}
		if said := strings.Contains(p.err, "Is it late?"); said != (v == 2) {
			t.Errorf("%s: what was said is in the log: %v", flags, said)
		}
	}
	if got := events[0]; got["model.failed"] != 2 || got["tool.finished"] != 1 || got["run.started"] != 0 {
		t.Errorf("without -v: %v", got)
	}
	if got := events[1]; got["model.answered"] < 3 || got["tool.finished"] != 2 || got["run.finished"] != 1 || got["context.assembled"] != 0 {
		t.Errorf("-v: %v", got)
	}
	if got := events[2]; got["context.assembled"] < 3 || got["reply.parsed"] < 3 || got["tool.started"] != 1 {
		t.Errorf("-vv: %v", got)
	}
}

// The format may come from the environment; errors are records too, and a format that
// there is not is wrong usage.
func TestLogFormatElsewhere(t *testing.T) {
	b := newBox(t)
	b.env[logEnv] = "json"
	p := b.rein("show", "nothing")
	if all, _ := logLines(t, p.err); p.code != 2 || len(all) != 1 || all[0].Level != "ERROR" || !strings.Contains(all[0].Msg, "nothing") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if p := b.rein("show", "nothing", "--log-format", "text"); p.code != 2 || !strings.Contains(p.err, "level=ERROR msg=") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	b.env[logEnv] = "xml"
	if p := b.rein("runs"); p.code != 2 || !strings.Contains(p.err, logEnv+` is "xml": use text or json`) {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	delete(b.env, logEnv)
	if p := b.rein("runs", "--log-format", "xml"); p.code != 2 || !strings.Contains(p.err, "use text or json") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	// On a terminal too there are records and no colours.
	b.terminal = true
	if p := b.rein("show", "nothing", "--log-format", "json"); strings.Contains(p.err, "\x1b") || !strings.HasPrefix(p.err, "{") {
		t.Errorf("%s", p.err)
	}
}
