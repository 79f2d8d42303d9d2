//go:build !unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func signalOf(*os.ProcessState) string { return "" }

// seesTree: what a program has started can be found, see [Exec].
const seesTree = false

// waitFor waits until the program has ended.
func waitFor(cmd *exec.Cmd) *os.ProcessState {
	_ = cmd.Wait() // its error is in the state
	return cmd.ProcessState
}

func reap(_ *exec.Cmd, state *os.ProcessState) *os.ProcessState { return state }

// tree cannot be told here.
func (c *child) tree() []Survivor { return nil }

func (c *child) terminate() { _ = c.cmd.Process.Kill() } // gone already: as wanted
func (c *child) kill()      { _ = c.cmd.Process.Kill() }

// endFormer cannot tell here what a process was started with.
func endFormer([][]string) []Survivor { return nil }
