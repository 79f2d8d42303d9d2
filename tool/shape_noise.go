package tool

import (
	"slices"
	"strings"
)

// What [event.ShowSpec.Noise] may name.
const (
	// NoiseTimestamps are dates with times at the beginnings of lines, as logs have
	// them, and members of JSON objects that are nothing else.
	NoiseTimestamps = "timestamps"
	// NoisePaths is the folder that most absolute paths have in common: they are
	// shown from there on.
	NoisePaths = "paths"
	// NoiseColumns are members of JSON objects in a list, and columns of a table,
	// that have the same value everywhere: it is said once.
	NoiseColumns = "columns"
)

// noises are the words, for those who check a declaration.
var noises = []string{NoiseTimestamps, NoisePaths, NoiseColumns}

func (s *shaper) quiet(noise string) bool { return slices.Contains(s.Spec.Show.Noise, noise) }

// denoise takes noise out of a text. Lines stay lines.
func (s *shaper) denoise() {
	if s.quiet(NoiseTimestamps) {
		s.dropTimes()
	}
	if s.quiet(NoisePaths) {
		s.shortenPaths()
	}
	if s.quiet(NoiseColumns) {
		s.dropTableColumns()
	}
}

// dropTimes leaves out the timestamps at the beginnings of lines.
func (s *shaper) dropTimes() {
	var out strings.Builder
	var n int
	var first, last string
	for line := range strings.Lines(s.text) {
		if k := timeAtStart(line); k > 0 {
			last = strings.Trim(line[:k], "[]() \t:")
			if n++; n == 1 {
				first = last
			}
			line = strings.TrimLeft(line[k:], " \t")
		}
		out.WriteString(line)
	}
	if n == 0 {
		return
	}
	s.text, s.lossy = out.String(), true
	s.note("timestamps at the beginning of %s left out (%s to %s)", lineCount(n, ""), plainName(first), plainName(last))
}

// timeAtStart returns where the timestamp ends that a line begins with, with its
// brackets and what divides it from the rest; 0 if there is none.
func timeAtStart(line string) int {
	at, closing := 0, byte(0)
	switch {
	case strings.HasPrefix(line, "["):
		at, closing = 1, ']'
	case strings.HasPrefix(line, "("):
		at, closing = 1, ')'
	}
	n := timeLength(line[at:])
	if n == 0 {
		return 0
	}
	at += n
	if closing != 0 {
		if at >= len(line) || line[at] != closing {
			return 0
		}
		at++
	}
	if at < len(line) && line[at] == ':' {
		at++
	}
	if at < len(line) && !strings.ContainsRune(" \t\r\n", rune(line[at])) {
		return 0
	}
	return at
}

// isTime reports whether a text is a date with a time and nothing else.
func isTime(s string) bool { return len(s) >= 16 && s[4] == '-' && timeLength(s) == len(s) }

// timeLength returns how long the timestamp is that a text begins with, 0 if it
// begins with none:
//
//	2026-03-04T05:06:07.123+01:00   2026-03-04 05:06   2026/03/04 05:06:07
//	Mar  4 05:06:07                 05:06:07.123
func timeLength(s string) int {
	for _, form := range []string{"dddd-dd-ddTdd:dd", "dddd/dd/ddTdd:dd", "aaa xd dd:dd", "dd:dd"} {
		if !matches(s, form) {
			continue
		}
		n := len(form)
		seconds := matches(s[n:], ":dd")
		if seconds {
			n += 3
			n += fraction(s[n:])
		}
		if form[0] != 'd' || form == "dd:dd" {
			if seconds {
				return n
			}
			return 0
		}
		return n + zone(s[n:])
	}
	return 0
}

// matches reports whether a text begins as a form says: d is a digit, x a digit or
// a blank, a a letter, T a T or a blank, anything else itself.
func matches(s, form string) bool {
	if len(s) < len(form) {
		return false
	}
	for i := range len(form) {
		c := s[i]
		digit := c >= '0' && c <= '9'
		ok := false
		switch form[i] {
		case 'd':
			ok = digit
		case 'x':
			ok = digit || c == ' '
		case 'a':
			ok = c|0x20 >= 'a' && c|0x20 <= 'z'
		case 'T':
			ok = c == 'T' || c == ' '
		default:
			ok = c == form[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

func fraction(s string) int {
	if len(s) < 2 || s[0] != '.' && s[0] != ',' {
		return 0
	}
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

func zone(s string) int {
	for _, form := range []string{"Z", "+dd:dd", "-dd:dd", "+dddd", "-dddd", " +dddd", " -dddd", " UTC"} {
		if matches(s, form) {
			return len(form)
		}
	}
	return 0
}
