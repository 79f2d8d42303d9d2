package main

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What models, servers, tools and files say is shown to people, and a terminal
// obeys what it is sent: it must not be told to repaint the question, to set its
// title or to read right to left. So nothing reaches it but text.

// printable returns a text as a block that a terminal shows and does not obey:
// what is not text is escaped as in JSON, so that JSON stays the same JSON; line
// ends and tabs stay.
func printable(text string) string {
	if plain(text) {
		return text
	}
	var out strings.Builder
	var before rune
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		rest := text[i+n:]
		switch {
		case r == '\n', r == '\t':
			out.WriteRune(r)
		case r == '\r' && strings.HasPrefix(rest, "\n"):
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case hidden(r, before, rest):
			escape(&out, r)
		default:
			out.WriteRune(r)
		}
		before, i = r, i+n
	}
	return out.String()
}

// plain reports whether a text is ASCII that needs no escape, as nearly all is.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c > '~' {
			return false
		}
	}
	return true
}

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
		case hidden(r, before, rest):
			escape(&piece, r)
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

// hidden reports whether a rune is no text: a control character, one that
// changes the direction of writing, or one that nobody can see. Joiners are text
// where they join what is written with them.
func hidden(r, before rune, rest string) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == 0x200c, r == 0x200d:
		next, _ := utf8.DecodeRuneInString(rest)
		return before < utf8.RuneSelf || next < utf8.RuneSelf || unicode.Is(unicode.Cf, before)
	case r >= 0xfe00 && r <= 0xfe0f: // text or emoji: how the rune before looks
		return before < utf8.RuneSelf && !strings.ContainsRune("#*0123456789", before)
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// escape writes a rune as JSON escapes it.
func escape(out *strings.Builder, r rune) {
	switch {
	case r == '\r':
		out.WriteString(`\r`)
	case r > 0xffff:
		r -= 0x10000
		fmt.Fprintf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	default:
		fmt.Fprintf(out, `\u%04x`, r)
	}
}

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
