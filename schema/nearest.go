package schema

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the names of from that look like name, the likeliest first and
// at most 3: those that differ in case or separators only, then those that are a
// few typing mistakes away, then those that contain it or that it shortens, as
// tol does tools. Equally likely ones keep their order.
func Nearest(name string, from []string) []string {
	const tooLong = 200
	if name == "" || len(name) > tooLong {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	plain := fold(name)
	most := max(1, utf8.RuneCountInString(name)/3)
	for _, f := range from {
		if len(f) > tooLong || f == "" {
			continue
		}
		g := fold(f)
		switch d := distance(plain, g, most); {
		case d <= most:
			found = append(found, scored{f, d})
		case len(plain) >= 3 && (strings.Contains(g, plain) || len(g) >= 3 && strings.Contains(plain, g)):
			found = append(found, scored{f, 1000})
		case shortens(plain, g):
			found = append(found, scored{f, 1001})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.score - b.score })
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// shortens reports whether short is long with at most half of its letters left
// out, and not the first one.
func shortens(short, long string) bool {
	if len(short) < 3 || len(long) > 2*len(short) || short[0] != long[0] {
		return false
	}
	rest := long
	for i := range len(short) {
		_, after, ok := strings.Cut(rest, short[i:i+1])
		if !ok {
			return false
		}
		rest = after
	}
	return true
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

func fold(s string) string {
	if f := separators.Replace(strings.ToLower(s)); f != "" {
		return f
	}
	return s
}

// distance counts the characters to insert, delete, replace or swap with their
// neighbour (optimal string alignment) to make b of a. Results above most are
// only known to be above.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	prev2, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(y)]
}
