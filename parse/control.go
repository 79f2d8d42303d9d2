package parse

import (
	"strings"
	"unicode"

	"rein.example/rein/dialect"
)

// withoutControl returns a text without the tokens at its end that only end a
// turn, and those at its beginning that only begin one.
func withoutControl(s string) string { return withoutClosing(withoutOpening(s)) }

func withoutOpening(s string) string {
	for again := true; again; {
		again = false
		t := strings.TrimLeftFunc(s, unicode.IsSpace)
		for _, c := range dialect.Control() {
			if strings.HasPrefix(t, c) && strings.ContainsAny(c, "|[") {
				s, again = strings.TrimLeftFunc(t[len(c):], unicode.IsSpace), true
				break
			}
		}
	}
	return s
}

func withoutClosing(s string) string {
	for again := true; again; {
		again = false
		t := strings.TrimRightFunc(s, unicode.IsSpace)
		for _, c := range dialect.Control() {
			if strings.HasSuffix(t, c) {
				s, again = strings.TrimRightFunc(strings.TrimSuffix(t, c), unicode.IsSpace), true
				break
			}
		}
	}
	return s
}
