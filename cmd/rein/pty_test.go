//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// console is a rein command on a terminal of its own.
type console struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{}

	mu     sync.Mutex
	screen screen
	raw    strings.Builder
}

// console starts a command on a terminal of that size.
func (b *box) console(columns, rows int, args ...string) *console {
	b.t.Helper()
	return b.onTerminal(columns, rows, exec.Command(os.Args[0], args...))
}

func (b *box) onTerminal(columns, rows int, cmd *exec.Cmd) *console {
	b.t.Helper()
	c := &console{t: b.t, cmd: cmd, done: make(chan struct{}), screen: newScreen(columns, rows)}
	c.cmd.Env = []string{"REIN_TEST_COMMAND=1", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	for name, value := range b.env { // order: the last of equal names counts, and only TERM is there already
		c.cmd.Env = append(c.cmd.Env, name+"="+value)
	}
	c.cmd.Dir = b.dir
	tty, err := pty.StartWithSize(c.cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err != nil {
		b.t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	c.tty = tty
	go func() {
		defer close(c.done)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			c.mu.Lock()
			c.raw.Write(buf[:n])
			c.screen.write(string(buf[:n]))
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	b.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = tty.Close()
		<-c.done
	})
	return c
}

// text is what is on the screen and has scrolled off it.
func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.text()
}

// sees waits until the screen has a text.
func (c *console) sees(text string) {
	c.t.Helper()
	c.until(text, func(s string) bool { return strings.Contains(s, text) })
}

func (c *console) until(what string, ok func(string) bool) {
	c.t.Helper()
	for range 1000 {
		if ok(c.text()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("the screen does not show %q:\n%s\n%q", what, c.text(), c.raw.String())
}

// types presses keys.
func (c *console) types(keys string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// resize gives the terminal another size.
func (c *console) resize(columns, rows int) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.resize(columns, rows)
	c.mu.Unlock()
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the command's end and returns its exit code. The cursor must be
// shown again.
func (c *console) ends() int {
	c.t.Helper()
	ended := make(chan struct{})
	go func() { _ = c.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		c.t.Fatalf("the command does not end:\n%s", c.text())
	}
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	raw := c.raw.String()
	if strings.LastIndex(raw, "\x1b[?25l") > strings.LastIndex(raw, "\x1b[?25h") {
		c.t.Errorf("the cursor stays hidden: %q", raw)
	}
	return c.cmd.ProcessState.ExitCode()
}
