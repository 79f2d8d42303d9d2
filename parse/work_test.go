package parse_test

import (
	"runtime"
	"strings"
	"testing"

	"rein.example/rein/parse"
)

// Whatever a text repeats, readers stop looking at it again after a fixed number
// of bytes for each of its own, and what they allocate grows as it does. (What
// they look at once is for BenchmarkHostile: no test asserts a time.)
func TestHostileTextsCostWhatTheirLengthIs(t *testing.T) {
	const small, large = 2 << 10, 8 << 10
	const most = 2*parse.WorkPerByte + 4 // bytes for each byte: the last reader may go beyond what is left
	for _, unit := range hostile() {
		for _, head := range before()[:2] {
			var used [2]uint64
			for i, n := range []int{small, large} {
				text := head + strings.Repeat(unit, n/len(unit)+1)[:n]
				in := inputOf(text)
				used[i] = allocated(func() { parse.Parse(in) })
				if spent := parse.Spent(in, text); spent > most*len(text)+4096 {
					t.Errorf("%q and %d bytes of %q: readers looked at %d bytes for each", head, n, unit, spent/len(text))
				}
				st := parse.NewStream(in)
				for k := 0; k < len(text); k += 5 {
					st.Feed(text[k:min(len(text), k+5)])
				}
				if spent := parse.SpentBy(st); spent > most*len(text)+4096 {
					t.Errorf("%q and %d bytes of %q: a stream looked at %d bytes for each", head, n, unit, spent/len(text))
				}
			}
			if used[1] > 8*used[0]+8*large {
				t.Errorf("%q and %q: %d bytes are allocated for %d of the text, and %d for %d", head, unit, used[0], small, used[1], large)
			}
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
