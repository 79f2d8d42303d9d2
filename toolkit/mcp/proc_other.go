//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

// inherited are the variables that a server gets.
var inherited = []string{"PATH", "HOME", "USERPROFILE", "SystemRoot", "TEMP", "PATHEXT"}

func ownGroup(*exec.Cmd) {}

func terminateGroup(p *os.Process) { _ = p.Kill() } // gone already: as wanted

func killGroup(p *os.Process) { _ = p.Kill() }
