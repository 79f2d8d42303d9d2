package html

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/safe"
	"rein.example/rein/trace"
)

// visible returns a text as HTML that shows all of it and is nothing else: what is
// no text (control characters, those that turn the direction of writing, those that
// nobody can see, bytes that are not UTF-8) is written out as an escape, which is marked,
// so that it is told from the same characters in the text. The result stands wherever
// text stands in HTML; it is at most 15 times as long.
func visible(text string) template.HTML {
	var out strings.Builder
	out.Grow(len(text) + len(text)/16)
	marked := false
	mark := func(on bool) {
		if on != marked {
			if marked = on; on {
				out.WriteString("<i>")
			} else {
				out.WriteString("</i>")
			}
		}
	}
	var before rune
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		rest := text[i+n:]
		switch {
		case r == '\r' && strings.HasPrefix(rest, "\n"):
		case r == utf8.RuneError && n == 1:
			mark(true)
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r != '\n' && r != '\t' && safe.Hidden(r, before, rest):
			mark(true)
			safe.Escape(&out, r)
		default:
			mark(false)
			switch r {
			case '<':
				out.WriteString("&lt;")
			case '>':
				out.WriteString("&gt;")
			case '&':
				out.WriteString("&amp;")
			case '"':
				out.WriteString("&#34;")
			case '\'':
				out.WriteString("&#39;")
			default:
				out.WriteString(text[i : i+n])
			}
		}
		before, i = r, i+n
	}
	mark(false)
	return template.HTML(out.String())
}

// mostLine is the most characters of what stands on a line: a name, a reason.
const mostLine = 300

// line is visible for a text on one line, cut to at most mostLine characters. What is
// longer stands elsewhere on the page, or is nothing but a name.
func line(text string) template.HTML { return clip(text, mostLine) }

// clip is visible for the beginning of a text on one line, at most that many characters.
func clip(text string, most int) template.HTML { return visible(clipped(text, most)) }

// clipped returns the beginning of a text on one line: spaces and line ends become one
// space, and an ellipsis stands where something is left out.
func clipped(text string, most int) string {
	var out strings.Builder
	n, space := 0, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = out.Len() > 0
			continue
		}
		if n >= most || space && n+1 >= most {
			return out.String() + "…"
		}
		if space {
			out.WriteByte(' ')
			n, space = n+1, false
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			out.WriteByte(text[i])
		} else {
			out.WriteRune(r)
		}
		n++
	}
	return out.String()
}

// block is a text as a page shows it: all of it, or its beginning and its end.
type block struct {
	Head, Tail template.HTML
	// Shown and Of are bytes; they differ where something is missing.
	Shown, Of int64
	// At is where the page has all that it shows of the text, for one that stands there
	// already, as a fragment; empty otherwise.
	At string
}

// Cut reports whether something is missing that the page does not have elsewhere.
func (b *block) Cut() bool { return b.Shown < b.Of && b.At == "" }

// ends returns where a text is cut that may show most bytes: the end of its beginning,
// and the beginning of its end, which takes a quarter.
func ends(text string, most int) (head, tail int) {
	if len(text) <= most {
		return len(text), len(text)
	}
	return cut.Down(text, most-most/4), cut.Up(text, len(text)-most/4)
}

// shorten returns a text with at most that many bytes of it.
func shorten(text string, most int) *block {
	head, tail := ends(text, most)
	b := &block{Head: visible(text[:head]), Of: int64(len(text)), Shown: int64(head + len(text) - tail)}
	if tail < len(text) {
		b.Tail = visible(text[tail:])
	}
	return b
}

// pretty returns JSON with its members on lines of their own, and what is no JSON as
// it is.
func pretty(text string) string {
	v := jsontext.Value(strings.Clone(text))
	if len(text) > 1<<20 || v.Indent(jsontext.WithIndent("  ")) != nil {
		return text
	}
	return string(v)
}

// number writes a number with commas.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural is a number of things.
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// duration writes milliseconds.
func duration(ms int64) string {
	switch {
	case ms < 1000:
		return number(ms) + " ms"
	case ms < 60_000:
		return fmt.Sprintf("%d.%d s", ms/1000, ms%1000/100)
	case ms < 3_600_000:
		return fmt.Sprintf("%d min %d s", ms/60_000, ms%60_000/1000)
	}
	return fmt.Sprintf("%s h %d min", number(ms/3_600_000), ms%3_600_000/60_000)
}

// unknown stands for a number that nobody reported.
const unknown = "unknown"

// dollars writes an amount.
func dollars(u *trace.USD) string {
	if u == nil {
		return unknown
	}
	b, _ := u.MarshalJSON() // which cannot fail
	return "$" + string(b)
}

// counted writes a number that may be unknown, or not belong where it stands.
func counted(n *int64) string {
	if n == nil {
		return "–"
	}
	return number(*n)
}
