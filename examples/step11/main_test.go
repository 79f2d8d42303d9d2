package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
)

// Both runs end well, as far as one sees. Only one quotes what the freight costs.
func TestPair(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "rein.db"))
	a, b, err := pair(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*rein.Result{a, b} {
		if !r.OK || r.Reason != event.ReasonAnswered {
			t.Errorf("run %s ends with %s, ok %t", r.Run, r.Reason, r.OK)
		}
	}
	right := freightOf("4010")
	if strings.Contains(a.Answer, right) || !strings.Contains(a.Answer, "freight 99.00") || a.Steps != 12 {
		t.Errorf("run A, after %d steps: %s", a.Steps, a.Answer)
	}
	if !strings.Contains(b.Answer, "freight "+right) || b.Steps != 13 {
		t.Errorf("run B, after %d steps: %s", b.Steps, b.Answer)
	}
}

// Whoever knows nothing but that one of two runs is wrong finds the cause with four
// commands, each named by what the one before has printed.
func TestFourCommands(t *testing.T) {
	l := newLook(t)

	// 1. There are two runs; nothing in the list says which is wrong.
	list := l.rein("runs")
	if strings.Count(list, "finished  answered") != 2 {
		t.Fatalf("the list of runs:\n%s", list)
	}
	ids := regexp.MustCompile(`(?m)^\S+-\S+`).FindAllString(list, -1) // newest first
	b, a := ids[0], ids[1]

	// 2. Run A has an anomaly: where, what it means, and what to look at.
	shown := l.rein("show", a)
	look := regexp.MustCompile(`look at: rein (.*)`).FindStringSubmatch(shown)
	if look == nil || !contains(shown, "step 10, truncation: 3 calls of read_list with different arguments have each returned 4,000 bytes", "the model takes the part for the whole") {
		t.Fatalf("show of run A:\n%s", shown)
	}
	if other := l.rein("show", b); strings.Contains(other, "worth a look") {
		t.Errorf("run B has anomalies, too:\n%s", other)
	}

	// 3. Where the runs part, and what run A never saw.
	parted := l.rein("diff", a, b)
	if !contains(parted, `They part: at step 11 A called send_quote {"order":"Q-311","freight":"99.00"}, B called read_artifact`,
		`run A never saw lines 129 to 258 of the result of read_list {"list":"freight"}`, `read_list {"list":"freight"} was cut in B`, "lines 1-128 of 480 shown", "rein request "+a+" --step 11") {
		t.Errorf("diff:\n%s", parted)
	}

	// 4. What the model saw in run A: a list that ends in the middle of a line.
	saw := l.rein(strings.Fields(look[1])...)
	if !contains(saw, "the result of read_list", `2530  by road   3 days   22.50\n2550 `) || strings.Contains(saw, "4010  by") || strings.Contains(saw, "[rein: lines") {
		t.Errorf("request of run A:\n%s", saw)
	}
	if saw := l.rein("request", b, "--step", "12", "--diff"); !contains(saw, `4010  by`) {
		t.Errorf("request of run B:\n%s", saw)
	}
	// The program names the same commands.
	for i, c := range commands(a, b) {
		if l.asked[[]int{0, 1, 3, 4}[i]] != c {
			t.Errorf("the program names %q as command %d, and not what was followed here: %q", c, i+1, l.asked)
		}
	}
}

// contains reports whether a text has all of them, wherever its lines end.
func contains(text string, all ...string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for _, s := range all {
		if !strings.Contains(text, strings.Join(strings.Fields(s), " ")) {
			return false
		}
	}
	return true
}

// look looks at the two runs with the real command.
type look struct {
	t       *testing.T
	program string
	db      string
	a, b    string
	asked   []string
}

// built is the command, built once for all tests into programs, which TestMain removes.
var (
	programs string
	built    = sync.OnceValues(func() (string, error) {
		program := filepath.Join(programs, "rein")
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", program, "rein.example/rein/cmd/rein").CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the command: %w\n%s", err, out)
		}
		return program, nil
	})
)

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "step11-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// newLook makes the two runs, with the times that they would have if a model took 300 ms
// and a tool 2 ms.
func newLook(t *testing.T) *look {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := &look{t: t, program: program, db: filepath.Join(dir, "rein.db")}
	made := open(t, filepath.Join(dir, "made.db"))
	a, b, err := pair(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	l.a, l.b = a.Run, b.Run
	store := open(t, l.db)
	begin := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	retime(t, made, store, l.a, begin)
	retime(t, made, store, l.b, begin.Add(time.Minute))
	return l
}

func open(t *testing.T, db string) journal.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// retime copies a run, with other times: what a machine takes differs from run to run,
// and what is printed of it is to be the same each time.
func retime(t *testing.T, from, to journal.Store, run string, now time.Time) {
	t.Helper()
	ctx := context.Background()
	lease, err := to.Join(ctx, journal.Owner{Host: "test", PID: 1, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Create(ctx, lease, run); err != nil {
		t.Fatal(err)
	}
	batch := journal.Batch{Run: run}
	for e, err := range from.Read(ctx, run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.ModelAnswered:
			now = now.Add(300 * time.Millisecond)
			d.Latency, d.First, d.Waited = 300, message.Known(80), 0
		case *event.ToolFinished:
			now = now.Add(2 * time.Millisecond)
			if d.ID != "" {
				d.Latency = 2
			}
			if d.Full != nil {
				body, err := from.Body(ctx, *d.Full)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := to.PutBody(ctx, body, d.Full.MediaType); err != nil {
					t.Fatal(err)
				}
			}
		}
		batch.Entries = append(batch.Entries, journal.Entry{Time: now.UnixMilli(), Command: e.Command, Data: e.Data})
	}
	if _, err := to.Append(ctx, lease, batch); err != nil {
		t.Fatal(err)
	}
	if err := to.Leave(ctx, lease); err != nil {
		t.Fatal(err)
	}
}

// rein runs the command and returns what it prints.
func (l *look) rein(args ...string) string {
	l.t.Helper()
	l.asked = append(l.asked, strings.Join(args, " "))
	c := exec.Command(l.program, args...)
	c.Args[0] = "rein" // as it is named in what it says to type next
	c.Env = append(os.Environ(), "REIN_DB="+l.db, "TZ=UTC", "NO_COLOR=1", "COLUMNS=")
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		l.t.Fatalf("rein %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), said.String())
	}
	if said.Len() > 0 {
		fmt.Fprint(&out, said.String())
	}
	return out.String()
}
