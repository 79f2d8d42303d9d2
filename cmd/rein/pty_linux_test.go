package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// keyboard is a rein command on a terminal of its own.
type keyboard struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File // where keys are pressed, and the screen is
	mu   sync.Mutex
	seen strings.Builder
	done chan struct{}
}

// atKeyboard starts a command whose stdin, stdout and stderr are a terminal.
func (b *box) atKeyboard(args ...string) *keyboard {
	b.t.Helper()
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.t.Skipf("this needs a pseudo-terminal: %v", err)
	}
	b.t.Cleanup(func() { tty.Close() })
	n, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPTN)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		b.t.Fatal(err)
	}
	other, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer other.Close()
	k := &keyboard{t: b.t, tty: tty, cmd: b.command(args...), done: make(chan struct{})}
	k.cmd.Stdin, k.cmd.Stdout, k.cmd.Stderr = other, other, other
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := k.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = k.cmd.Process.Kill() })
	go func() {
		defer close(k.done)
		for buf := make([]byte, 4096); ; {
			n, err := tty.Read(buf)
			k.mu.Lock()
			k.seen.Write(buf[:n])
			k.mu.Unlock()
			if err != nil {
				return // as when the process has ended
			}
		}
	}()
	return k
}

// screen is what was shown so far.
func (k *keyboard) screen() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.ReplaceAll(k.seen.String(), "\r\n", "\n")
}

// until waits until the text was shown.
func (k *keyboard) until(text string) {
	k.t.Helper()
	for range 1000 {
		if strings.Contains(k.screen(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	k.t.Fatalf("the terminal does not show %q:\n%s", text, k.screen())
}

func (k *keyboard) press(keys string) {
	k.t.Helper()
	if _, err := k.tty.WriteString(keys); err != nil {
		k.t.Fatal(err)
	}
}

// wait returns what was shown when the command has ended, and its exit code.
func (k *keyboard) wait() (string, int) {
	k.t.Helper()
	ended := make(chan struct{})
	go func() { _ = k.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		k.t.Fatalf("the command does not end:\n%s", k.screen())
	}
	<-k.done
	return k.screen(), k.cmd.ProcessState.ExitCode()
}

// What was typed before a question was shown is no answer to it.
func TestTypedAheadIsNoAnswer(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns:\n  - delay: 400ms\n    call: {name: get_now, id: now_1}\n  - It is late.\n")
	file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [clock]\npermissions: {ask: [get_now]}\n")
	k := b.atKeyboard("run", "-f", file, "What time is it?")
	k.until("step 1")
	k.press("y\n")
	k.until("may it run?")
	k.press("l\n")
	if screen, code := k.wait(); code != 1 || !strings.Contains(screen, "waits for approval: now_1 get_now") {
		t.Errorf("exit %d\n%s", code, screen)
	}
}

// What the model asks is answered in words.
func TestAnsweredInWords(t *testing.T) {
	b := newBox(t)
	k := b.atKeyboard("run", "--plain", "-f", curiousAgent(b), "Paint the door.")
	k.until("answer: ")
	k.press("blue\n")
	if screen, code := k.wait(); code != 0 || !strings.Contains(screen, "Which colour?") || !strings.Contains(screen, "The door is blue.") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if body := b.ok("request", "last", "--step", "3"); !strings.Contains(body, `The user answers:\nblue`) {
		t.Errorf("the model saw %s", body)
	}
}

// At a question one Ctrl-C is enough: there is nothing else to finish first.
func TestCtrlCAtAQuestion(t *testing.T) {
	b := newBox(t)
	b.env["NO_COLOR"] = "1"
	k := b.atKeyboard("run", "-f", asking(t, b), "What time is it?")
	k.until("may it run?")
	k.press("\x03")
	screen, code := k.wait()
	if code != interrupted || !strings.Contains(screen, "paused, interrupted") || !strings.Contains(screen, " resume ") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	var list []runObject
	b.decode(&list, "runs")
	k = b.atKeyboard("resume", list[0].Run)
	k.until("may it run?")
	k.press("y\n")
	if screen, code := k.wait(); code != 0 || !strings.Contains(screen, "I know what time it is.") {
		t.Errorf("exit %d\n%s", code, screen)
	}
}

// A model that would rather have the terminal than the approval gets neither:
// nothing that it says is obeyed, and a line of it stays a line.
func TestTerminalIsOnlyShownText(t *testing.T) {
	const evil = `\u001b[2J\u001b]0;mine\u0007\u009b2K\u202e\u007f\r\nrun x: finished`
	for name, c := range map[string]struct {
		tool string
		code int // with a bad name the server takes no further request
		want string
	}{
		"name":   {"no_such_" + evil, badEnd, `no_such_\u001b[2J`},
		"answer": {"no_such_tool", 0, `I am \u001b[2J`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			_, url := server(t, `
turns:
  - say: "let me `+evil+`"
    calls:
      - {name: "`+c.tool+`", id: one}
      - {name: read_file, id: two, arguments: {path: "`+evil+`"}}
      - {name: write_file, id: three, arguments: {path: "`+evil+`", content: "`+evil+`"}}
  - say: "I am `+evil+`"
`)
			b.file("desk/.keep", "")
			file := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ntools: [files: {root: desk, write: direct}]\npermissions: {allow: [effect:read], ask: [write_file]}\n")
			b.env["NO_COLOR"] = "1"
			k := b.atKeyboard("run", "-vv", "-f", file, "Do it.")
			k.until("may it run?")
			k.press("n\n")
			screen, code := k.wait()
			if code != c.code || !strings.Contains(screen, c.want) {
				t.Errorf("exit %d\n%s", code, screen)
			}
			harmless(t, "the run", screen)
			var list []runObject
			b.decode(&list, "runs")
			for _, args := range [][]string{{"show"}, {"show", "--step", "1"}, {"show", "--json"}, {"replay"}, {"replay", "--json"},
				{"request", "--step", "2"}, {"request", "--step", "2", "--diff"}, {"runs"}} {
				if args[0] != "runs" {
					args = append(args, list[0].Run)
				}
				screen, code := b.atKeyboard(args...).wait()
				if code != 0 {
					t.Errorf("%s: exit %d\n%s", args, code, screen)
				}
				harmless(t, strings.Join(args, " "), screen)
			}
		})
	}
}
