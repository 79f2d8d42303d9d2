//go:build !linux

package bound

import "os/exec"

func start(cmd *exec.Cmd) error { return cmd.Start() }
