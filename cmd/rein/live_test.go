//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agent writes an agent file for a server that plays the script.
func (b *box) agent(script, more string) string {
	b.t.Helper()
	_, url := server(b.t, script)
	return b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock, files: {root: ., write: direct}]\nretry: fast\n"+more)
}

const twoSteps = `
turns:
  - say: I look at the clock first.
    call: {name: get_now}
  - say: It is late.
`

func TestLiveViewKeepsTheRunInTheScrollback(t *testing.T) {
	b := newBox(t)
	c := b.console(80, 24, "run", "-f", b.agent(twoSteps, ""), "What time is it?")
	if code := c.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	text := c.text()
	for _, want := range []string{"step 1 of 15 · openai/any", "I look at the clock first.", "+ get_now {}: success", "step 2 of 15", "\nIt is late.\n", "finished, answered"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen does not show %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Ctrl-C pauses") || strings.Count(text, "It is late.") != 1 {
		t.Errorf("the view was left on the screen:\n%s", text)
	}
}

// slowWords takes its time, so that there is something to interrupt.
const slowWords = `
turns:
  - call: {name: get_now}
    delay: 1s
  - say: It is late.
`

func TestLiveViewCtrlC(t *testing.T) {
	for name, c := range map[string]struct {
		presses int
	}{
		"once pauses after the step": {presses: 1},
		"twice stops at once":        {presses: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			p := b.console(80, 24, "run", "-f", b.agent(slowWords, ""), "What time is it?")
			p.sees("waiting for the model")
			p.types("\x03")
			p.sees("Ctrl-C again stops at once")
			if c.presses == 2 {
				p.types("\x03")
			}
			if code := p.ends(); code != interrupted {
				t.Errorf("exit %d", code)
			}
			text := p.text()
			if !strings.Contains(text, "paused, interrupted") || !strings.Contains(text, "go on with: ") {
				t.Errorf("it does not say how to go on:\n%s", text)
			}
			if done := strings.Contains(text, "get_now {}: success"); done != (c.presses == 1) {
				t.Errorf("the step was finished: %v\n%s", done, text)
			}
			var list []runObject
			b.decode(&list, "runs")
			if len(list) != 1 || list[0].Status != "paused" {
				t.Fatalf("runs: %+v", list)
			}
			var got resultObject
			if r := b.decode(&got, "resume", list[0].Run); r.code != 0 || got.Answer != "It is late." || got.ToolCalls != 1 {
				t.Errorf("resume: exit %d, %+v\n%s", r.code, got, r.err)
			}
		})
	}
}

// writes has a call that needs approval, with arguments that would repaint the
// question.
const writes = `
turns:
  - call: {name: write_file, arguments: {path: note.txt, content: "harmless\e[2J\e[1;1Hread_file"}}
  - when: {result: write_file, lacks: '"ok":false'}
    call: {name: read_file, arguments: {path: note.txt}}
  - say: "{{result \"write_file\"}}"
`

