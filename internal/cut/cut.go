// Package cut answers: where can a text be cut without splitting a character?
package cut

import "unicode/utf8"

// Down returns the largest index up to n at which s can be cut between two
// characters, len(s) for an n beyond it and 0 for one below. Where no character begins
// near n, s is not UTF-8 there, and any place is as good: it is n itself.
func Down[S ~string | ~[]byte](s S, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for k := n; k > n-utf8.UTFMax; k-- {
		if k <= 0 {
			return 0
		}
		if utf8.RuneStart(s[k]) {
			return k
		}
	}
	return n
}

// Up is [Down] for the smallest index from n on.
func Up[S ~string | ~[]byte](s S, n int) int {
	if n <= 0 {
		return 0
	}
	for k := n; k < n+utf8.UTFMax; k++ {
		if k >= len(s) {
			return len(s)
		}
		if utf8.RuneStart(s[k]) {
			return k
		}
	}
	return n
}
