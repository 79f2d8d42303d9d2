package parse

import "strings"

// thinking is reasoning that is open.
type thinking struct {
	on bool
	// at is where its mark stands, and body where it begins.
	at, body int
	// pair is its marks, of which s[:seen] has not the second.
	pair *thinkPair
	seen int
	// fresh: nothing stands before it, so that it is reasoning even if it is never
	// closed.
	fresh bool
	// scan is up to where it holds no marker of a call that would end it; stop is
	// where one is, -1 for none.
	scan, stop int
}

// thinks goes on with reasoning that is open.
func (st *Stream) thinks() bool {
	t := &st.think
	at, end, may := t.pair.shutIn(st.s, t.seen)
	if at < end {
		st.showUpTo(t.at)
		st.reasoning.piece(st.s[max(t.body, st.reasoning.upTo):at])
		st.taken(end)
		st.think.on, st.opening = false, true
		return true
	}
	t.seen = may
	for t.fresh && t.stop < 0 && t.scan < len(st.s) {
		k := strings.IndexAny(st.s[t.scan:], "<[")
		if k < 0 {
			t.scan = len(st.s)
			break
		}
		t.scan += k
		if t.scan >= t.seen {
			break // it may be the mark
		}
		switch marks.special(st.s, t.scan) {
		case undecided:
			return false
		case holds:
			t.stop = st.tail(t.scan)
		default:
			t.scan++
		}
	}
	return false
}

// limit is up to where reasoning that is open may be shown.
func (t *thinking) limit(st *Stream) int {
	switch {
	case !t.fresh:
		return 0
	case t.stop >= 0:
		return t.stop
	}
	return st.tail(min(t.scan, t.seen, st.solid))
}
