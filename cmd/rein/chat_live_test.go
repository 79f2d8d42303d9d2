//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const slowTalk = `
turns:
  - The order A-1042 is late.
  - call: {name: get_now}
    delay: 1s
  - say: Because there was no driver.
    expect: {contains: be brief}
  - Never mind.
`

func TestChatOnATerminal(t *testing.T) {
	b := newBox(t)
	p := b.console(80, 24, "chat", "-f", b.agent(slowTalk, ""))
	p.sees("Enter sends")
	p.types("Which order\x1b\ris late?\r") // Alt-Enter between the lines
	p.sees("\nThe order A-1042 is late.\n")
	p.types("Why?\r")
	p.sees("waiting for the model")
	p.types("be brief\r")
	p.types("/model openai/other\r")
	p.sees("/model has to wait")
	p.sees("\nBecause there was no driver.\n")
	p.sees("Enter sends")   // the turn is over
	p.types("\x1b[A\x1b[A") // up, up
	p.sees("> be brief")
	p.types("\x03")
	p.types("/cost\r")
	p.sees("3 steps, 1 tool call")
	p.types("/quit\r")
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	text := p.text()
	list := b.runs()
	if len(list) != 1 || !strings.Contains(text, "go on with: ") || !strings.Contains(text, "chat "+list[0].Run) {
		t.Fatalf("runs %+v\n%s", list, text)
	}
	if strings.Contains(text, "Enter sends") {
		t.Errorf("the view was left on the screen:\n%s", text)
	}
	info, err := os.Stat(filepath.Join(b.dir, "data", "rein", "chat-history.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history: %v, %v", info, err)
	}

	p = b.console(80, 24, "chat", list[0].Run)
	p.sees("3 steps so far")
	p.sees("Because there was no driver.")
	p.types("\x1b[A\x1b[A\x1b[A\x1b[A") // /quit, /cost, /model …, be brief
	p.sees("> be brief")
	p.types("\x03\x04") // clear the line, Ctrl-D
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d:\n%s", code, p.text())
	}
}

// Ctrl-C pauses the model, not the chat.
func TestChatCtrlC(t *testing.T) {
	b := newBox(t)
	p := b.console(60, 24, "chat", "-f", b.agent(slowWords, ""))
	p.sees("Enter sends")
	p.types("What time is it?\r")
	p.sees("waiting for the model")
	p.types("\x03\x03")
	p.sees("paused: interrupted")
	p.types("Go on.\r")
	p.sees("\nIt is late.\n")
	p.sees("Enter sends") // the turn is over: what comes after an answer takes a while
	p.types("\x03\x03")   // nothing is typed: a warning, then the end
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// With plain lines one can answer questions too, and what was typed before one
// does not.
func TestChatAsksOnPlainLines(t *testing.T) {
	b := newBox(t)
	b.env["REIN_PLAIN"] = "1"
	p := b.console(80, 24, "chat", "-f", b.agent(writes, ""))
	p.sees("\n>")
	p.types("Write it down.\r")
	p.sees("may it run?")
	p.types("y\r")
	p.sees("created note.txt")
	p.types("\x04")
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "note.txt")); err != nil {
		t.Errorf("%v\n%s", err, p.text())
	}
}

// A signal between two turns leaves the terminal as it was.
func TestChatIsTerminated(t *testing.T) {
	b := newBox(t)
	p := b.console(60, 24, "chat", "-f", b.agent(talk, ""))
	p.sees("Enter sends")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.ends(); code != interrupted {
		t.Errorf("exit %d", code)
	}
	if strings.Contains(p.text(), "Enter sends") {
		t.Errorf("the view was left on the screen:\n%s", p.text())
	}
}

// An answer longer than the screen is all in the scrollback, in order.
func TestLongAnswerOnASmallTerminal(t *testing.T) {
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("line %d of a hundred", i+1))
	}
	script := "turns:\n  - |\n    " + strings.Join(want, "\n    ") + "\n"
	for _, size := range [][2]int{{80, 24}, {40, 8}, {20, 5}} {
		b := newBox(t)
		p := b.console(size[0], size[1], "chat", "-f", b.agent(script, ""))
		p.sees("> ▏")
		p.types("Go\r")
		p.sees("line 100 of")
		p.sees("> ▏")
		p.types("\x04")
		if code := p.ends(); code != 0 {
			t.Errorf("exit %d", code)
		}
		text := p.text()
		all := strings.Join(want, "\n")
		if size[0] == 20 { // too narrow for the longest
			text, all = strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(all), " ")
		}
		if !strings.Contains(text, all) {
			t.Errorf("%v: the answer is not whole:\n%s", size, p.text())
		}
	}
}
