//go:build unix

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// inherited are the variables that a server gets.
var inherited = []string{"PATH", "HOME"}

// ownGroup makes the process the leader of a group, so that all that it starts
// can be ended with it, and an interrupt at the terminal does not reach it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) } // gone already: as wanted

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
