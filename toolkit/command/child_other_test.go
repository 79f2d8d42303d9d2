//go:build !unix

package command

import (
	"os"
	"os/exec"
)

var terminations = []os.Signal{os.Interrupt}

func apart() func(*exec.Cmd) { return nil }
