//go:build unix && !linux

package command

import (
	"os"
	"os/exec"
	"syscall"
)

// seesTree: what a program has started can be found, see [Exec].
const seesTree = false

// waitFor waits until the program has ended.
func waitFor(cmd *exec.Cmd) *os.ProcessState {
	_ = cmd.Wait() // its error is in the state
	return cmd.ProcessState
}

func reap(_ *exec.Cmd, state *os.ProcessState) *os.ProcessState { return state }

// tree returns the program's group, of which nothing more is known here.
func (c *child) tree() []Survivor {
	select {
	case <-c.exited:
	default:
		return nil // the program itself is in the group
	}
	if syscall.Kill(-c.cmd.Process.Pid, 0) != nil {
		return nil
	}
	return []Survivor{{c.cmd.Process.Pid, "the process group"}}
}

func (c *child) terminate() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) } // gone already: as wanted
func (c *child) kill()      { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

// endFormer cannot tell here what a process was started with.
func endFormer([][]string) []Survivor { return nil }
