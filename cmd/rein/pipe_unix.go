//go:build unix

package main

import "syscall"

// errPipe is what writing to a closed pipe gives.
const errPipe = syscall.EPIPE
