package simtest

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seedFlag  = flag.String("seed", "", "play the history of this one seed, and tell it")
	seedsFlag = flag.Int("seeds", manySeeds, "play so many histories")
	fromFlag  = flag.Uint64("from", 0, "the first seed of them")
	keepFlag  = flag.Bool("keep", false, "keep seeds that find something in "+keptFile)
	mostFlag  = flag.Int("most", 5, "stop after so many seeds that find something")
)

// keptFile lists seeds that have once found something, one a line, with a word on
// what that was.
var keptFile = filepath.Join("testdata", "seeds.txt")

// play plays the history of a seed.
func play(t *testing.T, seed uint64) *history {
	var h *history
	synctest.Test(t, func(*testing.T) {
		h = newHistory(seed)
		h.play()
	})
	return h
}

// TestSimulate plays many histories, or tells one.
func TestSimulate(t *testing.T) {
	if *seedFlag != "" {
		tell(t)
		return
	}
	s := &simulation{stats: stats{}}
	begun := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				s.work(t)
			})
		}
		if testing.Verbose() {
			stop := s.progress()
			t.Cleanup(stop)
		}
	})
	for _, line := range s.report() {
		t.Error(line)
	}
	t.Logf("%d histories with %d events in %v: %d seeds found something", s.played.Load(), s.stats["events"], time.Since(begun).Round(time.Millisecond), len(s.found))
	if testing.Verbose() {
		t.Log("\n" + s.stats.String())
	}
	if *seedsFlag >= 2_000 && *mostFlag > 1 && len(s.found) == 0 {
		for _, what := range s.stats.missing() {
			t.Errorf("in %d histories there was no %s: what is never tried is not tested", *seedsFlag, what)
		}
	}
}

// tell plays the history of one seed and prints all of it.
func tell(t *testing.T) {
	seed, err := strconv.ParseUint(*seedFlag, 10, 64)
	if err != nil {
		t.Fatalf("-seed: %v", err)
	}
	h := play(t, seed)
	for _, line := range h.record() {
		fmt.Println(line)
	}
	for _, l := range h.logs() {
		fmt.Printf("\njournal of %s\n", l.id)
		for i := range l.events {
			e := &l.events[i]
			again := ""
			if l.doubled[e.Seq] {
				again = " (delivered again)"
			}
			fmt.Printf("%4d %s %s%s %s\n", e.Seq, time.UnixMilli(e.Time).UTC().Format("15:04:05.000"), e.Type, again, e.Data)
		}
	}
	fmt.Printf("\nseed %d comes to %s\n", seed, h.digest())
	for _, b := range h.bad {
		t.Error(b)
	}
}

// TestKept plays the histories that have once found something.
func TestKept(t *testing.T) {
	for _, seed := range kept(t) {
		if h := play(t, seed); len(h.bad) > 0 {
			t.Errorf("%s", found{seed, h.bad}.line())
		}
	}
}

// TestSameSeed plays histories twice: all that happens in them is the same, to the
// nanosecond.
func TestSameSeed(t *testing.T) {
	for seed := range uint64(100) {
		if a, b := play(t, seed), play(t, seed); a.digest() != b.digest() {
			first, second := a.record(), b.record()
			for i := range min(len(first), len(second)) {
				if first[i] != second[i] {
					t.Fatalf("seed %d: there is\n%s\nand the second time\n%s", seed, first[i], second[i])
				}
			}
			t.Fatalf("seed %d comes to %s, and the second time to %s", seed, a.digest(), b.digest())
		}
	}
}

// simulation is the playing of many histories.
type simulation struct {
	next, played atomic.Int64

	mu    sync.Mutex
	found []found
	stats stats
}

// found is a seed with what it has found.
type found struct {
	seed uint64
	bad  []string
}

// line says how to see it again.
func (f found) line() string {
	return fmt.Sprintf("seed %d: %s\n\tsee it again: make simulate SEED=%d", f.seed, f.bad[0], f.seed)
}

// work plays histories until there are no more.
func (s *simulation) work(t *testing.T) {
	for {
		n := s.next.Add(1) - 1
		if n >= int64(*seedsFlag) || s.enough() {
			return
		}
		seed := *fromFlag + uint64(n)
		stop := watch(seed)
		h := play(t, seed)
		stop()
		s.played.Add(1)
		s.mu.Lock()
		s.stats.add(h)
		if len(h.bad) > 0 {
			s.found = append(s.found, found{seed, h.bad})
		}
		s.mu.Unlock()
	}
}

// Bounds of one history, in real time and memory: thousands of times what it takes.
const (
	maxReal = time.Minute
	maxHeap = 2 << 30
)

// watch ends the process if a history does not come to its end, which nothing within
// it can notice when the clock stands still, until stop is called.
func watch(seed uint64) (stop func()) {
	done := make(chan struct{})
	go func() {
		begun := time.Now()
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > maxHeap || time.Since(begun) > maxReal {
				fmt.Println(found{seed, []string{fmt.Sprintf("the engine goes on and on: %v, %d MB", time.Since(begun).Round(time.Second), m.HeapAlloc>>20)}}.line())
				os.Exit(1)
			}
		}
	}()
	return func() { close(done) }
}

func (s *simulation) enough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.found) >= *mostFlag
}

// progress prints now and then how far it is, until the returned function is
// called.
func (s *simulation) progress() (stop func()) {
	done := make(chan struct{})
	go func() {
		for tick := time.NewTicker(10 * time.Second); ; {
			select {
			case <-tick.C:
				fmt.Printf("%d of %d histories\n", s.played.Load(), *seedsFlag)
			case <-done:
				tick.Stop()
				return
			}
		}
	}()
	return func() { close(done) }
}

// report returns a line for each seed that found something, and keeps them if
// that is wanted.
func (s *simulation) report() []string {
	slices.SortFunc(s.found, func(a, b found) int { return int(a.seed) - int(b.seed) })
	var lines []string
	for _, f := range s.found {
		lines = append(lines, f.line())
		if *keepFlag {
			if err := keep(f); err != nil {
				lines = append(lines, fmt.Sprintf("seed %d could not be kept: %v", f.seed, err))
			}
		}
	}
	return lines
}

// keep appends a seed to the list.
func keep(f found) error {
	file, err := os.OpenFile(keptFile, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	what, _, _ := strings.Cut(f.bad[0], "\n")
	_, err = fmt.Fprintf(file, "%d %s\n", f.seed, what)
	return cmp.Or(err, file.Close())
}

// kept returns the seeds of the list.
func kept(t *testing.T) []uint64 {
	file, err := os.Open(keptFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var seeds []uint64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if word == "" || word[0] == '#' {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", keptFile, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}
