package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// pairReader reads a call whose arguments are pairs of key and value elements:
// GLM's form and its relatives.
type pairReader struct {
	r *reading
	d *dialect.Dialect
	values

	tool    string
	node    schema.Node
	known   bool
	params  []param
	repairs []event.Repair
}

// readPairs reads the tool's name at s[body] and its arguments.
func (r *reading) readPairs(d *dialect.Dialect, start, body int) (block, bool) {
	if t := pairTagAt(r.s, start); t.base != "tool_call" {
		return block{}, false
	}
	i, sep, doubled := r.pairOpener(start)
	if i == len(r.s) {
		return block{}, false
	}
	if c := r.s[i]; c == '{' || c == '[' {
		if d.ID != "poolside_v1" {
			return block{}, false
		}
		return r.readJSON(d, start, i)
	}
	n := strings.IndexAny(r.s[i:min(len(r.s), i+maxHeader)], "<{\n")
	if n < 0 && len(r.s)-i < maxHeader {
		n = len(r.s) - i
	}
	if n <= 0 || !toolish(trim(r.s[i:i+n])) {
		return block{}, false
	}
	name := trim(r.s[i : i+n])
	i = skip(r.s, i+n)
	if t := pairTagAt(r.s, i); t.base == "tool_sep" {
		sep, i = true, skip(r.s, t.end)
	}
	if r.only == nil && sep != (d.ID == "hy_v3_xml") {
		return block{}, false
	}
	x := r.spare.pairs
	if r.spare.pairs = nil; x == nil {
		x = new(pairReader)
	}
	*x = pairReader{r: r, d: d, values: values{r: r, marks: x}}
	if doubled {
		x.repairs = []event.Repair{{Kind: RepairTags}}
	}
	b, ok := x.read(name, start, body, i)
	r.spare.pairs = x
	return b, ok
}

// read reads the arguments at s[i] of the call of a name.
func (x *pairReader) read(name string, start, body, i int) (block, bool) {
	r, d := x.r, x.d
	if t := pairTagAt(r.s, i); t.base == "arg_key" && t.shut {
		return x.split(name, i)
	}
	x.named(name)
	if i < len(r.s) && r.s[i] == '{' {
		if d.ID != "poolside_v1" && r.only == nil {
			return block{}, false
		}
		return x.object(start, i)
	}
	spaced := r.s[body] == ' '
	return x.call(start, i, spaced)
}

// pairOpener steps over the rest of the opener at s[start] and over others that
// repeat it. suffix: it has the model's own, which shows Hunyuan's form. doubled:
// others do repeat it.
func (r *reading) pairOpener(start int) (i int, suffix, doubled bool) {
	t := pairTagAt(r.s, start)
	suffix = t.suffix
	i = t.end
	for n := 0; ; n++ {
		i = skip(r.s, i)
		if t = pairTagAt(r.s, i); t.base != "tool_call" || t.shut || n == maxRepeats {
			return i, suffix, n > 0
		}
		i = t.end
	}
}

// maxRepeats is how often a tag may be repeated where it stands once.
const maxRepeats = 3

// toolish reports whether a text between tags has the form of a tool's name.
func toolish(name string) bool {
	for i := range len(name) {
		if !toolishByte(name[i]) {
			return false
		}
	}
	return plausible(name)
}

func toolishByte(c byte) bool { return nameByte(c) || c >= 0x80 }

func (x *pairReader) named(name string) {
	x.tool = x.r.toolName(name)
	x.node = x.r.params(x.tool)
	x.known = x.r.declares(x.tool)
}

// split reads a call in which the tag between the tool's name and the first key
// is missing: where only one tool's name and one of its parameters make up the
// text, it is these.
func (x *pairReader) split(text string, i int) (block, bool) {
	tool, key := "", ""
	for _, t := range x.r.in.Tools {
		rest, ok := strings.CutPrefix(text, t.Name)
		if ok && rest != "" && t.Params.Root().Declared(rest) {
			if tool != "" {
				tool = ""
				break
			}
			tool, key = t.Name, rest
		}
	}
	if tool == "" {
		end := x.r.closers(x.d, min(x.r.closerStart(x.d, i), len(x.r.s)))
		return block{end: end, problem: "a tool's name and a parameter's run together: " + excerpt(text, 0)}, true
	}
	x.named(tool)
	x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	from := i - len(key)
	return x.pairs(from, x.keyEnd(mark{kind: openParam, from: from, name: key}, i))
}

