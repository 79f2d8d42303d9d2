package parse

import (
	"strings"

	"rein.example/rein/dialect"
)

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

// A streamMark is a marker, from the byte on that the scan stops at.
type streamMark struct {
	text string
	// head is what has to stand before it.
	head string
	// special: it ends reasoning that is open.
	special bool
}

// streamMarks is all markers, by their first two bytes; those of one byte by
// that and zero.
type streamMarks map[[2]byte][]streamMark

// controlMarks is the tokens of which a text is freed at its end.
var marks, controlMarks = func() (m, control streamMarks) {
	m, control = streamMarks{}, streamMarks{}
	for _, d := range dialect.All() {
		for _, o := range d.Open {
			m.add(o, d.Special)
		}
		for _, w := range d.Wrap {
			m.add(w, d.Special)
		}
		m.add(d.Head, d.Special)
		for _, c := range d.Close {
			m.add(c, false)
		}
	}
	for _, c := range dialect.Control() {
		m.add(c, false)
		control.add(c, false)
	}
	for _, e := range dialect.Echoes() {
		m.add(e.Open, false)
	}
	return m, control
}()

func (m streamMarks) add(text string, special bool) {
	i := strings.IndexAny(text, "<[")
	if i < 0 {
		return
	}
	k := key(text[i:])
	m[k] = append(m[k], streamMark{text[i:], text[:i], special})
}

// at says whether a marker begins at s[i].
func (m streamMarks) at(s string, i int) decision { return m.look(s, i, false) }

// special says whether one does that ends reasoning.
func (m streamMarks) special(s string, i int) decision { return m.look(s, i, true) }

func (m streamMarks) look(s string, i int, special bool) decision {
	rest := s[i:]
	found := none
	for _, k := range [...][2]byte{key(rest), {rest[0]}} {
		for _, t := range m[k] {
			switch {
			case special && !t.special || !strings.HasSuffix(s[:i], t.head):
			case strings.HasPrefix(rest, t.text):
				return holds
			case strings.HasPrefix(t.text, rest):
				found = undecided
			}
		}
	}
	if len(rest) == 1 {
		found = undecided
	}
	return found
}

// thinkMark says whether a mark of reasoning begins at s[i].
func thinkMark(s string, i int) verdict {
	rest := s[i:]
	v := verdict{what: none}
	for _, t := range dialect.Thinking() {
		switch {
		case strings.HasPrefix(rest, t.Open):
			return verdict{what: thought, end: i + len(t.Open), shut: t.Close}
		case t.Half && strings.HasPrefix(rest, t.Close):
			return verdict{what: halfThought, end: i + len(t.Close)}
		case strings.HasPrefix(t.Open, rest), t.Half && strings.HasPrefix(t.Close, rest):
			v.what = undecided
		}
	}
	return v
}
