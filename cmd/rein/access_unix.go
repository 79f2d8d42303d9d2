//go:build linux || darwin

package main

import "syscall"

// mayWrite is W_OK of access(2).
const mayWrite = 2

// writable reports whether a file or folder can be written, nil if that is
// unknown. Nothing is written to find out.
func writable(path string) *bool {
	ok := syscall.Access(path, mayWrite) == nil
	return &ok
}
