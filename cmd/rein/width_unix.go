//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns returns how many columns the terminal has, or 0 if f is none.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
