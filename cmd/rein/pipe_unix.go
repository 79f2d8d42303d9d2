//go:build unix

package main

import "syscall"

// errPipe is what writing to a closed pipe gives, where brokenPipe does not kill.
const (
	errPipe    = syscall.EPIPE
	brokenPipe = syscall.SIGPIPE
)
