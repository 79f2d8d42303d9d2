//go:build !unix

package main

import "io"

// errPipe is what writing to a closed pipe gives.
var errPipe = io.ErrClosedPipe
