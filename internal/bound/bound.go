// Package bound answers: how does a program not outlive the process that started
// it?
package bound

import "os/exec"

// Start starts a program, as [exec.Cmd.Start] does, that ends with this process,
// even if that is killed: on Linux the system then kills the program. What the
// program has started itself is not ended so, nor is a program that runs with
// another user's rights (set-user-ID). Elsewhere it is just started.
//
// It is safe for concurrent use; programs are started one after the other, as the
// system does anyway.
func Start(cmd *exec.Cmd) error { return start(cmd) }
