package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// What a model wrote as arguments may end, for one who reads JSON, before the
// model was done with them: a bracket too many in the middle is enough. What was
// read so far is then JSON and still not what was meant. The places below tell
// such a remainder from what may follow a call.

// beyond returns where the remainder ends that stands at s[i], behind the JSON of a
// call of d, and was meant as a part of it; i if nothing there was. Before the
// block's own closer that is all but white space and other markers; without one,
// what goes on as JSON does.
func (r *reading) beyond(d *dialect.Dialect, i int) (end int) {
	next := r.nextMarker(d, i)
	if next < len(r.s) && !d.EndsTurn && r.closerAt(d, next) {
		if r.overMarkers(i, next) == next {
			return i
		}
		return next
	}
	if goesOnAsJSON(r.s[:next], i) {
		return next
	}
	return i
}

// overMarkers steps over white space, the ends of fences and markers that say
// nothing, as far as s[end].
func (r *reading) overMarkers(i, end int) int {
	for {
		i = skip(r.s, i)
		n := 0
		switch {
		case i >= end:
			return end
		case r.s[i] == '`':
			n = run(r.s, i)
		case r.s[i] == '<' || r.s[i] == '[':
			if m := markupAt(r.s, i); m != nil {
				n = len(m.text)
			} else if strings.HasPrefix(r.s[i:], "</") {
				if t, ok := r.tagAt(i); ok && !t.torn {
					n = t.end - i
				}
			}
		}
		if n == 0 || i+n > end {
			return i
		}
		i += n
	}
}

// goesOnAsJSON reports whether what follows a JSON value at s[i] can only be more
// of what the value stands in.
func goesOnAsJSON(s string, i int) bool {
	if i = skip(s, i); i == len(s) {
		return false
	}
	switch s[i] {
	case ',':
		return skip(s, i+1) < len(s)
	case '}', ']', ':', '"':
		return surplus(s, i) < len(s)
	}
	return false
}

// withClosers returns a JSON text that lacks only brackets at its end, with them.
// It reports false where something else may be missing.
func withClosers(text string) (string, bool) {
	text = trim(text)
	if text == "" || strings.IndexByte(",:{[", text[len(text)-1]) >= 0 {
		return "", false
	}
	var open []byte
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"':
			end, st := stringEnd(text, i)
			if st != whole {
				return "", false
			}
			i = end
			continue
		case '{', '[':
			if len(open) == MaxDepth {
				return "", false
			}
			open = append(open, c+2)
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return "", false
			}
			open = open[:len(open)-1]
		}
		i++
	}
	if len(open) == 0 {
		return "", false
	}
	out := []byte(text)
	for n := len(open) - 1; n >= 0; n-- {
		out = append(out, open[n])
	}
	return string(out), true
}

// ended reports whether the JSON of a block of d that lacks brackets was surely
// written to its end: the block's own closer stands at s[i], and no other that
// may be the real one, with this one in a string.
func (r *reading) ended(d *dialect.Dialect, i int) bool {
	if !r.closerAt(d, i) {
		return false
	}
	after := r.closers(d, i)
	next := r.nextMarker(d, after)
	return next == len(r.s) || !r.closerAt(d, next)
}

// leftOver gives the last of the calls that end before s[end] the problem that
// more of it follows, if it does: then what was written of it begins at s[from].
// It returns the index after that.
func (r *reading) leftOver(d *dialect.Dialect, calls []event.ParsedCall, problem string, from, end int) int {
	n := len(calls)
	if n == 0 {
		return end
	}
	stop := r.beyond(d, end)
	if stop == end {
		return end
	}
	if c := &calls[n-1]; c.Problem == "" {
		c.Args, c.Problem, c.Repairs = trim(r.s[from:stop]), problem, nil
	}
	return stop
}

// trimBlank returns the index after the last byte of s[:i] that is no white space.
func trimBlank(s string, i int) int {
	for i > 0 && blank(s[i-1]) {
		i--
	}
	return i
}
