package parse

import (
	"strings"

	"rein.example/rein/dialect"
)

// stripThink returns reasoning without its marks.
func stripThink(s string) string {
	s = strings.TrimSpace(s)
	for _, t := range dialect.Thinking() {
		s = strings.TrimPrefix(s, t.Open)
		s = strings.TrimSuffix(s, t.Close)
	}
	return strings.TrimSpace(s)
}

// withoutControl returns a text without the tokens at its end that only end a
// turn.
func withoutControl(s string) string {
	for again := true; again; {
		again = false
		t := strings.TrimRight(s, " \t\r\n")
		for _, c := range dialect.Control() {
			if strings.HasSuffix(t, c) {
				s, again = strings.TrimRight(strings.TrimSuffix(t, c), " \t\r\n"), true
			}
		}
	}
	return s
}
