package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rein.example/rein/cmd/rein/internal/demo"
)

// When the disk fills up the run stops, and goes on when there is space again.
func TestFullDisk(t *testing.T) {
	b := newBox(t)
	disk := filepath.Join(b.dir, "disk")
	b.file("disk/.keep", "")
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=200k"); err != nil {
		t.Skipf("a small disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	b.env["REIN_DB"] = filepath.Join(disk, "rein.db")
	desk := filepath.Join(b.dir, "desk")

	// In a process of its own: one that lives on would still hold the run, since
	// giving it up has to be written, too.
	p := b.start(nil, "demo", "--dir", desk).wait()
	if p.code != 1 || !strings.Contains(p.err, "no space left") || !strings.Contains(p.err, "What was done is kept") {
		t.Fatalf("exit %d\n%s", p.code, p.err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	var list []runObject
	b.decode(&list, "runs")
	var got resultObject
	if p := b.decode(&got, "resume", list[0].Run); p.code != 0 || !got.OK {
		t.Fatalf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	for _, problem := range demo.Check(filepath.Join(desk, "workspace"), got.Answer) {
		t.Error(problem)
	}
	b.ok("verify", got.Run)
}
