package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// The tests of this file start the test binary again, as another process that
// plays one of these parts. What it prints are lines for the test.
var parts = map[string]func(t *testing.T, path string){
	"hold":   hold,
	"post":   postOne,
	"append": appendForever,
}

// partEnv names the part, pathEnv the store.
const (
	partEnv = "REIN_TEST_PART"
	pathEnv = "REIN_TEST_STORE"
)

// TestPart is not a test of its own.
func TestPart(t *testing.T) {
	part := parts[os.Getenv(partEnv)]
	if part == nil {
		t.Skip("it is for the other tests to start")
	}
	part(t, os.Getenv(pathEnv))
}

// process is another process that plays a part.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, part, path string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestPart$", "-test.v=false")
	cmd.Env = append(os.Environ(), partEnv+"="+part, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return &process{t, cmd, in, bufio.NewScanner(out)}
}

// line returns the next line that the process prints.
func (p *process) line() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the other process ended: %v", p.cmd.Wait())
	}
	return p.out.Text()
}

// say sends the process a line.
func (p *process) say(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	must(p.t, err)
}

// kill ends the process as kill -9 does, without collecting it.
func (p *process) kill() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Kill())
}

// wait collects the process and returns what it had still printed.
func (p *process) wait() (rest []string) {
	for p.out.Scan() {
		rest = append(rest, p.out.Text())
	}
	_ = p.cmd.Wait() // it was killed, or what it printed is looked at
	return rest
}

// hold owns run r1 and appends to it whenever it gets a line.
func hold(t *testing.T, path string) {
	s := openTest(t, path, nil)
	l, err := s.Join(t.Context(), journal.ThisProcess("holder"))
	must(t, err)
	must(t, s.Create(t.Context(), l, "r1"))
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		_, err := s.Append(t.Context(), l, journal.Batch{Run: "r1", After: journal.Anywhere, Entries: []journal.Entry{note(lines.Text())}})
		fmt.Println(errors.Is(err, journal.ErrFenced), err)
	}
}

func postOne(t *testing.T, path string) {
	s := openTest(t, path, nil)
	h, err := s.Post(t.Context(), "r1", input("from another process"))
	fmt.Println(h.Seq, err)
}

func note(text string) journal.Entry {
	return journal.Entry{Time: 1, Data: &event.NoticeAdded{Kind: "test", Text: text}}
}

func input(text string) journal.Entry {
	return journal.Entry{Time: 1, Data: &event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: text}}}}
}

// Who was killed loses its runs at once, whether its parent has noticed or not.
func TestKilledProcessLosesItsRuns(t *testing.T) {
	for _, collected := range []bool{false, true} {
		t.Run(map[bool]string{false: "zombie", true: "gone"}[collected], func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rein.db")
			other := start(t, "hold", path)
			other.line()
			s := openTest(t, path, nil)
			l, err := s.Join(t.Context(), journal.ThisProcess("test"))
			must(t, err)
			var held *journal.HeldError
			if _, err := s.Claim(t.Context(), l, "r1"); !errors.As(err, &held) || held.Owner.PID != other.cmd.Process.Pid {
				t.Fatalf("claiming a run of another process: %v", err)
			}
			other.say("one")
			if got := other.line(); got != "false <nil>" {
				t.Fatalf("the other process appended: %s", got)
			}
			other.kill()
			if collected {
				other.wait()
			} else {
				for !held.Owner.Dead() { // until the signal has arrived
					time.Sleep(time.Millisecond)
				}
				defer other.wait()
			}
			h, err := s.Claim(t.Context(), l, "r1")
			if err != nil || h.Generation != 2 || h.Seq != 1 {
				t.Fatalf("claimed at %+v, %v", h, err)
			}
			// The next one to join sweeps up.
			_, err = s.Join(t.Context(), journal.ThisProcess("test"))
			must(t, err)
			if all, err := s.live(t.Context()); err != nil || len(all) != 2 {
				t.Errorf("there are %d leases, want the 2 of this process; %v", len(all), err)
			}
		})
	}
}

