package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// workPerByte bounds what readers may look at, in bytes for each byte of the
// text: looking again after something turned out not to be a call is what could
// make a hostile text cost more than its length.
const workPerByte = 16

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

// fresh reports whether only blanks stand between what was taken last and s[i].
func (r *reading) fresh(i int) bool {
	if r.blanks.from != r.from || r.blanks.to == 0 {
		r.blanks = span{r.from, skip(r.s, r.from)}
	}
	return r.blanks.to >= i
}

// lineStart reports whether s[i] begins a line or follows what was taken last.
func (r *reading) lineStart(i int) bool { return r.fresh(i) || lineStart(r.s, i) }

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

// rename gives calls the names of the tools that they mean.
func (r *reading) rename(calls []event.ParsedCall) {
	for i := range calls {
		calls[i].Name = r.toolName(calls[i].Name)
	}
}
