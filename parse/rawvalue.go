package parse

import "strings"

// A raw value ends with a closing tag, but it may hold such tags itself: files
// are written that speak of markup, and nothing escapes it. Which closing tag is
// the right one is decided by what follows: a value's closing tag is followed by
// more markup, by the end of the text or, after the last one of a call, by prose
// in which no other closing tag stands before the next opening one. Elements of
// the same form that open and close within a value are part of it. Where the
// closing tag is missing, the next parameter, the end of the call or the end of
// the block ends the value, but only if nothing in it reads as a call of its own;
// the end of the text never does.

// mark is what a tag means for the calls of a block.
type mark struct {
	kind      markKind
	from, end int
	// name is that of the parameter, or of the tool.
	name string
	// tag is what was read, for those who want its attributes.
	tag tag
	// odd: tags are missing or doubled. bare: the one right before the value is
	// missing, so that a line break there is no part of it.
	odd, bare bool
	// weak: a closing tag that lacks the namespace of its opening one. It is text
	// where a better one follows.
	weak bool
}

type markKind uint8

const (
	noMark markKind = iota
	openParam
	shutParam
	openCall
	shutCall
	openWrap
	shutWrap
)

func (k markKind) opens() bool { return k == openParam || k == openCall || k == openWrap }
func (k markKind) shuts() bool { return k == shutParam || k == shutCall || k == shutWrap }

// tagMarks says what the tags of a grammar mean.
type tagMarks interface {
	// inside says what stands at s[i], which is '<', within a value.
	inside(i int) mark
	// outside says what stands at s[i] between values, which need not be '<'.
	outside(i int) mark
	// expected reports whether a parameter may well begin at m though the one
	// before it has no closing tag.
	expected(m mark) bool
}

// values finds the ends of the raw values of a block.
type values struct {
	r *reading
	// marks says what tags mean.
	marks tagMarks
	// cdata: what stands in CDATA sections has no tags.
	cdata bool
	// own and owner are the names that a closing mark with a name must have to be
	// that of the value or of its call.
	own, owner string
	// next is where the next mark stands, for any index from next.from on.
	next struct{ from, at int }
	// unnested is an index before which no element closes that opens within a
	// value, as far as that was looked for.
	unnested int
}

// rawValue is where a raw value ends and what was found there.
type rawValue struct {
	from, to int
	// next is where to go on.
	next int
	// open: the text ends in it, or where it ends can't be said. implied: its
	// closing tag is missing. stray: text stands after its closing tag.
	open, implied, stray bool
}

// holdsMore reports whether what stands behind a value's closing tag may be
// another parameter that is written in another way.
func (v *values) holdsMore(val rawValue) bool {
	s := v.r.s[:val.next]
	return valueAt(s, skip(s, v.marks.inside(val.to).end))
}

// valueAt reports whether what begins at s[i] may say something of its own: an
// object, or an element that ends in s.
func valueAt(s string, i int) bool {
	if i >= len(s) || s[i] != '<' {
		return i < len(s) && s[i] == '{'
	}
	t, ok := tagAt(s, i)
	return ok && !t.shut && !t.torn && (t.empty || t.base != "" && strings.Contains(s[t.end:], t.base+">"))
}

// value reads the value at s[from].
func (v *values) value(from int) rawValue {
	s := v.r.s
	last := -1    // the last closing tag that was taken for a part of the value
	call := false // the value speaks of calls
	implied := func(at int) rawValue {
		out := rawValue{from: from, to: at, next: at, open: call, implied: true}
		if last >= 0 {
			out.to, out.implied = last, false
			out.stray = skip(s, v.marks.inside(last).end) < at
		}
		return out
	}
	for i := from; ; {
		k := strings.IndexByte(s[i:], '<')
		if k < 0 {
			return rawValue{from: from, to: len(s), next: len(s), open: true}
		}
		i += k
		if v.cdata && strings.HasPrefix(s[i:], cdataOpen) {
			i = min(v.r.spot(cdataShut, i)+len(cdataShut), len(s))
			continue
		}
		if !tagBegins(s, i) {
			i++
			continue
		}
		m := v.marks.inside(i)
		switch {
		case m.kind == noMark:
			i++
			continue
		case m.kind.shuts() && v.others(m):
		case m.kind.shuts():
			own := m.kind == shutParam
			end, ok := v.ends(m)
			switch {
			case ok && own:
				return rawValue{from: from, to: m.from, next: m.end}
			case ok:
				return implied(m.from)
			case own:
				last = m.from
			}
			i = end
			continue
		case m.kind == openParam && !call && v.marks.expected(m):
			return implied(m.from)
		default:
			call = call || m.kind != openParam
			if end, shut := v.nested(m); end > i {
				// Of a parameter that only opens in the value this is its own.
				if last = shut; call {
					last = -1
				}
				i = end
				continue
			}
		}
		i = m.end
	}
}

