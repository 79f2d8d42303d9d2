//go:build linux

package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// alive returns those of the processes that still run.
func alive(numbers []int) []int {
	var out []int
	for _, n := range numbers {
		if p, ok := stat(n); ok && !p.dead {
			out = append(out, n)
		}
	}
	return out
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		code string
		ok   []int
		fail bool
	}{{"0", nil, false}, {"1", nil, true}, {"1", []int{0, 1}, false}, {"0", []int{1}, true}} {
		tmpl := self("exit", c.code)
		tmpl.OK = c.ok
		text, e := run(t, one(t, t.TempDir(), tmpl, nil), `{}`)
		if !strings.HasPrefix(text, "on stdout\non stderr\n[rein: exit code "+c.code+"; 2 lines, 20 bytes written; took ") {
			t.Errorf("exit %s shows %q", c.code, text)
		}
		if (e != nil) != c.fail || e != nil && (e.Type != "exit_code" || e.Retryable || e.NoEffect || !strings.Contains(e.Message, "exit code "+c.code)) {
			t.Errorf("exit %s with %v gives %+v", c.code, c.ok, e)
		}
	}
}

// A command whose output is JSON can stand for a value, as a confirm tool's does.
func TestValue(t *testing.T) {
	tl := one(t, t.TempDir(), self("json"), nil)
	r, err := tl.Run(t.Context(), &tool.Call{Args: jsontext.Value(`{}`)})
	if err != nil || string(r.Value) != `{"done": true}` {
		t.Errorf("%v, error %v", r, err)
	}
}

