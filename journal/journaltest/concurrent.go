package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// Many runs go on at once, each as if it were alone.
func (s *suite) manyRuns(t *testing.T) {
	st := s.open(t)
	l := join(t, st, "test")
	const runs, steps = 64, 5
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			run := fmt.Sprint("run-", i)
			if err := manySteps(t.Context(), st, l, run, steps); err != nil {
				t.Errorf("%s: %v", run, err)
			}
		})
	}
	wg.Wait()
	var want []journal.Entry
	for n := range int64(steps) {
		first, second := Step(n, "result")
		want = append(append(want, first...), second...)
	}
	for i := range runs {
		says(t, st, fmt.Sprint("run-", i), want...)
	}
}

func manySteps(ctx context.Context, st journal.Store, l *journal.Lease, run string, steps int64) error {
	if err := st.Create(ctx, l, run); err != nil {
		return err
	}
	var h journal.Head
	var err error
	for n := range steps {
		first, second := Step(n, "result")
		if h, err = st.Append(ctx, l, journal.Batch{Run: run, After: h.Seq, Entries: first}); err != nil {
			return err
		}
		if h, err = st.Append(ctx, l, journal.Batch{Run: run, After: h.Seq, Entries: second, Async: n%2 == 0}); err != nil {
			return err
		}
	}
	return st.Sync(ctx, run)
}

// Outcomes of one run may come from many goroutines: each has its place, and
// one of those for the same command wins.
func (s *suite) oneRun(t *testing.T) {
	st, l := s.start(t)
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range each {
				_, err := st.Append(t.Context(), l, journal.Batch{Run: "r1", After: journal.Anywhere, Async: k%4 == 1, Entries: []journal.Entry{
					outcome(fmt.Sprint("shared ", k), fmt.Sprint("call ", i)),
					outcome(fmt.Sprint("own ", i, " ", k), "call"),
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := read(t, st, "r1", 1)
	if want := each + writers*each; len(got) != want {
		t.Errorf("%d events, want %d", len(got), want)
	}
	seen := map[string]bool{}
	for _, e := range got {
		if seen[e.Command] {
			t.Errorf("two outcomes of %s", e.Command)
		}
		seen[e.Command] = true
	}
}

// calls are all methods that take a context, as calls that would succeed.
func calls(ctx context.Context, st journal.Store, l *journal.Lease, ref message.Ref) map[string]func() error {
	return map[string]func() error{
		"Join":   func() error { _, err := st.Join(ctx, l.Owner); return err },
		"Leave":  func() error { return st.Leave(ctx, l) },
		"Create": func() error { return st.Create(ctx, l, "new") },
		"Claim":  func() error { _, err := st.Claim(ctx, l, "r1"); return err },
		"Park":   func() error { return st.Park(ctx, l, "r1") },
		"Append": func() error {
			_, err := st.Append(ctx, l, journal.Batch{Run: "r1", After: 1, Entries: notes("x")})
			return err
		},
		"Async": func() error {
			_, err := st.Append(ctx, l, journal.Batch{Run: "r1", After: 1, Entries: notes("x"), Async: true})
			return err
		},
		"Post":    func() error { _, err := st.Post(ctx, "r1", input("x")); return err },
		"Sync":    func() error { return st.Sync(ctx, "r1") },
		"Head":    func() error { _, err := st.Head(ctx, "r1"); return err },
		"Read":    func() error { return first(st.Read(ctx, "r1", 1)) },
		"Runs":    func() error { return first(st.Runs(ctx)) },
		"PutBody": func() error { _, err := st.PutBody(ctx, []byte("x"), ""); return err },
		"Body":    func() error { _, err := st.Body(ctx, ref); return err },
		"Fork":    func() error { return st.Fork(ctx, l, "r1", 1, "f") },
		"Family":  func() error { _, err := st.Family(ctx, "r1"); return err },
	}
}

// first returns the first error of a sequence, if it comes first.
func first[T any](seq func(func(T, error) bool)) (err error) {
	seq(func(_ T, e error) bool { err = e; return false })
	return err
}

// What is cancelled before it began has done nothing, and says so.
func (s *suite) cancelled(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, note("a"))
	ref, err := st.PutBody(t.Context(), []byte("body"), "")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls(ctx, st, l, ref) {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	says(t, st, "r1", note("a"))
	n := 0
	for range st.Runs(t.Context()) {
		n++
	}
	if n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
	appendTo(t, st, l, "r1", 1, note("b")) // the lease and the run are as before
}

// A closed store says that it is closed.
func (s *suite) closed(t *testing.T) {
	st, l := s.start(t)
	appendTo(t, st, l, "r1", 0, note("a"))
	ref, err := st.PutBody(t.Context(), []byte("body"), "")
	must(t, err)
	watch := st.Watch(l)
	must(t, st.Close())
	must(t, st.Close())
	for name, call := range calls(t.Context(), st, l, ref) {
		if err := call(); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	select {
	case run := <-watch:
		t.Errorf("heard of %q after the store was closed", run)
	default:
	}
}