// A process that hung until its lease ended is fenced when it comes back.
func TestHungProcessIsFenced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	other := start(t, "hold", path)
	other.line()
	later := func() time.Time { return time.Now().Add(time.Minute) }
	s := openTest(t, path, &Options{Clock: later})
	l, err := s.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	if h, err := s.Claim(t.Context(), l, "r1"); err != nil || h.Generation != 2 {
		t.Fatalf("claimed at %+v, %v", h, err)
	}
	other.say("late")
	if got := other.line(); !strings.HasPrefix(got, "true ") {
		t.Errorf("the old owner's append: %s, want ErrFenced", got)
	}
	if h, err := s.Head(t.Context(), "r1"); err != nil || h.Seq != 0 {
		t.Errorf("the run ends at %+v, %v", h, err)
	}
	must(t, other.in.Close())
	other.wait()
}

// The owner hears of a post from another process, and must read it first.
func TestPostFromAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rein.db")
	s := openTest(t, path, nil)
	l, err := s.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, s.Create(t.Context(), l, "r1"))
	watch := s.Watch(l)
	other := start(t, "post", path)
	if got := other.line(); got != "1 <nil>" {
		t.Fatalf("the other process posted: %s", got)
	}
	select {
	case run := <-watch:
		if run != "r1" {
			t.Errorf("heard of run %s", run)
		}
	case <-time.After(20 * time.Second): // only when something is broken
		t.Error("heard nothing")
	}
	var conflict *journal.ConflictError
	if _, err := s.Append(t.Context(), l, journal.Batch{Run: "r1", Entries: []journal.Entry{note("x")}}); !errors.As(err, &conflict) || conflict.Head.Seq != 1 {
		t.Errorf("appending without having read: %v", err)
	}
	other.wait()
}

// loopRuns is how many runs appendForever writes at once.
const loopRuns = 4

// appendForever writes several runs and prints "RUN SEQ" for whatever is durable.
func appendForever(t *testing.T, path string) {
	s := openTest(t, path, nil)
	l, err := s.Join(t.Context(), journal.ThisProcess("appender"))
	must(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range loopRuns {
		wg.Go(func() {
			run := fmt.Sprint("run-", i)
			h, err := s.Claim(t.Context(), l, run)
			var missing *journal.NotFoundError
			if errors.As(err, &missing) {
				err = s.Create(t.Context(), l, run)
			}
			for n := 0; err == nil; n++ {
				text := strings.Repeat("x", rand.IntN(3000)) // also compressed ones
				if n%50 == 49 {
					text = strings.Repeat("y", 70<<10) // and some out of line
				}
				async := n%3 == 1
				h, err = s.Append(t.Context(), l, journal.Batch{Run: run, After: h.Seq, Async: async, Entries: []journal.Entry{note(text), note("second")}})
				if err == nil && async {
					err = s.Sync(t.Context(), run)
				}
				if err == nil {
					mu.Lock()
					fmt.Println(run, h.Seq)
					mu.Unlock()
				}
			}
			t.Errorf("%s: %v", run, err)
		})
	}
	wg.Wait()
}

// Whatever was acknowledged survives kill -9 at any moment, and the journals are
// sound and go on.
func TestKilledWriterLosesNothing(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	path := filepath.Join(t.TempDir(), "rein.db")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	acked := map[string]int64{}
	for range rounds {
		other := start(t, "append", path)
		for range 1 + rnd.IntN(300) {
			ack(t, acked, other.line())
		}
		other.kill()
		for _, line := range other.wait() {
			ack(t, acked, line)
		}
		check(t, path, acked)
	}
}

// ack notes a line of appendForever. The last one may be cut off by the kill.
func ack(t *testing.T, acked map[string]int64, line string) {
	t.Helper()
	run, n, ok := strings.Cut(line, " ")
	seq, err := strconv.ParseInt(n, 10, 64)
	if !ok || err != nil || !strings.HasPrefix(run, "run-") {
		t.Logf("the other process printed %q", line)
		return
	}
	acked[run] = max(acked[run], seq)
}

func check(t *testing.T, path string, acked map[string]int64) {
	t.Helper()
	s := openTest(t, path, nil)
	defer s.Close()
	for run, want := range acked {
		last := int64(0)
		for e, err := range s.Read(t.Context(), run, 1) {
			if err != nil {
				t.Fatalf("%s: after event %d: %v", run, last, err)
			}
			last = e.Seq
		}
		if last < want || last%2 != 0 {
			t.Errorf("%s ends at event %d; %d were acknowledged, in batches of 2", run, last, want)
		}
		acked[run] = last
	}
}
