//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in place of a file would be waited for without end; it is refused.
func TestPipesAreNoFiles(t *testing.T) {
	b := newBox(t)
	pipe := filepath.Join(b.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe can be made here: %v", err)
	}
	agent := b.file("agent.yaml", "model: openai/any\nkey_file: pipe\n")
	for _, file := range []string{pipe, agent, "/dev/zero", b.dir} {
		if p := b.rein("run", "-f", file, "hi"); p.code != 2 || !strings.Contains(p.err, "name a ") {
			t.Errorf("%s: exit %d, %s", file, p.code, p.err)
		}
	}
}
