//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped drops what was typed and not read yet. It fails where f is no
// terminal.
func dropTyped(f *os.File) error {
	const read = 1 // FREAD of sys/fcntl.h: the input only
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
