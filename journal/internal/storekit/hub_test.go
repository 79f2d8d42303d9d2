package storekit

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// Whoever does not listen yet loses nothing, and hears each run once.
func TestHubKeepsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		defer h.Close()
		h.Tell(1, "too early")
		watch := h.Watch(1)
		other := h.Watch(2)
		for range 3 {
			for i := range 5 {
				h.Tell(1, fmt.Sprint("run-", i))
			}
		}
		h.Tell(2, "other")
		var got []string
		for range 5 {
			got = append(got, <-watch)
			synctest.Wait()
		}
		if want := []string{"run-0", "run-1", "run-2", "run-3", "run-4"}; !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
		if run := <-other; run != "other" {
			t.Errorf("the other heard %q", run)
		}
		// run-0 had been taken from the list before it was told again.
		synctest.Wait()
		select {
		case run := <-watch:
			if run != "run-0" {
				t.Errorf("heard %q again", run)
			}
		default:
		}
	})
}

// Nothing runs on after Forget and Close: the bubble would not end.
func TestHubEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		if h.Active() {
			t.Error("somebody watches")
		}
		gone, stays := h.Watch(1), h.Watch(2)
		h.Tell(1, "r")
		synctest.Wait() // the run is being delivered
		h.Forget(1)
		h.Forget(1)
		h.Tell(1, "r")
		if !h.Active() {
			t.Error("nobody watches")
		}
		h.Close()
		h.Close()
		if h.Active() || h.Watch(3) == nil {
			t.Error("somebody watches a closed hub")
		}
		select {
		case <-gone:
			t.Error("heard something after Forget")
		case <-stays:
			t.Error("heard something after Close")
		default:
		}
	})
}
