package parse

import (
	"math"
	"strings"

	"rein.example/rein/dialect"
)

// A Stream shows the text of a reply while it arrives, without what is or may
// become a call, and with reasoning apart:
//
//	st := parse.NewStream(in)
//	for piece := range pieces {
//		show(st.Feed(piece))
//	}
//	show(st.End())
//
// All that it shows together is what [Parse] makes of the whole text: Text and
// Reasoning of the [Result], without the white space around them. How the text
// is cut into pieces makes no difference, neither to that nor to how much of it
// is shown by when.
//
// Prose is shown as it comes but for the last word of a line, which may be the
// name that stands before a marker. What may be the beginning of a call is held back until
// that is decided: what may become a marker, until it is one or not; JSON that
// begins as calls do, until it ends or turns out to be none; a fenced block that
// begins so, until it is closed. From what surely is a call on, everything is
// held until the end, where all of the text is known.
//
// Two things are known too late. That the prompt had opened reasoning shows only
// when it is closed: what was shown until then was shown as text. And a reply
// with calls of the wire's own has no others: what Parse then leaves in the text
// is shown as if it had none.
//
// A Stream takes time linear in the text and keeps the text, up to [MaxText]; of
// a longer one it shows everything, as Parse does. It is for one goroutine.
type Stream struct {
	in Input
	// rules is a reading of no text, for what it says of the input.
	rules reading
	buf   strings.Builder
	// s is what has arrived, and s[:at] what was looked at; from is where what was
	// taken last ends.
	s        string
	at, from int
	// open: nothing is looked for, all is shown.
	open bool
	// opening: what comes next may be a label that makes all of the reply one of
	// labelled lines.
	opening bool
	// hold is from where on all is held, -1 for nowhere: until the area ends that
	// it is in, else to the end.
	hold int
	// quotes: some line begins with '>'.
	quotes bool
	cand   pending
	area   area
	think  thinking
	// spent is how many bytes were looked at again.
	spent int

	text, reasoning track
	// solid is the end of the last rune that is no white space in s[:seen]; broken:
	// a line ends behind it.
	solid, seen int
	broken      bool
	tails       struct{ of, at int }
}

// Shown is what may be shown now of a reply: a piece of its text, and a piece of
// its reasoning.
type Shown struct{ Text, Reasoning string }

// pending is something that may be the beginning of a call.
type pending struct {
	// at is where it begins; next the length of the text at which it is looked at
	// again, 0 for no candidate.
	at, next int
}

// never is a length that no text has.
const never = math.MaxInt

// grown returns the length after n at which what begins at s[at] is looked at
// again: at first with each byte, then each time that it has grown by a quarter,
// so that all looks together cost a few times its length.
func grown(at, n int) int {
	if n-at < 32 {
		return n + 1
	}
	return n + (n-at)/4
}

// NewStream returns a stream of a reply that is to be read as in says. Its
// Message, Finish, Base and Used make no difference to what is shown.
func NewStream(in Input) *Stream {
	in.Message, in.Used = nil, nil
	st := &Stream{in: in, open: !in.TextCalls, opening: true, hold: -1}
	st.rules.in = &st.in
	st.rules.only, _ = dialect.Find(in.Dialect)
	st.area.next = never
	return st
}

// Feed takes the next piece of the text and returns what may be shown now.
func (st *Stream) Feed(piece string) Shown {
	st.buf.WriteString(piece)
	st.s = st.buf.String()
	if len(st.s) > MaxText {
		st.open = true
	}
	for !st.open && st.step() {
	}
	st.show()
	return st.take()
}

// step goes on to the next event, and reports false where that needs more text.
// Events are in the order of the lengths of text at which they can be known, so
// that it makes no difference how much of it has come.
func (st *Stream) step() bool {
	switch n := len(st.s); {
	case st.think.on:
		return st.thinks()
	case st.area.kind == noArea && st.hold >= 0:
		return false
	default:
		st.area.advance(st.s)
		if st.cand.next == 0 && st.hold < 0 {
			st.find(min(n, st.area.next-1))
		}
		next := st.area.next
		if st.cand.next > 0 {
			next = min(next, st.cand.next)
		}
		if next > n {
			return false
		}
		if next == st.area.next {
			st.inArea(st.s[:next])
		} else {
			st.look(st.s[:next])
		}
		return true
	}
}

