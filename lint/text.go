package lint

import (
	"strconv"
	"strings"
	"unicode"
)

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// anyOf reports whether one of the phrases stands in the text as whole words. An
// apostrophe parts words: don't is "don t".
func anyOf(text string, phrases ...string) bool {
	flat := " " + strings.Join(words(text), " ") + " "
	for _, p := range phrases {
		if strings.Contains(flat, " "+p+" ") {
			return true
		}
	}
	return false
}

// split returns the sentences of a text that have words.
func split(text string) []string {
	var out []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		for _, s := range strings.SplitAfter(line, ". ") {
			if len(words(s)) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// startsNegative reports whether a sentence begins by forbidding something.
func startsNegative(s string) bool {
	w := words(s)
	switch {
	case len(w) == 0:
		return false
	case w[0] == "never" || w[0] == "avoid" || w[0] == "not" || w[0] == "don" || w[0] == "dont":
		return true
	}
	return len(w) > 1 && (w[0] == "do" || w[0] == "must" || w[0] == "should") && w[1] == "not"
}

// quote returns the beginning of a text in quotes.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
