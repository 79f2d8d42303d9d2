package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped drops what was typed and not read yet. It fails where f is no
// terminal.
func dropTyped(f *os.File) error {
	return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
