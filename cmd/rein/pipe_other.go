//go:build !unix

package main

import (
	"io"
	"syscall"
)

// errPipe is what writing to a closed pipe gives; no signal kills there.
var errPipe = io.ErrClosedPipe

const brokenPipe = syscall.SIGPIPE
