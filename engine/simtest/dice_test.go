package simtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice are the pseudo-random choices of one thing in a history.
type dice struct{ *rand.Rand }

// roll returns the dice of the thing with the given names. What goes on at the
// same time as other things gets dice of its own, so that the order in which
// goroutines come to them does not show.
func roll(seed uint64, names ...any) dice {
	h := fnv.New64a()
	fmt.Fprintln(h, names...)
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance reports true in n of 100 cases.
func (d dice) chance(n int) bool { return d.IntN(100) < n }

// one returns one of the values.
func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// weighed is a value with its weight.
type weighed[T any] struct {
	weight int
	value  T
}

// pick returns one of the values, by weight.
func pick[T any](d dice, of []weighed[T]) T {
	total := 0
	for i := range of {
		total += of[i].weight
	}
	n := d.IntN(total)
	for i := range of {
		if n -= of[i].weight; n < 0 {
			return of[i].value
		}
	}
	panic("no value has any weight")
}

// span returns a time between the two, to the nanosecond: no two things happen at
// once then, and goroutines have no race that could be decided either way.
func (d dice) span(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64(to-from)+1)) + time.Duration(1+d.Int64N(999_983))
}
