package window

import (
	"strings"

	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

// stubArgs is how much of a call's arguments a stub shows, in bytes.
const stubArgs = 80

// Stub returns the line that stands in the place of a result for one of the
// reasons of a [event.ContextEdit]: what it was, how large, and how it can be read
// if the run offers a tool for that. It is one line of at most some 100 tokens.
func Stub(e *Entry, why string, r Reach) string {
	var b strings.Builder
	b.WriteString("[rein: ")
	switch why {
	case OldResult:
		b.WriteString("old result of ")
	case HandledError:
		b.WriteString("error of ")
	default:
		b.WriteString("result of ")
	}
	b.WriteString(oneLine(e.Tool, stubArgs))
	if e.Args != "" && e.Args != "{}" {
		b.WriteString(" " + oneLine(e.Args, stubArgs))
	}
	b.WriteString(" removed, " + group3(e.Tokens) + " tokens")
	switch why {
	case Duplicate:
		b.WriteString("; call " + oneLine(e.Same, stubArgs) + " had the same]")
		return b.String()
	case ObsoleteRead:
		b.WriteString("; out of date since call " + oneLine(e.Newer, stubArgs))
	case HandledError:
		b.WriteString("; the tool has succeeded since")
	}
	if how := e.howToRead(r); how != "" {
		b.WriteString("; " + how)
	}
	b.WriteString("]")
	return b.String()
}

// howToRead says with which tool a result can be read; empty for none.
func (e *Entry) howToRead(r Reach) string {
	switch {
	case e.Paged && r.Page:
		return tool.ReadArtifact + " with call " + oneLine(e.Call, stubArgs) + " shows it"
	case r.Search:
		return tool.SearchHistory + " finds it"
	}
	return ""
}

// oneLine returns a text as one line of at most most bytes and a sign that it was
// cut: between words, if there are any, else between characters.
func oneLine(s string, most int) string {
	longer := len(s) > most
	if longer {
		n := cut.Down(s, most)
		if i := strings.LastIndexAny(s[:n], " \t\n"); i > most/2 {
			n = i
		}
		s = s[:n]
	}
	s = strings.Join(strings.Fields(s), " ")
	if longer {
		s += "…"
	}
	return s
}

// group3 writes a number that is not negative with a comma between thousands.
func group3(n int64) string {
	var digits [27]byte
	i := len(digits)
	for k := 0; ; k++ {
		if k > 0 && k%3 == 0 {
			i--
			digits[i] = ','
		}
		i--
		digits[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(digits[i:])
		}
	}
}
