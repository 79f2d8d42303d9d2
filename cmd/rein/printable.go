package main

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/safe"
)

// printable returns a text as a block that a terminal shows and does not obey.
func printable(text string) string { return safe.Block(text) }

// clip returns the beginning of a text on one line, at most that many columns
// wide: spaces and line ends become one space, the rest is as [printable] has
// it, and what is left out is marked with an ellipsis.
func clip(text string, columns int) string {
	var out strings.Builder
	var before rune
	width, cut, space := 0, 0, false
	// A line holds no more runes than this, whatever their width: marks that
	// take no column of their own could go on for ever.
	runes := 4 * columns
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		rest := text[i+n:]
		var piece strings.Builder
		wide := 0
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
			before, i = ' ', i+n
			continue
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&piece, `\x%02x`, text[i])
			wide = piece.Len()
		case safe.Hidden(r, before, rest):
			safe.Escape(&piece, r)
			wide = piece.Len()
		default:
			piece.WriteRune(r)
			wide = runeWidth(r)
		}
		before, i = r, i+n
		gap := 0
		if space {
			gap = 1
		}
		runes--
		if width+gap+wide > columns || runes < 0 {
			return out.String()[:cut] + "…"
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteString(piece.String())
		if width += gap + wide; width < columns {
			cut = out.Len() // room is left for the ellipsis
		}
	}
	return out.String()
}

// nameWidth is the most columns of a name: a tool's, a file's, a model's.
const nameWidth = 60

// name returns a name on one line.
func name(text string) string { return clip(text, nameWidth) }

// wideRunes take two columns: East Asian text and emoji.
var wideRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18cff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// runeWidth returns how many columns a rune takes, as terminals commonly have it.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wideRunes, r):
		return 2
	}
	return 1
}

// painted is a text that may go to a terminal as it is: printable, perhaps with
// the colours of [app.paint] about it.
type painted string

// safely returns what is to be formatted with all texts in it printable.
func safely(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case painted:
			out[i] = string(v)
		case string:
			out[i] = printable(v)
		case []byte:
			out[i] = printable(string(v))
		case jsontext.Value:
			out[i] = printable(string(v))
		case error, fmt.Stringer:
			out[i] = printable(fmt.Sprint(v))
		default:
			if out[i] = v; reflect.ValueOf(v).Kind() == reflect.String { // words of a kind of their own
				out[i] = printable(fmt.Sprint(v))
			}
		}
	}
	return out
}

// format is fmt.Sprintf with all texts in its arguments made printable.
func format(layout string, args ...any) painted {
	return painted(fmt.Sprintf(layout, safely(args)...))
}
