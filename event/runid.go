package event

import (
	"strconv"
	"strings"
)

// A run that carries out a call of another one has that run's id with a number
// behind it: r1.2 is the second of r1, r1.2.1 the first of that. Ids of other runs
// do not end so.

// BelowID returns the id of the n-th run below one, from 1.
func BelowID(run string, n int64) string { return run + "." + strconv.FormatInt(n, 10) }

// Above returns the id of the run whose call a run carries out, by its id alone; ok
// is false if it is none of such.
func Above(run string) (above string, ok bool) {
	i := strings.LastIndexByte(run, '.')
	if i <= 0 || i == len(run)-1 {
		return "", false
	}
	for _, c := range []byte(run[i+1:]) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return run[:i], true
}

// Top returns the id of the run at the top of those that lead to a run, by its id
// alone; the run itself if it carries out no call.
func Top(run string) string {
	for {
		above, ok := Above(run)
		if !ok {
			return run
		}
		run = above
	}
}
