//go:build unix

package command

import (
	"os"
	"syscall"
)

// ownSession makes the program the leader of a session and a group: no terminal
// reaches it, and what it starts can be found.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// signalOf names the signal that ended a program, or "".
func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
