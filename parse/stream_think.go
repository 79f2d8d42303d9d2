package parse

import "strings"

// thinking is reasoning that is open.
type thinking struct {
	on bool
	// at is where its mark stands, and body where it begins.
	at, body int
	// shut is the mark that ends it, which s[:seen] has not.
	shut string
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
	if k := strings.Index(st.s[t.seen:], t.shut); k >= 0 {
		end := t.seen + k
		st.showUpTo(t.at)
		st.reasoning.piece(st.s[max(t.body, st.reasoning.upTo):end])
		st.taken(end + len(t.shut))
		st.think.on, st.opening = false, true
		return true
	}
	t.seen = max(t.seen, len(st.s)-len(t.shut)+1)
	for t.fresh && t.stop < 0 && t.scan < len(st.s) {
		k := strings.IndexAny(st.s[t.scan:], "<[")
		if k < 0 {
			t.scan = len(st.s)
			break
		}
		t.scan += k
		rest := st.s[t.scan:]
		if strings.HasPrefix(t.shut, rest) {
			break
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
	return st.tail(min(t.scan, st.solid))
}
