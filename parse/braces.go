package parse

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The kinds of [event.Repair] that the Braces grammar can need.
const (
	// RepairStringMarks: a text stands between other marks than the dialect's:
	// quotation marks, or those of a raw string as Rust has them. Lossless.
	RepairStringMarks = "string_marks"
	// RepairBareText: a text stands without marks where the tool declares a
	// text, and holds nothing that could be part of the form. Lossless.
	RepairBareText = "bare_text"
	// RepairUnclosedText: a text lacks its closing mark, or has that of another
	// kind, while what follows shows where it ends: the next parameter, or the
	// end of the call. Lossy.
	RepairUnclosedText = "unclosed_text"
)

// readBraces reads call:NAME{key:value, …}, once or several times.
func (r *reading) readBraces(d *dialect.Dialect, start, body int) (block, bool) {
	i := skip(r.s, body)
	if jsonCalls(r.s, i) {
		return r.readJSON(d, start, body)
	}
	var b block
	last := i
	for more := true; more; {
		var c event.ParsedCall
		var end int
		if c, end, more = r.braceCall(d, i); end == i {
			break
		}
		if len(b.calls) <= MaxCalls {
			b.calls = append(b.calls, c)
		}
		last = i
		b.end = end
		for i = skip(r.s, end); i < len(r.s) && (r.s[i] == ',' || r.s[i] == ';'); {
			i = skip(r.s, i+1)
		}
		more = more && strings.HasPrefix(r.s[i:], callWord)
	}
	if len(b.calls) == 0 {
		return block{}, false
	}
	b.end = r.leftOver(d, b.calls, ProblemSyntax, last, b.end)
	end := r.closers(d, b.end)
	r.unclosed(d, b.calls, end > b.end)
	b.end = end
	return b, true
}

// callWord stands before the name of a tool.
const callWord = "call:"

// bareBraces takes the call whose brace stands at s[i], without the markers
// around it: servers that drop special tokens leave that.
func (r *reading) bareBraces(i int) int {
	from := i
	for from > r.from && i-from <= maxToolName && (letter(r.s[from-1]) || strings.IndexByte("-.:/", r.s[from-1]) >= 0) {
		from--
	}
	name, ok := strings.CutPrefix(r.s[from:i], callWord)
	if !ok || !r.offered(r.toolName(name)) || !r.bareAllowed(dialect.Braces) || !r.spend(i-from) {
		return 0
	}
	d := r.only
	if d == nil {
		d = gemma
	}
	c, end, _ := r.braceCall(d, from)
	if c.Problem != "" && r.in.AnyName {
		return 0
	}
	f := found{from: from, format: d.ID, kind: loose}
	f.calls, f.end = []event.ParsedCall{c}, r.closers(d, end)
	r.add(f)
	return f.end
}

// braceCall reads the call at s[i] and returns the index after it; i if there is
// none. more is false where no other call can follow, or nobody can say.
func (r *reading) braceCall(d *dialect.Dialect, i int) (c event.ParsedCall, end int, more bool) {
	at := i
	if strings.HasPrefix(r.s[at:], callWord) {
		at = skip(r.s, at+len(callWord))
	}
	name, open := pyName(r.s, at)
	if name == "" {
		return c, i, false
	}
	c.Name = r.toolName(name)
	if open = skip(r.s, open); open == len(r.s) {
		c.Problem = ProblemIncomplete
		return c, open, false
	}
	limit := r.closerStart(d, open)
	switch {
	case r.s[open] == '{':
		end, more = r.braceArgs(&c, d, open, limit)
		return c, end, more
	case at == i:
		return c, i, false // some text
	}
	if c.Args = trim(r.s[open:limit]); c.Args != "" {
		c.Problem = ProblemSyntax
	} else {
		c.Args, c.Problem, c.Repairs = arguments("")
	}
	return c, limit, false
}

// braceArgs reads the arguments whose brace stands at s[open] into a call, and
// returns the index after them. limit is where the closer begins that follows.
func (r *reading) braceArgs(c *event.ParsedCall, d *dialect.Dialect, open, limit int) (end int, more bool) {
	node := r.params(c.Name)
	b := braces{s: r.s, i: open, close: d.Close}
	st := b.read(node)
	if st != whole {
		// Once more up to the closer, since what was taken for a text may have
		// gone on beyond it; and now with repairs.
		r.spend(b.i - open)
		b = braces{s: r.s[:limit], i: open, loose: true, ended: limit < len(r.s)}
		st = b.read(node)
	}
	more = r.spend(b.i - open)
	if st == whole {
		c.Args, c.Repairs = string(b.out), b.repairs
		if end = surplus(r.s, b.i); end > b.i {
			c.Repairs = append(c.Repairs, event.Repair{Kind: RepairClosers})
		}
		return end, more
	}
	c.Args, c.Problem = trim(r.s[open:limit]), ProblemSyntax
	switch {
	case st == cut:
		c.Problem = ProblemIncomplete
	case st == tooDeep || len(c.Args) > MaxText:
		c.Problem = ProblemLimit
	}
	return limit, false
}

// textMarks stand before and after a text.
var textMarks = [...]string{`<|"|>`, "<escape>"}

