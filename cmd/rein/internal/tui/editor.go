package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// maxDraft is the most characters that are typed or pasted at once; longer
// material belongs into files.
const maxDraft = 256 << 10

// editor is a text that is being typed.
type editor struct {
	text []rune
	at   int // the cursor is before text[at]
	// single: a line end is never part of the text.
	single bool
	// history, oldest first; back is how far the user has gone back in it, and
	// draft what was typed before that.
	history []string
	back    int
	draft   []rune
}

// set replaces the text.
func (e *editor) set(s string) { e.text = []rune(s); e.at = len(e.text) }

func (e *editor) string() string { return string(e.text) }

// take returns the text, remembers it and empties the editor.
func (e *editor) take() string {
	s := e.string()
	if strings.TrimSpace(s) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != s) {
		e.history = append(e.history, s)
	}
	e.text, e.at, e.back, e.draft = nil, 0, 0, nil
	return s
}

// insert puts text at the cursor.
func (e *editor) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if e.single {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	in := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	in = in[:min(len(in), maxDraft-min(len(e.text), maxDraft))]
	e.text = slices.Insert(e.text, e.at, in...)
	e.at += len(in)
}

// key takes a key and reports whether it meant anything.
func (e *editor) key(k tea.Key) bool {
	switch k.Keystroke() {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right", "ctrl+f":
		e.at = min(len(e.text), e.at+1)
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "backspace", "ctrl+h":
		e.cut(max(0, e.at-1), e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, min(len(e.text), e.at+1))
	case "ctrl+u":
		e.cut(e.lineStart(), e.at)
	case "ctrl+k":
		e.cut(e.at, e.lineEnd())
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordStart(), e.at)
	case "up", "ctrl+p":
		e.up()
	case "down", "ctrl+n":
		e.down()
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) cut(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

func (e *editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func (e *editor) wordStart() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

// up goes to the line above, and from the first line back in the history.
func (e *editor) up() {
	if start := e.lineStart(); start > 0 {
		column := e.at - start
		e.at = start - 1
		e.at = min(e.lineStart()+column, start-1)
		return
	}
	if e.back == len(e.history) {
		return
	}
	if e.back == 0 {
		e.draft = e.text
	}
	e.back++
	e.set(e.history[len(e.history)-e.back])
}

// down goes to the line below, and from the last line forth in the history.
func (e *editor) down() {
	if end := e.lineEnd(); end < len(e.text) {
		column := e.at - e.lineStart()
		e.at = end + 1
		e.at = min(e.at+column, e.lineEnd())
		return
	}
	if e.back == 0 {
		return
	}
	if e.back--; e.back == 0 {
		e.set(string(e.draft))
		return
	}
	e.set(e.history[len(e.history)-e.back])
}

// cursorMark stands where the next character goes.
const cursorMark = '▏'

// lines returns the text with its cursor after a prompt, wrapped to the width:
// at most that many lines around the cursor.
func (e *editor) lines(prompt string, columns, rows int) []string {
	if 2*width(prompt) > columns {
		prompt = ""
	}
	s := printable(string(e.text[:e.at])) + string(cursorMark) + printable(string(e.text[e.at:]))
	indent := strings.Repeat(" ", width(prompt))
	all := split(s, columns-width(prompt), false)
	at := slices.IndexFunc(all, func(line string) bool { return strings.ContainsRune(line, cursorMark) })
	rows = max(rows, 1)
	from := max(0, min(at-rows/2, len(all)-rows))
	all = all[from:min(len(all), from+rows)]
	for i := range all {
		if i == 0 {
			all[i] = prompt + all[i]
		} else {
			all[i] = indent + all[i]
		}
	}
	return all
}
