package parse

import (
	"strings"
	"unicode"

	"rein.example/rein/dialect"
)

// thinkBody returns reasoning without its marks.
func thinkBody(s string, t span) span {
	t.from += len(s[t.from:t.to]) - len(strings.TrimLeftFunc(s[t.from:t.to], unicode.IsSpace))
	t.to = t.from + len(strings.TrimRightFunc(s[t.from:t.to], unicode.IsSpace))
	half := ""
	for _, m := range dialect.Thinking() {
		if strings.HasPrefix(s[t.from:t.to], m.Open) {
			t.from += len(m.Open)
			t.to -= len(s[t.from:t.to]) - len(strings.TrimSuffix(s[t.from:t.to], m.Close))
			return t
		}
		if m.Half && strings.HasSuffix(s[t.from:t.to], m.Close) {
			half = m.Close
		}
	}
	t.to -= len(half)
	return t
}

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