// braces reads {key:value, …} from left to right and writes it as JSON.
type braces struct {
	s string
	i int // what is read next
	// loose: repairs are made. ended: the dialect's closer stands behind s.
	loose, ended bool
	// close are the dialect's closers, if s may go on beyond one.
	close   []string
	open    []byte // the brackets that are open
	out     []byte
	repairs []event.Repair
}

// read reads an object to its end. Only with whole is out JSON.
func (b *braces) read(node place) state {
	if st := b.object(node); st != whole {
		return st
	}
	if !jsontext.Value(b.out).IsValid() {
		return broken // a key stands twice
	}
	return whole
}

func (b *braces) repair(kind string, lossy bool) {
	b.repairs = repaired(b.repairs, event.Repair{Kind: kind, Lossy: lossy})
}

// enter steps into a container.
func (b *braces) enter() bool {
	if len(b.open) == MaxDepth {
		return false
	}
	b.open = append(b.open, b.s[b.i])
	b.out = append(b.out, b.s[b.i])
	b.i++
	return true
}

// leave steps out of it.
func (b *braces) leave() {
	b.open = b.open[:len(b.open)-1]
	b.out = append(b.out, b.s[b.i])
	b.i++
}

// next finds what comes next in a container that shut ends and that n values
// were read of. done: it was the end.
func (b *braces) next(shut byte, n int) (done bool, st state) {
	b.i = skip(b.s, b.i)
	comma := b.i < len(b.s) && b.s[b.i] == ','
	if comma {
		if n == 0 {
			return false, broken
		}
		b.i = skip(b.s, b.i+1)
	}
	switch {
	case b.i >= len(b.s):
		return false, cut
	case b.s[b.i] == shut:
		if comma {
			b.repair(RepairTrailingComma, false)
		}
		b.leave()
		return true, whole
	case b.s[b.i] == '}' || b.s[b.i] == ']':
		return false, broken
	case n > 0 && !comma:
		if !b.loose {
			return false, broken
		}
		b.repair(RepairMissingComma, false)
	}
	if n > 0 {
		b.out = append(b.out, ',')
	}
	return false, whole
}

func (b *braces) object(node place) state {
	if !b.enter() {
		return tooDeep
	}
	for n := 0; ; n++ {
		done, st := b.next('}', n)
		if done || st != whole {
			return st
		}
		key, st := b.key()
		if st != whole {
			return st
		}
		if b.i = skip(b.s, b.i); b.i >= len(b.s) {
			return cut
		}
		if b.s[b.i] != ':' {
			return broken
		}
		b.out = append(jsonString(b.out, key), ':')
		b.i = skip(b.s, b.i+1)
		if st = b.value(node.Member(key), node); st != whole {
			return st
		}
	}
}

func (b *braces) array(node place) state {
	if !b.enter() {
		return tooDeep
	}
	for n := 0; ; n++ {
		done, st := b.next(']', n)
		if done || st != whole {
			return st
		}
		if st = b.value(node.Item(n), place{}); st != whole {
			return st
		}
	}
}

// key reads a key, which stands bare or as texts do.
func (b *braces) key() (string, state) {
	if b.textMark() != "" || b.s[b.i] == '"' || b.s[b.i] == '\'' {
		return b.text(place{})
	}
	j := bareKey(b.s, b.i)
	key := b.s[b.i:j]
	if b.i = j; key == "" {
		return "", broken
	}
	return key, whole
}

// bareKey returns the index after the key at s[i] that stands without marks.
func bareKey(s string, i int) int {
	for i < len(s) && inKey(s[i]) {
		i++
	}
	return i
}

func inKey(c byte) bool { return letter(c) || c == '-' || c == '.' || c == '$' || c >= 0x80 }

// value reads a value. owner declares the members of the object that it stands
// in.
func (b *braces) value(node, owner place) state {
	if b.i >= len(b.s) {
		return cut
	}
	switch c := b.s[b.i]; {
	case c == '{':
		return b.object(node)
	case c == '[':
		return b.array(node)
	case c == '"' || c == '\'' || b.textMark() != "" || b.rustString() > 0:
		text, st := b.text(owner)
		if st == whole {
			b.out = jsonString(b.out, text)
		}
		return st
	}
	return b.bare(node)
}

// bare reads a value without marks: a number, true, false, null, or a text where
// one is declared.
func (b *braces) bare(node place) state {
	end := b.i
	for end < len(b.s) && strings.IndexByte(",}]<\n", b.s[end]) < 0 {
		end++
	}
	raw := trim(b.s[b.i:end])
	if b.i = end; end == len(b.s) {
		return cut
	}
	if raw == "" {
		return broken
	}
	if strings.ContainsAny(raw, "{}[]():\"'`\\") {
		return broken
	}
	if node.Kinds() == 0 {
		text, stop, st := pyValue(raw, 0)
		if st != whole || stop != len(raw) {
			return broken
		}
		b.out = append(b.out, text...)
		return whole
	}
	text, repairs := typed(raw, node)
	b.out = append(b.out, text...)
	for _, r := range repairs {
		b.repairs = repaired(b.repairs, r)
	}
	if text[0] == '"' {
		b.repair(RepairBareText, false)
	}
	return whole
}
