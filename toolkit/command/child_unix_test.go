//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

var terminations = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}

// apart makes a program leave the session of who starts it, and its output alone.
func apart() func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		c.Stdout, c.Stderr = nil, nil
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
}
