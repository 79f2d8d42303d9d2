package parse

import (
	"slices"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// The scan goes once over a text, from left to right, and takes out what has a
// form of its own: reasoning, fenced blocks, blocks of calls in the dialects'
// markers, and what may be a call though nothing marks it. What it finds is
// then judged together (decide.go), since whether an unmarked call is meant or
// shown depends on the text around it.

// workPerByte bounds what readers may look at, in bytes for each byte of the
// text: looking again after something turned out not to be a call is what could
// make a hostile text cost more than its length.
const workPerByte = 16

// maxBlocks is how many blocks in the markers of a dialect are read. Each holds
// calls or is a problem, so that there is nothing to be had from more of them.
const maxBlocks = 2 * MaxCalls

// reading is one text on its way to its calls.
type reading struct {
	s  string
	in *Input
	// only is the one dialect to read, or nil for all.
	only *dialect.Dialect
	// budget is how many bytes readers may still look at.
	budget int
	fences fences
	spots  memos
	shuts  map[*thinkPair]*shutMemo

	// from is where what has been taken so far ends.
	from int
	// blanks are those from from on.
	blanks span
	// open is where reasoning began that has not ended; -1 for none.
	open int
	// hollow is where the first marker stands that belongs around blocks of
	// calls; -1 for none.
	hollow int
	// found in the order of the text; blocks of them are in a dialect's markers.
	found []*found
	room  []found  // for those to come
	one   struct { // most replies have one
		found [1]*found
		room  [1]found
	}
	blocks int
	// cuts are what is no content whatever is decided: reasoning and what
	// stands for results of tools. markup is none if calls are taken.
	thought, cuts, markup []span
	// gone are what is no content if calls are taken, and says what stands in
	// place of a block.
	gone []span
	says []saying
	// start are the bytes that something can begin with.
	start [256]bool
	// quotes: some line begins with '>'. line is where the line of s[line.at] starts.
	quotes bool
	line   struct{ at, start int }
	// next is the first label of a call, a result or an answer after s[next.from].
	next struct {
		from, at int
		label    label
	}
	// inner: the text is part of another whose entities were decoded. tried: it
	// was tried to decode those of this one.
	inner, tried bool
	// named says of the tools whether their schemas name parameters, once asked.
	named []uint8
	notes []string
	// answer is what an object of JSON says that the answer is.
	answer string
	// answered: a line said that the answer follows.
	answered bool
	// sepless is where no separator of sections begins.
	sepless span
	// to is where messageTo was found last in s[:to.upTo].
	to struct{ upTo, at int }
	// stage is where calls are shown that do not count.
	stage stage
	// data steps over JSON that is no call.
	data *dataWalk
	// lastTag is what tagAt read last.
	lastTag struct {
		tag
		ok, looked bool
	}
	// spare are readers that are done, to be used again: most openers of a hostile
	// text begin no call.
	spare struct {
		xml      *xmlReader
		pairs    *pairReader
		elements *toolTags
	}
}

type span struct{ from, to int }

// saying is content that an envelope carries beside its calls.
type saying struct {
	at   int
	text string
}

// block is what a reader made of a piece of text.
type block struct {
	// back is how many bytes before the opener belong to it: a header, or a name
	// that stands before its marker.
	back int
	// end is the index after it, closers included.
	end int
	// calls, in order. ID is empty; WireID holds the model's own id.
	calls []event.ParsedCall
	// reasoning: it holds no calls, and is reasoning: what stands between
	// text.from and text.to, or all of it if text is zero. said: it holds no
	// calls, and what stands between text.from and text.to is content.
	reasoning, said bool
	text            span
	// content is text that an envelope carries beside its calls.
	content string
	// problem says what could not be read in it; cut: because the text ends in it.
	problem string
	cut     bool
}

// found is a block and how it was found.
type found struct {
	block
	from int
	// format is the dialect's id, JSON or JSONFence.
	format string
	kind   kind
	// empty: nothing that asks for anything, such as a block of code.
	empty bool
	// group is what an unmarked JSON text held.
	group group
	// invented is where a result begins that the model made up, so that all from
	// there on rests on it; 0 for nowhere.
	invented int
}

type kind uint8

const (
	marked kind = iota
	loose
	fenced
)

func newReading(in *Input, s string) *reading {
	r := &reading{s: s, in: in, open: -1, hollow: -1, fences: fences{s: s}, budget: workPerByte*len(s) + 4096}
	r.to.at = -1
	r.found, r.room = r.one.found[:0], r.one.room[:]
	r.only, _ = dialect.Find(in.Dialect)
	for _, c := range []byte("<[{`") {
		r.start[c] = true
	}
	if strings.Contains(s, recipientMark) {
		r.start['>'] = true
	}
	r.start[thinkToken[0]] = strings.Contains(s, thinkToken)
	r.start['&'] = strings.Contains(s, escapedTag)
	r.quotes = strings.HasPrefix(s, ">") || strings.Contains(s, "\n>")
	if strings.Contains(s, linesWord) || strings.Contains(s, answerWord) {
		r.start[linesWord[0]] = true
	}
	return r
}

// scan fills found, cuts and markup.
func (r *reading) scan() {
	for i := r.sentence(); i < len(r.s); {
		if !r.start[r.s[i]] {
			i++
			continue
		}
		if i = max(r.at(i), i+1); r.blocks <= maxBlocks {
			continue
		}
		end := r.draftEnd(i)
		if end == 0 {
			r.markup = append(r.markup, span{i, len(r.s)})
			break
		}
		i = end
	}
	if r.open >= 0 {
		r.think(r.open, len(r.s))
	}
}

// at takes what begins at s[i], where something may, and returns where to go on.
func (r *reading) at(i int) int {
	if r.open >= 0 {
		return r.inside(i)
	}
	was := r.progress()
	return r.shown(was, i, r.begun(i))
}

// begun takes what begins at s[i], outside of reasoning.
func (r *reading) begun(i int) int {
	switch r.s[i] {
	case '`':
		return r.tick(i)
	case thinkToken[0]:
		return r.reasoning(i)
	case '<', '[':
		r.opensPlace(i)
		if !table.begins(r.s, i) {
			break
		}
		if end := r.reasoning(i); end > i {
			return end
		}
		if end := r.echo(i); end > i {
			return end
		}
		if end := r.marker(i); end > i {
			return end
		}
	}
	return r.unmarked(i)
}

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

// fresh reports whether only blanks stand between what was taken last and s[i].
func (r *reading) fresh(i int) bool {
	if r.blanks.from != r.from || r.blanks.to == 0 {
		r.blanks = span{r.from, skip(r.s, r.from)}
	}
	return r.blanks.to >= i
}

// lineStart reports whether s[i] begins a line or follows what was taken last.
func (r *reading) lineStart(i int) bool { return r.fresh(i) || lineStart(r.s, i) }

// echo takes what a model wrote as if a tool had answered.
func (r *reading) echo(i int) int {
	if i+1 == len(r.s) || !table.echoes[r.s[i+1]] {
		return 0
	}
	for _, e := range dialect.Echoes() {
		if !standsAt(r.s, i, e.Open) {
			continue
		}
		call := r.lastCall()
		if call == nil {
			return 0 // nothing was called: the text speaks of results
		}
		if skip(r.s, i+len(e.Open)) < len(r.s) && call.invented == 0 {
			call.invented = i
		}
		end := r.spot(e.Close, i+len(e.Open))
		end = min(end+len(e.Close), len(r.s))
		r.markup = append(r.markup, span{i, end})
		r.from = end
		return end
	}
	return 0
}

// lastCall returns the last block that holds calls, or nil.
func (r *reading) lastCall() *found {
	for k := len(r.found) - 1; k >= 0; k-- {
		if f := r.found[k]; len(f.calls) > 0 {
			return f
		}
	}
	return nil
}

// spot returns where sub occurs at or after i, or len(s). Asking for growing i
// costs the length of the text once.
func (r *reading) spot(sub string, i int) int {
	return r.spots.of(sub).find(r.s, sub, i)
}

func (r *reading) note(s string) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, s)
	}
}