func TestLiveViewAsks(t *testing.T) {
	for name, c := range map[string]struct {
		keys  string
		code  int
		says  string
		wrote bool
	}{
		"yes":   {keys: "y", says: "write_file", wrote: true},
		"no":    {keys: "nnot today\r", says: "not today"},
		"later": {keys: "l", code: badEnd, says: "waits for approval"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			p := b.console(80, 24, "run", "-f", b.agent(writes, ""), "Write it down.")
			p.types("y") // typed before there is a question, it answers none
			p.sees(`"content": "harmless\u001b[2J\u001b[1;1Hread_file"`)
			time.Sleep(time.Second) // the question takes no key at first
			if !strings.Contains(p.text(), "may it run?") {
				t.Fatalf("an early key has answered:\n%s", p.text())
			}
			p.types(c.keys)
			if code := p.ends(); code != c.code || !strings.Contains(p.text(), c.says) {
				t.Errorf("exit %d:\n%s", code, p.text())
			}
			if _, err := os.Stat(filepath.Join(b.dir, "note.txt")); (err == nil) != c.wrote {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

func TestLiveViewFollowsTheSize(t *testing.T) {
	b := newBox(t)
	p := b.console(20, 10, "run", "-f", b.agent(slowWords, ""), "What time is it?")
	p.sees("Ctrl-C pauses after…")
	p.resize(60, 12)
	p.sees("Ctrl-C pauses after this step")
	p.types("\x03\x03")
	if code := p.ends(); code != interrupted {
		t.Errorf("exit %d", code)
	}
}

// Without a terminal that can be drawn on, and for who asks, there are lines.
func TestPlainLines(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"dumb terminal": {env: map[string]string{"TERM": "dumb"}},
		"REIN_PLAIN":    {env: map[string]string{"REIN_PLAIN": "1"}},
		"screen reader": {env: map[string]string{"ACCESSIBLE": "1"}},
		"--plain":       {args: []string{"--plain"}},
		"-v":            {args: []string{"-v"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			for k, v := range c.env {
				b.env[k] = v
			}
			p := b.console(80, 24, append([]string{"run", "-f", b.agent(twoSteps, "")}, append(c.args, "What time is it?")...)...)
			if code := p.ends(); code != 0 || !strings.Contains(p.text(), "It is late.") {
				t.Errorf("exit %d:\n%s", code, p.text())
			}
			if raw := p.raw.String(); strings.Contains(raw, "\x1b[?") || strings.Contains(raw, "\x1b[A") {
				t.Errorf("it is drawn: %q", raw)
			}
		})
	}
}

// Colour is left out for who does not want it.
func TestLiveViewNoColor(t *testing.T) {
	for _, no := range []string{"", "1"} {
		b := newBox(t)
		b.env["NO_COLOR"] = no
		p := b.console(80, 24, "run", "-f", b.agent(twoSteps, ""), "What time is it?")
		p.ends()
		// Faint, which the lines of finished steps have, is SGR 2.
		if has := strings.Contains(p.raw.String(), "\x1b[2m"); has != (no == "") {
			t.Errorf("NO_COLOR=%q: colours %v", no, has)
		}
	}
}

// A run that is carried on shows what it has used in all, and a signal takes the
// view off the screen.
func TestLiveViewOfAResumedRun(t *testing.T) {
	b := newBox(t)
	p := b.console(80, 24, "run", "-f", b.agent(slowWords, ""), "What time is it?")
	p.sees("waiting for the model")
	p.types("\x03")
	p.ends()
	p = b.console(80, 24, "resume", b.runs()[0].Run)
	p.sees("finished, answered (2 steps, 1 tool call")
	if code := p.ends(); code != 0 || !strings.Contains(p.text(), "step 2 of 15") || strings.Contains(p.text(), "step 1 of 15") {
		t.Errorf("exit %d:\n%s", code, p.text())
	}

	p = b.console(80, 24, "run", "-f", b.agent(slow, ""), "Are you there?")
	p.sees("step 2 of 15")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.ends(); code != interrupted || !strings.Contains(p.text(), "go on with: ") || strings.Contains(p.text(), "Ctrl-C pauses") {
		t.Errorf("exit %d:\n%s", code, p.text())
	}
}

// However a run ends, the terminal takes lines and echoes them as before, also
// after the third Ctrl-C, which waits for nothing.
func TestTerminalIsRestored(t *testing.T) {
	if _, err := exec.LookPath("stty"); err != nil {
		t.Skip("there is no stty here")
	}
	for name, keys := range map[string]string{"at the end": "", "Ctrl-C": "\x03", "twice": "\x03\x03", "thrice": "\x03\x03\x03"} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			// The shell is not to be ended by what is typed before rein has begun.
			cmd := exec.Command("sh", "-c", `trap : INT; "$0" "$@"; stty -a`, os.Args[0], "run", "-f", b.agent(slowWords, ""), "What time is it?")
			p := b.onTerminal(100, 30, cmd)
			p.sees("waiting for the model")
			p.types(keys)
			p.ends()
			text := " " + strings.NewReplacer("\n", " ", ";", " ").Replace(p.text())
			for _, mode := range []string{" icanon ", " echo ", " isig ", " icrnl ", " opost "} {
				if !strings.Contains(text, mode) {
					t.Errorf("the terminal's mode is not%s:\n%s", mode, p.text())
				}
			}
		})
	}
}
