package parse

import (
	"strings"

	"rein.example/rein/dialect"
)

// A streamMark is a marker, from the byte on that the scan stops at.
type streamMark struct {
	text string
	// head is what has to stand before it.
	head string
	// special: it ends reasoning that is open.
	special bool
	// verdict is what it begins, if that is reasoning or its end; its end is the
	// marker's length.
	verdict verdict
}

// streamMarks are markers by their first three bytes, those that are shorter with
// zeros.
type streamMarks struct {
	marks map[[3]byte][]streamMark
	// begins are the first byte and the first two bytes of each, with zeros.
	begins map[[3]byte]bool
}

// marks is all markers, controlMarks the tokens that a text is freed of at its
// end, and thinkMarks those around reasoning.
var marks, controlMarks, thinkMarks = func() (all, control, think *streamMarks) {
	all, control, think = newMarks(), newMarks(), newMarks()
	for _, d := range dialect.All() {
		for _, o := range d.Open {
			all.add(o, streamMark{special: d.Special})
		}
		for _, w := range append(d.Wrap[:len(d.Wrap):len(d.Wrap)], d.Head) {
			all.add(w, streamMark{special: d.Special})
		}
		for _, c := range d.Close {
			all.add(c, streamMark{})
		}
	}
	for _, c := range dialect.Control() {
		all.add(c, streamMark{})
		control.add(c, streamMark{})
	}
	for _, e := range dialect.Echoes() {
		all.add(e.Open, streamMark{})
	}
	for k := range thinkTokens {
		p := &thinkTokens[k]
		think.add(p.Open, streamMark{verdict: verdict{what: thought, end: len(p.Open), pair: p}})
		if p.Half {
			think.add(p.Close, streamMark{verdict: verdict{what: halfThought, end: len(p.Close), pair: p}})
		}
	}
	return all, control, think
}()

func newMarks() *streamMarks {
	return &streamMarks{marks: map[[3]byte][]streamMark{}, begins: map[[3]byte]bool{}}
}

func (m *streamMarks) add(text string, t streamMark) {
	i := strings.IndexAny(text, "<[")
	if strings.HasPrefix(text, thinkToken) {
		i = 0
	}
	if i < 0 || text == "" {
		return
	}
	t.head, t.text = text[:i], text[i:]
	k := key3(t.text)
	m.marks[k] = append(m.marks[k], t)
	m.begins[key3(t.text[:1])] = true
	m.begins[key3(t.text[:min(2, len(t.text))])] = true
}

func key3(s string) (k [3]byte) {
	copy(k[:], s)
	return k
}

// at says whether a marker begins at s[i].
func (m *streamMarks) at(s string, i int) decision {
	d, _ := m.look(s, i, false)
	return d
}

// special says whether one does that ends reasoning.
func (m *streamMarks) special(s string, i int) decision {
	d, _ := m.look(s, i, true)
	return d
}

// look returns the first marker that begins at s[i], if it is decided that one
// does.
func (m *streamMarks) look(s string, i int, special bool) (decision, *streamMark) {
	rest := s[i:]
	found := none
	if len(rest) < 3 && m.begins[key3(rest)] {
		found = undecided
	}
	for _, k := range [...][3]byte{key3(rest), {rest[0]}} {
		list := m.marks[k]
		for n := range list {
			switch t := &list[n]; {
			case special && !t.special:
			case strings.HasPrefix(rest, t.text):
				if strings.HasSuffix(s[:i], t.head) {
					return holds, t
				}
			case len(rest) < len(t.text) && strings.HasPrefix(t.text, rest):
				found = undecided
			}
		}
	}
	return found, nil
}

// thinkMark says whether a mark of reasoning begins at s[i].
func (in *Input) thinkMark(s string, i int) verdict {
	switch p, shut, end, more := thinkTag(s, i); {
	case more:
		return verdict{what: undecided}
	case p == nil:
	case in.elsewise(p):
		return verdict{what: none}
	case !shut:
		return verdict{what: thought, end: end, pair: p}
	case p.Half:
		return verdict{what: halfThought, end: end, pair: p}
	}
	d, t := thinkMarks.look(s, i, false)
	if t == nil {
		return verdict{what: d}
	}
	v := t.verdict
	v.end += i
	return v
}