// spend takes n bytes from the budget and reports whether there is still some.
func (r *reading) spend(n int) bool {
	r.budget -= n
	return r.budget > 0
}

// tick takes a fenced block, or steps over code within a line.
func (r *reading) tick(i int) int {
	n := run(r.s, i)
	if n >= 3 {
		if end := r.fence(i, n); end > i {
			return end
		}
	}
	// The same number of ticks on the same line ends it.
	for j := i + n; j < len(r.s) && r.s[j] != '\n'; j++ {
		if r.s[j] == '`' {
			k := run(r.s, j)
			if k == n {
				return j + k
			}
			j += k - 1
		}
		if j-i > maxInline {
			break
		}
	}
	if n < 3 {
		r.opensSpan(i, n)
	}
	return i + n
}

// maxInline is how long code within a line is taken to be, in bytes.
const maxInline = 512

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

// rename gives calls the names of the tools that they mean.
func (r *reading) rename(calls []event.ParsedCall) {
	for i := range calls {
		calls[i].Name = r.toolName(calls[i].Name)
	}
}

// params returns what the tool of that name declares of its arguments.
func (r *reading) params(name string) schema.Node {
	return r.in.tool(name).Root()
}

// offered reports whether a call of that name counts as one of the request's.
func (r *reading) offered(name string) bool {
	return r.in.AnyName || r.in.declared(name)
}

// toolName returns the name of the tool that a model meant: a name that no tool
// has, but one has without the namespace before it, as in functions.read_file,
// is that tool's. No other name is guessed.
func (r *reading) toolName(name string) string {
	if k := strings.LastIndexByte(name, '.'); k > 0 && !r.offered(name) && r.in.declared(name[k+1:]) {
		return name[k+1:]
	}
	return name
}
