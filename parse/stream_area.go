package parse

import "strings"

// An area is a part of the text in which, if it ends as it should, nothing is
// taken for a call.
type areaKind uint8

const (
	noArea areaKind = iota
	// dataArea is a value of JSON that is no call.
	dataArea
	// fenceArea is a fenced block.
	fenceArea
	// jsonArea is a fenced block of JSON.
	jsonArea
)

type area struct {
	kind areaKind
	// at is where it begins, next the length of text at which it is looked at.
	at, next int
	// ticks is the number of backticks that open it, body where its JSON begins.
	ticks, body int
	// line is where a line begins, up to which the block was looked at; in s[:seen]
	// no other ends it.
	line, seen int
	// close is where the first backticks stand that could close a block of JSON; 0
	// if there are none yet.
	close int
	// call: it begins as calls do.
	call bool
}

// advance looks for the next line end, at which fenced blocks may end.
func (a *area) advance(s string) {
	if a.kind != fenceArea && a.kind != jsonArea || a.next != never {
		return
	}
	if a.kind == jsonArea && a.close == 0 {
		k := strings.Index(s[a.seen:], fence)
		if k < 0 {
			a.seen = max(a.seen, len(s)-len(fence)+1)
			return
		}
		a.close = a.seen + k
		a.seen = a.close
	}
	if k := strings.IndexByte(s[a.seen:], '\n'); k >= 0 {
		a.next = a.seen + k + 1
		a.seen = a.next
		return
	}
	a.seen = len(s)
}

// shuts reports whether the line of s that ends with it closes the block.
func (a *area) shuts(s string) bool {
	i := a.line
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	n := run(s, i)
	return n >= min(a.ticks, 6) && n >= 3 && lineEnd(s, i+n) <= len(s)
}

// inArea looks whether the area ends in s.
func (st *Stream) inArea(s string) {
	a := &st.area
	switch a.kind {
	case dataArea:
		end, state := dataEnd(s, a.at)
		switch {
		case !st.spend(len(s)-a.at, s):
			st.leave(st.at, true)
		case state == whole:
			st.leave(end, false)
		case state == cut:
			a.next = grown(a.at, len(s))
		default:
			st.leave(a.at+1, false)
		}
	case fenceArea:
		if a.shuts(s) {
			st.from = len(s)
			st.leave(len(s), a.call)
			return
		}
		a.line, a.next = len(s), never
	case jsonArea:
		r := reading{s: s, in: &st.in, fences: fences{s: s}, budget: never}
		f, end := r.jsonBlock(a.at, a.body, a.ticks)
		shut, _ := r.fences.closer(a.body, a.ticks)
		switch {
		case !st.spend(len(s)-a.at, s):
			st.leave(st.at, true)
		case shut == len(s) && end == len(s):
			a.next = never
		default:
			st.from = end
			st.leave(end, !f.empty && !f.group.foreign && st.in.known(f.calls) > 0)
		}
	}
}

// leave ends the area, to go on at s[i]; for good, if what it holds is kept back
// to the end.
func (st *Stream) leave(i int, held bool) {
	if held && st.hold < 0 {
		st.hold = st.tail(st.area.at)
	}
	st.area = area{next: never}
	if st.cand.next = 0; !held {
		st.at, st.hold = i, -1
	}
}
