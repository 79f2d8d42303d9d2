//go:build unix

package main

import (
	"os"
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

// A pipe that is named to be written to gets what is written, also through a link, and
// stays a pipe: its reader waits for it.
func TestWriteToPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe can be made here: %v", err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link} {
		before, _ := os.Lstat(name)
		got := make(chan string)
		go func() {
			text, err := os.ReadFile(pipe)
			if err != nil {
				text = []byte(err.Error())
			}
			got <- string(text)
		}()
		err := writeWhole(name, says("all of it"))
		if after, _ := os.Lstat(name); err != nil || !os.SameFile(before, after) {
			t.Fatalf("%s: %v, now %v", name, err, after.Mode()) // its reader would wait without end
		}
		if text := <-got; text != "all of it" {
			t.Errorf("%s: the reader got %q", name, text)
		}
	}
}