// object reads arguments that stand as a JSON object after the name.
func (x *pairReader) object(start, i int) (block, bool) {
	c := event.ParsedCall{Name: x.tool}
	end := x.r.objectOf(x.d, i, &c)
	c.Repairs = append(x.repairs, c.Repairs...)
	b := block{calls: []event.ParsedCall{c}, end: x.r.closers(x.d, end)}
	x.r.unclosed(x.d, b.calls, b.end > end)
	return b, true
}

// call reads the pairs from s[i] on. spaced: a space stands before the name, as
// in prose that only speaks of the tags.
func (x *pairReader) call(start, i int, spaced bool) (block, bool) {
	s := x.r.s
	switch m := x.outside(i); {
	case m.kind == openParam || m.kind == shutParam || m.odd || m.tag.torn || pairTagAt(s, i).base == "arg_value":
	case m.kind == noMark && i < len(s) && !x.tail(i) && !(s[i] == '<' && markerAt(s, i)),
		spaced && !x.r.in.declared(x.tool),
		i == len(s) && !x.r.lineStart(start):
		return block{}, false
	}
	return x.pairs(i, mark{})
}

// pairs reads the pairs from s[from] on; first is the first key if it was read.
func (x *pairReader) pairs(from int, first mark) (block, bool) {
	s := x.r.s
	c := event.ParsedCall{Name: x.tool}
	to, ended := from, noMark
	for i, more := from, true; more; {
		to = skip(s, i)
		m := first
		if first = (mark{}); m.kind == noMark {
			m = x.outside(to)
		}
		switch {
		case m.kind == openParam:
			i, c.Problem = x.param(m)
			to, more = i, c.Problem == ""
		case m.kind == shutParam || m.odd:
			x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
			i = m.end
		case m.kind != noMark:
			ended, more = m.kind, false
		case m.tag.torn:
			c.Problem, more = ProblemIncomplete, false
		case len(x.params) == 0 && (to == len(s) || x.tail(to) && !strings.HasPrefix(s[to:], "</t")):
			c.Problem, more = ProblemIncomplete, false // perhaps in the name
		case to == len(s) || x.tail(to) || markerAt(s, to):
			more = false
		default:
			c.Problem, more = ProblemParams, false
		}
	}
	if c.Problem == "" && len(x.params) == 0 && !ended.shuts() {
		c.Problem = ProblemIncomplete // nothing says that none were to follow
	}
	if c.Problem == "" {
		c.Args, c.Problem, c.Repairs = x.r.assemble(x.d, x.tool, x.params)
		c.Repairs = append(x.repairs, c.Repairs...)
	}
	b := block{end: to}
	switch {
	case c.Problem != "":
		stop := max(x.r.closerStart(x.d, to), from)
		if ended == openCall {
			stop = to // the next call begins
		}
		c.Args, c.Repairs = strings.TrimSpace(s[from:stop]), nil
		b.end = x.r.closers(x.d, stop)
	case ended == shutCall:
		b.end = x.shutters(to)
	case x.tail(to):
		b.end = len(s)
	}
	b.calls = []event.ParsedCall{c}
	x.r.unclosed(x.d, b.calls, ended == shutCall)
	return b, true
}

// shutters steps over the closing tags at s[i].
func (x *pairReader) shutters(i int) int {
	for {
		j := skip(x.r.s, i)
		t := pairTagAt(x.r.s, j)
		if !t.shut || t.base == "tool_calls" {
			return i
		}
		i = t.end
	}
}

// param reads the value of the key m.
func (x *pairReader) param(m mark) (next int, problem string) {
	if m.odd {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	}
	x.params = append(x.params, param{name: m.name})
	v := x.value(m.end)
	if v.open {
		if v.next == len(x.r.s) {
			return v.next, ProblemIncomplete
		}
		return v.next, ProblemParams
	}
	raw := x.r.s[v.from:v.to]
	if m.bare && trim(raw) == "" {
		return v.next, ProblemParams // a key without a value
	}
	if m.bare {
		raw = withoutBreak(raw, true)
	}
	if v.implied {
		raw = withoutBreak(raw, false)
		x.repairs = add(x.repairs, event.Repair{Kind: RepairTags})
	}
	if v.stray && x.holdsMore(v) {
		return v.next, ProblemParams
	}
	if v.stray {
		x.repairs = add(x.repairs, event.Repair{Kind: RepairStray, Lossy: true})
	}
	x.params[len(x.params)-1].raw = raw
	return v.next, ""
}