// others reports whether a closing mark belongs to another value or call.
func (v *values) others(m mark) bool {
	switch m.kind {
	case shutParam:
		return m.name != "" && m.name != v.own
	case shutCall:
		return m.name != "" && m.name != v.owner
	}
	return false
}

const (
	cdataOpen = "<![CDATA["
	cdataShut = "]]>"
)

// ends reports whether what stands behind the closing tag m is what follows a
// value, and where to go on if not.
func (v *values) ends(m mark) (next int, ok bool) {
	s, weak := v.r.s, m.weak
	call, wrap := m.kind == shutCall, m.kind == shutWrap // were closed
	for i := m.end; ; {
		i = skip(s, i)
		if i == len(s) || v.tail(i) {
			return i, true
		}
		m := v.marks.outside(i)
		switch {
		case m.kind == openParam:
			return i, !call && !wrap && (s[i] == '<' || v.marks.expected(m))
		case m.kind.opens():
			return i, true
		case m.kind.shuts() && !v.others(m):
			if m.kind == shutParam && weak && !m.weak {
				return i, false
			}
			next, better := m.end, false
			if m.kind == shutParam && (call || wrap) {
				if next, better = v.better(m.end, call); better {
					return i, false
				}
			}
			call, wrap = call || m.kind == shutCall, wrap || m.kind == shutWrap
			weak = weak && m.weak
			i = next
			continue
		case (s[i] == '<' || s[i] == '[') && markerAt(s, i):
			return i, true
		case !call && !wrap || weak:
			return i, false
		}
		n := v.nextMark(i)
		if n == len(s) {
			return i, true
		}
		k := v.marks.inside(n).kind
		return i, k == openCall || k == openWrap || k == shutWrap
	}
}

// better reports whether the closing tag of a value that ends at s[i] is its own,
// though others stand before it that look like the end of the call: what they
// would have closed is closed after it. call: one of them was that of a call.
// next is the index after the closing tags of values that stand there.
func (v *values) better(i int, call bool) (next int, ok bool) {
	for {
		next = i
		if i = skip(v.r.s, i); i == len(v.r.s) {
			return next, false
		}
		m := v.marks.outside(i)
		switch {
		case m.kind == shutCall || m.kind == openParam:
			return next, true
		case m.kind == shutWrap:
			return next, !call
		case m.kind != shutParam:
			return next, false
		}
		i = m.end
	}
}

// tail reports whether the text ends in the closing tag at s[i].
func (v *values) tail(i int) bool {
	s := v.r.s[i:]
	return strings.HasPrefix(s, "</") && len(s) < maxTag && strings.IndexByte(s, '>') < 0 && strings.IndexByte(s, '\n') < 0
}

// nextMark returns where the next mark at or after s[i] stands, or len(s).
func (v *values) nextMark(i int) int {
	if v.next.from > i || i > v.next.at {
		v.next.from, v.next.at = i, len(v.r.s)
		if m := v.find(i); m.kind != noMark {
			v.next.at = m.from
		}
	}
	return v.next.at
}

// find returns the next mark at or after s[i], or none.
func (v *values) find(i int) mark {
	s := v.r.s
	for ; ; i++ {
		k := strings.IndexByte(s[i:], '<')
		if k < 0 {
			return mark{}
		}
		i += k
		if !tagBegins(s, i) {
			continue
		}
		if m := v.marks.inside(i); m.kind != noMark {
			return m
		}
	}
}

// maxNested is how deep elements within a raw value are followed.
const maxNested = 16

// nested returns the index after the element that m opens within a value, and
// where its closing tag stands; 0 if it does not close there.
func (v *values) nested(m mark) (end, shut int) {
	if m.from < v.unnested {
		return 0, 0
	}
	var open [maxNested]markKind
	for depth := 0; ; {
		switch k := m.kind; {
		case m.tag.empty:
		case k.opens():
			if depth == maxNested {
				v.unnested = m.end
				return 0, 0
			}
			open[depth] = k
			depth++
		case k.shuts() && !m.weak:
			n := depth - 1
			for n >= 0 && open[n] != k-1 {
				n--
			}
			if n < 0 {
				v.unnested = m.end
				return 0, 0
			}
			depth = n
		}
		if depth == 0 {
			return m.end, m.from
		}
		if m = v.find(m.end); m.kind == noMark {
			v.unnested = len(v.r.s)
			return 0, 0
		}
	}
}

// markerAt reports whether a token that is no element of a block stands at s[i]:
// one that opens or closes something, or ends the turn.
func markerAt(s string, i int) bool {
	var buf [mostOpeners]*opener
	return markupAt(s, i) != nil || len(openersAt(s, i, buf[:0])) > 0
}
