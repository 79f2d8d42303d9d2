package parse

import "strings"

// inside looks for what ends reasoning that was left open: the marker of a call
// that only a model that is done thinking writes.
func (r *reading) inside(i int) int {
	open, from := r.open, r.from
	n, cuts, thought := len(r.found), len(r.cuts), len(r.thought)
	var buf [mostOpeners]*opener
	for _, o := range openersAt(r.s, i, buf[:0]) {
		if !o.special() {
			continue
		}
		r.open = -1
		end := r.opened(i, o)
		start := i
		switch {
		case len(r.found) > n:
			start = r.found[n].from
		case len(r.cuts) > cuts && len(r.thought) == thought: // something is said
			start = r.cuts[cuts].from
		default:
			r.cuts, r.thought = r.cuts[:cuts], r.thought[:thought]
			r.open, r.from = open, from
			continue
		}
		r.think(open, start)
		r.from = end
		return end
	}
	return i + 1
}

// think records reasoning.
func (r *reading) think(from, to int) {
	r.thought = append(r.thought, span{from, to})
	r.cuts = append(r.cuts, span{from, to})
	r.open = -1
	r.from = to
}

// reasoning takes the reasoning that s[i] opens, or that it ends where the
// prompt had opened it.
func (r *reading) reasoning(i int) int {
	p, shut, body := r.in.thinkMarkAt(r.s, i)
	switch {
	case p == nil:
		return 0
	case shut && p.Half:
		return r.halfThought(i, body)
	case shut:
		return 0
	}
	at, end := r.shut(p, body)
	switch {
	case at < len(r.s):
		r.think(i, end)
		return r.from
	case r.fresh(i):
		r.open = i
		return body
	}
	return 0
}

// sentence takes the reasoning that a reply begins with, between sentences that
// say so, and returns where it ends.
func (r *reading) sentence() int {
	p, at := thinkSentence(r.s)
	if p == nil {
		return 0
	}
	k := strings.Index(r.s, p.Close)
	if k < 0 {
		return 0 // a text about a thought, and all of what it says
	}
	r.think(at, k+len(p.Close))
	return r.from
}

// halfThought takes all text so far for reasoning: the prompt had opened it.
// What was found in it was a draft.
func (r *reading) halfThought(i, end int) int {
	for k := range r.found {
		if len(r.found[k].calls) > 0 {
			r.note("a call of " + quote(r.found[k].calls[0].Name) + " in the reasoning was left alone")
		}
	}
	r.found, r.blocks = r.found[:0], 0
	r.cuts, r.markup = r.cuts[:0], r.markup[:0]
	r.thought = r.thought[:0]
	r.think(0, end)
	return end
}

// draftEnd returns where the reasoning ends that all text before s[i] is, if what
// follows says so: then no block before that counts, however many there are. 0 if
// it is none.
func (r *reading) draftEnd(i int) int {
	for ; i < len(r.s); i++ {
		if c := r.s[i]; c != '<' && c != '[' && c != thinkToken[0] {
			continue
		}
		p, shut, body := r.in.thinkMarkAt(r.s, i)
		switch {
		case p == nil:
		case shut && p.Half:
			return r.halfThought(i, body)
		case !shut:
			if at, end := r.shut(p, body); at < len(r.s) {
				i = end - 1
			}
		}
	}
	return 0
}
