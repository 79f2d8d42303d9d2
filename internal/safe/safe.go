// Package safe answers: what of a text may reach a terminal or a page?
//
// What models, servers, tools and files say is shown to people, and a terminal
// obeys what it is sent: it must not be told to repaint the question, to set its
// title or to read right to left. So nothing reaches it but text. This is the
// one place that says what that is.
package safe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Block returns a text as a block that a terminal shows and does not obey: what
// is not text is escaped as in JSON, so that JSON stays the same JSON; line ends
// and tabs stay.
func Block(text string) string {
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
		case Hidden(r, before, rest):
			Escape(&out, r)
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

// Hidden reports whether a rune is no text: a control character, one that
// changes the direction of writing, or one that nobody can see; before is the rune in front of it,
// 0 for none, and rest what follows. Joiners are text
// where they join what is written with them.
func Hidden(r, before rune, rest string) bool {
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

// Escape writes a rune as JSON escapes it.
func Escape(out *strings.Builder, r rune) {
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
