package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/safe"
)

// printable returns a text that a terminal shows and does not obey, tabs as
// spaces, so that its width is known.
func printable(s string) string { return strings.ReplaceAll(safe.Block(s), "\t", "    ") }

// printableLine is printable for a line of Rein's own that may hold colours.
func printableLine(s string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			out.WriteString(printable(s))
			return out.String()
		}
		end := i + 2
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
			end++
		}
		if end < len(s) && s[end] == 'm' {
			out.WriteString(printable(s[:i]))
			out.WriteString(s[i : end+1])
			s = s[end+1:]
			continue
		}
		out.WriteString(printable(s[:i+1]))
		s = s[i+1:]
	}
}

func runeWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return lipgloss.Width(string(r))
}

// width returns the columns of a printable text, never fewer than it takes:
// joined runes are counted one by one.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// most is how many bytes of a text are looked at to show a line of it.
const most = 4096

// clip returns the beginning of a text on one line, printable and at most that
// many columns wide; what is left out is marked with an ellipsis.
func clip(s string, columns int) string {
	longer := len(s) > most
	if longer {
		s = head(s, most)
	}
	s = printable(strings.Join(strings.Fields(s), " "))
	if !longer && width(s) <= columns {
		return s
	}
	if columns < 1 {
		return ""
	}
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > columns-1 {
			return s[:i] + "…"
		}
	}
	return s + "…"
}

// head returns the first n bytes of s or a little less: whole characters.
func head(s string, n int) string { return s[:cut.Down(s, n)] }

// tail returns the last n bytes of s or a little less: whole characters.
func tail(s string, n int) string { return s[cut.Up(s, len(s)-n):] }

// split breaks a printable text into lines of at most that many columns. With
// words it breaks between them where it can; without, every character stays.
func split(s string, columns int, words bool) []string {
	columns = max(columns, 2) // a wide character has to fit
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		start, space, n := 0, -1, 0
		for i, r := range line {
			w := runeWidth(r)
			if n+w > columns && i > start {
				end, next := i, i
				if words && space > start {
					end, next = space, space+1
				}
				out = append(out, line[start:end])
				start, space = next, -1
				n = width(line[start:i])
			}
			if r == ' ' && i > start {
				space = i
			}
			n += w
		}
		out = append(out, line[start:])
	}
	return out
}

// grouped returns a number with commas.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