// Programs find nothing of ours: no input, no variables, no folder but theirs.
func TestSurroundings(t *testing.T) {
	root := t.TempDir()
	t.Setenv("REIN_TEST_SECRET", "hidden")
	if text, e := run(t, one(t, root, self("stdin"), nil), `{}`); e != nil || !strings.HasPrefix(text, "0 <nil>\n") {
		t.Errorf("stdin: %q, %v", text, e)
	}
	if text, e := run(t, one(t, root, self("env"), nil), `{}`); e != nil || strings.Contains(text, "hidden") || !strings.Contains(text, "REIN_CALL=c\n") {
		t.Errorf("environment: %q, %v", text, e)
	}
	if text, e := run(t, one(t, root, self("dir"), nil), `{}`); e != nil || !strings.HasPrefix(text, root+"\n") {
		t.Errorf("folder: %q, %v", text, e)
	}
	tmpl := self("args")
	if err := os.WriteFile(root+"/broken", []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tmpl.Argv = []string{"./broken"}
	if _, e := run(t, one(t, root, tmpl, nil), `{}`); e == nil || e.Type != "not_started" || !e.NoEffect || strings.Contains(e.Message, root) {
		t.Errorf("a program that cannot be started gives %+v", e)
	}
}

// However much a program writes, a bounded part is kept, with both ends of it and
// the true size.
func TestFlood(t *testing.T) {
	const lines = 400_000 // 40 MB
	var before, after runtime.MemStats
	tl := one(t, t.TempDir(), self("flood", fmt.Sprint(lines)), nil)
	runtime.GC()
	runtime.ReadMemStats(&before)
	text, e := run(t, tl, `{}`)
	runtime.ReadMemStats(&after)
	if e != nil {
		t.Fatal(e)
	}
	if !strings.HasPrefix(text, "first\nxxx") || !strings.Contains(text, "xx\nlast\n[rein: exit code 0; 400002 lines, 40000011 bytes written; took ") {
		t.Errorf("ends %q … %q", text[:20], text[len(text)-200:])
	}
	if !strings.Contains(text, "\n[rein: not kept: lines ") || !strings.Contains(text, " of 40000011 bytes]\nxxx") || len(text) > keptHead+keptTail+1000 {
		t.Errorf("%d bytes shown", len(text))
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// At the end of its time a program ends with all that it has started, whether they
// listen or not, and what it had written is told.
func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		mode   string
		effect event.Effect
		wrote  string
		count  int
	}{
		{"polite", event.Repeatable, "working\ncleaned up\n", 1},
		{"deaf-tree", event.Once, "deaf\n", 2},
	} {
		root := t.TempDir()
		tmpl := self(c.mode)
		tmpl.Timeout, tmpl.Effect = 400*time.Millisecond, c.effect
		text, e := run(t, one(t, root, tmpl, nil), `{}`)
		if e == nil || e.Type != tool.TypeTimeout || e.Retryable || e.NoEffect || e.Unknown != (c.effect == event.Once) || e.Ended != e.Unknown {
			t.Errorf("%s: %+v", c.mode, e)
		}
		if !strings.HasPrefix(text, c.wrote+"[rein: ") || strings.Contains(text, "could not be ended") {
			t.Errorf("%s: %q", c.mode, text)
		}
		if n := pids(root); len(n) != c.count || len(alive(n)) > 0 {
			t.Errorf("%s: of processes %v still run %v", c.mode, n, alive(n))
		}
	}
}

// A run that is stopped does not wait longer for a command than for any tool.
func TestCancel(t *testing.T) {
	root := t.TempDir()
	tmpl := self("deaf-tree")
	tmpl.Effect = event.Once
	tl := one(t, root, tmpl, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(pids(root)) < 2 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := tl.Run(ctx, &tool.Call{Args: jsontext.Value(`{}`)})
	if e, ok := err.(*tool.Error); !ok || e.Type != tool.TypeCancelled || !e.Unknown || e.Retryable {
		t.Errorf("error %+v", err)
	}
	for range 100 { // they were sent what nobody survives
		if len(alive(pids(root))) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("still running: %v", alive(pids(root)))
}

// A command is done when its program has ended. What it has left is ended, even
// what has gone its own way, or left alone where that is wanted; both are told.
func TestLeft(t *testing.T) {
	for _, mode := range []string{"leave", "leave-session"} {
		for _, keep := range []bool{false, true} {
			root := t.TempDir()
			tmpl := self(mode)
			tmpl.KeepRunning = keep
			text, e := run(t, one(t, root, tmpl, nil), `{}`)
			n := pids(root)
			if len(n) != 1 {
				t.Fatalf("%s: processes %v; %q, %v", mode, n, text, e)
			}
			want := fmt.Sprintf("1 process that it had started still ran and had to be ended: %d (", n[0])
			if keep {
				want = fmt.Sprintf("1 process that it had started still running: %d (", n[0])
			}
			if e != nil || !strings.Contains(text, "[rein: exit code 0; it wrote nothing; took ") || !strings.Contains(text, want) {
				t.Errorf("%s, keep %v: %q, %v; want %q", mode, keep, text, e, want)
			}
			if (len(alive(n)) == 1) != keep {
				t.Errorf("%s, keep %v: still running %v of %v", mode, keep, alive(n), n)
			}
			for _, pid := range alive(n) {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
	}
}

// A command does not outlive whoever ran it, even if that is killed. What it has
// started does, until the same call, or one that is the same act, is executed again.
func TestKilled(t *testing.T) {
	id := rand.Text() // what is ended is looked for in the whole system
	for _, c := range []struct {
		about string
		call  tool.Call
		ended bool
	}{
		{"another call", tool.Call{Run: id, ID: "d", Key: "l", Attempt: 2}, false},
		{"another run", tool.Call{Run: id + "q", ID: "c", Key: "k", Attempt: 2}, false},
		{"the same call", tool.Call{Run: id, ID: "c", Attempt: 2}, true},
		{"the same act", tool.Call{Run: id, ID: "d", Key: "k", Attempt: 1}, true},
	} {
		root := t.TempDir()
		host := exec.Command(os.Args[0], "-child", "host", id, "deaf-tree")
		host.Dir = root
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "both run", func() bool { return len(pids(root)) == 2 })
		_ = host.Process.Kill()
		_ = host.Wait()
		helper, program := pids(root)[:1], pids(root)[1:]
		eventually(t, "the program has ended", func() bool { return len(alive(program)) == 0 })

		tmpl := self("exit", "0")
		tmpl.Effect = event.Once
		c.call.Args = jsontext.Value(`{}`)
		if _, err := one(t, root, tmpl, nil).Run(t.Context(), &c.call); err != nil {
			t.Errorf("%s: %v", c.about, err)
		}
		if left := alive(helper); (len(left) == 0) != c.ended {
			t.Errorf("%s: of what had been started %v still runs", c.about, left)
		}
		endFormer([][]string{{"REIN_RUN=" + id, "REIN_CALL=c"}})
		if len(alive(helper)) > 0 {
			t.Errorf("%s: not ended", c.about)
		}
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("not so in time: " + what)
}

// BenchmarkExec is what a command costs beside its own work: starting it, and
// looking for what it has left.
func BenchmarkExec(b *testing.B) {
	p := &Process{Path: "/bin/true", Dir: b.TempDir(), Timeout: time.Minute}
	for b.Loop() {
		if o, err := (Exec{}).Run(b.Context(), p); err != nil || o.Code != 0 {
			b.Fatal(o, err)
		}
	}
}
