package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// peakMB returns the most memory that the command has had resident in a process of its
// own. The kernel's count for a process that has ended begins with that of the one that
// started it, so the process is asked while it lives.
func peakMB(tb testing.TB, args []string) float64 {
	tb.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"REIN_TEST_COMMAND=1", "HOME=" + tb.TempDir()}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	most := 0.0
	for {
		select {
		case err := <-done:
			if err != nil {
				tb.Fatal(err)
			}
			return most
		case <-time.After(time.Millisecond):
			if kb, ok := highWater(cmd.Process.Pid); ok {
				most = float64(kb) * 1024 / 1e6 // it only grows
			}
		}
	}
}

// highWater returns the most memory that a process has had resident, in KiB.
func highWater(pid int) (kb int64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	if !found {
		return 0, false
	}
	_, err = fmt.Sscan(rest, &kb)
	return kb, err == nil
}
