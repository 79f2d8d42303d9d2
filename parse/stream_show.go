package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// show lets out what may be shown.
func (st *Stream) show() {
	st.settle()
	if st.think.on {
		st.showUpTo(st.tailOrAll())
		if end := solidEnd(st.s, max(st.think.body, st.reasoning.upTo), st.think.limit(st)); end > 0 {
			st.reasoning.add(st.s[max(st.think.body, st.reasoning.upTo):end])
			st.reasoning.upTo = end
		}
		return
	}
	st.showUpTo(st.limit())
}

// tailOrAll is up to where text before reasoning may be shown: all of it, once
// it is sure that it is reasoning.
func (st *Stream) tailOrAll() int {
	if st.think.fresh {
		return st.think.at
	}
	return st.tail(st.think.at)
}

// limit is up to where the text may be shown.
func (st *Stream) limit() int {
	switch {
	case st.open:
		return len(st.s)
	case st.hold >= 0:
		return st.hold
	case st.area.kind == jsonArea:
		limit := min(st.at, st.area.seen)
		if st.area.close > 0 {
			limit = min(limit, st.area.close)
		}
		return limit
	case st.cand.next > 0:
		return st.tail(st.cand.at)
	}
	if st.broken && !st.in.declared(st.s[headWord(st.s, st.from, st.solid):st.solid]) {
		return st.solid // only a tool's name has its arguments on another line
	}
	return st.tail(st.solid)
}

// showUpTo shows the text before s[limit].
func (st *Stream) showUpTo(limit int) {
	if end := solidEnd(st.s, st.text.upTo, limit); end > 0 {
		st.text.add(st.s[st.text.upTo:end])
		st.text.upTo = end
	}
}

// settle finds the last rune that is no white space.
func (st *Stream) settle() {
	n := len(st.s)
	for k := 1; k < utf8.UTFMax && k <= n-st.seen; k++ { // a rune that is not whole may become one
		if c := st.s[n-k]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(st.s[n-k:]) {
				n -= k
			}
			break
		}
	}
	if end := solidEnd(st.s, st.seen, n); end > 0 {
		st.solid, st.seen, st.broken = end, end, false
	}
	st.broken = st.broken || strings.IndexByte(st.s[st.seen:n], '\n') >= 0
	st.seen = n
}

// solidEnd returns the index after the last rune of s[from:to] that is no white
// space; 0 if there is none.
func solidEnd(s string, from, to int) int {
	for to > from {
		r, n := utf8.DecodeLastRuneInString(s[from:to])
		if !unicode.IsSpace(r) {
			return to
		}
		to -= n
	}
	return 0
}

// take returns what has been let out since the last time.
func (st *Stream) take() Shown {
	return Shown{st.text.take(), st.reasoning.take()}
}

// track is text on its way out, in paragraphs: the pieces of it.
type track struct {
	out strings.Builder
	// upTo is up to where the text was let out or left out.
	upTo int
	// begun: something was let out; mid: of this piece.
	begun, mid bool
}

// add goes on with a piece. The text ends with no white space.
func (t *track) add(s string) {
	if !t.mid {
		if s = strings.TrimLeftFunc(s, unicode.IsSpace); s == "" {
			return
		}
		if t.begun {
			t.out.WriteString("\n\n")
		}
		t.begun, t.mid = true, true
	}
	t.out.WriteString(s)
}

// piece ends a piece with s.
func (t *track) piece(s string) {
	if s = strings.TrimRightFunc(s, unicode.IsSpace); s != "" {
		t.add(s)
	}
	t.mid = false
}

// skip leaves out what is before s[i].
func (t *track) skip(i int) { t.upTo, t.mid = i, false }

// finish lets out what of the text of r was not let out. plain: it holds no
// calls.
func (t *track) finish(r *reading, plain bool) {
	before := t.begun
	gone := r.gone
	switch {
	case plain && r.answer != "":
		t.mid = false
		t.piece(r.answer)
		return
	case plain:
		gone = nil
	}
	first := true
	r.stretches(t.upTo, len(r.s), gone, func(from int, s string) {
		if !first || from != t.upTo {
			t.mid = false
		}
		first = false
		t.piece(s)
	})
	if plain {
		rest := t.take()
		rest = withoutClosing(rest, !before)
		if !before {
			rest = withoutOpening(rest)
		}
		t.out.WriteString(rest)
	}
}

// take returns what was let out since the last time.
func (t *track) take() string {
	s := t.out.String()
	t.out.Reset()
	return s
}

// tail returns where what stands at the end of s[:end] begins that may belong to
// a marker after it: a word, which may be a name, or what stands before some
// markers.
func (st *Stream) tail(end int) int {
	if st.tails.of == end+1 {
		return st.tails.at
	}
	st.tails.of, st.tails.at = end+1, max(st.from, st.tailOf(end))
	return st.tails.at
}

func (st *Stream) tailOf(end int) int {
	s := st.s
	solid := end
	for solid > st.from && blank(s[solid-1]) {
		solid--
	}
	start := headWord(s, st.from, solid)
	if strings.IndexByte(s[solid:end], '\n') >= 0 && !st.in.declared(s[start:solid]) {
		return solid // as in limit
	}
	for k := start; ; { // words of a header may stand before it
		for k > st.from && start-k < maxHeader && s[k-1] == ' ' {
			k--
		}
		w := headWord(s, st.from, k)
		if w == k || !headerWord(s[w:k]) {
			break
		}
		start, k = w, w
	}
	for _, h := range table.heads {
		for n := min(len(h), end-st.from); n > 0; n-- {
			if strings.HasSuffix(s[:end], h[:n]) {
				start = min(start, end-n)
				break
			}
		}
	}
	k := start
	for k > st.from && start-k < maxHeader && emphatic(s[k-1]) {
		k--
	}
	if k == st.from || s[k-1] == '\n' {
		start = k
	}
	return start
}

// headWord returns where the word begins that ends before s[i].
func headWord(s string, from, i int) int {
	k := i
	for k > from && i-k <= maxToolName && (nameByte(s[k-1]) || s[k-1] == '=') {
		k--
	}
	if i-k > maxToolName {
		return i
	}
	return k
}

// headerWord reports whether a word may stand in the header of a message.
func headerWord(w string) bool {
	return channelWord(w) || w == "assistant" || strings.HasPrefix(w, harmonyTo)
}
