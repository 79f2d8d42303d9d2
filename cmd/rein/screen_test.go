//go:build unix

package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// screen is as much of a terminal as the view needs.
type screen struct {
	columns, rows int
	x, y          int
	lines         [][]rune
	gone          []string // scrolled off
	rest          string   // of a sequence that has not arrived completely
	last          rune
}

func newScreen(columns, rows int) screen {
	s := screen{}
	s.resize(columns, rows)
	return s
}

// resize cuts lines off above, as terminals do; it does not wrap them anew.
func (s *screen) resize(columns, rows int) {
	s.columns, s.rows = columns, rows
	for len(s.lines) > rows {
		s.gone = append(s.gone, string(s.lines[0]))
		s.lines = s.lines[1:]
		s.y--
	}
	for len(s.lines) < rows {
		s.lines = append(s.lines, nil)
	}
	s.x, s.y = max(0, min(s.x, columns-1)), max(0, min(s.y, rows-1))
}

func (s *screen) text() string {
	var out strings.Builder
	for _, l := range s.gone {
		out.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	for _, l := range s.lines {
		out.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return out.String()
}

func (s *screen) put(r rune) {
	if s.x >= s.columns {
		s.x = 0
		s.down()
	}
	l := s.lines[s.y]
	for len(l) <= s.x {
		l = append(l, ' ')
	}
	l[s.x] = r
	s.lines[s.y], s.last = l, r
	s.x++
}

func (s *screen) down() {
	if s.y < s.rows-1 {
		s.y++
		return
	}
	s.gone = append(s.gone, string(s.lines[0]))
	s.lines = append(s.lines[1:], nil)
}

func (s *screen) write(text string) {
	text = s.rest + text
	s.rest = ""
	for len(text) > 0 {
		n := 1
		switch c := text[0]; {
		case c == '\x1b':
			n = s.sequence(text)
		case c == '\r':
			s.x = 0
		case c == '\n':
			s.down()
		case c == '\b':
			s.x = max(0, s.x-1)
		case c == '\t':
			s.x = min(s.columns-1, s.x/8*8+8)
		case !utf8.FullRuneInString(text):
			n = 0
		case c >= ' ':
			var r rune
			r, n = utf8.DecodeRuneInString(text)
			s.put(r)
		}
		if n == 0 {
			s.rest = text
			return
		}
		text = text[n:]
	}
}

// sequence obeys one escape sequence and returns its length, 0 if it is not
// complete.
func (s *screen) sequence(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[':
	case ']', 'P':
		return strings.IndexAny(text, "\a\\") + 1
	case 'M':
		s.y = max(0, s.y-1)
		return 2
	default:
		return 2
	}
	end := 2
	for end < len(text) && (text[end] < '@' || text[end] > '~') {
		end++
	}
	if end == len(text) {
		return 0
	}
	s.control(text[2:end], text[end])
	return end + 1
}

func (s *screen) control(args string, final byte) {
	number := func(i, otherwise int) int {
		parts := strings.Split(args, ";")
		if i < len(parts) {
			if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
				return n
			}
		}
		return otherwise
	}
	n := number(0, 1)
	switch final {
	case 'A':
		s.y = max(0, s.y-n)
	case 'B':
		s.y = min(s.rows-1, s.y+n)
	case 'C':
		s.x = min(s.columns-1, s.x+n)
	case 'D':
		s.x = max(0, s.x-n)
	case 'G', '`':
		s.x = min(s.columns, n) - 1
	case 'd':
		s.y = min(s.rows, n) - 1
	case 'H', 'f':
		s.y, s.x = min(s.rows, n)-1, min(s.columns, number(1, 1))-1
	case 'J':
		s.erase(number(0, 0))
		clear(s.lines[s.y+1:])
	case 'K':
		s.erase(number(0, 0))
	case 'X':
		for x := s.x; x < min(s.x+n, len(s.lines[s.y])); x++ {
			s.lines[s.y][x] = ' '
		}
	case 'P':
		if l := s.lines[s.y]; s.x < len(l) {
			s.lines[s.y] = append(l[:s.x], l[min(len(l), s.x+n):]...)
		}
	case '@':
		for range n {
			if l := s.lines[s.y]; s.x < len(l) {
				s.lines[s.y] = append(l[:s.x], append([]rune{' '}, l[s.x:]...)...)
			}
		}
	case 'L':
		for range min(n, s.rows-s.y) {
			copy(s.lines[s.y+1:], s.lines[s.y:s.rows-1])
			s.lines[s.y] = nil
		}
	case 'M':
		for range min(n, s.rows-s.y) {
			copy(s.lines[s.y:], s.lines[s.y+1:])
			s.lines[s.rows-1] = nil
		}
	case 'b':
		for range n {
			s.put(s.last)
		}
	case 'm', 'h', 'l', 'p', 'u', 'q', 'n', 'c', 's', 'r', 't', 'W':
		// Colours, modes and questions don't show.
	default:
		panic(fmt.Sprintf("the test's terminal does not know CSI %s %c", args, final))
	}
}

// erase clears the line from the cursor (0), up to it (1) or all of it (2).
func (s *screen) erase(how int) {
	switch l := s.lines[s.y]; {
	case how == 2:
		s.lines[s.y] = nil
	case how == 1:
		for x := range min(s.x+1, len(l)) {
			l[x] = ' '
		}
	case s.x < len(l):
		s.lines[s.y] = l[:s.x]
	}
}