// interesting are the bytes that something may begin with.
var interesting = func() (set [256]bool) {
	for _, c := range []byte("<[{`>&" + thinkToken[:1]) {
		set[c] = true
	}
	set[linesWord[0]] = true
	return set
}()

// find looks for the next candidate before s[limit].
func (st *Stream) find(limit int) {
	if st.opening {
		if st.at = skip(st.s[:max(limit, st.at)], st.at); st.at < limit {
			st.cand = pending{st.at, st.at + 1}
		}
		return
	}
	for st.at < limit {
		if interesting[st.s[st.at]] {
			st.cand = pending{st.at, st.at + 1}
			return
		}
		st.at++
	}
}

// look looks at the candidate in what of the text is there, s.
func (st *Stream) look(s string) {
	i := st.cand.at
	var v verdict
	if st.opening {
		if v = st.begins(s, i); v.what == none {
			st.opening, st.cand.next = false, 0
			return
		}
	} else {
		v = st.judge(s, i)
	}
	st.cand.next = 0
	switch v.what {
	case undecided:
		st.cand.next = grown(i, len(s))
	case none:
		st.at = max(i+1, v.end)
	case holds:
		st.hold = i
		if st.area.kind != jsonArea {
			st.hold = st.tail(i)
		}
	default:
		if st.area.kind != noArea {
			st.hold = st.tail(i) // whether it is what it seems is not sure here
			return
		}
		st.begin(v, i, len(s))
	}
}

// begin goes on with what begins at s[i] in the first n bytes.
func (st *Stream) begin(v verdict, i, n int) {
	switch v.what {
	case thought:
		st.think = thinking{on: true, at: i, body: v.end, pair: v.pair, seen: v.end, scan: v.end, stop: -1}
		st.think.fresh = skip(st.s, st.from) >= i && v.pair.sure()
	case halfThought:
		st.showUpTo(i)
		st.reasoning.piece(st.s[st.text.upTo:i])
		st.taken(v.end)
		st.opening = true
	case dataBegins:
		st.area = area{kind: dataArea, at: i, next: n}
	case fenceBegins:
		st.area = area{kind: fenceArea, at: i, ticks: v.ticks, line: v.end, seen: v.end, next: never, call: v.call}
	case jsonBegins:
		st.area = area{kind: jsonArea, at: i, body: v.end, ticks: v.ticks, line: v.end, seen: v.end, next: never, call: v.call}
	}
	if st.area.kind != noArea {
		st.at = max(i+1, v.end)
		if v.call {
			st.hold = st.tail(i)
		}
	}
}

// taken goes on after s[:end], of which what was not shown is no text.
func (st *Stream) taken(end int) {
	st.at, st.from = end, end
	st.text.skip(end)
	st.reasoning.skip(end)
}

// spend counts n bytes that are looked at in s, and reports whether that is not
// too much: then nothing is decided any more, and all is held.
func (st *Stream) spend(n int, s string) bool {
	st.spent += n
	return st.spent <= workPerByte*len(s)+4096
}

// End returns what is left to show when the text is whole.
func (st *Stream) End() Shown {
	var r *reading
	var res Result
	if !st.open {
		r, res = st.in.read(st.s)
	}
	if r == nil {
		st.text.piece(st.s[st.text.upTo:])
		return st.take()
	}
	st.text.finish(r, res.Format == Text)
	for _, t := range r.thought {
		t = thinkBody(st.s, t)
		if t.from >= st.reasoning.upTo || t.to == st.reasoning.upTo {
			st.reasoning.mid = false
		}
		if t.to > st.reasoning.upTo {
			st.reasoning.piece(st.s[max(t.from, st.reasoning.upTo):t.to])
		}
	}
	return st.take()
}
