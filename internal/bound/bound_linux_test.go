package bound_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/internal/bound"
)

// The test binary is also the process that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-parent" {
		cmd := exec.Command("sleep", "3600")
		if err := bound.Start(cmd); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
		time.Sleep(time.Hour) // waiting for nothing at all would be a deadlock
	}
	os.Exit(m.Run())
}

// running reports whether a process is there and not just unreaped.
func running(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// Whoever kills the process ends what it has started.
func TestKilledWithParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "-parent")
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !running(pid) {
		t.Fatalf("the parent says %q", line)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	for range 500 {
		if !running(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d outlives its parent", pid)
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// Threads of this process that end, and goroutines that start programs on them,
// end no program.
func TestThreadsEnd(t *testing.T) {
	const n = 40
	cmds := make([]*exec.Cmd, n)
	var wg sync.WaitGroup
	for i := range cmds {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends here
			cmds[i] = exec.Command("sleep", "3600")
			if err := bound.Start(cmds[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for range 200 {
		wg.Go(runtime.LockOSThread)
	}
	wg.Wait()
	time.Sleep(50 * time.Millisecond) // a signal would have come
	for _, cmd := range cmds {
		if !running(cmd.Process.Pid) {
			t.Errorf("%d was ended with a thread", cmd.Process.Pid)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// BenchmarkStart is what it costs to start a program and to wait for it.
func BenchmarkStart(b *testing.B) {
	for _, way := range []struct {
		name  string
		start func(*exec.Cmd) error
	}{{"bound", bound.Start}, {"plain", (*exec.Cmd).Start}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if err := way.start(cmd); err != nil {
					b.Fatal(err)
				}
				_ = cmd.Wait()
			}
		})
	}
}
