package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// dropTyped drops what was typed and not read yet. It fails where f is no
// terminal.
func dropTyped(f *os.File) error {
	return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd()))
}
