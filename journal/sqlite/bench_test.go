package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
)

// record returns a tool result of about n bytes, as tools give them: lines of
// JSON that resemble each other.
func record(step int64, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		x := (step*7919 + int64(i)*104729) % 1_000_003
		fmt.Fprintf(&b, `{"order":"2024-%06d","customer":"c%04d","sku":"%05d-%c","quantity":%d,"price":"%d.%02d","status":"%s"}`+"\n",
			x, x%9973, x*31%99991, 'A'+rune(x%26), x%17+1, x%251, x%100, []string{"open", "packed", "shipped", "returned"}[x%4])
	}
	return b.String()[:n]
}

// The disk's own time for what a commit must wait for: 8 KB written over and
// synced. Compare it with the benchmarks below.
func BenchmarkDiskSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	must(b, err)
	defer f.Close()
	page := make([]byte, 8<<10)
	for i := range 100 {
		_, err := f.WriteAt(page, int64(i*len(page)))
		must(b, err)
	}
	must(b, f.Sync())
	i := 0
	for b.Loop() {
		_, err := f.WriteAt(page, int64(i%100*len(page)))
		must(b, err)
		must(b, f.Sync())
		i++
	}
}

// A step of one run: 7 events in two batches, one result of 3 KB. Both batches
// synced, and the second left to overlap with what follows.
func BenchmarkAppendStep(b *testing.B) {
	for _, async := range []bool{false, true} {
		b.Run(map[bool]string{false: "synced", true: "overlapped"}[async], func(b *testing.B) {
			s := openTest(b, filepath.Join(b.TempDir(), "rein.db"), nil)
			l, err := s.Join(b.Context(), journal.ThisProcess("bench"))
			must(b, err)
			must(b, s.Create(b.Context(), l, "r1"))
			var h journal.Head
			n := int64(0)
			result := record(1, 3000)
			b.ReportAllocs()
			for b.Loop() {
				first, second := journaltest.Step(n, result)
				h, err = s.Append(b.Context(), l, journal.Batch{Run: "r1", After: h.Seq, Entries: first})
				must(b, err)
				h, err = s.Append(b.Context(), l, journal.Batch{Run: "r1", After: h.Seq, Entries: second, Async: async})
				must(b, err)
				n++
			}
			must(b, s.Sync(b.Context(), "r1"))
		})
	}
}

// 64 runs at once, every batch synced: they share the syncs. The events are of
// their usual size, and the result of the tool is of 100 bytes or 3 KB.
func BenchmarkRuns64(b *testing.B) {
	for _, size := range []int{100, 3000} {
		b.Run(fmt.Sprint("result=", size), func(b *testing.B) { benchmarkRuns(b, 64, record(1, size)) })
	}
}

func benchmarkRuns(b *testing.B, runs int, result string) {
	s := openTest(b, filepath.Join(b.TempDir(), "rein.db"), nil)
	l, err := s.Join(b.Context(), journal.ThisProcess("bench"))
	must(b, err)
	heads := make([]journal.Head, runs)
	steps := make([]int64, runs)
	for i := range runs {
		must(b, s.Create(b.Context(), l, fmt.Sprint("run-", i)))
	}
	step := func(i int) error {
		first, second := journaltest.Step(steps[i], result)
		steps[i]++
		for _, entries := range [][]journal.Entry{first, second} {
			h, err := s.Append(b.Context(), l, journal.Batch{Run: fmt.Sprint("run-", i), After: heads[i].Seq, Entries: entries})
			if err != nil {
				return err
			}
			heads[i] = h
		}
		return nil
	}
	const rounds = 10
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range runs {
			wg.Go(func() {
				for range rounds {
					if err := step(i); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*runs*rounds*7)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(0, "ns/op")
}

// A run of 1,000 steps: its size on disk, and the time to read and check it all,
// as a resume does.
func BenchmarkThousandSteps(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rein.db")
	s := openTest(b, path, nil)
	l, err := s.Join(b.Context(), journal.ThisProcess("bench"))
	must(b, err)
	must(b, s.Create(b.Context(), l, "r1"))
	for n := range int64(1000) {
		first, second := journaltest.Step(n, record(n, 3000))
		for _, entries := range [][]journal.Entry{first, second} {
			_, err := s.Append(b.Context(), l, journal.Batch{Run: "r1", After: journal.Anywhere, Entries: entries, Async: true})
			must(b, err)
		}
	}
	must(b, s.Close())
	info, err := os.Stat(path)
	must(b, err)
	s = openTest(b, path, nil)
	for b.Loop() {
		n := 0
		for _, err := range s.Read(b.Context(), "r1", 1) {
			must(b, err)
			n++
		}
		if n != 7000 {
			b.Fatalf("%d events", n)
		}
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}
