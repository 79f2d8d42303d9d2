package parse

import (
	"strings"
	"unicode"

	"rein.example/rein/dialect"
)

// withoutControl returns a text without the tokens at its end that only end a
// turn, and those at its beginning that only begin one.
func withoutControl(s string) string {
	s = withoutClosing(s, true)
	return withoutOpening(s)
}

// frames are the tokens that stand around a text. Elements are written so too:
// within a text they are part of it.
var frames = map[string]string{
	"</s>": "<s>", "</response>": "<response>", "[END FINAL RESPONSE]": "[BEGIN FINAL RESPONSE]",
	"<|END_RESPONSE|>": "<|START_RESPONSE|>", "<|END_TEXT|>": "<|START_TEXT|>",
	"<|close|>response<|sep|>": "<|open|>response<|sep|>",
}

// minControl is the length of the shortest token.
const minControl = len("<s>")

// openingTokens and closingTokens are the tokens that may stand before and after a
// text, by the byte that tells most of them apart: the third from the front or
// from the end.
var openingTokens, closingTokens = func() (front, back [256][]string) {
	for _, c := range dialect.Control() {
		last := c[len(c)-minControl]
		back[last] = append(back[last], c)
		if third := c[minControl-1]; strings.ContainsAny(c, "|[") {
			front[third] = append(front[third], c)
		}
	}
	return
}()

func withoutOpening(s string) string {
	for again := true; again; {
		again = false
		t := strings.TrimLeftFunc(s, unicode.IsSpace)
		if len(t) < minControl {
			break
		}
		for _, c := range openingTokens[t[minControl-1]] {
			if standsAt(t, 0, c) {
				s, again = strings.TrimLeftFunc(t[len(c):], unicode.IsSpace), true
				break
			}
		}
	}
	return s
}

// withoutClosing takes off what closes a text, and what opened it if that stands
// at its beginning. all: s is all of the text.
func withoutClosing(s string, all bool) string {
	unopened := "" // what is known to open nothing in s, so that it is looked for once
	for again := true; again; {
		again = false
		t := strings.TrimRightFunc(s, unicode.IsSpace)
		if len(t) < minControl {
			break
		}
		for _, c := range closingTokens[t[len(t)-minControl]] {
			if !standsAt(t, max(len(t)-len(c), 0), c) {
				continue
			}
			rest := t[:len(t)-len(c)]
			if open := frames[c]; open != "" && open != unopened {
				switch k := strings.LastIndex(rest, open); {
				case k < 0:
					unopened = open
				case all && strings.TrimSpace(rest[:k]) == "":
					rest = strings.TrimLeftFunc(rest[k+len(open):], unicode.IsSpace)
				default:
					return s
				}
			}
			s, again = strings.TrimRightFunc(rest, unicode.IsSpace), true
			break
		}
	}
	return s
}
