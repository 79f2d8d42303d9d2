package journal

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"rein.example/rein/event"
)

// Finder is a [Store] that finds runs by the beginning of their ids without
// going through all of them.
type Finder interface {
	// Find returns at most limit ids that begin with prefix, newest first.
	Find(ctx context.Context, prefix string, limit int) ([]string, error)
}

// ambiguous is how many ids an [*AmbiguousError] names.
const ambiguous = 5

// manyBelow is how many ids more are looked at each time that all those that were
// found are of one run and those below it.
const manyBelow = 16

// Resolve returns the id of the one run that prefix names: the run with exactly
// that id, else the only one whose id begins so, where runs that carry out its calls
// (see [event.Above]) are not counted beside it. It fails with an
// [*AmbiguousError] if there are several and with a [*NotFoundError], which
// names ids that look like it, if there is none.
func Resolve(ctx context.Context, s Store, prefix string) (string, error) {
	_, err := s.Head(ctx, prefix)
	var missing *NotFoundError
	if err == nil {
		return prefix, nil
	}
	if !errors.As(err, &missing) || prefix == "" {
		return "", err
	}
	found, ferr := candidates(ctx, s, prefix)
	switch {
	case ferr != nil:
		return "", ferr
	case len(found) == 0:
		return "", err
	case len(found) == 1:
		return found[0], nil
	}
	e := &AmbiguousError{Prefix: prefix, Runs: found, More: len(found) > ambiguous}
	e.Runs = found[:min(len(found), ambiguous)]
	return "", e
}

// candidates returns more than ambiguous runs that prefix may mean, or all of them.
func candidates(ctx context.Context, s Store, prefix string) ([]string, error) {
	for limit := ambiguous + 1; ; limit *= manyBelow {
		all, err := find(ctx, s, prefix, limit)
		if err != nil {
			return nil, err
		}
		var found []string
		for _, id := range all {
			if id = meant(id, prefix); !slices.Contains(found, id) && len(found) <= ambiguous {
				found = append(found, id)
			}
		}
		if len(all) < limit || len(found) > 1 {
			return found, nil
		}
	}
}

// meant returns the run farthest above one whose id still begins with prefix.
func meant(id, prefix string) string {
	for {
		above, ok := event.Above(id)
		if !ok || !strings.HasPrefix(above, prefix) {
			return id
		}
		id = above
	}
}

func find(ctx context.Context, s Store, prefix string, limit int) ([]string, error) {
	if f, ok := s.(Finder); ok {
		return f.Find(ctx, prefix, limit)
	}
	var found []string
	for sum, err := range s.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(sum.Run, prefix) {
			if found = append(found, sum.Run); len(found) == limit {
				break
			}
		}
	}
	return found, nil
}

// near is how many ids a [*NotFoundError] names.
const near = 3

// NotFound returns the error for a run that is not there, naming those of the
// known ids that look most like it: by the characters that have to be changed
// (Levenshtein distance, at most a third of the id), or by a common beginning
// of at least half of it. Only the first 256 bytes of an id are compared.
func NotFound(run string, known []string) *NotFoundError {
	type candidate struct {
		id   string
		dist int
	}
	if run == "" {
		return &NotFoundError{} // every short id looks like nothing
	}
	run = run[:min(len(run), 256)]
	var all []candidate
	for _, id := range known {
		short := id[:min(len(id), 256)]
		most := max(1, len(run)/3)
		d := distance(run, short, most)
		if d > most && common(run, short)*2 < max(len(run), 2) {
			continue
		}
		all = append(all, candidate{id, d})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.id, b.id))
	})
	e := &NotFoundError{Run: run}
	for _, c := range all[:min(len(all), near)] {
		e.Near = append(e.Near, c.id)
	}
	return e
}

// common returns the length of the beginning that a and b share.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance returns the Levenshtein distance of two texts in bytes, or most+1 if
// it is greater than most.
func distance(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1
		}
	}
	return min(row[len(b)], most+1)
}
