package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
)

// marker takes the block that a marker at s[i] begins, if one does.
func (r *reading) marker(i int) int {
	var buf [mostOpeners]*opener
	openers := openersAt(r.s, i, buf[:0])
	for _, o := range openers {
		if end := r.opened(i, o); end > i {
			return end
		}
	}
	if end := r.tagged(i, openers); end > i {
		return end
	}
	for _, o := range openers {
		if end := r.unread(i, o); end > i {
			return end
		}
		if r.only != nil && o.special() && !slices.Contains(o.rows, r.only) && o.anchor == 0 {
			// A token that means something to other models only.
			r.markup = append(r.markup, span{i, i + len(o.text)})
			return i + len(o.text)
		}
	}
	if m := markupAt(r.s, i); m != nil {
		if m.wraps && r.hollow < 0 && (m.special || r.lineStart(i)) {
			r.hollow = i
		}
		end := i + len(m.text)
		r.markup = append(r.markup, span{i, end})
		return end
	}
	return 0
}

// opened lets the rows of an opener read what it begins, in their order.
func (r *reading) opened(i int, o *opener) int {
	start := i - o.anchor
	body := start + len(o.text)
	if r.repeated(o.text, body) {
		return 0
	}
	rest := r.s[skip(r.s, body):]
	for _, d := range o.rows {
		if r.only != nil && r.only != d || !mayBegin(d, o.text, rest) {
			continue
		}
		b, ok := r.read(d, start, body)
		if ok {
			return r.take(d, b, start)
		}
	}
	return 0
}

// repeated reports whether a marker is followed by itself more often than any
// model doubles it, so that no row need look what comes then.
func (r *reading) repeated(text string, i int) bool {
	for range maxRepeats + 1 {
		if i = skip(r.s, i); !strings.HasPrefix(r.s[i:], text) {
			return false
		}
		i += len(text)
	}
	return true
}

// take records a block of a dialect.
func (r *reading) take(d *dialect.Dialect, b block, start int) int {
	start = r.wrapped(d, max(start-b.back, r.from, 0))
	b.end = r.pastHalf(d, min(max(b.end, start+1), len(r.s)))
	r.rename(b.calls)
	switch {
	case b.reasoning:
		if b.text.to == 0 {
			b.text = span{start, b.end}
		}
		r.thought = append(r.thought, b.text)
		r.cuts = append(r.cuts, span{start, b.end})
		r.open, r.from = -1, b.end
		return b.end
	case b.said:
		r.cuts = append(r.cuts, span{start, b.text.from}, span{b.text.to, b.end})
		r.from = b.end
		return b.end
	}
	r.blocks++
	r.keep(found{block: b, from: start, format: d.ID})
	r.from = b.end
	return b.end
}

// unread is what to do with a marker after which no row finds a call. What
// holds something, from a marker that nobody writes by chance to its closer or
// the end, was meant as a call; anything else is text.
func (r *reading) unread(i int, o *opener) int {
	start := i - o.anchor
	body := start + len(o.text)
	d := o.rows[0]
	if r.only != nil && slices.Contains(o.rows, r.only) {
		d = r.only
	}
	if r.only != nil && r.only != d || o.wraps || o.anchor > 0 && !d.Special {
		return 0 // the last: words that stand in other texts too
	}
	end, closed := r.closer(d, body)
	if !r.lineStart(start) && !(closed && strings.ContainsAny(r.s[body:r.closerStart(d, body)], "{}[]()<>=:_")) {
		return 0 // the text speaks of the marker
	}
	if !closed {
		end = len(r.s)
	}
	r.blocks++
	r.keep(found{
		block:  block{end: end, cut: !closed, problem: "what stands after " + o.text + " can not be read as a call: " + excerpt(r.s[body:end], 0)},
		from:   start,
		format: d.ID,
	})
	r.from = end
	return end
}

// closer returns the index after the first closer of d at or after i.
func (r *reading) closer(d *dialect.Dialect, i int) (end int, ok bool) {
	at, n := len(r.s), 0
	for _, c := range d.Close {
		if k := r.spot(c, i); k < at {
			at, n = k, len(c)
		}
	}
	return at + n, n > 0
}

// closerStart returns where the first closer of d at or after i begins, or
// len(s).
func (r *reading) closerStart(d *dialect.Dialect, i int) int {
	at := len(r.s)
	for _, c := range d.Close {
		at = min(at, r.spot(c, i))
	}
	return at
}

// closers steps over blanks and any number of d's closers, and returns the
// index after the last.
func (r *reading) closers(d *dialect.Dialect, i int) int {
	for {
		j, more := skip(r.s, i), false
		for _, c := range d.Close {
			if strings.HasPrefix(r.s[j:], c) {
				i, more = j+len(c), true
				break
			}
		}
		if !more {
			return i
		}
	}
}

// wrapped returns where the wrappers of d begin that stand right before s[i], so
// that they go where the block goes.
func (r *reading) wrapped(d *dialect.Dialect, i int) int {
	for again := true; again; {
		again = false
		k := i
		for k > r.from && blank(r.s[k-1]) {
			k--
		}
		for _, w := range d.Wrap {
			if strings.HasSuffix(r.s[r.from:k], w) {
				i, again = k-len(w), true
				break
			}
		}
	}
	return i
}

// pastHalf returns the end of the text if nothing but the beginning of a closer
// or wrapper of d stands at s[i], else i.
func (r *reading) pastHalf(d *dialect.Dialect, i int) int {
	j := skip(r.s, i)
	rest := r.s[j:]
	if len(rest) < 2 {
		return i
	}
	for _, list := range [...][]string{d.Close, d.Wrap} {
		for _, c := range list {
			if len(rest) < len(c) && strings.HasPrefix(c, rest) {
				return len(r.s)
			}
		}
	}
	return i
}
